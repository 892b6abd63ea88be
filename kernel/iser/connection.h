// SPDX-License-Identifier: GPL-2.0
#pragma once

#include "base/memory.h"
#include "di/datamover.h"
#include "iser/hello.h"
#include "iser/task.h"

namespace iser {

/* How a connection behaves where the RFCs leave the choice to us. */
struct Options {
	/* Both ends can do Send with Invalidate (private data). */
	bool send_with_invalidate = false;
	/*
	 * The initiator declares nothing, but its Write Base Offset stands
	 * behind the unsolicited data: what Linux and libiscsi do.
	 */
	bool silent_means_solicited_only = true;
};

/*
 * The iSER layer of one connection: puts the iSER header before every PDU and
 * takes it off, holds every received message against its own length, and turns
 * R2T and Data-In into RDMA Reads and Writes (RFC 7145 7).
 *
 * Knows neither LIO nor verbs.  Owned by the iSCSI layer's connection.
 */
class Connection final : public di::Datamover, public rcap::StreamUser,
			 public base::Allocated, base::Immovable {
public:
	explicit Connection(di::IscsiLayer &iscsi) : iscsi_(iscsi) {}

	/* Right after the construction, before any message can come. */
	void attach(base::OwnPtr<rcap::Stream> stream, const Options &options);
	rcap::Stream &stream() { return *stream_; }
	/* A small set of resources, enough to log in. */
	base::Error allocate_login_resources();
	/* The CM's answer; see rcap::Stream. */
	base::Error accept(base::Bytes private_data);

	void send_login(const Bhs &bhs, base::Bytes text) override;
	void send_control(TaskResources &task, const Bhs &bhs,
			  base::Bytes data) override;
	void put_data(TaskResources &task, const di::DataDescriptor &data,
		      u32 buffer_offset, bool notify) override;
	void get_data(TaskResources &task, const di::DataDescriptor &data,
		      u32 buffer_offset) override;
	void notice_key_values(const LoginKeys &keys) override;
	base::Error allocate_connection_resources(
		const di::ConnectionResources &resources) override;
	base::Error allocate_receives_for_load(u32 count) override;
	base::Error enable_datamover(const Bhs &final_login_response,
				     base::Bytes text) override;
	void connection_terminate() override;
	void done(rcap::Receive &buffer) override;
	void notify_again(rcap::Receive &buffer) override;

	void established() override;
	void received(rcap::Receive &receive) override;
	void sent(rcap::Send &send, bool ok) override;
	void transferred(rcap::Transfer &transfer, bool ok) override;
	void lost(rcap::Fault fault, const char *detail) override;
	void released() override;

	u64 messages_received() const { return messages_received_; }
	/* The initiator has not said anything in full feature phase. */
	bool first_is_due() const
	{
		return __atomic_load_n(&first_is_due_, __ATOMIC_RELAXED);
	}
	/* And what it says first has to be a Hello. */
	bool hello_is_due() const
	{
		return first_is_due() && hello_required_ == Declared::Yes;
	}

private:
	void terminate(Cause cause, const char *detail);
	bool terminated() const;
	MessageCheck check(const MessageHead &head, u32 received) const;
	void deliver(rcap::Receive &receive, bool again);
	bool first_message(rcap::Receive &receive);
	void hello(rcap::Receive &receive);
	void hello_sent(bool ok);
	base::Error allocate_receives(rcap::ReceiveSet set, u32 count);
	void free_login_resources();

	di::IscsiLayer &iscsi_;
	base::OwnPtr<rcap::Stream> stream_;
	Options options_;
	WriteBase write_base_ = WriteBase::SolicitedOnly;
	bool full_feature_ = false;
	bool discovery_ = false;
	MessageLimits limits_ = {0, max_login_data};
	rcap::Send login_;
	Declared hello_required_ = Declared::No;
	/* Cleared by the completion worker. */
	bool first_is_due_ = false;
	rcap::Send hello_reply_;
	/* The completion worker's. */
	bool hello_rejected_ = false;
	/* iSER-ORD: RDMA Reads we may have outstanding. */
	u32 iser_ord_ = 0;
	/* Written by the one completion worker of the connection. */
	u64 messages_received_ = 0;
	/* Set once, by whoever finds the connection unusable first. */
	bool terminated_ = false;
};

} // namespace iser
