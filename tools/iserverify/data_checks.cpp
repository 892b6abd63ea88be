// SPDX-License-Identifier: GPL-2.0
/* Data: where it comes from, where it goes to, and how much of it. */
#include <algorithm>

#include "transfer.h"

namespace iserverify {

namespace {

/* ---- reads --------------------------------------------------------------- */

void reads_of_all_sizes(Lab &lab)
{
	const ByteVector data = pattern(1 << 20, 80);

	lab.write(Lab::scratch, data);

	auto session = lab.login({{"MaxBurstLength", "65536"}});

	for (std::uint32_t size : {512u, 1024u, 4096u, 65536u, 66048u, 262144u,
				   524800u, 1u << 20}) {
		Guarded in(size);
		std::string what = "read of " + std::to_string(size);

		expect_good(session->scsi(read_request(Lab::scratch, size,
						       in.buffer())), what);
		in.expect_exactly(data, size, what);
		/* One SCSI Response, no Data-In, no second status. */
		expect_equal(session->unclaimed(), 0u, what + ": other PDUs");
	}
}

void reads_without_data(Lab &lab)
{
	auto session = lab.login();
	Guarded in(512);
	ScsiRequest request;

	request.cdb = read_cdb(0, 0);
	expect_good(session->scsi(request), "READ of no blocks");
	request.cdb = write_cdb(0, 0);
	expect_good(session->scsi(request), "WRITE of no blocks");

	/* No blocks, and a buffer all the same: U with all of it. */
	request.cdb = read_cdb(0, 0);
	request.in = in.buffer();

	ScsiResult result = session->scsi(request);

	expect(result.good() && result.underflow, "READ of no blocks into 512 "
	       "bytes: no underflow");
	expect_equal(result.residual, 512u, "residual of a READ of no blocks");
	in.expect_exactly({}, 0, "READ of no blocks");
	expect_equal(session->unclaimed(), 0u, "other PDUs");
}

void short_reads(Lab &lab)
{
	auto session = lab.login();
	Guarded in(4096);
	ScsiRequest inquiry;

	inquiry.cdb = ByteVector(16);
	inquiry.cdb[0] = 0x12;
	inquiry.cdb[4] = 36;
	inquiry.in = in.buffer();

	ScsiResult result = session->scsi(inquiry);

	expect(result.good() && result.underflow && !result.overflow,
	       "INQUIRY of 36 into 4096 bytes: U is not set");
	expect_equal(result.residual, 4060u, "residual");
	expect(in.buffer()[0] == 0, "no INQUIRY data of a disk");
	expect(std::all_of(in.memory.begin() + guard_size + 36,
			   in.memory.end(),
			   [](std::uint8_t byte) { return byte == guard; }),
	       "bytes behind the INQUIRY data were written");
}

void parallel_reads_and_writes(Lab &lab)
{
	auto session = lab.login();
	constexpr std::uint32_t size = 16384;
	std::vector<ByteVector> out;
	std::vector<ByteVector> in;
	std::vector<Session::Tag> tags;

	for (std::uint32_t i = 0; i < 16; ++i) {
		out.push_back(pattern(size, 100 + i));
		in.emplace_back(size);
	}
	for (std::uint32_t i = 0; i < 16; ++i)
		tags.push_back(session->start(write_request(
			Lab::scratch + i * size / block, out[i])));
	for (Session::Tag tag : tags)
		expect_good(session->finish(tag), "one of 16 writes");
	tags.clear();
	for (std::uint32_t i = 0; i < 16; ++i)
		tags.push_back(session->start(read_request(
			Lab::scratch + i * size / block, size, in[i])));
	std::reverse(tags.begin(), tags.end());
	for (Session::Tag tag : tags)
		expect_good(session->finish(tag), "one of 16 reads");
	expect(in == out, "data of parallel commands was mixed up");
}

/* ---- writes: what comes unsolicited, and where the rest is ---------------- */

struct Layout {
	const char *declared; /* TaggedBufferForSolicitedDataOnly, or "" */
	const char *immediate_data;
	const char *initial_r2t;
};

std::string name(const Layout &layout, std::uint32_t size,
		 std::uint32_t immediate)
{
	return "write of " + std::to_string(size) + " bytes, " +
	       std::to_string(immediate) + " immediate, " +
	       (*layout.declared ? layout.declared : "nothing") +
	       " declared, ImmediateData=" + layout.immediate_data +
	       ", InitialR2T=" + layout.initial_r2t;
}

void write_with(Lab &lab, Session &session, const Layout &layout,
		std::uint32_t size, std::optional<std::uint32_t> immediate,
		std::uint32_t seed)
{
	ByteVector data = pattern(size, seed);
	ScsiRequest request = write_request(Lab::scratch, data);
	const Parameters &p = session.parameters();
	std::uint32_t most = p.immediate_data ?
		std::min(p.first_burst_length,
			 p.target_recv_data_segment_length) : 0;

	request.immediate = std::min({immediate.value_or(most), most, size});

	std::string what = name(layout, size, *request.immediate);

	expect_good(session.scsi(request), what);
	lab.expect_data(Lab::scratch, data, what);
	expect_equal(session.unclaimed(), 0u, what + ": other PDUs");
}

void writes_declaring(Lab &lab, const char *declared)
{
	std::uint32_t seed = 200;

	for (const char *immediate_data : {"Yes", "No"})
		for (const char *initial_r2t : {"Yes", "No"}) {
			Layout layout = {declared, immediate_data, initial_r2t};
			auto session = lab.login({
				{"TaggedBufferForSolicitedDataOnly", declared},
				{"ImmediateData", immediate_data},
				{"InitialR2T", initial_r2t},
			});

			expect(session->parameters().immediate_data ==
			       (*immediate_data == 'Y'),
			       "ImmediateData was not accepted");
			for (std::uint32_t size : {512u, 8192u, 8704u, 65536u,
						   66048u, 1u << 20})
				write_with(lab, *session, layout, size, {},
					   ++seed);
		}
}

void writes_silent(Lab &lab) { writes_declaring(lab, ""); }
void writes_declaring_yes(Lab &lab) { writes_declaring(lab, "Yes"); }
void writes_declaring_no(Lab &lab) { writes_declaring(lab, "No"); }

void odd_immediate_data(Lab &lab)
{
	const std::vector<const char *> declarations =
		lab.profile == Profile::Rfc7145 ?
			std::vector<const char *>{"Yes", "No"} :
			std::vector<const char *>{""};

	for (const char *declared : declarations)
		for (const char *initial_r2t : {"Yes", "No"}) {
			Layout layout = {declared, "Yes", initial_r2t};
			auto session = lab.login({
				{"TaggedBufferForSolicitedDataOnly", declared},
				{"InitialR2T", initial_r2t},
				{"FirstBurstLength", "4096"},
			});

			for (std::uint32_t immediate : {0u, 1u, 2u, 3u, 511u,
							513u, 1000u, 4095u,
							4096u})
				write_with(lab, *session, layout, 12288,
					   immediate, 300 + immediate);
		}
}

/* Every piece but the last carries TargetRecvDataSegmentLength (7.3.1). */
void odd_data_out(Lab &lab)
{
	for (const char *length : {"513", "515", "1000", "4099"})
		for (const char *immediate_data : {"Yes", "No"}) {
			Layout layout = {"", immediate_data, "No"};
			auto session = lab.login({
				{"InitialR2T", "No"},
				{"ImmediateData", immediate_data},
				{"TargetRecvDataSegmentLength", length},
			});

			write_with(lab, *session, layout, 8192, {}, 400);
			write_with(lab, *session, layout, 65536, {}, 401);
			write_with(lab, *session, layout, 131072, {}, 402);
		}
}

void several_writes_with_data_out(Lab &lab)
{
	auto session = lab.login({{"InitialR2T", "No"}});
	std::vector<ByteVector> data;
	std::vector<Session::Tag> tags;
	constexpr std::uint32_t size = 32768;

	for (std::uint32_t i = 0; i < 8; ++i)
		data.push_back(pattern(size, 500 + i));
	for (std::uint32_t i = 0; i < 8; ++i)
		tags.push_back(session->start(write_request(
			Lab::scratch + i * size / block, data[i])));
	for (Session::Tag tag : tags)
		expect_good(session->finish(tag), "one of 8 writes");
	for (std::uint32_t i = 0; i < 8; ++i)
		lab.expect_data(Lab::scratch + i * size / block, data[i],
				"data of one of 8 writes");
}

void sixteen_mebibytes(Lab &lab)
{
	auto session = lab.login();
	constexpr std::uint32_t size = 16 << 20;
	ByteVector data = pattern(size, 600);
	Guarded in(size);
	ScsiRequest write = write_request(Lab::large_scratch, data);
	ScsiRequest read = read_request(Lab::large_scratch, size, in.buffer());

	write.timeout = read.timeout = Milliseconds(60000);
	expect_good(session->scsi(write), "write of 16 MiB");
	expect_good(session->scsi(read), "read of 16 MiB");
	in.expect_exactly(data, size, "16 MiB");
}

/* ---- STags that the command needs and does not have ----------------------- */

void read_without_stag(Lab &lab)
{
	auto session = lab.login();
	ByteVector in(4096);
	ScsiRequest request = read_request(0, 4096, in);

	request.hide_stags = true;
	session->start(request);
	expect_outcome(outcome_of(*session), {Outcome::Closed},
		       "READ without RSV");
}

void write_without_stag(Lab &lab)
{
	const ByteVector old = pattern(65536, 610);

	lab.write(Lab::scratch, old);

	auto session = lab.login();
	ByteVector data = pattern(65536, 611);
	ScsiRequest request = write_request(Lab::scratch, data);

	request.hide_stags = true;
	session->start(request);
	expect_outcome(outcome_of(*session), {Outcome::Closed},
		       "WRITE with solicited data without WSV");
	session.reset();
	lab.expect_data(Lab::scratch, old, "data of the LUN");
}

/* ---- EDTL against the CDB: F-09 ------------------------------------------- */

void reads_with_a_residual(Lab &lab)
{
	const ByteVector data = pattern(8192, 620);

	lab.write(Lab::scratch, data);

	auto session = lab.login();
	Guarded large(8192);
	ScsiResult result = session->scsi(
		read_request(Lab::scratch, 4096, large.buffer()));

	expect(result.good() && result.underflow && !result.overflow,
	       "READ of 4096 into 8192 bytes: U is not set");
	expect_equal(result.residual, 4096u, "residual count of the underflow");
	large.expect_exactly(data, 4096, "READ with an underflow");

	Guarded small(512);

	result = session->scsi(read_request(Lab::scratch, 4096,
					    small.buffer()));
	expect(result.good() && result.overflow && !result.underflow,
	       "READ of 4096 into 512 bytes: O is not set");
	expect_equal(result.residual, 3584u, "residual count of the overflow");
	small.expect_exactly(data, 512, "READ with an overflow");
}

/* The core refuses such writes; what must not be is more than both allow. */
void write_with_a_residual(Lab &lab, std::uint32_t edtl, std::uint32_t cdb,
			   std::uint32_t immediate)
{
	const ByteVector old = pattern(131072, 630);

	lab.write(Lab::scratch, old);

	auto session = lab.login();
	ByteVector data = pattern(edtl, 631);
	ScsiRequest request = write_request(Lab::scratch, data);
	std::string what = "WRITE of " + std::to_string(cdb) + " bytes, EDTL " +
			   std::to_string(edtl) + ", " +
			   std::to_string(immediate) + " immediate";
	ByteVector wanted = old;

	request.cdb = write_cdb(Lab::scratch,
				static_cast<std::uint16_t>(cdb / block));
	request.immediate = immediate;

	ScsiResult result = session->scsi(request);

	if (result.good()) {
		expect(result.overflow == (cdb > edtl) &&
		       result.underflow == (cdb < edtl), what + ": U and O");
		std::copy_n(data.begin(), std::min(cdb, edtl), wanted.begin());
	} else {
		expect_equal(result.sense_key(), 5, what + ": sense key");
	}
	expect_equal(result.residual, cdb > edtl ? cdb - edtl : edtl - cdb,
		     what + ": residual count");
	lab.expect_data(Lab::scratch, wanted, what + ": data of the LUN");
	expect_usable(*session);
}

void writes_with_a_residual(Lab &lab)
{
	write_with_a_residual(lab, 1024, 512, 1024);
	write_with_a_residual(lab, 512, 1024, 512);
	write_with_a_residual(lab, 65536, 4096, 0);
	write_with_a_residual(lab, 65536, 4096, 2048);
	write_with_a_residual(lab, 4096, 65536, 0);
}

void immediate_data_beyond_edtl(Lab &lab)
{
	const ByteVector old = pattern(4096, 640);

	lab.write(Lab::scratch, old);

	auto session = lab.login();
	Pdu pdu = command_by_hand(*session, 0xa1, 512,
					  write_cdb(Lab::scratch, 1));

	pdu.data = pattern(4096, 641);
	session->send(pdu);
	expect_outcome(outcome_of(*session),
		       {Outcome::Closed, Outcome::Rejected, Outcome::Failed},
		       "4096 bytes of immediate data, EDTL 512");
	session.reset();

	/* The first block may have been written, not more. */
	ByteVector rest(old.begin() + 512, old.end());

	lab.expect_data(Lab::scratch + 1, rest, "data of the LUN");
}

void immediate_data_with_a_read(Lab &lab)
{
	auto session = lab.login();
	Guarded in(512);
	Pdu pdu = session->make(IscsiOpcode::ScsiCommand);
	auto &command = pdu.head.bhs.as<iser::ScsiCommandPdu>();

	command.flags = 0xc1;
	command.expected_data_transfer_length = 512;
	command.cdb[0] = 0x28;
	command.cdb[8] = 1;
	pdu.data = pattern(512, 642);
	pdu.head.header.opcode_and_flags |=
		iser::ControlHeader::read_stag_valid;

	RegisteredMemory memory = session->connection().register_memory(
		in.buffer(), RawConnection::Access::RemoteWrite);

	pdu.head.header.read_stag = memory.stag();
	pdu.head.header.read_base_offset = memory.base();
	session->send(pdu);
	expect(outcome_of(*session) != Outcome::Silent,
	       "a READ with immediate data got no answer");
}

/* What the CDB says and the flags of the BHS do not. */
void flags_against_the_cdb(Lab &lab)
{
	const ByteVector old = pattern(4096, 643);

	lab.write(Lab::scratch, old);
	for (std::uint8_t flags : {0x81, 0xc1}) {
		auto session = lab.login();
		ByteVector in(4096);
		ScsiRequest request;

		request.cdb = write_cdb(Lab::scratch, 8);
		if (flags & 0x40)
			request.in = in;
		session->start(request);
		expect(outcome_of(*session) != Outcome::Silent,
		       "a WRITE with the flags of something else got no answer");
		session.reset();
		lab.expect_data(Lab::scratch, old, "data of the LUN");
	}

	auto session = lab.login();
	ByteVector out = pattern(4096, 644);
	ScsiRequest request = write_request(Lab::scratch, out);

	request.cdb = read_cdb(Lab::scratch, 8);
	session->start(request);
	expect(outcome_of(*session) != Outcome::Silent,
	       "a READ with the flags of a write got no answer");
	session.reset();
	lab.expect_data(Lab::scratch, old, "data of the LUN");
}

/* ---- sense ------------------------------------------------------------------ */

void sense_data(Lab &lab)
{
	auto session = lab.login();
	ScsiRequest request;

	request.cdb = ByteVector(16);
	request.cdb[0] = 0xc0;

	ScsiResult result = session->scsi(request);

	expect_equal(result.status, 2, "status of an unknown command");
	expect_equal(result.sense_key(), 5, "sense key");
	expect_equal(result.sense_code(), 0x2000, "sense code");
	expect(session->longest_data() <= 128, "sense beyond 128 bytes");

	/* A read that fails: no data, the same order. */
	ByteVector in(512, guard);

	request = read_request(0xffffff00, 512, in);
	result = session->scsi(request);
	expect_equal(result.status, 2, "status of a READ beyond the end");
	expect_equal(result.sense_key(), 5, "sense key");
	expect(std::all_of(in.begin(), in.end(),
			   [](std::uint8_t byte) { return byte == guard; }),
	       "a READ beyond the end gave data");
	expect_usable(*session);
}

void wrong_lun(Lab &lab)
{
	auto session = lab.login();
	ByteVector data(65536);
	ScsiRequest request = write_request(0, data);

	request.lun = 77;

	ScsiResult result = session->scsi(request);

	expect_equal(result.status, 2, "status of a write to LUN 77");
	expect_equal(result.sense_key(), 5, "sense key");
	expect_usable(*session);
}

/* ---- AHS: F-07 ---------------------------------------------------------------- */

/* WRITE SAME (32), the one 32-byte command that LIO carries out. */
ByteVector write_same_32(std::uint32_t lba, std::uint32_t blocks)
{
	ByteVector cdb(32);

	cdb[0] = 0x7f;
	cdb[7] = 24;
	cdb[9] = 0x0d;
	for (int i = 0; i < 4; ++i) {
		cdb[16 + i] = static_cast<std::uint8_t>(lba >> 8 * (3 - i));
		cdb[28 + i] = static_cast<std::uint8_t>(blocks >> 8 * (3 - i));
	}
	return cdb;
}

void long_cdb_with_immediate_data(Lab &lab)
{
	for (std::uint32_t immediate : {512u, 0u, 100u}) {
		auto session = lab.login();
		ByteVector data = pattern(512, 700 + immediate);
		ByteVector in(8192);
		ByteVector wanted;
		ScsiRequest request;

		for (int i = 0; i < 16; ++i)
			wanted.insert(wanted.end(), data.begin(), data.end());
		clear_unit_attention(*session, 1);
		request.lun = 1;
		request.cdb = write_same_32(64, 16);
		request.out = data;
		request.immediate = immediate;
		expect_good(session->scsi(request),
			    "WRITE SAME (32) with " +
			    std::to_string(immediate) + " immediate bytes");
		request = read_request(64, 8192, in);
		request.lun = 1;
		expect_good(session->scsi(request), "read back");
		expect(in == wanted, "WRITE SAME (32) with " +
		       std::to_string(immediate) +
		       " immediate bytes: the data is wrong");
	}
}

/* READ (32) and WRITE (32): LIO knows neither, and says so in sense data. */
void unknown_long_cdbs(Lab &lab)
{
	const ByteVector old = pattern(512, 710);

	lab.write(Lab::scratch, old);

	auto session = lab.login();
	ByteVector in(512, guard);
	ByteVector out = pattern(512, 711);
	ScsiRequest request;

	request.cdb = write_same_32(Lab::scratch, 1);
	request.cdb[9] = 0x09;
	request.in = in;
	expect_equal(session->scsi(request).sense_key(), 5,
		     "sense key of READ (32)");
	request.in = {};
	request.out = out;
	request.cdb[9] = 0x0b;
	expect_equal(session->scsi(request).sense_key(), 5,
		     "sense key of WRITE (32)");
	lab.expect_data(Lab::scratch, old, "data of the LUN");
	expect_usable(*session);
}

/* An AHS that cannot be: refused, and never read as data or as CDB. */
void bad_ahs(Lab &lab)
{
	const ByteVector old = pattern(512, 720);
	const struct {
		const char *what;
		ByteVector ahs;
	} cases[] = {
		{"AHSLength 0", {0, 0, 1, 0}},
		{"AHSLength 1, no CDB", {0, 1, 1, 0}},
		{"AHSLength beyond TotalAHSLength", {0, 17, 1, 0, 0, 0, 0, 0}},
		{"AHSLength 65535", {0xff, 0xff, 1, 0, 0, 0, 0, 0}},
		{"unknown type", {0, 5, 0x3f, 0, 1, 2, 3, 4}},
		{"type 0", {0, 5, 0, 0, 1, 2, 3, 4}},
		{"two extended CDBs",
		 {0, 5, 1, 0, 1, 2, 3, 4, 0, 5, 1, 0, 1, 2, 3, 4}},
		{"half a segment behind the first",
		 {0, 5, 1, 0, 1, 2, 3, 4, 0, 9, 1, 0}},
		{"bidirectional read", {0, 5, 2, 0, 0, 0, 2, 0}},
	};

	lab.write(Lab::scratch, old);
	for (const auto &one : cases) {
		auto session = lab.login();
		ByteVector data = pattern(512, 721);
		ScsiRequest request;

		request.cdb = write_same_32(Lab::scratch, 1);
		request.cdb.resize(16);
		request.out = data;
		request.ahs = one.ahs;
		session->start(request);
		expect_outcome(outcome_of(*session),
			       {Outcome::Closed, Outcome::Rejected,
				Outcome::Failed}, one.what);
		session.reset();
		lab.expect_data(Lab::scratch, old, one.what);
	}
}

/* A variable-length CDB that says it is longer than what came. */
void cdb_longer_than_sent(Lab &lab)
{
	for (std::uint8_t additional : {24, 32, 255}) {
		auto session = lab.login();
		ScsiRequest request;

		request.cdb = write_same_32(Lab::scratch, 1);
		request.cdb[7] = additional;
		request.cdb.resize(16);
		session->start(request);
		expect_outcome(outcome_of(*session),
			       {Outcome::Closed, Outcome::Rejected,
				Outcome::Failed},
			       "CDB of " + std::to_string(additional + 8) +
			       " bytes of which 16 came");
	}
}

void longest_cdb(Lab &lab)
{
	auto session = lab.login();
	ScsiRequest request;

	request.cdb = ByteVector(260);
	request.cdb[0] = 0x7f;
	request.cdb[7] = 252;
	request.cdb[9] = 0x99;
	session->start(request);
	expect_outcome(outcome_of(*session),
		       {Outcome::Rejected, Outcome::Failed}, "CDB of 260 bytes");
	expect_usable(*session);
}

} // namespace

std::vector<Check> data_checks()
{
	return {
		{"data", "reads", "T-002 T-003 T-034 T-036 N-006 reads of 512 B to 1 MiB",
		 reads_of_all_sizes},
		{"data", "no-data", "T-002 reads and writes of no blocks",
		 reads_without_data},
		{"data", "short-read", "T-037 short read: residual and no more",
		 short_reads},
		{"data", "parallel", "T-026 T-035 16 commands at a time",
		 parallel_reads_and_writes},
		{"data", "writes-silent",
		 "T-049 writes, TaggedBufferForSolicitedDataOnly undeclared",
		 writes_silent, silent_base},
		{"data", "writes-yes",
		 "T-049 N-018 writes, TaggedBufferForSolicitedDataOnly=Yes",
		 writes_declaring_yes, rfc7145_only},
		{"data", "writes-no",
		 "T-049 N-018 writes, TaggedBufferForSolicitedDataOnly=No",
		 writes_declaring_no, rfc7145_only},
		{"data", "odd-immediate",
		 "F-42 immediate data of odd lengths, the rest by RDMA Read",
		 odd_immediate_data},
		{"data", "odd-data-out",
		 "T-033 Data-Out of 513 bytes and other odd lengths",
		 odd_data_out},
		{"data", "several-data-outs",
		 "T-033 eight writes with Data-Out at a time",
		 several_writes_with_data_out},
		{"data", "sixteen-mebibytes",
		 "F-29 16 MiB in one write and in one read",
		 sixteen_mebibytes},
		{"data", "sense", "T-027 sense data", sense_data},
		{"data", "wrong-lun", "a write to a LUN that is not there",
		 wrong_lun},
		{"residual", "read-residual",
		 "F-09 reads, EDTL above and below the CDB's length",
		 reads_with_a_residual},
		{"residual", "write-residual",
		 "F-09 writes, EDTL above and below the CDB's length",
		 writes_with_a_residual},
		{"residual", "immediate-beyond-edtl",
		 "F-09 immediate data beyond EDTL",
		 immediate_data_beyond_edtl},
		{"residual", "immediate-read", "immediate data with a READ",
		 immediate_data_with_a_read},
		{"residual", "flags", "R and W that contradict the CDB",
		 flags_against_the_cdb},
		{"residual", "no-rsv", "OQ-15 READ without a Read STag",
		 read_without_stag},
		{"residual", "no-wsv",
		 "OQ-15 WRITE with solicited data without a Write STag",
		 write_without_stag},
		{"ahs", "long-cdb",
		 "F-07 WRITE SAME (32) with immediate data",
		 long_cdb_with_immediate_data},
		{"ahs", "unknown-long-cdb",
		 "F-07 READ (32) and WRITE (32): sense data",
		 unknown_long_cdbs},
		{"ahs", "bad-ahs", "F-07 AHS of impossible lengths and types",
		 bad_ahs},
		{"ahs", "long-cdb-short",
		 "F-07 CDB longer than what was sent", cdb_longer_than_sent},
		{"ahs", "longest-cdb", "F-07 CDB of 260 bytes", longest_cdb},
	};
}

} // namespace iserverify
