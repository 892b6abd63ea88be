// SPDX-License-Identifier: GPL-2.0
#pragma once

#include "iser/text.h"

namespace iser {

/*
 * What RFC 7143 6.2 and 6.3 forbid of the keys of a login and the core lets pass:
 * a key that the initiator says twice, a key in the wrong stage, a number that
 * is none, an answer like Reject where nothing was asked.  And what the core
 * would take in two ways: a key that only begins like one that says who asks,
 * or comes behind the authentication.
 */
class LoginRules {
public:
	/*
	 * All text of one request, C-bit chains joined, of stage @stage (CSG).
	 * False: the login fails.
	 */
	bool keeps(Bytes text, u8 stage);
	/* What the target said: to its offers there may be such answers. */
	void note_response(Bytes text);

private:
	bool keeps(const TextPair &pair, u8 stage);
	bool identifies(const TextPair &pair, bool authenticates);
	bool says(size_t key);

	/* A bit for each key of the tables. */
	u32 said_ = 0;
	u32 said_by_target_ = 0;
};

} // namespace iser
