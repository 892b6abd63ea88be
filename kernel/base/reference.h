// SPDX-License-Identifier: GPL-2.0
#pragma once

#include "base/utility.h"
#include "port/types.h"

namespace base {

/*
 * Counts the owners of a T that derives from it; the last put() calls
 * T::last_put(), which sees to the deletion.  Born with one owner.  Only an
 * owner may make another.
 */
template <typename T>
class ReferenceCounted : Immovable {
public:
	void get()
	{
		__atomic_add_fetch(&references_, 1, __ATOMIC_RELAXED);
	}
	/* The object may be gone when this returns. */
	void put()
	{
		if (__atomic_sub_fetch(&references_, 1, __ATOMIC_ACQ_REL) == 0)
			static_cast<T *>(this)->last_put();
	}

private:
	u32 references_ = 1;
};

} // namespace base
