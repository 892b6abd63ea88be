/* SPDX-License-Identifier: GPL-2.0 */
/* Whether the address sanitizer watches, of either compiler. */
#ifndef LIO_ISER_LOOPBACK_SANITIZER_H
#define LIO_ISER_LOOPBACK_SANITIZER_H

#if defined(__SANITIZE_ADDRESS__)
#define HAS_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HAS_ASAN 1
#endif
#endif

#ifdef HAS_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

#endif
