// SPDX-License-Identifier: GPL-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "libiser/session.h"
#include "profile.h"

namespace iserverify {

using namespace libiser;
using iser::IscsiOpcode;

inline constexpr std::uint32_t block = 512;

/* Thrown by a check that this target gives nothing to look at: why. */
class NotApplicable : public std::runtime_error {
	using std::runtime_error::runtime_error;
};

/* Thrown by expect(); anything else that is thrown fails a case, too. */
class Failure : public std::runtime_error {
	using std::runtime_error::runtime_error;
};

void expect(bool condition, const std::string &otherwise);

template <typename A, typename B>
void expect_equal(const A &is, const B &wanted, const std::string &what)
{
	if (is != static_cast<A>(wanted))
		throw Failure(what + " is " + std::to_string(is) +
			      ", should be " + std::to_string(wanted));
}

/* What the target did about a message, other than carrying it out. */
enum class Outcome {
	Closed,   /* ended the connection */
	Refused,  /* Login Response with a status that is not success */
	Rejected, /* Reject */
	Failed,   /* SCSI Response that is not GOOD */
	Answered, /* took it for good */
	Silent,
};

const char *to_string(Outcome outcome);
/* Throws unless @outcome is among @allowed. */
void expect_outcome(Outcome outcome, std::initializer_list<Outcome> allowed,
		    const std::string &what);

/* Bytes that depend on @seed and on their place, and repeat nowhere near. */
ByteVector pattern(std::size_t size, std::uint32_t seed);
/* READ(10) and WRITE(10) */
ByteVector read_cdb(std::uint32_t lba, std::uint16_t blocks);
ByteVector write_cdb(std::uint32_t lba, std::uint16_t blocks);

using Connector =
	std::function<std::unique_ptr<RawConnection>(const ConnectOptions &)>;

/* Over an RDMA device of this machine. */
std::unique_ptr<RawConnection> verbs_connection(const ConnectOptions &options);

/*
 * The target under test, and a session that does nothing wrong, reads its part
 * of the LUN after every check and has to find it as it was.
 */
class Lab {
public:
	std::string address;
	std::uint16_t port = 3260;
	std::string target_name;
	std::uint64_t lun = 0;
	/* What initiator we are: its keys are offered in every login. */
	Profile profile = default_profile;
	/* Checks may write; else the innocent session only reads. */
	bool may_write = false;
	std::string initiator_name = "iqn.2003-01.org.lio-iser.kst:raw";
	ChapAccount chap;
	ChapAccount mutual_chap;
	/* Another target, whose name is long; how many targets there are. */
	std::string long_target_name;
	unsigned targets = 1;

	/* Makes every connection to the target. */
	Connector connector = verbs_connection;

	/* The first blocks of LUN 0 are the innocent session's. */
	static constexpr std::uint32_t innocent_blocks = 128;
	/* Free for checks, each of which writes what it wants to read. */
	static constexpr std::uint32_t scratch = 2048;
	/* Free, and 16 MiB long. */
	static constexpr std::uint32_t large_scratch = 32768;
	static constexpr std::uint32_t end_of_scratch = 65536;

	/* What the LUN holds counts from the first start on. */
	void start_innocent();
	void check_innocent();
	/* Other data in its place; only if checks may write. */
	void renew_innocent(std::uint32_t seed);
	const std::array<std::uint8_t, 6> &innocent_isid() const
	{
		return innocent_isid_;
	}
	void stop_innocent();

	ConnectOptions connect_options() const;
	/* Not connected yet. */
	std::unique_ptr<RawConnection> raw_connection() const;
	/*
	 * With an ISID of its own; @keys in place of those of the profile that
	 * have the same names.
	 */
	LoginOptions login_options(TextKeys keys = {});
	/* Not connected yet; it keeps to may_write. */
	std::unique_ptr<Session> make_session(const ConnectOptions &options);
	std::unique_ptr<Session> connect();
	std::unique_ptr<Session> login(TextKeys keys = {});

	/* Blocks of LUN 0, by the innocent session. */
	ByteVector read(std::uint32_t lba, std::size_t bytes);
	void write(std::uint32_t lba, ByteVector data);
	void expect_data(std::uint32_t lba, const ByteVector &data,
			 const std::string &what);

private:
	ScsiResult innocently(const ScsiRequest &request);

	std::unique_ptr<Session> innocent_;
	std::array<std::uint8_t, 6> innocent_isid_ = {};
	/* The first command of a session is told so, and fails. */
	bool attention_at_login_ = false;
	ByteVector innocent_data_;
	std::uint32_t logins_ = 0;
};

/* Waits for what the target does; PDUs that do not matter are passed over. */
Outcome outcome_of(Session &session, Milliseconds timeout = Milliseconds(8000));
/* The session still does what a session does. */
void expect_usable(Session &session);

/* What a session sees first is that the LUN is new to it (SAM-5 5.14). */
void clear_unit_attention(Session &session, std::uint64_t lun);
/* A NOP-Out with 64 bytes that wants them back. */
Pdu ping_request(Session &session, bool immediate, std::uint32_t seed = 1);
/* The connection ends soon. */
void expect_closed(Session &session, const std::string &what,
		   Milliseconds timeout = Milliseconds(8000));

/* A SCSI Command whose every field is the caller's; nothing is advertised. */
Pdu command_by_hand(Session &session, std::uint8_t flags,
		    std::uint32_t expected_data_transfer_length,
		    const ByteVector &cdb);

/* A write of 8 KiB that the target waits for: F=0, and no Data-Out. */
class WaitingWrite {
public:
	explicit WaitingWrite(Lab &lab, TextKeys keys = {});

	/* A Data-Out with @bytes of its data, from @offset on. */
	Pdu data_out(std::size_t offset, std::size_t bytes) const;
	/* All of it, in PDUs as long as was negotiated (RFC 7145 7.3.1). */
	void send_late_data();

	std::unique_ptr<Session> session;
	ByteVector data = pattern(8192, 50);
	Session::Tag tag = 0;
};

/* Ends this process in the middle of a connection: see connection_checks.cpp. */
void die_at(Lab &lab, int stage);

struct Check {
	const char *group;
	const char *name;
	const char *title;
	void (*run)(Lab &lab);
	/* The profiles that it belongs to. */
	Profiles profiles = over_verbs;
	/* It changes the LUN, or could on a target that does not refuse. */
	bool writes = true;
};

std::vector<Check> length_checks();
std::vector<Check> login_checks();
std::vector<Check> connection_checks();
std::vector<Check> data_checks();
std::vector<Check> task_checks();
std::vector<Check> protocol_checks();
std::vector<Check> hello_checks();
std::vector<Check> order_checks();
std::vector<Check> rdma_checks();
std::vector<Check> key_checks();
std::vector<Check> session_key_checks();
std::vector<Check> stage_checks();
std::vector<Check> unsolicited_checks();
std::vector<Check> stag_checks();
std::vector<Check> flow_checks();

} // namespace iserverify
