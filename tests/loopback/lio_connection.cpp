// SPDX-License-Identifier: GPL-2.0
/* LIO's threads: of the portal, and two of each connection; and their end. */
#include <algorithm>
#include <cerrno>

#include "host/host.h"
#include "loopback/lio.h"

using iser::IscsiOpcode;
using loopback::Lio;
using loopback::Scheduler;
using loopback::Thread;

namespace {

Scheduler &scheduler() { return Scheduler::instance(); }

void run_login_work(void *conn)
{
	static_cast<iscsit_conn *>(conn)->continue_login();
}

void run_login_timer(void *conn)
{
	static_cast<iscsit_conn *>(conn)->login_expired();
}

} // namespace

namespace loopback {

Lio::Lio(const Settings &with) : settings(with), disk(with.disk_blocks) {}

Lio::~Lio() = default;

int Lio::open(const port_address &address)
{
	np_ = {};

	const int error = lio_portal_create(&np_, &address, &np_.portal);

	if (error < 0)
		return error;
	np_.enabled = true;
	np_.thread = scheduler().start("LIO's thread of the portal",
				       [this] { portal_thread(); });
	return 0;
}

void Lio::portal_thread()
{
	while (!np_.stopping) {
		auto *conn = new iscsit_conn(*this);

		if (lio_portal_accept(np_.portal, conn) < 0)
			delete conn;
		else
			conn->log_in();
	}
}

/* Disables the group, and removes the portal (iscsit_del_np()). */
void Lio::close()
{
	np_.enabled = false;
	while (!running.empty()) {
		const std::shared_ptr<bool> closed = running.front()->closed;

		running.front()->interrupt();
		scheduler().wait("a session to end",
				 [closed] { return *closed; });
	}
	if (!np_.portal)
		return;
	np_.stopping = true;
	np_.thread->interrupted = true;
	scheduler().wait("the portal's thread",
			 [this] { return np_.thread->ended; });
	lio_portal_destroy(np_.portal);
	np_.portal = nullptr;
}

void Lio::stop_session(size_t number)
{
	if (number < running.size())
		running[number]->interrupt();
}

bool Lio::send_async(size_t number)
{
	if (number >= running.size() || running[number]->exiting)
		return false;
	iscsit_conn *conn = running[number];
	iscsit_cmd *cmd = target_command_allocate(conn);

	if (!cmd)
		return false;
	cmd->opcode = IscsiOpcode::AsyncMessage;
	cmd->immediate = true;
	cmd->list();
	conn->add_response(cmd, TARGET_SEND_ASYNC_MESSAGE);
	return true;
}

} // namespace loopback

iscsit_conn::iscsit_conn(Lio &owner) : lio(owner)
{
	login_work = {run_login_work, this, 0, 0, false};
	login_timer = {run_login_timer, this, 0, 0, false};
	lio.connections.push_back(this);
}

iscsit_conn::~iscsit_conn()
{
	std::erase(lio.connections, this);
}

void iscsit_conn::start()
{
	lio.running.push_back(this);
	receive_ = scheduler().start("LIO's receive thread",
				     [this] { receive_thread(); });
	transmit_ = scheduler().start("LIO's transmit thread",
				      [this] { transmit_thread(); });
}

void iscsit_conn::interrupt()
{
	if (exiting)
		return;
	receive_->interrupted = true;
	transmit_->interrupted = true;
}

/* Queues ------------------------------------------------------------------- */

void iscsit_conn::add_immediate(iscsit_cmd *cmd, enum target_state state)
{
	++cmd->immediates_queued;
	immediates_.push_back({cmd, state});
}

void iscsit_conn::add_response(iscsit_cmd *cmd, enum target_state state)
{
	++cmd->responses_queued;
	responses_.push_back({cmd, state});
}

void iscsit_conn::forget_queued(iscsit_cmd *cmd)
{
	const auto is_its = [cmd](const Queued &queued) {
		return queued.cmd == cmd;
	};

	std::erase_if(immediates_, is_its);
	std::erase_if(responses_, is_its);
	cmd->immediates_queued = cmd->responses_queued = 0;
}

