// SPDX-License-Identifier: GPL-2.0
/* LIO's login: one request and response at a time, keys as LIO answers them. */
#include <algorithm>
#include <cerrno>
#include <cstring>

#include "host/host.h"
#include "iser/text.h"
#include "loopback/lio.h"

using iser::LoginRequestPdu;
using iser::LoginResponsePdu;
using libiser::TextKeys;
using loopback::Lio;
using loopback::LioSession;
using loopback::Scheduler;

namespace {

constexpr u8 full_feature = 3;

/* TA_LOGIN_TIMEOUT */
constexpr u64 login_ms = 15000;
/* What LIO needs to take a session away that was not to be. */
constexpr u64 drop_ms = 20;

Scheduler &scheduler() { return Scheduler::instance(); }

std::string smaller(const std::string &theirs, unsigned long ours)
{
	return std::to_string(std::min(std::stoul(theirs), ours));
}

std::string larger(const std::string &theirs, unsigned long ours)
{
	return std::to_string(std::max(std::stoul(theirs), ours));
}

const char *yes_if(bool yes) { return yes ? "Yes" : "No"; }

/* Empty: no answer is due. */
std::string answer_to(const std::string &key, const std::string &value,
		      const loopback::Settings &settings)
{
	const bool yes = value == "Yes";

	if (key == "InitiatorName" || key == "TargetName" ||
	    key == "SessionType" || key == "InitiatorAlias" ||
	    key == "MaxRecvDataSegmentLength")
		return {};
	if (key == "AuthMethod" || key == "HeaderDigest" ||
	    key == "DataDigest")
		return "None";
	if (key == "RDMAExtensions")
		return yes_if(yes);
	if (key == "InitialR2T")
		return yes_if(yes || settings.initial_r2t);
	if (key == "ImmediateData")
		return yes_if(yes && settings.immediate_data);
	if (key == "DataPDUInOrder" || key == "DataSequenceInOrder")
		return "Yes";
	if (key == "MaxBurstLength")
		return smaller(value, 262144);
	if (key == "FirstBurstLength")
		return smaller(value, 65536);
	if (key == "MaxOutstandingR2T" || key == "MaxConnections")
		return "1";
	if (key == "ErrorRecoveryLevel" || key == "DefaultTime2Retain")
		return "0";
	if (key == "DefaultTime2Wait")
		return larger(value, 2);
	if (key == "TargetRecvDataSegmentLength")
		return smaller(value, 8192);
	if (key == "InitiatorRecvDataSegmentLength")
		return smaller(value, 262144);
	return "NotUnderstood";
}

TextKeys keys_of(const std::string &text)
{
	return libiser::from_text(
		{reinterpret_cast<const u8 *>(text.data()), text.size()});
}

std::string text_of(const TextKeys &keys)
{
	const libiser::ByteVector text = libiser::to_text(keys);

	return {text.begin(), text.end()};
}

} // namespace

/* The first request is here, and LIO's thread of the portal looks at it. */
void iscsit_conn::log_in()
{
	login = std::make_unique<iscsi_login>();
	scheduler().queue(login_timer, login_ms);
	if (lio_get_login_rx(transport(), login.get(), 1) < 0) {
		drop_login();
		return;
	}
	if (!check_names() || !has_turn()) {
		drop_login();
		return;
	}
	reinstate();

	const u32 cmd_sn = login->request.as<LoginRequestPdu>().cmd_sn;

	new_session = std::make_unique<LioSession>();
	session = new_session.get();
	++lio.sessions;
	session->exp_cmd_sn = session->max_cmd_sn = cmd_sn;
	session->discovery =
		login->text.find("SessionType=Discovery") != std::string::npos;
	if (lio_validate_params(transport()) < 0) {
		drop_login();
		return;
	}

	const int result = negotiate();

	/* iscsi_target_start_negotiation() leaves that to the worker. */
	if (result == 0 && login->expired)
		scheduler().queue(login_work, 0);
	else
		end_round(result);
}

/* LIO's login worker: a later request, or the end. */
void iscsit_conn::continue_login()
{
	if (!login)
		host::die("login work after the login");
	if (login->expired) {
		drop_login();
		return;
	}
	login->at_work = true;

	int result = lio_get_login_rx(transport(), login.get(), 0);

	if (result >= 0)
		result = negotiate();
	if (result == 0 && login->expired)
		result = -ETIMEDOUT;
	end_round(result);
}

void iscsit_conn::end_round(int result)
{
	if (result < 0)
		drop_login();
	else if (result > 0)
		finish_login();
	else
		login->at_work = false;
}

/* iscsit_login_timeout(): whoever is at work will see it. */
void iscsit_conn::login_expired()
{
	login->expired = true;
	if (!login->at_work)
		scheduler().queue(login_work, 0);
}

/* The portal group has one login at a time (np_login_sem). */
bool iscsit_conn::has_turn()
{
	if (!scheduler().wait("its turn to log in",
			      [this] { return !lio.logging_in; },
			      loopback::never, true))
		return false;
	lio.logging_in = this;
	return true;
}

bool iscsit_conn::check_names()
{
	bool known = false;
	bool discovery = false;

	for (const auto &[key, value] : keys_of(login->text)) {
		known |= key == "TargetName" && value == Lio::target_name;
		discovery |= key == "SessionType" && value == "Discovery";
	}
	if (known || discovery)
		return true;
	refuse(2, 3);
	return false;
}

/* The same initiator port again: its session before ends first (6.3.5). */
void iscsit_conn::reinstate()
{
	const auto &request = login->request.as<LoginRequestPdu>();

	std::copy_n(request.isid, isid.size(), isid.begin());
	for (iscsit_conn *other : lio.running) {
		if (other->isid != isid)
			continue;
		const std::shared_ptr<bool> ended = other->closed;

		other->interrupt();
		scheduler().wait("the session before to end",
				 [ended] { return *ended; });
		return;
	}
}

