// SPDX-License-Identifier: GPL-2.0
/* A connection from the request to the end of its login (RFC 7145 5.1.2). */
#include "iser/private_data.h"
#include "lio/connection.h"
#include "lio/portal.h"
#include "lio/registry.h"

namespace lio {

using base::Bytes;
using base::Error;
using base::SpinGuard;
using iser::Action;
using iser::Cause;
using iser::Event;
using iser::LoginChain;
using iser::State;

namespace {

/* Login statuses (RFC 7143 11.13.5), class and detail. */
constexpr u8 initiator_error = 0x02;
constexpr u8 target_error = 0x03;
constexpr u8 out_of_resources = 0x02;

/* Responses on their way at a time; the next ones wait. */
constexpr u32 sends_at_a_time = 48;
/* AHS that a target takes unless it declared otherwise (RFC 7145 6.8). */
constexpr u32 max_ahs = 256;
/* A discovery session asks one thing at a time. */
constexpr u32 discovery_pdus = 4;

/* RFC 7145 6.1 */
constexpr const char *no_digests[] = {"HeaderDigest=None", "DataDigest=None"};

/*
 * Nobody recovers a connection over RDMA; and a second one would have to know
 * what the first one declared, which LIO does not keep.
 */
constexpr const char *session_keys[] = {"ErrorRecoveryLevel=0",
					"MaxConnections=1"};

/* One RDMA operation, so that no command fills the send queue. */
constexpr u32 largest_burst = 256 * 1024;

} // namespace

/* The request -------------------------------------------------------------- */

Error Connection::create(Portal &portal, rcap::ConnectionRequest &request)
{
	const iser::PeerCapabilities peer =
		iser::parse_private_data(request.private_data());
	const iser::Options options = {
		.send_with_invalidate = peer.send_with_invalidate &&
					request.send_with_invalidate(),
		.silent_means_solicited_only =
			lio_settings.silent_write_base != 0,
	};
	const rcap::StreamShape shape = {
		.sends = sends_at_a_time,
		.receives = iser::most_regulated_pdus + iser::unexpected_pdus,
	};
	u8 private_data[iser::private_data_size];

	auto connection = TRY(base::make<Connection>(PORT_MAY_SLEEP, portal));

	if (portal.adopt(*connection) != Cause::None)
		return Error::Busy;

	port_address_text(&request.peer(), connection->peer_name_,
			  sizeof(connection->peer_name_));
	connection->login_ = TRY(Login::create(lio_settings.receive_data));
	connection->datamover_.attach(
		TRY(request.make_stream(shape, connection->datamover_)),
		options);

	if (Error error = connection->datamover_.allocate_login_resources();
	    error != Error::None)
		return error;

	/* Not before: who lists connections looks at their streams (F-10). */
	Registry::instance().add(*connection);
	iser::write_private_data(private_data, options.send_with_invalidate);
	connection.release()->begin(private_data);
	return Error::None;
}

/*
 * From now on the stream is the owner, and whoever notices the connection's end
 * sees to it, be it that it could not even be accepted (F-19).  That end waits
 * for the handler that we are in, which so must not wait for any part of it.
 */
void Connection::begin(base::Bytes private_data)
{
	watchdog_.queue(lio_settings.login_timeout * 1000);
	if (datamover_.accept(private_data) == Error::None)
		Registry::instance().statistics().connection_made();
}

void Connection::connection_established()
{
	step(Event::Established);
}

/* Requests ------------------------------------------------------------------ */

void Connection::login_notify(di::ControlPdu &pdu)
{
	if (!login_ || is_early(pdu))
		return;
	switch (login_->take(pdu)) {
	case LoginChain::Next::AnswerEmpty:
		send_login(login_->ask_for_more());
		break;
	case LoginChain::Next::Complete:
		request_complete();
		break;
	case LoginChain::Next::Refuse:
		refused_ = true;
		send_login(login_->refuse(initiator_error, 0));
		end(login_->refusal());
		break;
	}
}

/*
 * The initiator has the response before we hear that it was sent, and may ask
 * again meanwhile.  The next response takes the place of that one, so the
 * request waits.  There is one at most: no other buffer is posted.
 */
bool Connection::is_early(di::ControlPdu &pdu)
{
	SpinGuard guard(lock_);

	if (login_on_its_way_)
		early_request_ = &pdu.buffer;
	return login_on_its_way_;
}

/* For the log: who it is, from the first request on. */
void Connection::note_name()
{
	const Bytes name = login_->keys().initiator_name();

	if (!initiator_name_[0])
		base::copy({reinterpret_cast<u8 *>(initiator_name_),
			    sizeof(initiator_name_) - 1}, name);
}

/* A request is whole: somebody of LIO has to look at it. */
void Connection::request_complete()
{
	bool first;
	{
		SpinGuard guard(lock_);

		first = state_ == State::Connecting ||
			state_ == State::AwaitingLogin;
	}
	note_name();
	switch (step(first ? Event::FirstRequest : Event::RequestArrived)) {
	case Action::Queue:
		portal_.offer(*this);
		break;
	case Action::Present:
		present();
		break;
	case Action::Invalid:
		end(Cause::LoginMalformed, "a Login Request came out of turn");
		break;
	default:
		break;
	}
}

/*
 * LIO's login worker has to look: at a request, or at the end.  LIO's portal
 * thread may still be in the login code for the request before, and the worker
 * could free what it looks at; then wait for thread_left().
 */
void Connection::present()
{
	SpinGuard guard(lock_);

	if (in_thread_)
		present_later_ = true;
	else
		target_login_work(conn_);
}

void Connection::thread_left()
{
	SpinGuard guard(lock_);

	in_thread_ = false;
	if (present_later_)
		target_login_work(conn_);
	present_later_ = false;
}

bool Connection::accept(iscsit_conn *conn)
{
	{
		SpinGuard guard(lock_);
		const iser::Transition next =
			iser::transition(state_, Event::Accepted);

		if (next.action == Action::Invalid)
			return false;
		state_ = next.next;
		conn_ = conn;
		in_thread_ = true;
	}
	get();
	target_bind(conn, reinterpret_cast<lio_connection *>(this),
		    &datamover_.stream().peer(), &datamover_.stream().local());
	return true;
}

/*
 * Only our watchdog limits the login: when LIO's timer (6.12) ran out, its
 * worker would drop the login while present() may queue it once more.
 */
Error Connection::get_login_rx(iscsi_login *login, bool first)
{
	if (first && target_stop_login_timer(conn_) < 0)
		end(Cause::LoginTimedOut);
	{
		SpinGuard guard(lock_);

		if (lost_)
			return Error::NotConnected;
		state_ = State::Negotiating;
	}
	/* Without a request this is LIO's own timeout. */
	const Error error = login_->present(conn_, login, first);

	if (error == Error::TimedOut)
		end(Cause::LoginTimedOut);
	return error;
}

Error Connection::validate_params()
{
	/* Whatever LIO is configured to offer. */
	for (const char *pair : no_digests)
		if (int error = target_set_key(conn_, pair); error < 0)
			return base::from_errno(error);
	/* Of connections that join a session LIO has not got them. */
	if (login_->keys().discovery() || !login_->leading())
		return Error::None;
	for (const char *pair : session_keys)
		if (int error = target_set_key(conn_, pair); error < 0)
			return base::from_errno(error);
	return Error::None;
}

/* Responses ------------------------------------------------------------------ */

void Connection::send_login(const LoginResponse &response)
{
	login_is_on_its_way();
	/* The initiator may ask again as soon as it has the response. */
	if (rcap::Receive *buffer = login_->take_buffer())
		datamover_.done(*buffer);
	datamover_.send_login(response.bhs, response.text);
}

void Connection::login_is_on_its_way()
{
	SpinGuard guard(lock_);

	login_on_its_way_ = true;
	login_sent_.close();
}

void Connection::login_sent(bool ok)
{
	rcap::Receive *early;
	bool full_feature;
	{
		SpinGuard guard(lock_);

		full_feature = state_ == State::FullFeature;
		login_on_its_way_ = false;
		early = early_request_;
		early_request_ = nullptr;
	}
	if (ok && full_feature)
		login_ = {};
	login_sent_.open();
	if (ok && early)
		datamover_.notify_again(*early);
}

Error Connection::put_login_tx(iscsi_login *login)
{
	target_login_response from_lio;

	target_get_login_response(login, &from_lio);
	const LoginResponse response = login_->answer(from_lio);

	if (from_lio.failed) {
		/* The buffer stays out: this was the last request. */
		static_cast<void>(login_->take_buffer());
		refused_ = true;
		send_login(response);
		end(Cause::LoginRefused);
		return Error::None;
	}
	if (from_lio.complete)
		return final_response(response);
	if (step(Event::ResponseSent) == Action::Invalid)
		return Error::NotConnected;
	{
		SpinGuard guard(lock_);

		if (lost_)
			return Error::NotConnected;
		idle_since_ = port_now_ms();
	}
	send_login(response);
	return Error::None;
}

/* Ends a login that LIO was about to let in. */
Error Connection::refuse_login(Cause cause, u8 status_class, u8 status_detail)
{
	static_cast<void>(login_->take_buffer());
	refused_ = true;
	send_login(login_->refuse(status_class, status_detail));
	end(cause);
	return Error::NotConnected;
}

di::ConnectionResources Connection::resources() const
{
	return {
		.receives = discovery_ ? discovery_pdus :
					 flow_control_.receives,
		.receive_data = receive_data_,
		.max_ahs = max_ahs,
		.sends = discovery_ ? discovery_pdus : sends_at_a_time,
	};
}

/*
 * The login has succeeded, as far as LIO is concerned: now the connection gets
 * its resources (RFC 7145 5.1.2), and the response waits until LIO has
 * registered the session, because a command may follow at once (F-04).
 */
Error Connection::final_response(const LoginResponse &response)
{
	const iser::LoginKeys &keys = login_->keys();

	if (!keys.discovery() && !keys.rdma_extensions())
		return refuse_login(Cause::RdmaExtensionsRefused,
				    initiator_error, 0);

	static_cast<void>(login_->take_buffer());
	discovery_ = keys.discovery();
	first_burst_length_ = keys.first_burst_length();
	burst_limit_ = base::smaller(keys.max_burst_length(), largest_burst);
	receive_data_ = discovery_ ? iser::max_login_data :
				     keys.target_recv_data_segment_length();
	target_get_session(conn_, &session_);
	flow_control_ = iser::flow_control_when_idle(keys,
						     session_.command_window);
	flow_control_for_load_ = iser::flow_control_under_load(
		keys, session_.command_window);
	datamover_.notice_key_values(keys);
	{
		SpinGuard guard(lock_);

		unexpected_.limit(keys.max_outstanding_unexpected_pdus());
	}
	if (Error error = datamover_.allocate_connection_resources(resources());
	    error != Error::None)
		return refuse_login(Cause::OutOfMemory, target_error,
				    out_of_resources);
	final_ = response;
	step(Event::FinalResponse);

	SpinGuard guard(lock_);

	return lost_ ? Error::NotConnected : Error::None;
}

/* LIO's receive thread, once the session is registered. */
void Connection::get_rx_pdu()
{
	const u32 limit = discovery_ ? rcap::Stream::long_data : 128;

	portal_.login_ended(*this);
	if (step(Event::Started) == Action::Invalid)
		return;
	target_limit_data_segment(conn_, limit);
	login_is_on_its_way();
	if (datamover_.enable_datamover(final_.bhs, final_.text) !=
	    Error::None)
		return;
	if (session_.nopin_timeout > 0 && !discovery_)
		watchdog_.postpone(session_.nopin_timeout * 1000);
	else
		watchdog_.cancel();
	/* Interrupted: LIO ends the connection itself. */
	static_cast<void>(ended_.wait_interruptible());
}

u32 Connection::idle_ms()
{
	SpinGuard guard(lock_);

	if (state_ != State::AwaitingRequest)
		return 0;
	/* At least 1: it is waiting. */
	return static_cast<u32>(port_now_ms() - idle_since_) + 1;
}

/* The watchdog of every phase of the login. */
void Connection::login_expired()
{
	end(Cause::LoginTimedOut);
}

} // namespace lio
