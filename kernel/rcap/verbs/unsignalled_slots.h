// SPDX-License-Identifier: GPL-2.0
#pragma once

#include "base/list.h"

namespace rcap::verbs {

/*
 * Slots of Sends that the device does not tell of.  It tells of one of several,
 * and what it tells of comes behind all that left before it: so an operation
 * with a signal ends those in front of it.  Not locked: the Stream's lock guards
 * it.
 *
 * Slot has a ListNode @node, holds_data(), and an @ordinal that is ours: how many
 * Sends without a signal left until then, itself included.
 */
template <typename Slot>
class UnsignalledSlots {
public:
	/* One Send of so many is signalled, at least. */
	static constexpr u32 sends_per_signal = 8;

	/* Whether the next Send may leave without. */
	bool has_room() const { return in_a_row_ + 1 < sends_per_signal; }
	/* Data has left, and no signal is to come that would tell of it. */
	bool data_is_untold() const { return data_is_untold_; }

	/* To be called in the order in which they are posted. */
	void posted(Slot &slot)
	{
		slot.ordinal = ++posted_;
		++in_a_row_;
		data_is_untold_ |= slot.holds_data();
		slots_.push_back(slot);
	}
	/* Anything with a signal; the ordinal of what it tells of. */
	u32 posted_signalled()
	{
		in_a_row_ = 0;
		data_is_untold_ = false;
		return posted_;
	}
	/* Of all that left. */
	u32 last() const { return posted_; }

	/* The next slot that is free since @ordinal has ended, or null. */
	Slot *pop_through(u32 ordinal)
	{
		if (static_cast<s32>(ordinal - freed_) <= 0)
			return nullptr;
		++freed_;
		return slots_.pop_front();
	}

private:
	base::List<Slot, &Slot::node> slots_;
	u32 posted_ = 0;
	u32 freed_ = 0;
	u32 in_a_row_ = 0;
	bool data_is_untold_ = false;
};

} // namespace rcap::verbs
