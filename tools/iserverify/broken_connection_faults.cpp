// SPDX-License-Identifier: GPL-2.0
/* Connections, messages as a whole, the iSER header, Hello. */
#include "broken_faults.h"
#include "broken_parts.h"

namespace iserverify {

namespace {

When hello() { return iser_opcode(2); }
When hello_reply() { return iser_opcode(3); }

bool has_reserved_bits(const Pdu &pdu)
{
	const iser::ControlHeader &header = pdu.head.header;
	const u8 known = 0xf0 | iser::ControlHeader::write_stag_valid |
			 iser::ControlHeader::read_stag_valid;

	return header.opcode_and_flags & ~known || header.reserved[0];
}

/* Only commands advertise (RFC 7145 9.2). */
bool advertises_for_no_command(const Pdu &pdu)
{
	return pdu.opcode() != IscsiOpcode::ScsiCommand &&
	       pdu.head.header.opcode_and_flags &
		       (iser::ControlHeader::write_stag_valid |
			iser::ControlHeader::read_stag_valid);
}

/* A write of the first block of its data, all of it immediate. */
void fit_one_block(Pdu &pdu)
{
	auto &command = pdu.head.bhs.as<iser::ScsiCommandPdu>();

	pdu.data.resize(block);
	command.expected_data_transfer_length = block;
	command.cdb[7] = 0;
	command.cdb[8] = 1;
}

/* Its lengths become those of what it has all the same. */
void leave_alone(Pdu &)
{
}

/* Of a Hello or HelloReply (RFC 7145 9.3, 9.4). */
Edit byte_is(std::size_t at, std::uint8_t value)
{
	return [=](ByteVector &bytes) { bytes.at(at) = value; };
}

/* Those of IBTA Annex A12 are four bytes. */
bool usual_private_data(const ConnectOptions &options)
{
	return options.private_data.size() == 4;
}

Breakage private_data_is(ByteVector wrong)
{
	return {.private_data = [=](ByteVector &data) { data = wrong; }};
}

const std::vector<Fault> faults = {
	{"never-hangs-up", "ends no connection, whatever comes",
	 []() -> Breakages { return {never_hangs_up()}; }},
	{"wears-out", "takes no more than a few connections, one for life",
	 []() -> Breakages { return {refuses_connections_after(5)}; }},
	{"dies-with-a-connection", "takes one connection, and none after it",
	 []() -> Breakages { return {refuses_connections_after(1)}; }},
	{"dies-of-stray-data",
	 "takes no connection any more when data came behind the last Data-Out",
	 []() -> Breakages {
		 return {dies_of(both(from_the_first(both(data_outs(), final()),
						     false), data_outs()))};
	 }},
	{"dies-of-many-pings",
	 "takes no connection any more when 100 immediate PDUs came",
	 []() -> Breakages {
		 return {dies_of(beyond(100, both(nop_outs(), immediate())))};
	 }},
	{"minds-private-data", "refuses private data that is not 4 bytes long",
	 []() -> Breakages { return {{.accepts = usual_private_data}}; }},
	{"takes-zero-based-offsets", "says that it can take zero-based offsets",
	 []() -> Breakages { return {private_data_is({0x40, 0, 0, 0})}; }},
	{"private-data-reserved", "sets a reserved bit of its private data",
	 []() -> Breakages { return {private_data_is({0xc1, 0, 0, 0})}; }},
	{"wants-many-reads", "asks for 128 RDMA Reads at a time, "
			     "however few are allowed",
	 []() -> Breakages { return {{.initiator_depth = 128}}; }},

	/* Lengths. */
	{"ignores-short-messages", "passes over messages without a whole BHS",
	 []() -> Breakages { return {ignores(shorter_than(76))}; }},
	{"completes-short-messages",
	 "reads what lies behind a message that is too short",
	 []() -> Breakages {
		 return {takes_bytes(shorter_than(76), [](ByteVector &bytes) {
			 bytes.resize(76);
		 })};
	 }},
	{"ignores-lies", "passes over PDUs that claim more than they have",
	 []() -> Breakages { return {ignores(lies())}; }},
	{"corrects-lies", "takes what came for all that was claimed",
	 []() -> Breakages { return {takes(lies(), leave_alone)}; }},
	{"writes-one-block",
	 "writes one block of a command whose lengths contradict each other",
	 []() -> Breakages { return {takes(commands(), fit_one_block)}; }},
	{"writes-all-the-same",
	 "writes to the LUN what it refuses",
	 []() -> Breakages {
		 return {spoils(is({IscsiOpcode::ScsiCommand,
				    IscsiOpcode::DataOut}),
				Lab::scratch, 16)};
	 }},

	/* The iSER header. */
	{"ignores-iser-opcodes",
	 "passes over messages whose first nibble is not 1",
	 []() -> Breakages { return {ignores(is_not(iser_opcode(1)))}; }},
	{"minds-reserved-bits",
	 "ends the connection over a reserved bit of the iSER header",
	 []() -> Breakages { return {hangs_up_on(pdu(has_reserved_bits))}; }},
	{"ignores-solicited-events", "passes over a Send with Solicited Event",
	 []() -> Breakages { return {ignores(with_solicited_event())}; }},
	{"ignores-stags-of-no-command",
	 "passes over PDUs that advertise and are no commands",
	 []() -> Breakages {
		 return {ignores(pdu(advertises_for_no_command))};
	 }},

	/* Hello. */
	{"ignores-hello", "passes over a Hello",
	 []() -> Breakages { return {ignores(hello())}; }},
	{"withholds-hello-reply", "answers no Hello",
	 []() -> Breakages { return {withholds(hello_reply())}; }},
	{"hello-reply-of-12-bytes", "sends the HelloReply of RFC 5046",
	 []() -> Breakages {
		 return {sends_bytes(hello_reply(), [](ByteVector &bytes) {
			 bytes.resize(12);
		 })};
	 }},
	{"hello-reply-reserved", "sets a reserved bit of the HelloReply",
	 []() -> Breakages {
		 return {sends_bytes(hello_reply(), byte_is(27, 1))};
	 }},
	{"hello-reply-version", "answers with version 1 of iSER",
	 []() -> Breakages {
		 return {sends_bytes(hello_reply(), byte_is(1, 0x11))};
	 }},
	{"hello-never-rejects", "has REJ clear in every HelloReply",
	 []() -> Breakages {
		 return {sends_bytes(hello_reply(), byte_is(0, 0x30))};
	 }},
	{"hello-always-rejects", "has REJ set in every HelloReply",
	 []() -> Breakages {
		 return {sends_bytes(hello_reply(), byte_is(0, 0x31))};
	 }},
	{"ord-of-16", "answers iSER-ORD 16, whatever the IRD",
	 []() -> Breakages {
		 return {sends_bytes(hello_reply(), byte_is(3, 16))};
	 }},
	{"ord-of-1", "answers iSER-ORD 1, whatever the IRD",
	 []() -> Breakages {
		 return {sends_bytes(hello_reply(), byte_is(3, 1))};
	 }},
	{"hello-any-version", "agrees to whatever versions a Hello has",
	 []() -> Breakages {
		 return {takes_bytes(hello(), byte_is(1, 0xaa))};
	 }},
};

} // namespace

std::vector<Fault> connection_faults()
{
	return faults;
}

} // namespace iserverify
