// SPDX-License-Identifier: GPL-2.0
#pragma once

#include <array>

#include "libiser/pdu.h"

namespace iserverify {

/*
 * What may be sent to a target whose data and whose other sessions are not to
 * suffer from it, judged by the bytes: a mutation knows nothing of that.
 * Whatever a target could take for a command has to be one of those that only
 * read, or, where writing is allowed, a write within the range.
 */
class Harmless {
public:
	bool may_write = false;
	/* The logical unit that is written to, and where. */
	std::uint64_t lun = 0;
	std::uint64_t first_block = 0;
	std::uint64_t end_block = 0;
	/* The ISID of the session that nobody is to take the place of. */
	std::array<std::uint8_t, 6> innocent_isid = {};

	bool allows(libiser::ByteView message) const;

private:
	bool allows_command(const iser::MessageHead &head) const;
	bool allows_write(const iser::ScsiCommandPdu &command) const;
};

} // namespace iserverify
