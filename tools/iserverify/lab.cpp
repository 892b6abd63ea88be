// SPDX-License-Identifier: GPL-2.0
#include "lab.h"

#include <algorithm>
#include <unistd.h>

#include "libiser/verbs_connection.h"
#include "transfer.h"

namespace iserverify {

namespace {

constexpr std::uint32_t innocent_seed = 4711;

ByteVector rw_cdb(std::uint8_t operation, std::uint32_t lba,
		  std::uint16_t blocks)
{
	ByteVector cdb(16);

	cdb[0] = operation;
	for (int i = 0; i < 4; ++i)
		cdb[2 + i] = static_cast<std::uint8_t>(lba >> 8 * (3 - i));
	cdb[7] = static_cast<std::uint8_t>(blocks >> 8);
	cdb[8] = static_cast<std::uint8_t>(blocks);
	return cdb;
}

TextKeys with(TextKeys keys, const char *key, const char *value)
{
	keys.emplace_back(key, value);
	return keys;
}

} // namespace

void expect(bool condition, const std::string &otherwise)
{
	if (!condition)
		throw Failure(otherwise);
}

const char *to_string(Outcome outcome)
{
	switch (outcome) {
	case Outcome::Closed: return "the connection ended";
	case Outcome::Refused: return "the login was refused";
	case Outcome::Rejected: return "a Reject came";
	case Outcome::Failed: return "the command failed";
	case Outcome::Answered: return "it was taken for good";
	case Outcome::Silent: return "nothing came and the connection is up";
	}
	return "?";
}

void expect_outcome(Outcome outcome, std::initializer_list<Outcome> allowed,
		    const std::string &what)
{
	expect(std::find(allowed.begin(), allowed.end(), outcome) !=
	       allowed.end(), what + ": " + to_string(outcome));
}

ByteVector pattern(std::size_t size, std::uint32_t seed)
{
	ByteVector bytes(size);
	std::uint64_t state = seed * 0x9e3779b97f4a7c15ull + 1;

	for (std::size_t i = 0; i < size; ++i) {
		state = state * 6364136223846793005ull + 1442695040888963407ull;
		bytes[i] = static_cast<std::uint8_t>(state >> 56);
	}
	return bytes;
}

ByteVector read_cdb(std::uint32_t lba, std::uint16_t blocks)
{
	return rw_cdb(0x28, lba, blocks);
}

ByteVector write_cdb(std::uint32_t lba, std::uint16_t blocks)
{
	return rw_cdb(0x2a, lba, blocks);
}

std::unique_ptr<RawConnection> verbs_connection(const ConnectOptions &options)
{
	return std::make_unique<VerbsConnection>(options);
}

ConnectOptions Lab::connect_options() const
{
	ConnectOptions options;

	options.address = address;
	options.port = port;
	return options;
}

LoginOptions Lab::login_options(TextKeys keys)
{
	LoginOptions options;
	auto process = static_cast<std::uint32_t>(getpid());

	++logins_;
	options.initiator_name = initiator_name;
	options.target_name = target_name;
	options.isid = {0x80, static_cast<std::uint8_t>(process >> 8),
			static_cast<std::uint8_t>(process), 0,
			static_cast<std::uint8_t>(logins_ >> 8),
			static_cast<std::uint8_t>(logins_)};
	options.chap = chap;
	options.mutual_chap = mutual_chap;
	options.keys = std::move(keys);
	for (const auto &[key, value] : rules_of(profile).keys)
		if (!find_key(options.keys, key))
			options.keys.emplace_back(key, value);
	return options;
}

std::unique_ptr<RawConnection> Lab::raw_connection() const
{
	return connector(connect_options());
}

std::unique_ptr<Session> Lab::make_session(const ConnectOptions &options)
{
	auto session = std::make_unique<Session>(connector(options));

	session->set_lun(lun);
	if (!may_write)
		session->forbid_writes();
	return session;
}

std::unique_ptr<Session> Lab::connect()
{
	auto session = make_session(connect_options());

	session->connection().connect();
	session->already_connected();
	return session;
}

std::unique_ptr<Session> Lab::login(TextKeys keys)
{
	auto session = make_session(connect_options());

	const LoginOptions options = login_options(std::move(keys));

	session->login(options);
	/* Of some targets every session is told; not of LIO. */
	if (attention_at_login_ && !find_key(options.keys, "iSERHelloRequired"))
		clear_unit_attention(*session, lun);
	return session;
}

void Lab::start_innocent()
{
	const LoginOptions options = login_options();

	innocent_ = make_session(connect_options());
	innocent_isid_ = options.isid;
	innocent_->login(options);

	ScsiRequest ready;

	ready.cdb = ByteVector(16);
	attention_at_login_ = innocent_->scsi(ready).sense_key() == 6;
	if (innocent_data_.empty() && may_write)
		renew_innocent(innocent_seed);
	else if (innocent_data_.empty())
		innocent_data_ = read(0, innocent_blocks * block);
	check_innocent();
}

void Lab::renew_innocent(std::uint32_t seed)
{
	innocent_data_ = pattern(innocent_blocks * block, seed);
	write(0, innocent_data_);
}

/*
 * The ping is answered behind all that was sent before it: what nobody asked
 * for has arrived then, even if it came behind the read's SCSI Response.
 */
void Lab::check_innocent()
{
	RawConnection &connection = innocent_->connection();
	const auto before = connection.now();

	expect_data(0, innocent_data_, "the innocent session's data");
	innocent_->ping({});
	expect(connection.now() - before < std::chrono::seconds(5),
	       "the innocent session was stalled");
	expect(innocent_->unclaimed() == 0,
	       "the innocent session got a PDU that it did not ask for");
}

void Lab::stop_innocent()
{
	expect_equal(innocent_->logout(), 0, "response to the logout");
	innocent_.reset();
}

/*
 * Others may reset the LUN.  That aborts what is under way (SAM-5 5.3.1), and
 * each session is told, once (SAM-5 5.14): an initiator sends it again.
 */
ScsiResult Lab::innocently(const ScsiRequest &request)
{
	constexpr unsigned unit_attention = 6;
	constexpr std::uint8_t task_aborted = 0x40;
	ScsiResult result = innocent_->scsi(request);

	for (int again = 0;
	     again < 4 && (result.sense_key() == unit_attention ||
			   (result.response == 0 &&
			    result.status == task_aborted));
	     ++again)
		result = innocent_->scsi(request);
	return result;
}

ByteVector Lab::read(std::uint32_t lba, std::size_t bytes)
{
	ByteVector data(bytes);
	ScsiRequest request;

	request.cdb = read_cdb(lba, static_cast<std::uint16_t>(bytes / block));
	request.in = data;
	expect_good(innocently(request), "read of the innocent session");
	return data;
}

void Lab::write(std::uint32_t lba, ByteVector data)
{
	ScsiRequest request;

	request.cdb = write_cdb(lba,
				static_cast<std::uint16_t>(data.size() / block));
	request.out = data;
	expect_good(innocently(request), "write of the innocent session");
}

void Lab::expect_data(std::uint32_t lba, const ByteVector &data,
		      const std::string &what)
{
	ByteVector found = read(lba, data.size());
	auto at = std::mismatch(data.begin(), data.end(), found.begin()).first;

	if (at == data.end())
		return;

	std::size_t place = at - data.begin();
	std::string bytes;

	for (std::size_t i = place; i < data.size() && i < place + 8; ++i)
		bytes += " " + std::to_string(found[i]) + " for " +
			 std::to_string(data[i]);
	throw Failure(what + ": wrong data from byte " + std::to_string(place) +
		      " of " + std::to_string(data.size()) + ":" + bytes);
}

Outcome outcome_of(Session &session, Milliseconds timeout)
{
	try {
		Pdu pdu = session.receive(timeout);

		switch (pdu.opcode()) {
		case IscsiOpcode::Reject:
			return Outcome::Rejected;
		case IscsiOpcode::LoginResponse:
			return pdu.head.bhs.as<iser::LoginResponsePdu>()
					.status_class ?
				Outcome::Refused : Outcome::Answered;
		case IscsiOpcode::ScsiResponse:
			return pdu.response().response || pdu.response().status ?
				Outcome::Failed : Outcome::Answered;
		default:
			return Outcome::Answered;
		}
	} catch (const ConnectionLost &) {
		return Outcome::Closed;
	} catch (const TimedOut &) {
		return Outcome::Silent;
	}
}

void expect_usable(Session &session)
{
	ScsiRequest ready;

	/* Whether data is echoed is another check's question. */
	expect(session.ping({}).empty(), "a ping's answer has data of nobody");
	ready.cdb = ByteVector(16);

	ScsiResult result = session.scsi(ready);

	if (result.sense_key() == 6)
		result = session.scsi(ready);
	expect_good(result, "TEST UNIT READY");
}

Pdu command_by_hand(Session &session, std::uint8_t flags,
		    std::uint32_t expected_data_transfer_length,
		    const ByteVector &cdb)
{
	Pdu pdu = session.make(IscsiOpcode::ScsiCommand);
	auto &command = pdu.head.bhs.as<iser::ScsiCommandPdu>();

	if (flags & iser::ScsiCommandPdu::write_bit)
		session.expect_may_write();
	command.flags = flags;
	command.expected_data_transfer_length = expected_data_transfer_length;
	std::copy(cdb.begin(), cdb.end(), command.cdb);
	return pdu;
}

Pdu ping_request(Session &session, bool immediate, std::uint32_t seed)
{
	Pdu pdu = session.make(IscsiOpcode::NopOut, immediate);

	pdu.request().specific_20 = iser::reserved_tag;
	pdu.data = pattern(64, seed);
	return pdu;
}

void clear_unit_attention(Session &session, std::uint64_t lun)
{
	ScsiRequest ready;

	ready.lun = lun;
	ready.cdb = ByteVector(16);
	for (int i = 0; i < 4 && !session.scsi(ready).good(); ++i)
		;
}

WaitingWrite::WaitingWrite(Lab &lab, TextKeys keys)
	: session(lab.login(with(std::move(keys), "InitialR2T", "No")))
{
	ScsiRequest request;

	if (session->parameters().initial_r2t)
		throw NotApplicable("the target insists on InitialR2T=Yes");
	request.cdb = write_cdb(Lab::scratch, 16);
	request.out = data;
	request.immediate = 0;
	request.withhold_data_out = true;
	tag = session->start(request);
}

Pdu WaitingWrite::data_out(std::size_t offset, std::size_t bytes) const
{
	return make_data_out(tag, data, offset, bytes, 0, true);
}

void WaitingWrite::send_late_data()
{
	const std::size_t most =
		session->parameters().target_recv_data_segment_length;
	std::uint32_t number = 0;

	for (std::size_t at = 0; at < data.size(); at += most) {
		const std::size_t bytes = std::min(most, data.size() - at);
		const Pdu pdu = make_data_out(tag, data, at, bytes, number++,
					      at + bytes == data.size());

		session->connection().send(pdu.bytes());
	}
}

void expect_closed(Session &session, const std::string &what,
		   Milliseconds timeout)
{
	expect(session.connection().wait_closed(timeout),
	       what + ": the connection is still up");
}

} // namespace iserverify
