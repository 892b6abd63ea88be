// SPDX-License-Identifier: GPL-2.0
#include "libiser/raw_connection.h"

namespace libiser {

void RawConnection::connect()
{
	resolve();
	create_queue_pair();
	request();
	establish();
}

} // namespace libiser
