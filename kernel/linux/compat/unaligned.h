/* SPDX-License-Identifier: GPL-2.0 */
/* put_unaligned_be16() and its kin moved in 6.12. */
#if __has_include(<linux/unaligned.h>)
#include <linux/unaligned.h>
#else
#include <asm/unaligned.h>
#endif
