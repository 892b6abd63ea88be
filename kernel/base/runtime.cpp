// SPDX-License-Identifier: GPL-2.0
/*
 * All the C++ runtime there is.  What is missing is missing on purpose: using
 * it leaves an undefined symbol that modpost reports.
 *
 *   operator new, delete     derive from base::Allocated
 *   __cxa_guard_acquire      no local static with a constructor
 *   __cxa_atexit             no static with a destructor
 */

extern "C" [[noreturn]] void __cxa_pure_virtual();

void __cxa_pure_virtual()
{
	__builtin_trap();
}
