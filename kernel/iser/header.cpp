// SPDX-License-Identifier: GPL-2.0
#include "iser/header.h"

namespace iser {

RemoteMapping ControlHeader::mapping() const
{
	RemoteMapping mapping;

	if (opcode_and_flags & write_stag_valid) {
		mapping.write_valid = true;
		mapping.write = {Stag{u32{write_stag}}, write_base_offset};
	}
	if (opcode_and_flags & read_stag_valid) {
		mapping.read_valid = true;
		mapping.read = {Stag{u32{read_stag}}, read_base_offset};
	}
	return mapping;
}

ControlHeader ControlHeader::from_target()
{
	ControlHeader header = {};

	header.opcode_and_flags =
		static_cast<u8>(static_cast<u8>(IserOpcode::Control) << 4);
	return header;
}

} // namespace iser