/* False: the transport said that it is over. */
bool iscsit_conn::transmit_one()
{
	if (!immediates_.empty()) {
		const Queued next = immediates_.front();

		immediates_.pop_front();
		--next.cmd->immediates_queued;
		return lio_immediate_queue(transport(), next.cmd,
					   next.state) >= 0;
	}
	const Queued next = responses_.front();

	responses_.pop_front();
	--next.cmd->responses_queued;
	return lio_response_queue(transport(), next.cmd, next.state) >= 0;
}

/* Threads ------------------------------------------------------------------ */

void iscsit_conn::receive_thread()
{
	lio_get_rx_pdu(transport());
	exit(transmit_);
}

void iscsit_conn::transmit_thread()
{
	const auto has_work = [this] {
		return !immediates_.empty() || !responses_.empty();
	};

	while (scheduler().wait("something to send", has_work, loopback::never,
				true))
		if (!transmit_one())
			break;
	exit(receive_);
}

/*
 * Whichever thread comes first closes the connection, and ends the other one
 * (iscsit_take_action_for_connection_exit()).
 */
void iscsit_conn::exit(std::shared_ptr<Thread> &other)
{
	if (exiting)
		return;
	exiting = true;
	other->interrupted = true;
	scheduler().wait("the connection's other thread",
			 [&other] { return other->ended; });
	close();
}

/* iscsit_close_connection() */
void iscsit_conn::close()
{
	const std::shared_ptr<bool> mine = closed;

	lio_wait_conn(transport());
	release_commands();
	immediates_.clear();
	responses_.clear();
	/* A logout whose response did not leave. */
	if (logout_pending) {
		--uses;
		session->falls_back = true;
	}
	scheduler().wait("the last user of a connection",
			 [this] { return uses == 0; });
	lio_free_conn(transport());
	std::erase(lio.running, this);
	if (!session->falls_back && !session->logged_out)
		++lio.kept_sessions;
	if (session->tags_used)
		host::die("a session goes whose tags are in use");
	--lio.sessions;
	*mine = true;
	delete this;
}

/* iscsit_release_commands_from_conn() */
void iscsit_conn::release_commands()
{
	while (!commands.empty()) {
		iscsit_cmd *cmd = commands.front();

		if (cmd->core)
			host::die("wait_conn() left a command of the core");
		cmd->unlist();
		cmd->count();
		cmd->free(true);
	}
}

/* port/target.h: the end --------------------------------------------------- */

int target_logout_closes(struct iscsit_conn *, struct iscsit_cmd *)
{
	/* The only connection of its session. */
	return 1;
}

/*
 * iscsit_logout_post_handler(): the door is shut, then the connection, then
 * the session.
 */
void target_logout_sent(struct iscsit_conn *conn, struct iscsit_cmd *)
{
	const std::shared_ptr<bool> closed = conn->closed;

	conn->session->logged_out = true;
	conn->logout_pending = false;
	conn->logout_done = true;
	conn->interrupt();
	--conn->uses;
	scheduler().wait("a connection to close after a logout",
			 [closed] { return *closed; });
}

int target_is_logged_in(struct iscsit_conn *conn)
{
	return !!conn->session && !conn->login;
}

void target_stop_commands(struct iscsit_conn *conn)
{
	conn->core_stopped = true;
}

int target_wait_commands(struct iscsit_conn *conn, unsigned int timeout_ms)
{
	return scheduler().wait("commands of the core",
				[conn] { return conn->core_commands == 0; },
				scheduler().now() + timeout_ms) ?
		       0 : -ETIMEDOUT;
}

/* A session has one connection here. */
int target_is_last_of_session(struct iscsit_conn *)
{
	return true;
}

void target_keep_no_session(struct iscsit_conn *conn)
{
	conn->session->falls_back = true;
}

/* LIO gives it 15 s (SECONDS_FOR_LOGOUT_COMP). */
void target_wait_logout(struct iscsit_conn *conn)
{
	scheduler().wait("the logout", [conn] { return conn->logout_done; },
			 scheduler().now() + 15000);
}
