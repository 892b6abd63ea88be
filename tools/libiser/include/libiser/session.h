// SPDX-License-Identifier: GPL-2.0
#pragma once

#include <array>
#include <list>
#include <map>
#include <memory>

#include "libiser/error.h"
#include "libiser/pdu.h"

namespace libiser {

/* Name and secret for CHAP; an empty name: no CHAP in that direction. */
struct ChapAccount {
	std::string name;
	std::string secret;
};

struct LoginOptions {
	std::string initiator_name = "iqn.2003-01.org.lio-iser:libiser";
	std::string target_name; /* not used for a discovery session */
	bool discovery = false;
	std::array<std::uint8_t, 6> isid = {0x80, 0, 0, 1, 0, 0};
	std::uint16_t tsih = 0;
	std::uint16_t cid = 1;
	ChapAccount chap;        /* proves us to the target */
	ChapAccount mutual_chap; /* proves the target to us */
	/*
	 * Operational keys, each in place of the default with that name, or
	 * added behind the others.  An empty value: the key is not sent.
	 */
	TextKeys keys;
	/* Text longer than this goes out in several PDUs, with the C bit. */
	std::size_t text_per_pdu = 8192;
};

/* What the login concluded; the defaults of RFC 7143 13 and RFC 7145 6. */
struct Parameters {
	bool immediate_data = true;
	bool initial_r2t = true;
	std::uint32_t first_burst_length = 65536;
	std::uint32_t max_burst_length = 262144;
	std::uint32_t target_recv_data_segment_length = 8192;
	std::uint32_t initiator_recv_data_segment_length = 8192;
	/* The write base offset is behind the unsolicited data. */
	bool solicited_only = true;
	std::uint16_t tsih = 0;
	/* All that the target answered in the login, in order. */
	TextKeys answers;
};

/* One SCSI command, and how its data is to travel. */
struct ScsiRequest {
	/* The default is the session's, see set_lun(). */
	std::optional<std::uint64_t> lun;
	ByteVector cdb; /* beyond 16 bytes: goes into an AHS */
	std::span<std::uint8_t> out; /* write data */
	std::span<std::uint8_t> in;  /* read data comes here */
	/* The default is the size of @out, else of @in. */
	std::optional<std::uint32_t> expected_data_transfer_length;
	/* Bytes of immediate data; the default is all that may be. */
	std::optional<std::uint32_t> immediate;
	/* Bytes in each unsolicited Data-Out; 0: the largest allowed. */
	std::uint32_t data_out_size = 0;
	/* Keep the unsolicited Data-Out back: for tests. */
	bool withhold_data_out = false;
	/* Do not advertise the STag that the command needs: for tests. */
	bool hide_stags = false;
	/* In place of the AHS that @cdb asks for: for tests. */
	std::optional<ByteVector> ahs;
	Milliseconds timeout{30000};
};

struct ScsiResult {
	std::uint8_t response = 0; /* 0: completed at the target */
	std::uint8_t status = 0;   /* of SAM-5 5.3 */
	bool overflow = false;
	bool underflow = false;
	std::uint32_t residual = 0;
	ByteVector sense; /* without its length */
	std::optional<std::uint32_t> invalidated;

	bool good() const { return response == 0 && status == 0; }
	/* 0: there is none. */
	std::uint8_t sense_key() const;
	/* ASC in the high byte, ASCQ in the low one. */
	std::uint16_t sense_code() const;
};

/* Functions of task management (RFC 7143 11.5.1). */
using TaskManagement = iser::TaskFunction;

/* A target of a discovery session. */
struct DiscoveredTarget {
	std::string name;
	std::vector<std::string> addresses; /* ADDRESS:PORT,TAG */
};

/*
 * An iSER session of one connection, with the duties of an initiator kept:
 * buffers are registered for a command's life only, the command window and
 * the order of unsolicited data are obeyed, pings are answered.
 *
 * Several commands may be started before one of them is finished.  Not safe
 * for concurrent use.  On a reply that never comes, TimedOut is thrown, and
 * ConnectionLost when the connection ended.
 */
class Session {
public:
	/* Over an RDMA device of this machine. */
	explicit Session(ConnectOptions options);
	/* Over any connection, up or not. */
	explicit Session(std::unique_ptr<RawConnection> connection);
	~Session();

	RawConnection &connection() { return *connection_; }
	const Parameters &parameters() const { return parameters_; }
	/* The caller connected connection() himself. */
	void already_connected() { connected_ = true; }

