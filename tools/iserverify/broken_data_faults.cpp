// SPDX-License-Identifier: GPL-2.0
/* SCSI Commands, their data and their SCSI Responses; STags. */
#include <algorithm>
#include <utility>

#include "broken_faults.h"
#include "broken_parts.h"

namespace iserverify {

namespace {

using iser::ControlHeader;
using iser::DataOutPdu;
using iser::ScsiCommandPdu;

void flip_first_of_memory(std::span<std::uint8_t> memory)
{
	memory.front() ^= 0xff;
}

void flip_last_of_memory(std::span<std::uint8_t> memory)
{
	memory.back() ^= 0xff;
}

/* Each read gets what the one before it should have got. */
Breakage places_data_of_the_read_before()
{
	return places([last = std::make_shared<ByteVector>()](
			      std::span<std::uint8_t> memory) {
		const ByteVector now(memory.begin(), memory.end());

		std::copy_n(last->begin(), std::min(last->size(), now.size()),
			    memory.begin());
		*last = now;
	});
}

When last_data_outs() { return both(data_outs(), final()); }

When reads()
{
	return both(commands(), has<ScsiCommandPdu>([](auto &command) {
		return command.read();
	}));
}

When writes()
{
	return both(commands(), has<ScsiCommandPdu>([](auto &command) {
		return command.write();
	}));
}

/* All of its data is there already. */
bool advertises_needlessly(const Pdu &pdu)
{
	return pdu.opcode() == IscsiOpcode::ScsiCommand &&
	       pdu.head.header.opcode_and_flags &
		       ControlHeader::write_stag_valid &&
	       pdu.data.size() ==
		       pdu.head.bhs.as<ScsiCommandPdu>()
			       .expected_data_transfer_length;
}

/* As a target that maps pages, and forgets where in the first one it is. */
Change base_in_pages(iser::Be64 ControlHeader::*base)
{
	return [=](Pdu &pdu) {
		iser::Be64 &offset = pdu.head.header.*base;

		offset = offset & ~std::uint64_t{4095};
	};
}

/* By the number of those that came since the last one with F. */
Breakage counts_data_outs_itself()
{
	return takes(data_outs(), [next = std::make_shared<std::uint32_t>(0)](
					  Pdu &pdu) {
		pdu.head.bhs.as<DataOutPdu>().data_sn = (*next)++;
		if (pdu.head.bhs.final())
			*next = 0;
	});
}

/* The next READ has a wrong byte, as if from the Data-Out. */
Breakage reads_a_data_out()
{
	const auto came = std::make_shared<bool>(false);
	const When when = data_outs();

	return {.to_target = [=](BrokenConnection &connection,
				 Message &message) {
			*came = *came || when(connection, message);
			return !when(connection, message);
		},
		.placed = [=](std::span<std::uint8_t> memory) {
			if (std::exchange(*came, false))
				flip_first_of_memory(memory);
		}};
}

const std::vector<Fault> faults = {
	/* Commands. */
	{"answers-slowly", "takes six seconds for each SCSI Command",
	 []() -> Breakages {
		 return {delays(scsi_responses(), Milliseconds(6000))};
	 }},
	{"ignores-commands", "answers no SCSI Command",
	 []() -> Breakages { return {ignores(commands())}; }},
	{"ignores-immediate-commands", "answers no immediate SCSI Command",
	 []() -> Breakages {
		 return {ignores(both(commands(), immediate()))};
	 }},
	{"reads-wait-for-writes", "answers no READ behind a WRITE",
	 []() -> Breakages {
		 return {ignores(both(from_the_first(writes(), true),
				      reads()))};
	 }},
	{"all-commands-succeed", "answers GOOD and does nothing",
	 []() -> Breakages {
		 return {succeeds(commands(), IscsiOpcode::ScsiResponse)};
	 }},
	{"hangs-up-on-commands", "ends the connection on a SCSI Command",
	 []() -> Breakages { return {hangs_up_on(commands())}; }},

	/* SCSI Responses. */
	{"fails-commands", "reports CHECK CONDITION for what succeeded",
	 []() -> Breakages {
		 return {sends(scsi_responses(), status_is(2))};
	 }},
	{"good-status", "reports GOOD for what failed",
	 []() -> Breakages {
		 return {sends(scsi_responses(), status_is(0)),
			 sends(scsi_responses(), data_is({}))};
	 }},
	{"wrong-sense-key", "reports HARDWARE ERROR for what failed",
	 []() -> Breakages {
		 return {sends(scsi_responses(), sense_key_is(4))};
	 }},
	{"long-sense", "sends a data segment of 252 bytes with sense",
	 []() -> Breakages {
		 return {sends(scsi_responses(), data_of_size(252))};
	 }},
	{"no-residual-count", "leaves the Residual Count at 0",
	 []() -> Breakages {
		 return {sends(scsi_responses(), residual_is(0))};
	 }},
	{"no-residual-flags", "sets neither O nor U",
	 []() -> Breakages {
		 return {sends(scsi_responses(),
			       flags_without(ResponsePdu::overflow_bit |
					     ResponsePdu::underflow_bit))};
	 }},
	{"always-a-residual", "reports a residual of 512 bytes with every command",
	 []() -> Breakages {
		 return {sends(scsi_responses(), residual_is(512))};
	 }},
	{"two-responses", "sends each SCSI Response twice",
	 []() -> Breakages { return {doubles(scsi_responses())}; }},
	{"sends-data-in", "sends a Data-In PDU besides the SCSI Response",
	 []() -> Breakages {
		 return {sends_behind(scsi_responses(),
				       static_cast<IscsiOpcode>(0x25))};
	 }},
	{"responses-that-invalidate",
	 "sends SCSI Responses by Send with Invalidate",
	 []() -> Breakages { return {invalidates(scsi_responses())}; }},

	/* Read data. */
	{"wrong-read-data", "places one wrong byte of read data",
	 []() -> Breakages { return {places(flip_first_of_memory)}; }},
	{"places-too-much", "writes to the last byte of every read buffer",
	 []() -> Breakages { return {places(flip_last_of_memory)}; }},
	{"mixes-reads-up", "gives a read the data of the one before it",
	 []() -> Breakages { return {places_data_of_the_read_before()}; }},
	{"data-behind-the-response",
	 "writes zeros to read buffers when it has sent the SCSI Response",
	 []() -> Breakages { return {places_late()}; }},
	{"reads-into-pages", "takes base offsets of read buffers for multiples "
			     "of 4096",
	 []() -> Breakages {
		 return {takes(reads(), base_in_pages(
				 &ControlHeader::read_base_offset))};
	 }},

	/* Write data. */
	{"reads-from-the-wrong-offset",
	 "fetches write data from one byte too far on",
	 []() -> Breakages { return {fetches(shift)}; }},
	{"writes-from-pages", "takes base offsets of write buffers for "
			      "multiples of 4096",
	 []() -> Breakages {
		 return {takes(writes(), base_in_pages(
				 &ControlHeader::write_base_offset))};
	 }},
	{"fetches-needlessly",
	 "fetches data that came with the command, from a wrong STag",
	 []() -> Breakages {
		 return {hangs_up_on(pdu(advertises_needlessly))};
	 }},
	{"immediate-data-shifted",
	 "takes immediate data from one byte too far on",
	 []() -> Breakages { return {takes(commands(), data_shifted())}; }},
	{"minds-much-immediate-data",
	 "ends the connection on more than 2048 bytes of immediate data",
	 []() -> Breakages {
		 return {hangs_up_on(both(commands(), more_data_than(2048)))};
	 }},
	{"data-out-shifted", "takes the data of a Data-Out from one byte too "
			     "far on",
	 []() -> Breakages {
		 return {takes(data_outs(), data_shifted())};
	 }},
	{"loses-the-ahs", "looks at the first 16 bytes of a CDB only",
	 []() -> Breakages { return {takes(commands(), without_ahs())}; }},
	{"ignores-data-out", "passes over each Data-Out",
	 []() -> Breakages { return {ignores(data_outs())}; }},
	{"hangs-up-on-data-out", "ends the connection on a Data-Out",
	 []() -> Breakages {
		 return {hangs_up_on(data_outs())};
	 }},
	{"deaf-behind-a-data-out", "hears nothing more behind a Data-Out",
	 []() -> Breakages {
		 return {ignores(from_the_first(data_outs(),
						true))};
	 }},
	{"loses-data-outs", "has no room for more than 7 Data-Outs",
	 []() -> Breakages { return {ignores(beyond(7, data_outs()))}; }},
	{"counts-data-outs-itself", "does not look at DataSN",
	 []() -> Breakages { return {counts_data_outs_itself()}; }},
	{"completes-every-write",
	 "answers GOOD to the last Data-Out, whatever came before it",
	 []() -> Breakages {
		 return {succeeds(last_data_outs(),
				  IscsiOpcode::ScsiResponse)};
	 }},
	{"reads-a-data-out", "puts a Data-Out into the data of a READ",
	 []() -> Breakages {
		 return {reads_a_data_out()};
	 }},
	{"writes-stray-data", "writes the data of a Data-Out without a write",
	 []() -> Breakages {
		 return {spoils(data_outs(), Lab::scratch, 1),
			 loses(data_outs())};
	 }},
};

} // namespace

std::vector<Fault> data_faults()
{
	return faults;
}

} // namespace iserverify
