/* SPDX-License-Identifier: GPL-2.0 */
/*
 * For C and for C++: fixed-width integers, spelled as in the kernel, and what
 * the two call of each other.
 */
#ifndef LIO_ISER_PORT_TYPES_H
#define LIO_ISER_PORT_TYPES_H

#ifdef __cplusplus
using u8 = unsigned char;
using u16 = unsigned short;
using u32 = unsigned int;
using u64 = unsigned long long;
using s32 = int;
using s64 = long long;
using size_t = decltype(sizeof 0);
static_assert(sizeof(u16) == 2 && sizeof(u32) == 4 && sizeof(u64) == 8);
static_assert(sizeof(void *) == 8, "the kernel side is 64-bit only");
#else
#include <linux/types.h>
#endif

/*
 * The module's C++ is compiled as a whole (see Kbuild), so the compiler drops
 * what nobody in it calls, but for these.
 */
#if defined(__cplusplus) && !defined(__clang__)
#define CALLED_BY_C __attribute__((externally_visible))
#else
#define CALLED_BY_C
#endif

#endif
