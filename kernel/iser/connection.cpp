// SPDX-License-Identifier: GPL-2.0
#include "iser/connection.h"

namespace iser {

using base::Bytes;
using base::Error;

namespace {

/* One posted; the initiator waits for each Login Response. */
constexpr rcap::ReceiveShape login_receives = {
	.count = 1,
	.body = max_login_data,
	.tail = 384,
};

constexpr struct {
	rcap::Fault fault;
	Cause cause;
} causes[] = {
	{rcap::Fault::Disconnected, Cause::PeerDisconnected},
	{rcap::Fault::ConnectFailed, Cause::ConnectFailed},
	{rcap::Fault::AddressChanged, Cause::AddressChanged},
	{rcap::Fault::DeviceRemoved, Cause::DeviceRemoved},
	{rcap::Fault::QueuePairFailed, Cause::QueuePairFailed},
	{rcap::Fault::ReceiveFailed, Cause::ReceiveFailed},
	{rcap::Fault::SendFailed, Cause::SendFailed},
	{rcap::Fault::ReadFailed, Cause::RdmaReadFailed},
	{rcap::Fault::WriteFailed, Cause::RdmaWriteFailed},
	{rcap::Fault::OutOfMemory, Cause::OutOfMemory},
};

Cause cause_of(rcap::Fault fault)
{
	for (const auto &entry : causes)
		if (entry.fault == fault)
			return entry.cause;
	return Cause::PeerDisconnected;
}

/* Everything we send starts with a header that names no STag. */
void fill_head(rcap::Send &send, const Bhs &bhs)
{
	auto &head = *reinterpret_cast<MessageHead *>(send.head);

	static_assert(sizeof(send.head) == sizeof(head));
	head.header = ControlHeader::from_target();
	head.bhs = bhs;
}

} // namespace

void Connection::attach(base::OwnPtr<rcap::Stream> stream,
			const Options &options)
{
	stream_ = base::move(stream);
	options_ = options;
	iser_ord_ = stream_->traits().read_depth;
}

Error Connection::allocate_login_resources()
{
	if (Error error = stream_->allocate_receives(rcap::ReceiveSet::Login,
						     login_receives);
	    error != Error::None)
		return error;
	return stream_->post_receives(rcap::ReceiveSet::Login);
}

Error Connection::accept(Bytes private_data)
{
	return stream_->accept(private_data);
}

/* Down --------------------------------------------------------------------- */

void Connection::send_login(const Bhs &bhs, Bytes text)
{
	fill_head(login_, bhs);
	login_.data = text;
	stream_->send(login_);
}

void Connection::send_control(TaskResources &task, const Bhs &bhs, Bytes data)
{
	const bool is_response = bhs.opcode() == IscsiOpcode::ScsiResponse;
	auto stag = stag_to_invalidate(
		task.mapping, is_response && options_.send_with_invalidate);

	/* No status may leave whose data did not. */
	if (terminated()) {
		task.control.write = nullptr;
		iscsi_.control_sent(task, false);
		return;
	}
	fill_head(task.control, bhs);
	task.control.data = data;
	task.control.alone = task.alone;
	/* The task is over with it, arrived or not. */
	task.control.unconfirmed = is_response;
	task.control.with_invalidate = stag.ok();
	task.control.invalidate =
		stag.ok() ? static_cast<u32>(stag.value()) : 0;
	if (is_response)
		task.mapping = {};
	stream_->send(task.control);
}

void Connection::put_data(TaskResources &task, const di::DataDescriptor &data,
			  u32 buffer_offset, bool notify)
{
	auto sink = sink_offset(task.mapping.read, buffer_offset, data.length);

	if (!sink.ok()) {
		terminate(Cause::OffsetWraps, nullptr);
		if (notify)
			iscsi_.data_completion_notify(task, false);
		return;
	}
	task.data.local = data;
	task.data.remote_offset = sink.value();
	task.data.stag = static_cast<u32>(task.mapping.read.stag);
	task.data.read = false;
	if (notify)
		stream_->write(task.data);
	else
		task.control.write = &task.data;
}

void Connection::get_data(TaskResources &task, const di::DataDescriptor &data,
			  u32 buffer_offset)
{
	/* RFC 7145 7.3.6 */
	if (iser_ord_ == 0) {
		terminate(Cause::NoReadAllowed, nullptr);
		iscsi_.data_completion_notify(task, false);
		return;
	}

	auto source = source_offset(task.mapping.write, write_base_,
				    buffer_offset, task.unsolicited,
				    data.length);

	if (!source.ok()) {
		terminate(Cause::OffsetWraps, nullptr);
		iscsi_.data_completion_notify(task, false);
		return;
	}
	task.data.local = data;
	task.data.remote_offset = source.value();
	task.data.stag = static_cast<u32>(task.mapping.write.stag);
	task.data.read = true;
	task.data.alone = task.alone;
	stream_->read(task.data);
}

void Connection::notice_key_values(const LoginKeys &keys)
{
	write_base_ = write_base(keys.tagged_buffer_for_solicited_data_only(),
				 options_.silent_means_solicited_only);
	discovery_ = keys.discovery();
	if (!discovery_)
		hello_required_ = keys.iser_hello_required();
	__atomic_store_n(&first_is_due_, !discovery_, __ATOMIC_RELAXED);
}

/* A set of buffers for PDUs as limits_ has them. */
Error Connection::allocate_receives(rcap::ReceiveSet set, u32 count)
{
	return stream_->allocate_receives(
		set, {
			     .count = count,
			     .body = limits_.max_data_segment,
			     .tail = padded(limits_.max_ahs) + 4,
		     });
}

Error Connection::allocate_connection_resources(
	const di::ConnectionResources &resources)
{
	limits_ = {resources.max_ahs, resources.receive_data};
	if (Error error = allocate_receives(rcap::ReceiveSet::FullFeature,
					    resources.receives);
	    error != Error::None)
		return error;
	return stream_->allocate_sends(resources.sends);
}

Error Connection::allocate_receives_for_load(u32 count)
{
	if (Error error = allocate_receives(rcap::ReceiveSet::Load, count);
	    error != Error::None)
		return error;

	const Error error = stream_->post_receives(rcap::ReceiveSet::Load);

	/* Some may be posted, so there is no way back. */
	if (error != Error::None)
		terminate(Cause::ReceiveFailed, nullptr);
	return error;
}

Error Connection::enable_datamover(const Bhs &final_login_response, Bytes text)
{
	/* A fast initiator sends commands as soon as it has the response. */
	full_feature_ = true;
	if (Error error = stream_->post_receives(rcap::ReceiveSet::FullFeature);
	    error != Error::None)
		return error;
	send_login(final_login_response, text);
	return Error::None;
}

void Connection::connection_terminate()
{
	stream_->close();
}

void Connection::done(rcap::Receive &buffer)
{
	stream_->give_back(buffer);
}

/* Up ------------------------------------------------------------------------ */

void Connection::established()
{
	iscsi_.connection_established();
}

MessageCheck Connection::check(const MessageHead &head, u32 received) const
{
	return full_feature_ ? check_message(head, received, limits_) :
			       check_login_message(head, received);
}

void Connection::received(rcap::Receive &receive)
{
	++messages_received_;
	deliver(receive, false);
}

void Connection::notify_again(rcap::Receive &buffer)
{
	deliver(buffer, true);
}

void Connection::deliver(rcap::Receive &receive, bool again)
{
	auto &head = *reinterpret_cast<MessageHead *>(receive.head().data());

	/* Nothing counts that comes behind a Hello which we reject. */
	if (terminated() || hello_rejected_)
		return;
	if (full_feature_ && first_is_due() && !first_message(receive))
		return;
	const MessageCheck checked = check(head, receive.length());

	if (!checked.ok()) {
		terminate(checked.cause, nullptr);
		return;
	}
	di::ControlPdu pdu = {
		.buffer = receive,
		.bhs = head.bhs,
		.layout = checked.layout,
		.mapping = head.header.mapping(),
		.again = again,
	};
	if (full_feature_)
		iscsi_.control_notify(pdu);
	else
		iscsi_.login_notify(pdu);
}

/* False: it was the Hello, or what may not come in its place. */
bool Connection::first_message(rcap::Receive &receive)
{
	const auto &head =
		*reinterpret_cast<MessageHead *>(receive.head().data());
	const FirstMessage judged = judge_first_message(
		receive.length() > 0 ? head.header.opcode() :
				       IserOpcode::Control, hello_required_);

	__atomic_store_n(&first_is_due_, false, __ATOMIC_RELAXED);
	switch (judged) {
	case FirstMessage::Ordinary:
		return true;
	case FirstMessage::Hello:
		hello(receive);
		return false;
	default:
		terminate(hello_required_ == Declared::Yes ?
				  Cause::HelloMissing :
				  Cause::UnexpectedHello, nullptr);
		return false;
	}
}

/* RFC 7145 5.1.3 */
void Connection::hello(rcap::Receive &receive)
{
	const HelloAnswer answer = answer_hello(
		*reinterpret_cast<Hello *>(receive.head().data()),
		receive.length(), iser_ord_);

	if (answer.cause != Cause::None) {
		terminate(answer.cause, nullptr);
		return;
	}
	hello_rejected_ = answer.reply.rejects();
	iser_ord_ = answer.iser_ord;
	if (iser_ord_ > 0)
		stream_->limit_reads(iser_ord_);
	stream_->give_back(receive);
	base::copy(hello_reply_.head,
		   {reinterpret_cast<const u8 *>(&answer.reply),
		    sizeof(answer.reply)});
	hello_reply_.head_length = sizeof(answer.reply);
	stream_->send(hello_reply_);
}

void Connection::hello_sent(bool ok)
{
	if (ok && hello_rejected_)
		terminate(Cause::HelloRejected, nullptr);
}

/* What only a login needs: an 8 KiB buffer each way. */
void Connection::free_login_resources()
{
	stream_->free_receives(rcap::ReceiveSet::Login);
	if (!discovery_)
		stream_->free_long_send();
}

void Connection::sent(rcap::Send &send, bool ok)
{
	if (&send == &login_) {
		if (ok && full_feature_)
			free_login_resources();
		iscsi_.login_sent(ok);
		return;
	}
	if (&send == &hello_reply_) {
		hello_sent(ok);
		return;
	}
	send.write = nullptr;
	iscsi_.control_sent(
		base::container_of(send, &TaskResources::control), ok);
}

void Connection::transferred(rcap::Transfer &transfer, bool ok)
{
	iscsi_.data_completion_notify(
		base::container_of(transfer, &TaskResources::data), ok);
}

void Connection::lost(rcap::Fault fault, const char *detail)
{
	terminate(cause_of(fault), detail);
}

void Connection::released()
{
	iscsi_.connection_released();
}

bool Connection::terminated() const
{
	return __atomic_load_n(&terminated_, __ATOMIC_RELAXED);
}

void Connection::terminate(Cause cause, const char *detail)
{
	if (!__atomic_exchange_n(&terminated_, true, __ATOMIC_RELAXED))
		iscsi_.connection_terminate_notify(cause, detail);
}

} // namespace iser
