// SPDX-License-Identifier: GPL-2.0
#include "iser/unexpected_pdus.h"

namespace iser {

void UnexpectedPdus::limit(u32 declared)
{
	room_ = declared == 0 || declared - 1 > most ? most : declared - 1;
}

bool UnexpectedPdus::take()
{
	if (taken_ >= room_)
		return false;
	++taken_;
	return true;
}

void UnexpectedPdus::sent(u32 stat_sn)
{
	if (known_ < taken_)
		stat_sns_[known_++] = stat_sn;
}

void UnexpectedPdus::acknowledge(u32 exp_stat_sn)
{
	u32 gone = 0;

	/* Serial numbers (RFC 1982). */
	while (gone < known_ &&
	       static_cast<s32>(exp_stat_sn - stat_sns_[gone]) > 0)
		++gone;
	for (u32 i = gone; i < known_; ++i)
		stat_sns_[i - gone] = stat_sns_[i];
	known_ -= gone;
	taken_ -= gone;
}

} // namespace iser
