// SPDX-License-Identifier: GPL-2.0
#pragma once

#include "base/span.h"

namespace iser {

using base::Bytes;
using base::MutableBytes;
using base::Span;

/*
 * A Text Request for the target that the session is with (RFC 7143 Appendix C).
 */
bool asks_for_own_target(Bytes text);

/* A portal of LIO that RDMA could not be served on under its own port. */
struct PortRule {
	Bytes address; /* as LIO prints it: 10.0.0.1 or [fe80::1] */
	u16 port;
	u16 listening_port;
};

/*
 * In the first @length bytes of @text, the answer to SendTargets, replaces
 * the port in TargetAddress=ADDRESS:PORT,TAG where a rule asks for it.
 * Returns the new length.  An address that would no longer fit stays as it is.
 */
size_t rewrite_ports(MutableBytes text, size_t length,
		     Span<const PortRule> rules);

} // namespace iser
