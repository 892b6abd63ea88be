// SPDX-License-Identifier: GPL-2.0
#pragma once

#include <string>
#include <vector>

#include "grammar.h"

namespace iserverify {

/* Families of mutations; a case draws from some of them. */
enum Family : unsigned {
	of_lengths = 1, /* what is claimed is not what is there */
	of_tags = 2,	/* ITT, TTT, Referenced Task Tag, LUN */
	of_stags = 4,	/* STags, offsets, and whether they are valid */
	of_numbers = 8, /* opcodes, flags, sequence numbers, the rest */
	of_bytes = 16,	/* anything, anywhere */
	of_cdbs = 32,	/* CDB and additional header segments */
	of_all = 63,
};

/*
 * Changes @message in one way out of @families.  Returns what was done, in
 * words; @around has the values that a peer would come close to.
 */
std::string mutate(Message &message, unsigned families,
		   const Surroundings &around, Random &random);

/* Repeats, swaps, drops; returns what was done, or "". */
std::string shuffle_messages(std::vector<Message> &messages, Random &random);

} // namespace iserverify
