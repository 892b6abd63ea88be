// SPDX-License-Identifier: GPL-2.0
/* STags and base offsets: what is advertised, how long it lives, what it names. */
#include <algorithm>
#include <cstring>
#include <thread>

#include "transfer.h"

namespace iserverify {

namespace {

using Access = RawConnection::Access;

constexpr std::uint8_t read_flags = 0xc1;  /* F, R, simple */
constexpr std::uint8_t write_flags = 0xa1; /* F, W, simple */

Pdu read_by_hand(Session &session, std::uint32_t lba, std::uint32_t bytes)
{
	return command_by_hand(session, read_flags, bytes,
			       read_cdb(lba, static_cast<std::uint16_t>(
						     bytes / block)));
}

Pdu write_by_hand(Session &session, std::uint32_t lba, std::uint32_t bytes)
{
	return command_by_hand(session, write_flags, bytes,
			       write_cdb(lba, static_cast<std::uint16_t>(
						      bytes / block)));
}

bool untouched(const ByteVector &bytes)
{
	return std::all_of(bytes.begin(), bytes.end(),
			   [](std::uint8_t byte) { return byte == guard; });
}

/* GOOD for the command with that tag. */
void expect_done(Session &session, Session::Tag tag, const std::string &what)
{
	const Pdu pdu = session.receive_for(tag, Milliseconds(10000));

	expect(pdu.opcode() == IscsiOpcode::ScsiResponse &&
	       !pdu.response().response && !pdu.response().status,
	       what + ": no GOOD status");
}

/* ---- where data goes ------------------------------------------------------------ */

/* The base offset is that of the buffer, not of the memory that has the STag. */
void base_inside_the_memory(Lab &lab)
{
	constexpr std::size_t place = 12345;
	const ByteVector data = pattern(8192, 800);
	auto session = lab.login({{"ImmediateData", "No"}});
	RawConnection &connection = session->connection();
	ByteVector memory(65536, guard);

	std::copy(data.begin(), data.end(), memory.begin() + place);
	{
		const RegisteredMemory region = connection.register_memory(
			memory, Access::RemoteRead);
		Pdu pdu = write_by_hand(*session, Lab::scratch, 8192);

		advertise_write(pdu, region);
		pdu.head.header.write_base_offset = region.base() + place;
		session->send(pdu);
		expect_done(*session, pdu.request().itt, "a write");
	}
	lab.expect_data(Lab::scratch, data, "written from the middle");

	memory.assign(memory.size(), guard);

	const RegisteredMemory region =
		connection.register_memory(memory, Access::RemoteWrite);
	Pdu pdu = read_by_hand(*session, Lab::scratch, 8192);
	ByteVector wanted(memory.size(), guard);

	advertise_read(pdu, region);
	pdu.head.header.read_base_offset = region.base() + place;
	session->send(pdu);
	expect_done(*session, pdu.request().itt, "a read");
	std::copy(data.begin(), data.end(), wanted.begin() + place);
	expect(memory == wanted, "a read into the middle went elsewhere");
}

/* What the flags do not announce is not there, whatever it says. */
void garbage_without_flags(Lab &lab)
{
	auto session = lab.login();
	const ByteVector data = pattern(4096, 801);
	ByteVector in(4096, guard);

	lab.write(Lab::scratch, data);

	const RegisteredMemory region = session->connection().register_memory(
		in, Access::RemoteWrite);
	Pdu pdu = read_by_hand(*session, Lab::scratch, 4096);
	iser::ControlHeader &header = pdu.head.header;

	advertise_read(pdu, region);
	header.opcode_and_flags |= 0x03;
	std::memset(header.reserved, 0xff, sizeof(header.reserved));
	header.write_stag = 0xdeadbeef;
	header.write_base_offset = ~0ull;
	session->send(pdu);
	expect_done(*session, pdu.request().itt, "a read");
	expect(in == data, "a read with garbage in its header: wrong data");

	pdu = command_by_hand(*session, 0x81, 0, ByteVector(16));
	pdu.head.header.opcode_and_flags |= 0x03;
	pdu.head.header.write_stag = 0xdeadbeef;
	pdu.head.header.read_stag = 0xdeadbeef;
	pdu.head.header.write_base_offset = ~0ull;
	pdu.head.header.read_base_offset = ~0ull;
	session->send(pdu);
	expect_done(*session, pdu.request().itt, "TEST UNIT READY");
}

/* All of it came with the command: there is nothing to fetch. */
void needless_write_stag(Lab &lab)
{
	auto session = lab.login();
	const ByteVector data = pattern(512, 802);
	Pdu pdu = write_by_hand(*session, Lab::scratch, 512);

	pdu.data = data;
	pdu.head.header.opcode_and_flags |=
		iser::ControlHeader::write_stag_valid;
	pdu.head.header.write_stag = 0xdeadbeef;
	pdu.head.header.write_base_offset = 0x1000;
	session->send(pdu);
	expect_done(*session, pdu.request().itt,
		    "a write that needs no STag and has one");
	lab.expect_data(Lab::scratch, data, "the LUN");
	expect_usable(*session);
}

/* Inconsistent: to be ignored, or the end; not a transfer to nowhere. */
void stag_of_the_other_direction(Lab &lab)
{
	const ByteVector old = pattern(4096, 803);
	const ByteVector data = pattern(4096, 804);

	for (bool write : {true, false}) {
		lab.write(Lab::scratch, old);

		auto session = lab.login({{"ImmediateData", "No"}});
		ByteVector memory = write ? data : ByteVector(4096, guard);
		const RegisteredMemory region =
			session->connection().register_memory(
				memory, write ? Access::RemoteRead :
						Access::RemoteWrite);
		Pdu pdu = write ?
			write_by_hand(*session, Lab::scratch, 4096) :
			read_by_hand(*session, Lab::scratch, 4096);
		iser::ControlHeader &header = pdu.head.header;

		(write ? advertise_write : advertise_read)(pdu, region);
		header.opcode_and_flags |= 0x0c;
		(write ? header.read_stag : header.write_stag) = 0xdeadbeef;
		session->send(pdu);

		const Outcome outcome = outcome_of(*session);

		expect_outcome(outcome, {Outcome::Answered, Outcome::Closed,
					 Outcome::Rejected},
			       "an STag for the other direction, too");
		if (!write && outcome == Outcome::Answered)
			expect(memory == old, "read data is wrong");
		session.reset();
		lab.expect_data(Lab::scratch,
				write && outcome == Outcome::Answered ? data :
									old,
				"the LUN");
	}
}

/* Only commands advertise (RFC 7145 9.2). */
void stags_where_none_belong(Lab &lab)
{
	for (IscsiOpcode opcode : {IscsiOpcode::NopOut,
				   IscsiOpcode::TextRequest,
				   IscsiOpcode::LogoutRequest}) {
		auto session = lab.login();
		Pdu pdu = session->make(opcode);

		pdu.request().specific_20 = iser::reserved_tag;
		pdu.head.header.opcode_and_flags |= 0x0c;
		pdu.head.header.write_stag = 0xdeadbeef;
		pdu.head.header.read_stag = 0xdeadbeef;
		session->send(pdu);
		expect(outcome_of(*session) != Outcome::Silent,
		       "opcode " + std::to_string(int(opcode)) +
		       " with STags: no answer");
	}
	expect_usable(*lab.login());
}

/* ---- what an STag does not allow ---------------------------------------------------- */

/* The connection ends, others do not notice. */
void expect_end(Lab &lab, std::unique_ptr<Session> session,
		const std::string &what)
{
	expect_closed(*session, what);
	session.reset();
	expect_usable(*lab.login());
}

void offset_that_wraps(Lab &lab)
{
	const ByteVector old = pattern(8192, 805);

	lab.write(Lab::scratch, old);
	for (bool write : {true, false}) {
		auto session = lab.login({{"ImmediateData", "No"}});
		ByteVector memory(8192, guard);
		const RegisteredMemory region =
			session->connection().register_memory(
				memory, write ? Access::RemoteRead :
						Access::RemoteWrite);
		Pdu pdu = write ?
			write_by_hand(*session, Lab::scratch, 8192) :
			read_by_hand(*session, Lab::scratch, 8192);

		(write ? advertise_write : advertise_read)(pdu, region);
		(write ? pdu.head.header.write_base_offset :
			 pdu.head.header.read_base_offset) = ~0ull - 4095;
		session->send(pdu);
		expect_end(lab, std::move(session),
			   "a base offset 4096 bytes below 2^64");
		expect(untouched(memory), "memory of a command whose base "
		       "offset wraps was written");
	}
	lab.expect_data(Lab::scratch, old, "the LUN");
}

void buffer_that_is_too_short(Lab &lab)
{
	auto session = lab.login();
	ByteVector memory(8192, guard);
	const RegisteredMemory region = session->connection().register_memory(
		std::span(memory).first(4096), Access::RemoteWrite);
	Pdu pdu = read_by_hand(*session, 0, 8192);

	advertise_read(pdu, region);
	session->send(pdu);
	expect_end(lab, std::move(session), "a READ of 8192 into 4096 bytes");
	expect(untouched(ByteVector(memory.begin() + 4096, memory.end())),
	       "bytes behind the buffer were written");
}

/* ---- how long an STag lives ------------------------------------------------------------ */

/* After the response nothing is written any more (RFC 7145 7.3.2). */
void nothing_behind_the_response(Lab &lab)
{
	const ByteVector data = pattern(65536, 806);

	lab.write(Lab::scratch, data);

	auto session = lab.login();
	std::vector<ByteVector> buffers;
	/* All of them to the end, longer than an initiator would. */
	std::vector<RegisteredMemory> regions;

	for (int i = 0; i < 64; ++i) {
		ByteVector &in = buffers.emplace_back(65536);
		const RegisteredMemory &region = regions.emplace_back(
			session->connection().register_memory(
				in, Access::RemoteWrite));
		Pdu pdu = read_by_hand(*session, Lab::scratch, 65536);

		advertise_read(pdu, region);
		session->send(pdu);
		expect_done(*session, pdu.request().itt, "a READ");
		expect(in == data, "the response came before all of the data");
		in.assign(in.size(), guard);
		if (i % 8 == 0)
			expect_usable(*session);
		expect(untouched(in), "data came behind the response");
	}
	for (const ByteVector &in : buffers)
		expect(untouched(in), "data came long behind the response");
}

/* The tag is free at once, for another command with another buffer. */
void tag_used_again(Lab &lab)
{
	auto session = lab.login();
	const ByteVector data[] = {pattern(16384, 807), pattern(16384, 808)};

	lab.write(Lab::scratch, data[0]);
	lab.write(Lab::scratch + 32, data[1]);
	for (int i = 0; i < 60; ++i) {
		ByteVector in(16384, guard);
		const RegisteredMemory region =
			session->connection().register_memory(
				in, Access::RemoteWrite);
		Pdu pdu = read_by_hand(*session, Lab::scratch + i % 2 * 32,
				       16384);

		pdu.request().itt = 0x5555;
		advertise_read(pdu, region);
		session->send(pdu);
		expect_done(*session, 0x5555, "a READ with a tag used again");
		expect(in == data[i % 2], "a tag used again: data of another "
		       "command");
	}
}

/* Long reads and writes, with data on its way when @abort is called. */
void in_full_flight(Lab &lab, void (*abort)(Session &session,
					    std::vector<Session::Tag> &tags))
{
	constexpr std::uint32_t size = 4 << 20;

	for (int round = 0; round < 3; ++round) {
		auto session = lab.login({{"ImmediateData", "No"}});
		std::vector<ByteVector> buffers(4, pattern(size, 809));
		std::vector<Session::Tag> tags;

		for (std::uint32_t i = 0; i < buffers.size(); ++i) {
			const std::uint32_t lba =
				Lab::large_scratch + i * size / block;

			tags.push_back(session->start(
				i % 2 ? read_request(lba, size, buffers[i]) :
					write_request(lba, buffers[i])));
		}
		abort(*session, tags);

		/* Responses that came before are known; no more may come. */
		const std::size_t before = session->unclaimed();

		expect_usable(*session);
		expect_equal(session->unclaimed(), before,
			     "the number of PDUs behind the task management");
		expect(!session->connection().wait_closed(Milliseconds(100)),
		       "the connection ended behind the task management: " +
		       session->connection().end_cause());
	}
}

/*
 * With the response the initiator takes its buffers back: no RDMA operation
 * of the task may be on its way then (reference 4.7).
 */
void abort_in_full_flight(Lab &lab)
{
	in_full_flight(lab, [](Session &session,
			       std::vector<Session::Tag> &tags) {
		/* The last ones have hardly begun. */
		std::reverse(tags.begin(), tags.end());
		for (Session::Tag tag : tags) {
			const unsigned response = session.task_management(
				TaskManagement::AbortTask, {}, tag);

			expect(response <= 1, "response to ABORT TASK is " +
			       std::to_string(response));
			session.forget(tag);
		}
	});
}

void reset_in_full_flight(Lab &lab)
{
	in_full_flight(lab, [](Session &session,
			       std::vector<Session::Tag> &tags) {
		expect_equal(session.task_management(
				     TaskManagement::LogicalUnitReset), 0,
			     "response to LOGICAL UNIT RESET");
		for (Session::Tag tag : tags)
			session.forget(tag);
	});
}

void abort_set_in_full_flight(Lab &lab)
{
	in_full_flight(lab, [](Session &session,
			       std::vector<Session::Tag> &tags) {
		const unsigned response = session.task_management(
			TaskManagement::AbortTaskSet);

		expect(response == 0 || response == 5,
		       "response to ABORT TASK SET is " +
		       std::to_string(response));
		/* Not supported: they go on, and so do their buffers. */
		for (Session::Tag tag : tags)
			if (response == 0)
				session.forget(tag);
			else
				session.finish(tag);
	});
}

/* The aborted task's tag, again, with other data. */
void tag_used_again_after_abort(Lab &lab)
{
	WaitingWrite write(lab);
	Session &session = *write.session;
	const ByteVector data = pattern(4096, 810);
	ByteVector in(4096, guard);

	lab.write(Lab::scratch, data);
	expect(session.task_management(TaskManagement::AbortTask, {},
				       write.tag) <= 1,
	       "response to ABORT TASK");
	session.forget(write.tag);

	const RegisteredMemory region =
		session.connection().register_memory(in, Access::RemoteWrite);
	Pdu pdu = read_by_hand(session, Lab::scratch, 4096);

	pdu.request().itt = write.tag;
	advertise_read(pdu, region);
	session.send(pdu);
	expect_done(session, write.tag, "a READ with an aborted task's tag");
	expect(in == data, "a READ with an aborted task's tag: wrong data");
}

/*
 * Connections that end with data on its way, and with a reset on top of it;
 * and the same tags afterwards.
 */
void dropped_in_full_flight(Lab &lab)
{
	LoginOptions options = lab.login_options({{"ImmediateData", "No"}});
	const std::vector<ByteVector> data(3, pattern(4 << 20, 811));

	for (int round = 0; round < 8; ++round) {
		auto session = lab.make_session(lab.connect_options());
		std::vector<ByteVector> buffers = data;

		session->login(options);
		for (std::uint32_t i = 0; i < buffers.size(); ++i)
			session->start(i % 2 ?
				write_request(Lab::large_scratch, buffers[i]) :
				read_request(Lab::large_scratch, 4 << 20,
					     buffers[i]));
		if (round % 4 > 1) {
			Pdu reset = session->make(
				IscsiOpcode::TaskManagementRequest, true);

			reset.request().flags = 0x85;
			reset.request().specific_20 = iser::reserved_tag;
			reset.set_lun(lab.lun);
			session->send(reset);
			std::this_thread::sleep_for(Milliseconds(round));
		}
		if (round % 2)
			session->connection().disconnect();
	}
	const ByteVector then = pattern(262144, 812);

	lab.write(Lab::large_scratch, then);
	lab.expect_data(Lab::large_scratch, then, "data written behind it");
	expect_usable(*lab.login());
}

/* ---- Send with Invalidate, private data -------------------------------------------------- */

/* An initiator that cannot take an invalidation has said so (Annex A12). */
void no_invalidation(Lab &lab)
{
	auto session = lab.login();
	ByteVector out = pattern(65536, 813);
	ByteVector in(65536);
	const auto plain = [&](const Pdu &request, const char *what) {
		session->send(request);

		const Pdu answer = session->receive_for(
			request.head.bhs.itt, Milliseconds(8000));

		expect(!answer.invalidated, std::string(what) +
		       ": the response invalidates an STag");
		expect_equal(answer.ahs.size(), 0u, std::string(what) +
			     ": the length of AHS in the response");
	};
	const auto request = [&](IscsiOpcode opcode) {
		Pdu pdu = session->make(opcode);

		pdu.request().specific_20 = iser::reserved_tag;
		return pdu;
	};

	expect(!session->scsi(write_request(Lab::scratch, out)).invalidated,
	       "the response to a write invalidates an STag");
	expect(!session->scsi(read_request(Lab::scratch, 65536, in))
			.invalidated,
	       "the response to a read invalidates an STag");
	plain(command_by_hand(*session, 0x81, 0, ByteVector(16)),
	      "TEST UNIT READY");
	plain(command_by_hand(*session, 0x81, 0, ByteVector(16, 0xc0)),
	      "a command that does not exist");
	plain(request(IscsiOpcode::NopOut), "NOP-Out");

	Pdu abort = request(IscsiOpcode::TaskManagementRequest);

	abort.request().flags = 0x81;
	plain(abort, "ABORT TASK");

	Pdu text = request(IscsiOpcode::TextRequest);

	text.data = to_text({{"SendTargets", lab.target_name}});
	plain(text, "Text Request");

	Pdu snack = request(IscsiOpcode::SnackRequest);

	session->connection().send(snack.bytes());

	const auto reject = session->receive_reject(Milliseconds(8000));

	expect(reject && !reject->invalidated && reject->ahs.empty(),
	       "no Reject, or one that invalidates an STag");

	Pdu logout = request(IscsiOpcode::LogoutRequest);

	logout.request().specific_20 = 1u << 16;
	plain(logout, "Logout Request");
}

/* What it says of itself: as nobody lets it, no zero-based offsets. */
void private_data_of_the_reply(Lab &lab)
{
	auto session = lab.connect();
	const ByteVector &data = session->connection().peer_private_data();

	if (data.size() < 4 ||
	    std::all_of(data.begin(), data.begin() + 4,
			[](std::uint8_t byte) { return byte == 0; }))
		throw NotApplicable("the target's reply has no private data");
	expect_equal(data[0] & 0xc0, 0xc0,
		     "the bits that say what we cannot take, in the reply");
	expect_equal(data[0] & 0x3f, 0, "the reserved bits of byte 0");
	expect(data[1] == 0 && data[2] == 0 && data[3] == 0,
	       "reserved bytes of the private data are not 0");
}

/* Too little, too much, or with bits that have no meaning (OQ-08). */
void odd_private_data(Lab &lab)
{
	const ByteVector odd[] = {
		{}, {0xc0}, {0, 0, 0, 0}, {0x80, 0, 0, 0},
		{0xff, 0xff, 0xff, 0xff},
		ByteVector(32, 0xc0),
	};

	for (const ByteVector &data : odd) {
		ConnectOptions options = lab.connect_options();

		options.private_data = data;

		auto session = lab.make_session(options);

		session->login(lab.login_options());
		expect_usable(*session);
	}
}

/* ---- both directions ------------------------------------------------------------------------ */

void bidirectional(Lab &lab)
{
	const ByteVector old = pattern(512, 814);

	lab.write(Lab::scratch, old);

	auto session = lab.login();
	ByteVector out = pattern(512, 815);
	ByteVector in(512, guard);
	ScsiRequest request;

	request.cdb = write_cdb(Lab::scratch, 1);
	request.cdb[0] = 0x53; /* XDWRITEREAD(10) */
	request.out = out;
	request.in = in;
	request.immediate = 0;
	request.ahs = ByteVector{0, 5, 2, 0, 0, 0, 2, 0};
	session->start(request);

	const Outcome outcome = outcome_of(*session);

	expect_outcome(outcome, {Outcome::Closed, Outcome::Rejected,
				 Outcome::Failed, Outcome::Answered},
		       "a bidirectional command");
	if (outcome == Outcome::Answered)
		return;
	session.reset();
	expect(untouched(in), "a bidirectional command failed and gave data");
	lab.expect_data(Lab::scratch, old, "the LUN");
}

} // namespace

std::vector<Check> stag_checks()
{
	return {
		{"stag", "base-inside",
		 "B-027 N-020 N-023 a base offset within the memory of an STag",
		 base_inside_the_memory},
		{"stag", "garbage",
		 "B-028 B-030 N-024 fields without their flag are ignored",
		 garbage_without_flags},
		{"stag", "needless-wsv",
		 "OQ-15 a Write STag that is not needed is not read",
		 needless_write_stag},
		{"stag", "other-direction",
		 "OQ-15 an STag for the other direction, too",
		 stag_of_the_other_direction},
		{"stag", "stags-nowhere",
		 "OQ-15 STags in PDUs that are no commands",
		 stags_where_none_belong},
		{"stag", "offset-wraps",
		 "N-023 a buffer that reaches beyond 2^64", offset_that_wraps},
		{"stag", "short-buffer",
		 "E5 B-033 a buffer shorter than EDTL",
		 buffer_that_is_too_short},
		{"stag", "behind-response",
		 "T-062 T-031 all data before the response, none behind it",
		 nothing_behind_the_response},
		{"stag", "tag-again",
		 "T-031 a tag used again at once, with another STag",
		 tag_used_again},
		{"stag", "abort-in-flight",
		 "T-059 E28 4.7 ABORT TASK with data on its way",
		 abort_in_full_flight},
		{"stag", "reset-in-flight",
		 "T-059 E28 4.7 LOGICAL UNIT RESET with data on its way",
		 reset_in_full_flight},
		{"stag", "abort-set-in-flight",
		 "T-059 E28 4.7 ABORT TASK SET with data on its way",
		 abort_set_in_full_flight},
		{"stag", "tag-after-abort",
		 "T-059 the tag of an aborted task, used again",
		 tag_used_again_after_abort},
		{"stag", "drop-in-flight",
		 "T-020 B-016 E4 E7 connections that end with data on its way",
		 dropped_in_full_flight},
		{"stag", "no-invalidation",
		 "T-018 T-028 T-029 T-030 T-055 B-019 B-020 B-022 B-024 B-029 "
		 "N-005 N-017 no STag is invalidated, no field is set",
		 no_invalidation},
		{"stag", "private-data",
		 "1.9 private data of the reply to the connection",
		 private_data_of_the_reply},
		{"stag", "odd-private-data",
		 "OQ-08 private data missing, too long, with reserved bits",
		 odd_private_data},
		{"stag", "bidirectional",
		 "4.4 a bidirectional command: done or refused",
		 bidirectional},
	};
}

} // namespace iserverify
