// SPDX-License-Identifier: GPL-2.0
#include "iser/unexpected_pdus.h"

#include "base/utility.h"

namespace iser {

using base::SerialNumber;

void UnexpectedPdus::limit(u32 declared)
{
	room_ = declared == 0 ? most : base::smaller(declared - 1, most);
}

bool UnexpectedPdus::take()
{
	if (taken_ >= room_)
		return false;
	++taken_;
	return true;
}

void UnexpectedPdus::sent(SerialNumber stat_sn)
{
	if (known_ < taken_)
		stat_sns_[known_++] = stat_sn;
}

void UnexpectedPdus::acknowledge(SerialNumber exp_stat_sn)
{
	u32 gone = 0;

	while (gone < known_ && exp_stat_sn > stat_sns_[gone])
		++gone;
	for (u32 i = gone; i < known_; ++i)
		stat_sns_[i - gone] = stat_sns_[i];
	known_ -= gone;
	taken_ -= gone;
}

} // namespace iser