	/* The logical unit of requests that name none; 0 at first. */
	void set_lun(std::uint64_t lun) { lun_ = lun; }
	/* Requests with write data throw from now on, and send nothing. */
	void forbid_writes() { may_write_ = false; }
	/* Throws if they are forbidden: before a write that is made by hand. */
	void expect_may_write() const;

	/* Connects if that was not done.  Throws LoginRefused. */
	const Parameters &login(const LoginOptions &options);

	/* A command started; finish() waits for its end. */
	using Tag = std::uint32_t;
	Tag start(const ScsiRequest &request);
	ScsiResult finish(Tag tag);
	/* The command that ended first, of those that were started. */
	std::optional<Tag> any_finished(Milliseconds timeout);
	ScsiResult scsi(const ScsiRequest &request);
	/* The task ended without a response: its buffers are taken back. */
	void forget(Tag tag);
	std::uint32_t cmd_sn_of(Tag tag) const;

	/* NOP-Out with @data; returns the data of the answer. */
	ByteVector ping(ByteView data,
			Milliseconds timeout = Milliseconds(10000));
	/* Response code of RFC 7143 11.6.1.  A Reject throws ProtocolError. */
	std::uint8_t task_management(TaskManagement function,
				     std::optional<std::uint64_t> lun = {},
				     Tag tag = ~0u,
				     Milliseconds timeout = Milliseconds(20000));
	/* A Text negotiation to its end; long answers are put together. */
	TextKeys text(const TextKeys &keys);
	std::vector<DiscoveredTarget> discover();
	/*
	 * Response code of RFC 7143 11.15.1; on 0 waits for the target to
	 * close, as it must (RFC 7145 5.2.1).
	 */
	std::uint8_t logout(std::uint8_t reason = 0,
			    Milliseconds timeout = Milliseconds(10000));

	/* Data bytes of the longest PDU since the login. */
	std::size_t longest_data() const { return longest_data_; }
	/* PDUs that arrived and that nobody has waited for yet. */
	std::size_t unclaimed() const { return kept_.size(); }

	/*
	 * The lower level, for tests: a PDU by hand, with a fresh ITT and the
	 * sequence numbers set.  send() counts CmdSN on if it is not immediate.
	 */
	Pdu make(iser::IscsiOpcode opcode, bool immediate = false);
	void send(const Pdu &pdu);
	/* The same for a message that lies. */
	void send_as_claimed(const Pdu &pdu);
	/* The next PDU, pings excepted. */
	Pdu receive(Milliseconds timeout);
	/* The PDU with that ITT; others are kept. */
	Pdu receive_for(Tag tag, Milliseconds timeout);
	/* The next Reject, or nothing. */
	std::optional<Pdu> receive_reject(Milliseconds timeout);
	/* One Login Request; the status of the answer is not looked at. */
	Pdu login_request(const LoginOptions &options, std::uint8_t flags,
			  ByteView text);
	Pdu login_exchange(const LoginOptions &options, std::uint8_t flags,
			   ByteView text);
	/* The keys of the operational stage as login() would send them. */
	static TextKeys operational_keys(const LoginOptions &options);
	/* The keys that say who logs in to what. */
	static TextKeys identity_keys(const LoginOptions &options);
	/* The login ended well, by hand. */
	void conclude(const LoginOptions &options, const TextKeys &answers);

private:
	struct Task;

	void take_numbers(const Pdu &pdu);
	void await_window(Milliseconds timeout);
	bool answered_ping(const Pdu &pdu);
	TextKeys negotiate(const LoginOptions &options, std::uint8_t stage,
			   std::uint8_t next, const TextKeys &keys,
			   bool transit = true);
	void authenticate(const LoginOptions &options);
	void send_data_out(Task &task, const ScsiRequest &request,
			   const Pdu &command);

	std::unique_ptr<RawConnection> connection_;
	bool connected_ = false;
	bool logged_in_ = false;
	Parameters parameters_;
	std::uint64_t lun_ = 0;
	bool may_write_ = true;
	std::uint32_t itt_ = 0;
	std::uint32_t login_itt_ = 0;
	std::uint32_t cmd_sn_ = 1;
	std::uint32_t exp_stat_sn_ = 0;
	std::uint32_t max_cmd_sn_ = 0;
	std::size_t longest_data_ = 0;
	std::list<Pdu> kept_;
	std::map<Tag, std::unique_ptr<Task>> tasks_;
};

} // namespace libiser
