// SPDX-License-Identifier: GPL-2.0
/* A connection's state, and its end. */
#include "lio/command_fate.h"
#include "lio/connection.h"
#include "lio/portal.h"
#include "lio/registry.h"

namespace lio {

using base::Error;
using base::SpinGuard;
using iser::Action;
using iser::Cause;
using iser::Event;
using iser::State;

namespace {

/* Periods of silence after a login, before the first ping. */
constexpr u32 patient_periods = 4;
/* How long a refusal may take to leave before the connection is closed. */
constexpr unsigned int refusal_ms = 1000;
/* How often commands that nobody would end are looked for. */
constexpr unsigned int stranded_ms = 100;
/* And how often a person is told what the wait is for. */
constexpr unsigned int tell_every = 100;

/* Causes that are the ordinary end of a connection. */
bool is_ordinary(Cause cause)
{
	return cause == Cause::None || cause == Cause::LoggedOut;
}

} // namespace

Connection::Connection(Portal &portal)
	: portal_(portal), datamover_(*this), data_out_mutex_("data out"),
	  text_mutex_("text"), respond_mutex_("respond"),
	  lock_("connection"), watchdog_(*this), widen_(*this),
	  retry_(*this), aborts_(*this), hold_(*this), logout_(*this),
	  release_(*this)
{
	portal_.get();
	login_sent_.open();
	Registry::instance().statistics().connection_created();
}

Connection::~Connection()
{
	portal_.forget(*this);
	Registry::instance().remove(*this);
	Registry::instance().statistics().connection_deleted();
	portal_.put();
}

void Connection::last_put()
{
	Registry::instance().bury(*this);
}

Action Connection::step(Event event)
{
	SpinGuard guard(lock_);
	const iser::Transition next = iser::transition(state_, event);

	if (next.action != Action::Invalid)
		state_ = next.next;
	return next.action;
}

/*
 * The connection is to end, or has ended.  Any context; the first cause counts.
 * Who ends it depends on who has it in hand.
 */
void Connection::end(Cause cause, const char *detail)
{
	Action action;
	{
		SpinGuard guard(lock_);
		const iser::Transition next =
			iser::transition(state_, Event::Lost);

		if (!lost_) {
			cause_ = cause;
			detail_ = detail;
			lost_in_ = state_;
		}
		lost_ = true;
		state_ = next.next;
		action = next.action;
	}
	switch (action) {
	case Action::Release:
		get();
		release_.queue();
		break;
	case Action::Present:
		present();
		break;
	case Action::Wake:
		ended_.open();
		break;
	default:
		break;
	}
}

void Connection::connection_terminate_notify(Cause cause, const char *detail)
{
	end(cause, detail);
}

/* The stream was one of the owners. */
void Connection::connection_released()
{
	put();
}

/* LIO never had it, or not yet: we end it ourselves. */
void Connection::released_by_us()
{
	portal_.forget(*this);
	watchdog_.cancel_sync();
	static_cast<void>(login_sent_.wait_ms(refusal_ms));
	datamover_.connection_terminate();
	report_end();
	put();
}

/* Watching ------------------------------------------------------------------ */

void Connection::watch()
{
	bool full_feature;
	{
		SpinGuard guard(lock_);

		full_feature = state_ == State::FullFeature;
	}
	if (full_feature)
		ping();
	else
		login_expired();
}

/*
 * LIO leaves its NOP-In timers out for iSER, but keeps them running once an
 * initiator has answered a first NOP-In.  So one of ours is enough (F-37).
 */
void Connection::ping()
{
	const u64 received = datamover_.messages_received();

	if (datamover_.hello_is_due()) {
		end(Cause::HelloMissing);
		return;
	}
	/* It may have no receive buffers yet (RFC 7145 5.1.1): not at once. */
	if (datamover_.first_is_due() && silent_periods_++ < patient_periods) {
		watchdog_.queue(session_.nopin_timeout * 1000);
		return;
	}
	if (pinged_) {
		if (received == messages_at_ping_)
			end(Cause::PingUnanswered);
		return;
	}
	if (target_ping(conn_) < 0) {
		/* No tag is free, so the initiator is busy with us. */
		watchdog_.queue(session_.nopin_timeout * 1000);
		return;
	}
	pinged_ = true;
	messages_at_ping_ = received;
	watchdog_.queue(session_.nopin_response_timeout * 1000);
}

/* LIO ends the connection --------------------------------------------------- */

/*
 * Order (F-16): no new PDU, no operation under way, no command that nobody
 * would end, then the core's own commands, then the logout.
 */
void Connection::wait_conn()
{
	{
		SpinGuard guard(lock_);

		if (!lost_) {
			cause_ = Cause::SessionStopped;
			lost_in_ = state_;
		}
		lost_ = true;
		state_ = State::Closing;
		/* LIO's login code is through with it. */
		in_thread_ = present_later_ = false;
	}
	portal_.login_ended(*this);
	watchdog_.cancel_sync();
	if (refused_)
		static_cast<void>(login_sent_.wait_ms(refusal_ms));
	datamover_.connection_terminate();
	widen_.cancel_sync();
	retry_.cancel_sync();
	aborts_.cancel_sync();
	hold_.cancel_sync();
	/* Else it waits for this to end. */
	if (!logout_queued_)
		logout_.cancel_sync();
	drop_parked();
	drop_held();
	if (target_is_logged_in(conn_)) {
		wait_for_commands();
		keep_no_session();
	}
	if (logout_queued_)
		target_wait_logout(conn_);
	report_end();
}

void Connection::wait_for_commands()
{
	target_stop_commands(conn_);
	for (unsigned int tries = 1;; ++tries) {
		free_stranded();
		if (target_wait_commands(conn_, stranded_ms) == 0)
			return;
		if (tries % tell_every == 0)
			port_log(PORT_WARNING,
				 "%s: the connection is closed, but waits %u s for commands that the backstore has not finished",
				 peer_name_, tries * stranded_ms / 1000);
	}
}

/*
 * Commands that neither the core works on nor the stream: those that wait for
 * data or for their turn, or whose response LIO's thread did not send.
 */
void Connection::free_stranded()
{
	const auto unsent = [](const target_command_state *state) -> int {
		return is_unsent(*state);
	};
	const auto unsubmitted = [](const target_command_state *state) -> int {
		return is_unsubmitted(*state);
	};

	while (iscsit_cmd *cmd = target_take_command(conn_, unsubmitted)) {
		target_command_state state;

		/* Of one that has failed already, LIO gave it up. */
		target_get_command_state(cmd, &state);
		if (!state.failed)
			target_command_put(cmd);
		target_command_free(conn_, cmd, false);
	}
	while (iscsit_cmd *cmd = target_take_command(conn_, unsent))
		target_command_free(conn_, cmd, true);
}

/*
 * LIO would keep the session for Time2Retain after a logout of its only
 * connection, though nobody can come back to it, and end it from a timer that
 * takes the locks of the portal group in an order that can deadlock.
 */
void Connection::keep_no_session()
{
	if (target_is_last_of_session(conn_))
		target_keep_no_session(conn_);
}

void Connection::free_conn()
{
	portal_.login_ended(*this);
	/* LIO frees its connection when this returns. */
	conn_ = nullptr;
	put();
}

/* One line for a person, and a counter for a program. */
void Connection::report_end()
{
	Cause cause;
	State in;
	const char *detail;
	{
		SpinGuard guard(lock_);

		/* Whoever closed it then, it was done. */
		if (logout_queued_)
			cause_ = Cause::LoggedOut;
		cause = cause_;
		in = lost_in_;
		detail = detail_;
	}
	Registry::instance().statistics().connection_ended(cause);
	/* Who came only to look leaves like that. */
	if (is_ordinary(cause) ||
	    (discovery_ && cause == Cause::PeerDisconnected))
		return;
	port_log_limited(PORT_WARNING,
			 "%s %s: connection ended in state %s: %s%s%s",
			 peer_name_,
			 initiator_name_[0] ? initiator_name_ : "(no name yet)",
			 iser::name(in), iser::text(cause), detail ? ": " : "",
			 detail ? detail : "");
}

void Connection::show(void *reader)
{
	State state;
	{
		SpinGuard guard(lock_);

		state = state_;
	}
	const rcap::Traits &traits = datamover_.stream().traits();

	port_emit(reader,
		  "peer=%s initiator=%s state=%s device=%s/%u window=%u read_depth=%u send_queue=%u messages=%llu\n",
		  peer_name_, initiator_name_[0] ? initiator_name_ : "-",
		  iser::name(state), traits.device, traits.port,
		  flow_control_.command_window, traits.read_depth,
		  traits.send_queue,
		  datamover_.messages_received());
}

} // namespace lio
