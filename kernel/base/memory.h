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

/* Bytes on the heap, together; at most 8 KiB. */
class [[nodiscard]] OwnBytes : Immovable {
public:
	OwnBytes() = default;
	OwnBytes(OwnBytes &&other) : data_(other.data_), size_(other.size_)
	{
		other.data_ = nullptr;
		other.size_ = 0;
	}
	~OwnBytes() { port_free(data_); }

	/* Zeroed; once. */
	Error allocate(size_t size)
	{
		data_ = static_cast<u8 *>(port_alloc(size, PORT_MAY_SLEEP));
		size_ = data_ ? size : 0;
		return data_ ? Error::None : Error::NoMemory;
	}
	MutableBytes all() { return {data_, size_}; }

private:
	u8 *data_ = nullptr;
	size_t size_ = 0;
};

/*
 * T on the heap, each default-constructed; owned by the array.  In pieces of a
 * page, so that no size needs contiguous memory.
 */
template <typename T>
class [[nodiscard]] OwnArray : Immovable {
public:
	OwnArray() = default;
	~OwnArray() { clear(); }

	/* Once, until clear(); an error leaves nothing. */
	Error allocate(size_t count)
	{
		const Error error = fill(count);

		if (error != Error::None)
			clear();
		return error;
	}

	void clear()
	{
		for (size_t i = size_; i > 0; --i)
			(*this)[i - 1].~T();
		for (size_t i = 0; i < size_; i += per_piece)
			port_free(pieces_[i / per_piece]);
		port_free(pieces_);
		pieces_ = nullptr;
		size_ = 0;
	}

	class Iterator {
	public:
		Iterator(OwnArray &array, size_t at) : array_(array), at_(at) {}
		T &operator*() const { return array_[at_]; }
		Iterator &operator++()
		{
			++at_;
			return *this;
		}
		bool operator!=(const Iterator &other) const
		{
			return at_ != other.at_;
		}

	private:
		OwnArray &array_;
		size_t at_;
	};

	size_t size() const { return size_; }
	Iterator begin() { return {*this, 0}; }
	Iterator end() { return {*this, size_}; }

private:
	static constexpr size_t page = 4096;
	static constexpr size_t per_piece =
		sizeof(T) < page ? page / sizeof(T) : 1;

	Error fill(size_t count)
	{
		const size_t pieces = (count + per_piece - 1) / per_piece;

		static_assert(alignof(T) <= PORT_KMALLOC_MINALIGN);
		if (pieces > page / sizeof(T *))
			return Error::NoMemory;
		pieces_ = static_cast<T **>(port_alloc(pieces * sizeof(T *),
						       PORT_MAY_SLEEP));
		if (!pieces_)
			return Error::NoMemory;
		for (; size_ < count; ++size_) {
			T *&piece = pieces_[size_ / per_piece];

			if (!piece)
				piece = static_cast<T *>(
					port_alloc(per_piece * sizeof(T),
						   PORT_MAY_SLEEP));
			if (!piece)
				return Error::NoMemory;
			new (InPlace{}, &(*this)[size_]) T();
		}
		return Error::None;
	}

	T &operator[](size_t index)
	{
		return pieces_[index / per_piece][index % per_piece];
	}

	T **pieces_ = nullptr;
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