void iscsit_conn::refuse(u8 status_class, u8 status_detail)
{
	auto &response = login->response.as<LoginResponsePdu>();

	login->response = {};
	response.opcode = static_cast<u8>(iser::IscsiOpcode::LoginResponse);
	response.itt = login->request.itt;
	response.stat_sn = stat_sn++;
	response.status_class = status_class;
	response.status_detail = status_detail;
	login->failed = true;
	lio_put_login_tx(transport(), login.get());
}

/* 1: the login has succeeded; 0: another request is to come; or -errno. */
int iscsit_conn::negotiate()
{
	const auto &request = login->request.as<LoginRequestPdu>();
	auto &response = login->response.as<LoginResponsePdu>();
	const bool last_round = ++login->rounds >= lio.settings.login_rounds;
	const bool transit = request.transit() && last_round;
	TextKeys &due = login->answers_due;

	for (const auto &[key, value] : keys_of(login->text))
		if (std::string answer = answer_to(key, value, lio.settings);
		    !answer.empty())
			due.emplace_back(key, answer);
	if (login->rounds == 1)
		due.emplace_back("TargetPortalGroupTag", "1");

	/* The last round answers what is left. */
	const auto end = due.begin() +
			 static_cast<long>(last_round ? due.size() :
							std::min<size_t>(
								due.size(), 3));

	login->answer = text_of({due.begin(), end});
	due.erase(due.begin(), end);
	login->response = {};
	response.opcode = static_cast<u8>(iser::IscsiOpcode::LoginResponse);
	response.flags = static_cast<u8>(request.current_stage() << 2);
	if (transit)
		response.flags |= LoginRequestPdu::transit_bit |
				  request.next_stage();
	login->complete = transit && request.next_stage() == full_feature;
	std::memcpy(response.isid, request.isid, sizeof(response.isid));
	response.tsih = login->complete ? u16{++lio.last_tsih} :
					  u16{request.tsih};
	response.itt = login->request.itt;
	response.stat_sn = stat_sn++;
	response.exp_cmd_sn = session->exp_cmd_sn;
	response.max_cmd_sn = session->max_cmd_sn;
	response.data_segment_length = static_cast<u32>(login->answer.size());
	if (lio_put_login_tx(transport(), login.get()) < 0)
		return -EIO;
	return login->complete;
}

/*
 * iscsi_target_login_drop().  The work is cancelled first, and the transport is
 * told last: whoever queues it in between has it run for what is freed.
 */
void iscsit_conn::drop_login()
{
	scheduler().cancel(login_timer);
	scheduler().cancel(login_work);
	scheduler().wait("LIO to drop a login", nullptr,
			 scheduler().now() + drop_ms);
	if (session)
		session->falls_back = true;
	lio_wait_conn(transport());
	if (lio.logging_in == this)
		lio.logging_in = nullptr;
	lio_free_conn(transport());
	if (session)
		--lio.sessions;
	*closed = true;
	if (login_work.queued)
		host::die("login work for a connection that LIO freed");
	delete this;
}

/* iscsi_post_login_handler() */
void iscsit_conn::finish_login()
{
	scheduler().cancel(login_timer);
	scheduler().cancel(login_work);
	session->max_cmd_sn += lio.settings.command_window - 1;
	login.reset();
	lio.logging_in = nullptr;
	start();
}

/* port/target.h ------------------------------------------------------------ */

int target_portal_enabled(struct iscsi_np *np) { return np->enabled; }
int target_portal_stopping(struct iscsi_np *np) { return np->stopping; }

void target_bind(struct iscsit_conn *conn, void *context,
		 const struct port_address *, const struct port_address *)
{
	conn->context = context;
}

int target_stop_login_timer(struct iscsit_conn *conn)
{
	scheduler().cancel(conn->login_timer);
	return conn->login->expired ? -ETIMEDOUT : 0;
}

int target_login_request(struct iscsit_conn *conn, struct iscsi_login *login,
			 const u8 *bhs, const u8 *text, u32 length, int first)
{
	std::memcpy(&login->request, bhs, sizeof(login->request));
	login->text.assign(reinterpret_cast<const char *>(text), length);
	if (first)
		conn->stat_sn =
			login->request.as<LoginRequestPdu>().exp_stat_sn;
	return 0;
}

void target_get_login_response(struct iscsi_login *login,
			       struct target_login_response *out)
{
	out->bhs = reinterpret_cast<const u8 *>(&login->response);
	out->text = reinterpret_cast<const u8 *>(login->answer.data());
	out->failed = login->failed;
	out->complete = login->complete && !login->failed;
}

void target_login_work(struct iscsit_conn *conn)
{
	scheduler().queue(conn->login_work, 0);
}

void target_set_stat_sn(struct iscsit_conn *conn, u32 stat_sn)
{
	conn->stat_sn = stat_sn;
}

int target_set_key(struct iscsit_conn *, const char *) { return 0; }

void target_get_session(struct iscsit_conn *conn, struct target_session *out)
{
	const loopback::Settings &settings = conn->lio.settings;

	*out = {};
	out->discovery = conn->session->discovery;
	if (out->discovery)
		return;
	out->target_name = Lio::target_name;
	out->command_window = settings.command_window;
	out->nopin_timeout = settings.nopin_timeout;
	out->nopin_response_timeout = settings.nopin_response_timeout;
}

void target_limit_data_segment(struct iscsit_conn *conn, u32 limit)
{
	conn->max_recv_data_segment_length =
		std::min(conn->max_recv_data_segment_length, limit);
}
