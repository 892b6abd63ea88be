// SPDX-License-Identifier: GPL-2.0
#include "transfer.h"

#include <algorithm>

namespace iserverify {

Guarded::Guarded(std::size_t bytes)
	: memory(bytes + 2 * guard_size, guard), size(bytes)
{
}

std::span<std::uint8_t> Guarded::buffer()
{
	return std::span(memory).subspan(guard_size, size);
}

void Guarded::expect_exactly(const ByteVector &data, std::size_t length,
			     const std::string &what) const
{
	auto start = memory.begin() + guard_size;
	auto is_guard = [](std::uint8_t byte) { return byte == guard; };

	expect(std::equal(data.begin(), data.begin() + length, start),
	       what + ": the data is wrong");
	expect(std::all_of(memory.begin(), start, is_guard) &&
	       std::all_of(start + length, memory.end(), is_guard),
	       what + ": bytes outside the data were written");
}

ScsiRequest read_request(std::uint32_t lba, std::uint32_t bytes,
			 std::span<std::uint8_t> in)
{
	ScsiRequest request;

	request.cdb = read_cdb(lba, static_cast<std::uint16_t>(bytes / block));
	request.in = in;
	return request;
}

ScsiRequest write_request(std::uint32_t lba, std::span<std::uint8_t> out)
{
	ScsiRequest request;

	request.cdb = write_cdb(lba,
				static_cast<std::uint16_t>(out.size() / block));
	request.out = out;
	return request;
}

void expect_good(const ScsiResult &result, const std::string &what)
{
	expect(result.good(), what + ": status " +
	       std::to_string(result.status) + ", sense " +
	       std::to_string(result.sense_key()) + "/" +
	       std::to_string(result.sense_code()));
	expect(!result.overflow && !result.underflow && !result.residual,
	       what + ": a residual of " + std::to_string(result.residual));
}

Pdu make_data_out(Session::Tag tag, const ByteVector &data, std::size_t offset,
		  std::size_t bytes, std::uint32_t data_sn, bool final)
{
	Pdu pdu(IscsiOpcode::DataOut);
	auto &data_out = pdu.head.bhs.as<iser::DataOutPdu>();

	data_out.flags = final ? iser::Bhs::final_bit : 0;
	data_out.itt = tag;
	data_out.ttt = iser::reserved_tag;
	data_out.data_sn = data_sn;
	data_out.buffer_offset = static_cast<u32>(offset);
	pdu.data.assign(data.begin() + offset, data.begin() + offset + bytes);
	return pdu;
}

void advertise_read(Pdu &pdu, const RegisteredMemory &memory)
{
	iser::ControlHeader &header = pdu.head.header;

	header.opcode_and_flags |= iser::ControlHeader::read_stag_valid;
	header.read_stag = memory.stag();
	header.read_base_offset = memory.base();
}

void advertise_write(Pdu &pdu, const RegisteredMemory &memory)
{
	iser::ControlHeader &header = pdu.head.header;

	header.opcode_and_flags |= iser::ControlHeader::write_stag_valid;
	header.write_stag = memory.stag();
	header.write_base_offset = memory.base();
}

} // namespace iserverify
