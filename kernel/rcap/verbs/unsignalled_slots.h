// SPDX-License-Identifier: GPL-2.0
#pragma once

#include "base/list.h"

namespace rcap::verbs {

/*
 * Slots of Sends that the device does not tell of.  It tells of one of several,
 * and what it tells of comes behind all that left before it: so a slot with a
 * signal frees those in front of it.  Not locked: the Stream's lock guards it.
 *
 * Slot has a ListNode @node, and an @ordinal that is ours: how many Sends
 * without a signal left until then, itself included.
 */
template <typename Slot>
class UnsignalledSlots {
public:
	/* One Send of so many is signalled, at least. */
	static constexpr u32 sends_per_signal = 8;

	/* Whether the next Send may leave without. */
	bool has_room() const { return in_a_row_ + 1 < sends_per_signal; }

	/* To be called in the order in which they are posted. */
	void posted(Slot &slot)
	{
		slot.ordinal = ++posted_;
		++in_a_row_;
		slots_.push_back(slot);
	}
	void posted_signalled(Slot &slot)
	{
		slot.ordinal = posted_;
		in_a_row_ = 0;
	}

	/*
	 * @done is complete.  The next slot that is free by that, or null; a
	 * Send that failed is complete without a signal, and then one itself.
	 */
	Slot *pop_through(const Slot &done)
	{
		if (static_cast<s32>(done.ordinal - freed_) <= 0)
			return nullptr;
		++freed_;
		return slots_.pop_front();
	}
	/* Nothing is on the device any more. */
	void clear()
	{
		slots_.clear();
		freed_ = posted_;
	}

private:
	base::List<Slot, &Slot::node> slots_;
	u32 posted_ = 0;
	u32 freed_ = 0;
	u32 in_a_row_ = 0;
};

} // namespace rcap::verbs
