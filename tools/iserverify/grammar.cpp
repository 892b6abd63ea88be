// SPDX-License-Identifier: GPL-2.0
#include "grammar.h"

#include <algorithm>
#include <cstring>

#include "lab.h"

namespace iserverify {

namespace {

using Fields = std::vector<Field>;

/* RFC 7145 9.2, and what all BHS have in common (RFC 7143 11.2.1). */
const Fields common = {
	{"iSER opcode and flags", 0, 1, Meaning::Flags},
	{"iSER reserved", 1, 3, Meaning::Reserved},
	{"Write STag", 4, 4, Meaning::Stag},
	{"Write Base Offset", 8, 8, Meaning::Offset},
	{"Read STag", 16, 4, Meaning::Stag},
	{"Read Base Offset", 20, 8, Meaning::Offset},
	{"opcode", 28, 1, Meaning::Opcode},
	{"flags", 29, 1, Meaning::Flags},
	{"bytes 2 and 3", 30, 2, Meaning::Reserved},
	{"TotalAHSLength", 32, 1, Meaning::Length},
	{"DataSegmentLength", 33, 3, Meaning::Length},
	{"LUN", 36, 8, Meaning::Lun},
	{"ITT", 44, 4, Meaning::Tag},
	{"CmdSN", 52, 4, Meaning::Sequence},
	{"ExpStatSN", 56, 4, Meaning::Sequence},
};

Fields with(std::initializer_list<Field> more)
{
	Fields fields = common;

	fields.insert(fields.end(), more);
	return fields;
}

/* RFC 7143 11.3, 11.5, 11.7, 11.10, 11.12, 11.14, 11.16, 11.18 */
const Fields command = with({
	{"EDTL", 48, 4, Meaning::Length},
	{"CDB", 60, 16, Meaning::Cdb},
});
const Fields task_management = with({
	{"Referenced Task Tag", 48, 4, Meaning::Tag},
	{"RefCmdSN", 60, 4, Meaning::Sequence},
	{"ExpDataSN", 64, 4, Meaning::Sequence},
});
const Fields with_target_tag = with({
	{"TTT", 48, 4, Meaning::Tag},
	{"bytes 32 to 47", 60, 16, Meaning::Reserved},
});
const Fields data_out = with({
	{"TTT", 48, 4, Meaning::Tag},
	{"DataSN", 64, 4, Meaning::Sequence},
	{"Buffer Offset", 68, 4, Meaning::Length},
});
const Fields logout = with({
	{"CID", 48, 2, Meaning::Number},
	{"bytes 32 to 47", 60, 16, Meaning::Reserved},
});
const Fields snack = with({
	{"TTT", 48, 4, Meaning::Tag},
	{"BegRun", 64, 4, Meaning::Sequence},
	{"RunLength", 68, 4, Meaning::Length},
});
const Fields login = with({
	{"Version-max", 30, 1, Meaning::Number},
	{"Version-min", 31, 1, Meaning::Number},
	{"ISID", 36, 6, Meaning::Number},
	{"TSIH", 42, 2, Meaning::Number},
	{"CID", 48, 2, Meaning::Number},
	{"bytes 32 to 47", 60, 16, Meaning::Reserved},
});
/* RFC 7145 9.3 */
const Fields hello = {
	{"iSER opcode and flags", 0, 1, Meaning::Flags},
	{"MaxVer and MinVer", 1, 1, Meaning::Number},
	{"iSER-IRD", 2, 2, Meaning::Number},
	{"reserved", 4, 24, Meaning::Reserved},
};

struct Type {
	PduKind kind;
	const char *name;
	const Fields &fields;
};

const Type types[] = {
	{PduKind::NopOut, "NOP-Out", with_target_tag},
	{PduKind::Read, "SCSI Command", command},
	{PduKind::Write, "SCSI Command (write)", command},
	{PduKind::TaskManagement, "Task Management Request", task_management},
	{PduKind::Login, "Login Request", login},
	{PduKind::Text, "Text Request", with_target_tag},
	{PduKind::DataOut, "Data-Out", data_out},
	{PduKind::Logout, "Logout Request", logout},
	{PduKind::Snack, "SNACK Request", snack},
	{PduKind::Hello, "Hello", hello},
};

const Type &type_of(PduKind kind)
{
	return *std::find_if(std::begin(types), std::end(types),
			     [&](const Type &type) {
				     return type.kind == kind;
			     });
}

Pdu request(IscsiOpcode opcode, Surroundings &around, bool immediate)
{
	Pdu pdu(opcode, immediate);
	libiser::RequestPdu &head = pdu.request();

	head.flags = iser::Bhs::final_bit;
	head.itt = around.itt++;
	head.specific_20 = iser::reserved_tag;
	head.cmd_sn = immediate ? around.cmd_sn : around.cmd_sn++;
	head.exp_stat_sn = around.exp_stat_sn;
	around.tags.push_back(head.itt);
	return pdu;
}

/* ---- commands ------------------------------------------------------------ */

/* Commands that only read, and how many bytes they may return. */
struct ReadingCommand {
	std::uint8_t cdb[16];
	std::uint32_t bytes;
};

const ReadingCommand reading_commands[] = {
	{{0x00}, 0},					     /* TEST UNIT READY */
	{{0x03, 0, 0, 0, 252}, 252},			     /* REQUEST SENSE */
	{{0x12, 0, 0, 0, 36}, 36},			     /* INQUIRY */
	{{0x12, 1, 0x83, 4, 0}, 1024},			     /* its page 0x83 */
	{{0x12, 1, 0xb0, 0, 64}, 64},			     /* its page 0xb0 */
	{{0x1a, 0, 0x3f, 0, 192}, 192},			     /* MODE SENSE(6) */
	{{0x25}, 8},					     /* READ CAPACITY */
	{{0x5a, 0, 0x3f, 0, 0, 0, 0, 1, 0}, 256},	     /* MODE SENSE(10) */
	{{0x5e, 0, 0, 0, 0, 0, 0, 0, 8}, 8},		     /* PR IN */
	{{0x9e, 0x10, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 32}, 32},
	{{0xa0, 0, 0, 0, 0, 0, 0, 0, 4, 0}, 1024},	     /* REPORT LUNS */
	{{0xa3, 0x0a, 0, 0, 0, 0, 0, 0, 0, 64}, 64},	     /* REPORT TPG */
	{{0x35}, 0},					     /* SYNCHRONIZE */
};

void put_be(std::uint8_t *to, std::uint64_t value, unsigned size)
{
	for (unsigned i = 0; i < size; ++i)
		to[i] = static_cast<std::uint8_t>(value >> 8 * (size - 1 - i));
}

/* The same range as a CDB of 10, 12 or 16 bytes (SBC-3 5). */
ByteVector media_cdb(std::uint8_t operation, std::uint32_t lba,
		     std::uint32_t blocks)
{
	ByteVector cdb(16);

	cdb[0] = operation;
	switch (operation >> 5) {
	case 4:
		put_be(&cdb[2], lba, 8);
		put_be(&cdb[10], blocks, 4);
		break;
	case 5:
		put_be(&cdb[2], lba, 4);
		put_be(&cdb[6], blocks, 4);
		break;
	default:
		put_be(&cdb[2], lba, 4);
		put_be(&cdb[7], blocks, 2);
	}
	return cdb;
}

void advertise_read(Pdu &pdu, const Surroundings &around)
{
	pdu.head.header.opcode_and_flags |=
		iser::ControlHeader::read_stag_valid;
	pdu.head.header.read_stag = around.read_stag;
	pdu.head.header.read_base_offset = around.read_base;
}

Pdu make_read(Surroundings &around, Random &random)
{
	Pdu pdu = request(IscsiOpcode::ScsiCommand, around,
			  random.chance(10));
	auto &scsi = pdu.head.bhs.as<iser::ScsiCommandPdu>();
	std::uint32_t bytes = 0;

	if (random.chance(50)) {
		const std::uint8_t operations[] = {0x28, 0x88, 0xa8};
		const std::uint32_t blocks =
			random.between(1, around.buffer_size / block);
		const ByteVector cdb = media_cdb(random.pick(operations),
						 random.below(1024), blocks);

		std::copy(cdb.begin(), cdb.end(), scsi.cdb);
		bytes = blocks * block;
	} else {
		const ReadingCommand &one = random.pick(reading_commands);

		std::copy(std::begin(one.cdb), std::end(one.cdb), scsi.cdb);
		bytes = one.bytes;
	}
	pdu.set_lun(around.lun);
	scsi.flags = static_cast<u8>(0x80 | random.below(5));
	scsi.expected_data_transfer_length = bytes;
	if (bytes) {
		scsi.flags |= iser::ScsiCommandPdu::read_bit;
		advertise_read(pdu, around);
	}
	return pdu;
}

Pdu make_write(Surroundings &around, Random &random)
{
	if (!around.may_write)
		return make_read(around, random);

	Pdu pdu = request(IscsiOpcode::ScsiCommand, around, false);
	auto &scsi = pdu.head.bhs.as<iser::ScsiCommandPdu>();
	const std::uint8_t operations[] = {0x2a, 0x8a, 0xaa};
	const std::uint32_t blocks =
		random.between(1, around.buffer_size / block);
	const std::uint32_t bytes = blocks * block;
	const ByteVector cdb = media_cdb(
		random.pick(operations),
		around.first_block + random.below(around.blocks - blocks),
		blocks);
	const std::uint32_t immediate = random.chance(50) ? 0 :
		std::min({bytes, around.data_segment, random.below(8193)});

	std::copy(cdb.begin(), cdb.end(), scsi.cdb);
	pdu.set_lun(around.lun);
	scsi.flags = 0xa1;
	/* Data-Outs follow, or ought to. */
	if (!around.initial_r2t && random.chance(50))
		scsi.flags = 0x21;
	scsi.expected_data_transfer_length = bytes;
	pdu.data = pattern(immediate, random.below(1000));
	pdu.head.header.opcode_and_flags |=
		iser::ControlHeader::write_stag_valid;
	pdu.head.header.write_stag = around.write_stag;
	pdu.head.header.write_base_offset = around.write_base;
	return pdu;
}

/* ---- the others ----------------------------------------------------------- */

std::uint32_t some_tag(const Surroundings &around, Random &random)
{
	return around.tags.empty() ? iser::reserved_tag :
				     random.pick(around.tags);
}

Pdu make_nop_out(Surroundings &around, Random &random)
{
	Pdu pdu = request(IscsiOpcode::NopOut, around, random.chance(70));

	pdu.data = pattern(random.below(129), random.below(1000));
	return pdu;
}

Pdu make_task_management(Surroundings &around, Random &random)
{
	const std::uint8_t functions[] = {1, 1, 1, 2, 3, 4, 5, 8};
	const std::uint32_t tag = some_tag(around, random);
	Pdu pdu = request(IscsiOpcode::TaskManagementRequest, around,
			  random.chance(80));
	const std::uint8_t function = random.pick(functions);

	pdu.set_lun(around.lun);
	pdu.request().flags = static_cast<u8>(0x80 | function);
	if (function == 1 || function == 8)
		pdu.request().specific_20 = tag;
	pdu.request().ref_cmd_sn = around.cmd_sn - 1;
	return pdu;
}

Pdu make_text(Surroundings &around, Random &random)
{
	const libiser::TextKeys texts[] = {
		{{"SendTargets", ""}},
		{{"SendTargets", "All"}},
		{{"X-org.lio-iser.test", "1"}},
		{{"SendTargets", "iqn.2003-01.org.lio-iser:nobody"}},
	};
	Pdu pdu = request(IscsiOpcode::TextRequest, around, random.chance(30));

	pdu.data = to_text(random.pick(texts));
	return pdu;
}

Pdu make_data_out(Surroundings &around, Random &random)
{
	Pdu pdu(IscsiOpcode::DataOut);
	auto &data = pdu.head.bhs.as<iser::DataOutPdu>();

	data.flags = random.chance(50) ? iser::Bhs::final_bit : 0;
	data.itt = some_tag(around, random);
	data.ttt = iser::reserved_tag;
	data.exp_stat_sn = around.exp_stat_sn;
	data.data_sn = random.below(3);
	data.buffer_offset = random.below(4) * block;
	pdu.set_lun(around.lun);
	pdu.data = pattern(random.between(1, 4) * block, random.below(1000));
	return pdu;
}

Pdu make_logout(Surroundings &around, Random &random)
{
	Pdu pdu = request(IscsiOpcode::LogoutRequest, around,
			  random.chance(30));

	pdu.request().flags = static_cast<u8>(0x80 | random.below(3));
	pdu.request().specific_20 = 1u << 16;
	return pdu;
}

Pdu make_snack(Surroundings &around, Random &random)
{
	Pdu pdu = request(IscsiOpcode::SnackRequest, around, true);

	pdu.request().opcode_and_immediate = 0x10;
	pdu.request().flags = static_cast<u8>(0x80 | random.below(4));
	pdu.request().cmd_sn = 0;
	return pdu;
}

Pdu make_login(Surroundings &around, Random &random)
{
	Pdu pdu = request(IscsiOpcode::LoginRequest, around, true);

	pdu.request().flags = static_cast<u8>(
		random.chance(50) ? 0x87 : 0x04);
	pdu.request().specific_20 = 1u << 16;
	return pdu;
}

using Maker = Pdu (*)(Surroundings &around, Random &random);

/* In the order of PduKind; Hello is no PDU. */
constexpr Maker makers[] = {
	make_nop_out, make_read, make_write, make_task_management, make_login,
	make_text, make_data_out, make_logout, make_snack,
};

Message make_hello(Random &random)
{
	Message message;

	message.name = name_of(PduKind::Hello);
	message.fields = &fields_of(PduKind::Hello);
	message.bytes = {0x20, 0xaa, 0, static_cast<std::uint8_t>(
					   random.between(1, 16))};
	message.bytes.resize(sizeof(iser::ControlHeader));
	return message;
}

} // namespace

std::uint64_t Message::value(const Field &field) const
{
	std::uint64_t result = 0;

	for (std::size_t i = field.at;
	     i < field.at + std::min<std::size_t>(field.size, 8); ++i)
		result = result << 8 | (i < bytes.size() ? bytes[i] : 0);
	return result;
}

void Message::set_value(const Field &field, std::uint64_t value)
{
	const std::size_t size = std::min<std::size_t>(field.size, 8);

	for (std::size_t i = 0; i < size; ++i)
		if (field.at + i < bytes.size())
			bytes[field.at + i] = static_cast<std::uint8_t>(
				value >> 8 * (size - 1 - i));
}

const std::vector<Field> &fields_of(PduKind kind)
{
	return type_of(kind).fields;
}

const char *name_of(PduKind kind)
{
	return type_of(kind).name;
}

Message to_message(PduKind kind, const Pdu &pdu)
{
	Message message;

	message.name = name_of(kind);
	message.fields = &fields_of(kind);
	message.bytes = pdu.bytes();
	return message;
}

Message legal_message(PduKind kind, Surroundings &surroundings,
		      Random &random)
{
	if (kind == PduKind::Hello)
		return make_hello(random);

	const Maker maker = makers[static_cast<std::size_t>(kind)];
	Message message = to_message(kind, maker(surroundings, random));

	message.final = kind == PduKind::Logout;
	return message;
}

} // namespace iserverify
