// SPDX-License-Identifier: GPL-2.0
#pragma once

#include "iser/bhs.h"

namespace iser {

/* Operation code of a CDB that says its own length (SPC-4 4.3.3). */
inline constexpr u8 variable_length_cdb = 0x7f;

/*
 * Whether the 16 bytes of the BHS and @extension bytes of an extended CDB AHS
 * hold all of the CDB.  One that says it is longer would have the target core
 * read what lies behind (F-07).
 */
constexpr bool cdb_is_whole(const u8 (&cdb)[16], u32 extension)
{
	return cdb[0] != variable_length_cdb ||
	       cdb[7] + 8u <= sizeof(cdb) + extension;
}

/* Where the data of a CDB goes, as far as we know the operation. */
enum class CdbDirection : u8 { Unknown, None, In, Out };

CdbDirection cdb_direction(u8 operation_code);

/*
 * Whether the R and W flags contradict the CDB.  The core takes the flags for
 * the truth, and would write a buffer that nobody filled to the disk.
 */
bool flags_contradict_cdb(const ScsiCommandPdu &command);

} // namespace iser
