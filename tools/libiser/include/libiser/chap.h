// SPDX-License-Identifier: GPL-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "libiser/raw_connection.h"

namespace libiser {

using Md5Digest = std::array<std::uint8_t, 16>;

/* RFC 1321. */
Md5Digest md5(ByteView message);

/* The response of RFC 1994 4.1: MD5 of identifier, secret and challenge. */
Md5Digest chap_response(std::uint8_t identifier, const std::string &secret,
			ByteView challenge);

/* The binary values of RFC 7143 6.1: 0x and hexadecimal digits, or 0b and base64. */
std::string to_hex(ByteView bytes);
ByteVector from_binary_value(const std::string &value);

} // namespace libiser
