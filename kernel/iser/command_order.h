// SPDX-License-Identifier: GPL-2.0
#pragma once

#include "iser/bhs.h"

namespace iser {

/*
 * Whether a PDU of an initiator takes the CmdSN that it carries: it is one of
 * the requests that are delivered in order (RFC 7143 4.2.2.1).
 */
inline bool takes_cmd_sn(const Bhs &bhs)
{
	return !bhs.immediate() && bhs.opcode() != IscsiOpcode::DataOut &&
	       bhs.opcode() < IscsiOpcode::SnackRequest;
}

} // namespace iser
