// SPDX-License-Identifier: GPL-2.0
#pragma once

#include "base/result.h"
#include "base/span.h"
#include "port/layout.h"
#include "port/port.h"

namespace base {

/*
 * What lives on the heap derives from this.  There is no global operator new or
 * delete: each allocation says whether it may sleep, and a class that forgot to
 * derive does not link.  A null result skips the constructor.
 */
class Allocated {
public:
	static void *operator new(size_t size, port_context context) noexcept
	{
		return port_alloc(size, context);
	}
	static void operator delete(void *memory) noexcept { port_free(memory); }
};

/* Sole owner of one T on the heap. */
template <typename T>
class [[nodiscard]] OwnPtr {
public:
	constexpr OwnPtr() = default;
	constexpr explicit OwnPtr(T *object) : object_(object) {}
	constexpr OwnPtr(OwnPtr &&other) : object_(other.release()) {}
	template <typename U>
	constexpr OwnPtr(OwnPtr<U> &&other) : object_(other.release()) {}
	OwnPtr &operator=(OwnPtr &&other)
	{
		if (this != &other) {
			delete object_;
			object_ = other.release();
		}
		return *this;
	}
	~OwnPtr() { delete object_; }

	T *get() const { return object_; }
	T &operator*() const { return *object_; }
	T *operator->() const { return object_; }
	explicit operator bool() const { return object_; }
	constexpr T *release()
	{
		T *object = object_;

		object_ = nullptr;
		return object;
	}

private:
	T *object_ = nullptr;
};

/* @count T on the heap, each default-constructed; owned by the array. */
template <typename T>
class [[nodiscard]] OwnArray : Immovable {
public:
	OwnArray() = default;
	OwnArray(OwnArray &&other) : data_(other.data_), size_(other.size_)
	{
		other.data_ = nullptr;
		other.size_ = 0;
	}
	~OwnArray() { clear(); }

	Error allocate(size_t count)
	{
		size_t size;

		static_assert(alignof(T) <= PORT_KMALLOC_MINALIGN);
		if (__builtin_mul_overflow(count, sizeof(T), &size))
			return Error::NoMemory;
		void *memory = port_alloc(size, PORT_MAY_SLEEP);
		if (!memory)
			return Error::NoMemory;
		data_ = static_cast<T *>(memory);
		for (size_ = 0; size_ < count; ++size_)
			new (InPlace{}, data_ + size_) T();
		return Error::None;
	}

	void clear()
	{
		while (size_ > 0)
			data_[--size_].~T();
		port_free(data_);
		data_ = nullptr;
	}

	size_t size() const { return size_; }
	Span<T> all() { return {data_, size_}; }
	T *begin() { return data_; }
	T *end() { return data_ + size_; }
	T &operator[](size_t index)
	{
		if (index >= size_) [[unlikely]]
			__builtin_trap();
		return data_[index];
	}

private:
	T *data_ = nullptr;
	size_t size_ = 0;
};

template <typename T, typename... Args>
Result<OwnPtr<T>> make(port_context context, Args &&...args)
{
	static_assert(alignof(T) <= PORT_KMALLOC_MINALIGN);
	T *object = new (context) T(forward<Args>(args)...);

	if (!object)
		return Error::NoMemory;
	return OwnPtr<T>(object);
}

} // namespace base
