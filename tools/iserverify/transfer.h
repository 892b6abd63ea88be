// SPDX-License-Identifier: GPL-2.0
#pragma once

#include "lab.h"

namespace iserverify {

inline constexpr std::uint8_t guard = 0xa5;
inline constexpr std::size_t guard_size = 4096;

/* A buffer for read data with guard bytes on both sides of it. */
struct Guarded {
	ByteVector memory;
	std::size_t size;

	explicit Guarded(std::size_t bytes);
	std::span<std::uint8_t> buffer();
	/* @length bytes of @data and nothing else were written. */
	void expect_exactly(const ByteVector &data, std::size_t length,
			    const std::string &what) const;
};

ScsiRequest read_request(std::uint32_t lba, std::uint32_t bytes,
			 std::span<std::uint8_t> in);
ScsiRequest write_request(std::uint32_t lba, std::span<std::uint8_t> out);

/* GOOD, and no residual. */
void expect_good(const ScsiResult &result, const std::string &what);

/*
 * A Data-Out with @bytes of @data from @offset on, the last one of its write
 * if @final.
 */
Pdu make_data_out(Session::Tag tag, const ByteVector &data, std::size_t offset,
		  std::size_t bytes, std::uint32_t data_sn, bool final);

/* Puts the STag and base offset of @memory into the header of a command. */
void advertise_read(Pdu &pdu, const RegisteredMemory &memory);
void advertise_write(Pdu &pdu, const RegisteredMemory &memory);

} // namespace iserverify
