// SPDX-License-Identifier: GPL-2.0
#pragma once

#include <string>
#include <vector>

#include "rcap/stream.h"

namespace test {

/* A receive buffer of three pieces that a test fills. */
class FakeReceive : public rcap::Receive {
public:
	FakeReceive(size_t body, size_t tail)
		: head_bytes_(rcap::head_size), body_bytes_(body),
		  tail_bytes_(tail)
	{
		head_ = {head_bytes_.data(), head_bytes_.size()};
		body_ = {body_bytes_.data(), body_bytes_.size()};
		tail_ = {tail_bytes_.data(), tail_bytes_.size()};
	}
	/* Lets @message arrive; what was there before stays behind it. */
	void fill(const std::vector<u8> &message)
	{
		length_ = static_cast<u32>(message.size());
		for (size_t i = 0; i < message.size(); ++i)
			at(i) = message[i];
	}

private:
	u8 &at(size_t i)
	{
		if (i < head_bytes_.size())
			return head_bytes_[i];
		i -= head_bytes_.size();
		if (i < body_bytes_.size())
			return body_bytes_[i];
		return tail_bytes_.at(i - body_bytes_.size());
	}

	std::vector<u8> head_bytes_, body_bytes_, tail_bytes_;
};

/* Notes what is asked of a stream, a word each, in order. */
class FakeStream : public rcap::Stream {
public:
	struct Log {
		std::string calls;
		std::vector<rcap::Send *> sends;
		std::vector<rcap::Transfer *> transfers;
		rcap::ReceiveShape shape = {};
		/* The call, counted from 0, that fails. */
		int fail_at = -1;
	};

	explicit FakeStream(Log &log) : log_(log) {}

	/* From the plain heap, whatever deletes it. */
	static rcap::Stream *create(Log &log) { return new FakeStream(log); }

	const rcap::Traits &traits() const override { return traits_; }
	const port_address &peer() const override { return address_; }
	const port_address &local() const override { return address_; }
	base::Error accept(base::Bytes) override { return call("accept"); }
	base::Error allocate_receives(rcap::ReceiveSet set,
				      const rcap::ReceiveShape &shape) override
	{
		log_.shape = shape;
		return call("allocate_receives", set);
	}
	base::Error post_receives(rcap::ReceiveSet set) override
	{
		return call("post_receives", set);
	}
	void free_receives(rcap::ReceiveSet set) override
	{
		static_cast<void>(call("free_receives", set));
	}
	void give_back(rcap::Receive &) override { note("give_back"); }
	base::Error allocate_sends(u32) override
	{
		return call("allocate_sends");
	}
	void free_long_send() override { note("free_long_send"); }
	void limit_reads(u32 depth) override
	{
		note("limit_reads:" + std::to_string(depth));
	}
	void send(rcap::Send &send) override
	{
		note("send");
		log_.sends.push_back(&send);
	}
	void write(rcap::Transfer &transfer) override
	{
		note("write");
		log_.transfers.push_back(&transfer);
	}
	void read(rcap::Transfer &transfer) override
	{
		note("read");
		log_.transfers.push_back(&transfer);
	}
	void close() override { note("close"); }

private:
	void note(const std::string &word)
	{
		log_.calls += word + " ";
		++count_;
	}
	base::Error call(const std::string &word)
	{
		bool fails = count_ == log_.fail_at;

		note(word);
		return fails ? base::Error::NoMemory : base::Error::None;
	}
	base::Error call(const std::string &word, rcap::ReceiveSet set)
	{
		static constexpr const char *names[] = {":login",
							":full_feature", ":load"};

		return call(word + names[static_cast<size_t>(set)]);
	}

	Log &log_;
	int count_ = 0;
	rcap::Traits traits_ = {.read_depth = 16};
	port_address address_ = {};
};

} // namespace test
