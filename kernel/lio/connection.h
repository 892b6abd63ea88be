// SPDX-License-Identifier: GPL-2.0
#pragma once

#include "base/gate.h"
#include "base/lock.h"
#include "base/memory.h"
#include "base/reference.h"
#include "base/work.h"
#include "iser/connection.h"
#include "iser/connection_state.h"
#include "iser/flow_control.h"
#include "iser/unexpected_pdus.h"
#include "lio/command.h"
#include "lio/login.h"
#include "port/entry.h"
#include "rcap/listener.h"

namespace lio {

class Portal;

/*
 * The iSCSI layer's end of a connection: between LIO, which owns sessions and
 * commands, and the Datamover, which owns the wire.
 *
 * Life: made when a peer asks for a connection, and owned by the Datamover's
 * stream as soon as that is to be accepted (connection_released()).  LIO owns
 * it too from accept() to free_conn().  The last owner's put() leaves the
 * deletion to the Registry.
 *
 * Its phases stand in iser/connection_state.h.  Until LIO has taken it over it
 * ends itself (Release); after that LIO does, and is only told.
 */
class Connection final : public di::IscsiLayer, public base::Allocated,
			 public base::ReferenceCounted<Connection> {
public:
	/* Error: there is no connection.  Who could not be accepted, ends. */
	static base::Error create(Portal &portal,
				  rcap::ConnectionRequest &request);
	explicit Connection(Portal &portal);
	~Connection();

	void last_put();

	/* From the portal ------------------------------------------------- */

	/* LIO's thread takes it over.  False: it is gone already. */
	bool accept(iscsit_conn *conn);
	/* LIO's thread will not look at it any more: see Portal. */
	void thread_left();
	[[gnu::cold]] void end(iser::Cause cause,
			       const char *detail = nullptr);

	/* From LIO; see struct iscsit_transport ---------------------------- */

	base::Error get_login_rx(iscsi_login *login, bool first);
	base::Error put_login_tx(iscsi_login *login);
	base::Error validate_params();
	void get_rx_pdu();
	base::Error immediate_queue(iscsit_cmd *cmd, target_state state);
	base::Error response_queue(iscsit_cmd *cmd, target_state state);
	void get_dataout(iscsit_cmd *cmd);
	void queue_data_in(iscsit_cmd *cmd);
	void queue_status(iscsit_cmd *cmd);
	void aborted_task(iscsit_cmd *cmd);
	void unmap_cmd(iscsit_cmd *cmd);
	void wait_conn();
	void free_conn();

	/* From the Datamover ------------------------------------------------ */

	void connection_established() override;
	void login_notify(di::ControlPdu &pdu) override;
	void login_sent(bool ok) override;
	void control_notify(di::ControlPdu &pdu) override;
	void control_sent(iser::TaskResources &task, bool ok) override;
	void data_completion_notify(iser::TaskResources &task,
				    bool ok) override;
	void connection_terminate_notify(iser::Cause cause,
					 const char *detail) override;
	void connection_released() override;

	/* How long LIO has been waiting for its next request; 0: it is not. */
	u32 idle_ms();

	/* One line for a reader of debugfs. */
	void show(void *reader);

	/* For the portal's lists and the registry's. */
	base::ListNode portal_node;
	base::ListNode login_node;
	base::ListNode registry_node;
	base::ListNode grave_node;

private:
	iser::Action step(iser::Event event);

	/* Login: connection_login.cpp */
	void begin(base::Bytes private_data);
	void login_expired();
	void request_complete();
	void note_name();
	void present();
	base::Error final_response(const LoginResponse &response);
	base::Error refuse_login(iser::Cause cause, u8 status_class,
				 u8 status_detail);
	void send_login(const LoginResponse &response);
	void login_is_on_its_way();
	bool is_early(di::ControlPdu &pdu);
	di::ConnectionResources resources() const;

	/* Full feature phase, PDUs in: connection_receive.cpp */
	bool dispatch(di::ControlPdu &pdu);
	void park(di::ControlPdu &pdu);
	void retry_parked();
	void drop_parked();
	bool scsi_command(di::ControlPdu &pdu);
	void run_scsi_command(iscsit_cmd *cmd, di::ControlPdu &pdu, u8 *bhs);
	bool place_immediate_data(Command &command, di::ControlPdu &pdu,
				  u32 length);
	void data_out(di::ControlPdu &pdu);
	void await_unsolicited(Command &command);
	void forget_awaiting(Command &command);
	void complete_aborted();
	bool nop_out(di::ControlPdu &pdu);
	/* What a Text Request that goes on finds its task at. */
	enum class TextTask : u8 {
		None,
		Answering,	/* no part of an answer has left */
		Sending,	/* one is on its way, as far as we know */
		Unfit,		/* for this request, which LIO cannot answer */
		Waiting,	/* for this request */
	};
	TextTask take_up(u32 itt, iscsit_cmd *&cmd);
	bool text(di::ControlPdu &pdu);
	void take_text(iscsit_cmd *cmd, di::ControlPdu &pdu, base::Bytes text);
	void text_for_own_target(iscsit_cmd *cmd, di::ControlPdu &pdu);
	bool task_management(di::ControlPdu &pdu);
	bool logout(di::ControlPdu &pdu);
	[[gnu::cold]] bool reject(di::ControlPdu &pdu,
				  iser::RejectReason reason);
	bool count(const iser::Bhs &bhs);
	bool reject_unexpected(di::ControlPdu &pdu,
			       iser::RejectReason reason);
	void reject_with(iscsit_cmd *cmd, di::ControlPdu &pdu,
			 iser::RejectReason reason);

	/* Full feature phase, responses: connection_respond.cpp */
	void read_next_burst(Command &command);
	void write_next_burst(Command &command);
	void send_status(Command &command);
	void note_reject(const Command &command, const iser::Bhs &bhs);
	void release_buffer(Command &command);
	void forget(iscsit_cmd *cmd);
	void free_command(iscsit_cmd *cmd);
	void respond(Command &command, Command::Phase phase, iser::Bhs &bhs,
		     const target_payload &payload);
	void note_phase(Command &command, Command::Phase phase);
	void outlive(Command &command);
	void free_findable(Command &command);
	void remove(Command &command);
	base::Error send_text(Command &command);
	bool affects_unfinished(Command &command);
	bool hold_for_tasks(Command &command);
	void send_held();
	void drop_held();
	void widen_window();
	void logout_sent(iscsit_cmd *cmd);
	void logout_done();

	/* The end: connection_end.cpp */
	void watch();
	void ping();
	void released_by_us();
	void wait_for_commands();
	void free_stranded();
	void keep_no_session();
	void report_end();
	bool discovery() const { return discovery_; }

	Portal &portal_;
	iser::Connection datamover_;
	char peer_name_[64];
	/* LIO's connection; LIO's calls end before it goes. */
	iscsit_conn *conn_ = nullptr;

	/* Until full feature phase. */
	base::OwnPtr<Login> login_;
	LoginResponse final_ = {};
	bool refused_ = false;
	/* Open while no Login Response is on its way. */
	base::Gate login_sent_;

	/* Of the login that succeeded. */
	char initiator_name_[224] = {};
	bool discovery_ = false;
	u32 first_burst_length_ = 0;
	u32 burst_limit_ = 0;
	u32 receive_data_ = 0;
	target_session session_ = {};
	iser::FlowControl flow_control_for_load_ = {};

	/* LIO's receive thread waits here for the end. */
	base::Gate ended_;
	/* A Data-Out and the abort of its command come one after the other. */
	base::Mutex data_out_mutex_;
	/* A text's task is looked for, or ends, one after the other. */
	base::Mutex text_mutex_;
	/* StatSN goes out in the order of the responses. */
	base::Mutex respond_mutex_;
	/* Written by widen_window() alone, and under respond_mutex_. */
	iser::FlowControl flow_control_ = {};
	/* Under respond_mutex_: widen_ is queued or runs. */
	bool widening_ = false;
	u64 messages_at_ping_ = 0;
	bool pinged_ = false;
	/* Since a login behind which nothing has come; the watchdog's. */
	u32 silent_periods_ = 0;
	/* The response to a logout that closes this connection has left. */
	bool logout_queued_ = false;

	/* Guards what follows; any context. */
	base::SpinLock lock_;
	iser::State state_ GUARDED_BY(lock_) = iser::State::Connecting;
	bool lost_ GUARDED_BY(lock_) = false;
	iser::Cause cause_ GUARDED_BY(lock_) = iser::Cause::None;
	const char *detail_ GUARDED_BY(lock_) = nullptr;
	/* What it was doing when it was lost. */
	iser::State lost_in_ GUARDED_BY(lock_) = iser::State::Connecting;
	/* As login_sent_ has it. */
	bool login_on_its_way_ GUARDED_BY(lock_) = false;
	/* A request that came before we heard that the response was sent. */
	rcap::Receive *early_request_ GUARDED_BY(lock_) = nullptr;
	/* LIO's thread may still look at the login: do not present yet. */
	bool in_thread_ GUARDED_BY(lock_) = false;
	bool present_later_ GUARDED_BY(lock_) = false;
	/* When the last Login Response left. */
	u64 idle_since_ GUARDED_BY(lock_) = 0;
	/* PDUs for which there was no command, in order. */
	base::List<rcap::Receive, &rcap::Receive::node>
		parked_ GUARDED_BY(lock_);
	/* retry_parked() has the first of them in hand. */
	bool retrying_ GUARDED_BY(lock_) = false;
	/* The logout under way, one at a time. */
	iscsit_cmd *logout_cmd_ GUARDED_BY(lock_) = nullptr;
	/*
	 * One was parked since retry_parked() began.  Written under the lock;
	 * who frees a command looks at it without.
	 */
	bool stalled_ = false;
	/* Rejects on their way for which the initiator did not ask. */
	iser::UnexpectedPdus unexpected_ GUARDED_BY(lock_);
	/* Writes whose unsolicited data is not complete. */
	base::List<Command, &Command::awaiting_node> awaiting_ GUARDED_BY(lock_);

	/* Task management responses that wait for tasks to be over. */
	base::List<Command, &Command::held_node> held_ GUARDED_BY(lock_);

	/* Last, so that they end before anything else goes. */
	base::Work<Connection, &Connection::watch> watchdog_;
	base::Work<Connection, &Connection::widen_window> widen_;
	base::Work<Connection, &Connection::retry_parked> retry_;
	base::Work<Connection, &Connection::complete_aborted> aborts_;
	base::Work<Connection, &Connection::send_held> hold_;
	base::Work<Connection, &Connection::logout_done> logout_;
	base::Work<Connection, &Connection::released_by_us> release_;
};

} // namespace lio
