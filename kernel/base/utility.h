// SPDX-License-Identifier: GPL-2.0
#pragma once

#include "port/types.h"

namespace base {

/* Spells placement new without <new>: new (InPlace{}, address) T(...). */
struct InPlace {};

} // namespace base

[[nodiscard]] inline void *operator new(size_t, base::InPlace, void *place) noexcept
{
	return place;
}

namespace base {

template <typename T> struct RemoveReferenceT { using Type = T; };
template <typename T> struct RemoveReferenceT<T &> { using Type = T; };
template <typename T> struct RemoveReferenceT<T &&> { using Type = T; };
template <typename T> using RemoveReference = typename RemoveReferenceT<T>::Type;

template <typename T>
[[gnu::always_inline]] constexpr RemoveReference<T> &&move(T &&value) noexcept
{
	return static_cast<RemoveReference<T> &&>(value);
}

template <typename T>
[[gnu::always_inline]] constexpr T &&forward(RemoveReference<T> &value) noexcept
{
	return static_cast<T &&>(value);
}

/* The object that @member is the member @pointer of. */
template <typename T, typename M>
T &container_of(M &member, M T::*pointer)
{
	/* The C++ ABI represents a data member pointer as its offset. */
	return *reinterpret_cast<T *>(reinterpret_cast<char *>(&member) -
				      __builtin_bit_cast(long, pointer));
}

constexpr u32 smaller(u32 a, u32 b) { return a < b ? a : b; }
constexpr u32 larger(u32 a, u32 b) { return a > b ? a : b; }

struct Immovable {
	Immovable() = default;
	Immovable(const Immovable &) = delete;
	Immovable &operator=(const Immovable &) = delete;
};

} // namespace base
