// SPDX-License-Identifier: GPL-2.0
#pragma once

#include "base/list.h"
#include "base/span.h"

namespace rcap {

/*
 * One message in a receive buffer.  The buffer is up to three pieces of
 * memory: the head, the body, and the tail that takes what the body is too
 * short for.  So a body that starts right behind the head starts on a page
 * boundary, and may go to a block device as it is (F-42).
 *
 * Whoever got it from StreamUser::received() owns it until
 * Stream::give_back().
 */
class Receive {
public:
	/* Bytes of the message. */
	u32 length() const { return length_; }
	/* All of the head piece's memory; more than length() may be stale. */
	base::MutableBytes head() const { return head_; }

	/*
	 * @length bytes at @offset behind the head, where they lie; empty
	 * when they do not lie together.
	 */
	base::MutableBytes in_place(u32 offset, u32 length) const
	{
		if (offset <= body_.size() && length <= body_.size() - offset)
			return body_.from(offset).first(length);
		return {};
	}

	/* Copies what is at @offset behind the head.  False: out of bounds. */
	[[nodiscard]] bool copy_out(u32 offset, base::MutableBytes to) const
	{
		const size_t all = body_.size() + tail_.size();
		size_t from_body = 0;

		if (offset > all || to.size() > all - offset)
			return false;
		if (offset < body_.size()) {
			from_body = body_.size() - offset;
			if (from_body > to.size())
				from_body = to.size();
			base::copy(to, body_.from(offset).first(from_body));
			offset = 0;
		} else {
			offset -= static_cast<u32>(body_.size());
		}
		base::copy(to.from(from_body), tail_.from(offset).first(
						       to.size() - from_body));
		return true;
	}

	/* For its owner. */
	base::ListNode node;

protected:
	u32 length_ = 0;
	base::MutableBytes head_;
	base::MutableBytes body_;
	base::MutableBytes tail_;
};

} // namespace rcap
