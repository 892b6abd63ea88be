// SPDX-License-Identifier: GPL-2.0
#pragma once

#include "base/serial.h"

namespace iser {

/*
 * Rejects that the initiator did not ask for: of PDUs that start no task, as
 * SNACK.  It has room for as many as it declared, and the last place is kept
 * for a NOP-In, whose answer tells how far it is (RFC 7145 8.1.2).
 */
class UnexpectedPdus {
public:
	/* By MaxOutstandingUnexpectedPDUs; 0: the initiator sets no limit. */
	void limit(u32 declared);
	/* There is room for one more, which is taken.  False: send none. */
	bool take();
	/* One that was taken leaves with that StatSN. */
	void sent(base::SerialNumber stat_sn);
	/* The initiator has all before that StatSN. */
	void acknowledge(base::SerialNumber exp_stat_sn);

private:
	/* More than anyone gets, even without a limit (reference OQ-20). */
	static constexpr u32 most = 15;

	u32 room_ = most;
	/* Taken, of which the oldest known StatSNs, in order. */
	u32 taken_ = 0;
	u32 known_ = 0;
	base::SerialNumber stat_sns_[most] = {};
};

} // namespace iser
