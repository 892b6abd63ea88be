// SPDX-License-Identifier: GPL-2.0
#pragma once

#include "base/span.h"

namespace iser {

using base::MutableBytes;

/*
 * In the first @length bytes of login text, lowers the number that is offered
 * for @key to @limit if it is higher.  Returns the new length, never more.
 *
 * For keys whose result is the smaller of both ends' values (RFC 7145 6.4, RFC
 * 7143 13.14), where LIO would agree to more than our buffers hold.
 */
size_t limit_number(MutableBytes text, size_t length, const char *key,
		    u32 limit);

} // namespace iser
