// SPDX-License-Identifier: GPL-2.0
#pragma once

#include "base/utility.h"
#include "port/types.h"

namespace base {

/* Lives inside the object that a List links; belongs to one list at a time. */
class ListNode : Immovable {
public:
	~ListNode()
	{
		if (linked()) [[unlikely]]
			__builtin_trap();
	}
	bool linked() const { return next_; }

private:
	template <typename T, ListNode T::*Node> friend class List;
	ListNode *next_ = nullptr;
	ListNode *prev_ = nullptr;
};

/* Doubly linked, intrusive: links objects that it neither owns nor copies. */
template <typename T, ListNode T::*Node>
class List : Immovable {
public:
	List() { head_.next_ = head_.prev_ = &head_; }
	~List()
	{
		if (!empty()) [[unlikely]]
			__builtin_trap();
		head_.next_ = nullptr;
	}

	class Iterator {
	public:
		explicit Iterator(ListNode *at) : at_(at) {}
		T &operator*() const { return *object(at_); }
		Iterator &operator++()
		{
			at_ = at_->next_;
			return *this;
		}
		bool operator!=(const Iterator &other) const
		{
			return at_ != other.at_;
		}

	private:
		ListNode *at_;
	};

	bool empty() const { return head_.next_ == &head_; }
	Iterator begin() { return Iterator(head_.next_); }
	Iterator end() { return Iterator(&head_); }

	void push_back(T &object)
	{
		ListNode &node = object.*Node;

		if (node.linked()) [[unlikely]]
			__builtin_trap();
		node.prev_ = head_.prev_;
		node.next_ = &head_;
		head_.prev_->next_ = &node;
		head_.prev_ = &node;
	}

	void push_front(T &object)
	{
		ListNode &node = object.*Node;

		if (node.linked()) [[unlikely]]
			__builtin_trap();
		node.next_ = head_.next_;
		node.prev_ = &head_;
		head_.next_->prev_ = &node;
		head_.next_ = &node;
	}

	T *pop_front()
	{
		if (empty())
			return nullptr;
		T *first = object(head_.next_);

		remove(*first);
		return first;
	}

	/* All of @other, which is empty then, behind what is here. */
	void take_all(List &other)
	{
		if (other.empty())
			return;
		head_.prev_->next_ = other.head_.next_;
		other.head_.next_->prev_ = head_.prev_;
		other.head_.prev_->next_ = &head_;
		head_.prev_ = other.head_.prev_;
		other.head_.next_ = other.head_.prev_ = &other.head_;
	}

	/* Links nothing any more. */
	void clear()
	{
		while (pop_front())
			continue;
	}

	void remove(T &object)
	{
		ListNode &node = object.*Node;

		node.prev_->next_ = node.next_;
		node.next_->prev_ = node.prev_;
		node.next_ = node.prev_ = nullptr;
	}

private:
	static T *object(ListNode *node)
	{
		return &container_of(*node, Node);
	}

	ListNode head_;
};

} // namespace base
