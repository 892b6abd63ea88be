// SPDX-License-Identifier: GPL-2.0
#pragma once

#include "base/result.h"
#include "iser/cause.h"
#include "iser/login_keys.h"
#include "iser/message.h"
#include "iser/task_resources.h"
#include "rcap/stream.h"

/*
 * The Datamover Interface: where the iSCSI layer and the iSER layer meet
 * (RFC 5047; RFC 7145 3).  Two classes, one for each direction, with the
 * RFC's primitives.  What the RFC leaves to the implementation, because its
 * login is a byte stream and ours travels in Sends, carries "login" in its
 * name.
 */
namespace di {

using iser::Bhs;
using iser::TaskResources;

/* Memory of the iSCSI layer that data is moved from or to. */
using DataDescriptor = rcap::LocalBuffer;

/*
 * A control-type PDU that was received and checked: what its header claims is
 * there.  The iSCSI layer owns the buffer below it until Datamover::done().
 */
struct ControlPdu {
	rcap::Receive &buffer;
	Bhs &bhs;
	iser::MessageLayout layout;
	iser::RemoteMapping mapping;
	/* It comes from Datamover::notify_again(). */
	bool again;

	u32 data_length() const { return layout.data_length; }
	/* The data segment where it lies, or empty if it is in pieces. */
	base::MutableBytes data_in_place() const
	{
		return buffer.in_place(layout.data_offset, layout.data_length);
	}
	/* False only if @to is larger than the data segment. */
	[[nodiscard]] bool copy_data(base::MutableBytes to) const
	{
		return to.size() <= layout.data_length &&
		       buffer.copy_out(layout.data_offset, to);
	}
	[[nodiscard]] bool copy_ahs(base::MutableBytes to) const
	{
		return to.size() <= layout.ahs_length && buffer.copy_out(0, to);
	}
};

/* What full feature phase needs of a connection (RFC 7145 5.1.2). */
struct ConnectionResources {
	u32 receives;		/* control-type PDUs the initiator may send */
	u32 receive_data;	/* longest data segment it may send */
	u32 max_ahs;
	u32 sends;		/* control-type PDUs we have outstanding */
};

/*
 * Offered by the iSER layer.  All calls in process context; those that send or
 * move data may sleep while they prepare it.
 */
class Datamover {
public:
	virtual ~Datamover() = default;

	/* Login PDUs, each in a Send of its own.  @text stays until sent. */
	virtual void send_login(const Bhs &bhs, base::Bytes text) = 0;

	/*
	 * Send_Control: one PDU, in order of the calls.  @data stays until
	 * IscsiLayer::control_sent().  A SCSI Response ends the task's Remote
	 * Mapping (RFC 7145 7.3.2).
	 */
	virtual void send_control(TaskResources &task, const Bhs &bhs,
				  base::Bytes data) = 0;
	/*
	 * Put_Data: RDMA Write of read data, @buffer_offset into the command's
	 * data.  With @notify, data_completion_notify() follows; without, it
	 * leaves together with the task's SCSI Response, whose control_sent()
	 * ends both.
	 */
	virtual void put_data(TaskResources &task, const DataDescriptor &data,
			      u32 buffer_offset, bool notify) = 0;
	/* Get_Data: RDMA Read of what one R2T would ask for. */
	virtual void get_data(TaskResources &task, const DataDescriptor &data,
			      u32 buffer_offset) = 0;

	/* Notice_Key_Values */
	virtual void notice_key_values(const iser::LoginKeys &keys) = 0;
	/* Allocate_Connection_Resources; once the peer is authenticated. */
	virtual base::Error allocate_connection_resources(
		const ConnectionResources &resources) = 0;
	/*
	 * In full feature phase, once: @count more PDUs of the same size find
	 * a buffer.  NoMemory: it is as it was; another error: the connection
	 * ends.  Sleeps.
	 */
	virtual base::Error allocate_receives_for_load(u32 count) = 0;
	/*
	 * Enable_Datamover: posts the receive buffers, then sends the final
	 * Login Response.
	 */
	virtual base::Error enable_datamover(const Bhs &final_login_response,
					     base::Bytes text) = 0;
	/*
	 * Connection_Terminate.  Every operation has ended when it returns,
	 * and all buffers are the iSCSI layer's again.  Sleeps.
	 */
	virtual void connection_terminate() = 0;

	/* The iSCSI layer is through with a PDU's buffer. */
	virtual void done(rcap::Receive &buffer) = 0;
	/* It could not take a PDU when it came: says control_notify() again. */
	virtual void notify_again(rcap::Receive &buffer) = 0;
};

/* Offered by the iSCSI layer.  Contexts as rcap::StreamUser has them. */
class IscsiLayer {
public:
	virtual void connection_established() = 0;
	virtual void login_notify(ControlPdu &pdu) = 0;
	virtual void login_sent(bool ok) = 0;

	/* Control_Notify: PDUs in the order of their arrival. */
	virtual void control_notify(ControlPdu &pdu) = 0;
	/* A PDU of send_control() left, or never will. */
	virtual void control_sent(TaskResources &task, bool ok) = 0;
	/* Data_Completion_Notify */
	virtual void data_completion_notify(TaskResources &task, bool ok) = 0;
	/*
	 * Connection_Terminate_Notify, once.  May come in atomic context;
	 * Connection_Terminate must follow.
	 */
	virtual void connection_terminate_notify(iser::Cause cause,
						 const char *detail) = 0;
	/* After Connection_Terminate: the Datamover may be destroyed. */
	virtual void connection_released() = 0;

protected:
	~IscsiLayer() = default;
};

} // namespace di
