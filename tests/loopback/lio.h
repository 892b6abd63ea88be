// SPDX-License-Identifier: GPL-2.0
#pragma once

#include <array>
#include <deque>
#include <list>
#include <memory>

#include "iser/bhs.h"
#include "libiser/pdu.h"
#include "loopback/disk.h"
#include "loopback/memory.h"
#include "loopback/scheduler.h"
#include "port/entry.h"

/*
 * LIO as a transport sees it (port/target.h): its threads, its queues, the
 * references of its commands and the order of its calls are those of
 * drivers/target; what a transport cannot see is left out.
 */
namespace loopback {

class Lio;

struct Settings {
	/* Commands that the ACL lets an initiator have outstanding. */
	u32 command_window = 64;
	/* Tags of a session, of which each PDU takes one. */
	u32 tags = 136;
	u32 nopin_timeout = 5;
	u32 nopin_response_timeout = 5;
	bool initial_r2t = true;
	bool immediate_data = true;
	/* Login Responses that LIO takes to answer the operational keys. */
	u32 login_rounds = 1;
	/* Longest part of an answer to a Text Request. */
	u32 text_part = 8192;
	u32 disk_blocks = 512;
	/* What the disk takes for a command, at most. */
	u32 disk_ms = 0;
	/* What LIO waits for a lock when it has started a command. */
	u32 lock_ms = 0;
};

/* Responses of task management (RFC 7143 11.6.1). */
inline constexpr u8 function_complete = 0;
inline constexpr u8 no_such_task = 1;
inline constexpr u8 not_supported = 5;

struct LioSession {
	/* The sequence numbers of RFC 7143 4.2.2.1. */
	u32 exp_cmd_sn = 0;
	u32 max_cmd_sn = 0;
	u32 tags_used = 0;
	u32 next_ttt = 1;
	bool discovery = false;
	/* A logout has closed it, or its last connection has gone. */
	bool logged_out = false;
	bool falls_back = false;
};

/* A BHS, as the port hands it over. */
inline iser::Bhs &bhs_of(u8 *bytes)
{
	return *reinterpret_cast<iser::Bhs *>(bytes);
}

} // namespace loopback

struct iscsi_np {
	lio_portal *portal = nullptr;
	std::shared_ptr<loopback::Thread> thread;
	bool enabled = false;
	bool stopping = false;
};

struct iscsi_login {
	iser::Bhs request = {};
	std::string text;
	iser::Bhs response = {};
	std::string answer;
	/* Of keys that were offered in this round or before. */
	libiser::TextKeys answers_due;
	u32 rounds = 0;
	bool failed = false;
	bool complete = false;
	/* LIO's thread or its worker is in the login code. */
	bool at_work = true;
	bool expired = false;
};

struct iscsit_cmd;

/* LIO's connection; deleted by whichever thread of LIO closes it. */
struct iscsit_conn {
	explicit iscsit_conn(loopback::Lio &lio);
	~iscsit_conn();

	/* Login: lio_login.cpp. */
	void log_in();
	void continue_login();
	void login_expired();

	/* Threads and the end: lio_connection.cpp. */
	void start();
	void interrupt();
	void add_immediate(iscsit_cmd *cmd, enum target_state state);
	void add_response(iscsit_cmd *cmd, enum target_state state);
	void forget_queued(iscsit_cmd *cmd);

	lio_connection *transport() const
	{
		return static_cast<lio_connection *>(context);
	}

	loopback::Lio &lio;
	void *context = nullptr;
	std::unique_ptr<iscsi_login> login;
	std::unique_ptr<loopback::LioSession> new_session;
	loopback::LioSession *session = nullptr;
	/* Who it is (RFC 7143 4.2.7.1). */
	std::array<u8, 6> isid = {};
	u32 stat_sn = 0;
	u32 max_recv_data_segment_length = 262144;
	std::list<iscsit_cmd *> commands;
	/* Of the core; what wait_conn() has to wait for. */
	u32 core_commands = 0;
	bool core_stopped = false;
	bool logout_done = false;
	/* Who must not find it gone: the work of a logout. */
	u32 uses = 0;
	bool logout_pending = false;
	bool exiting = false;
	/* Outlives it. */
	std::shared_ptr<bool> closed = std::make_shared<bool>(false);
	loopback::Work login_work = {};
	/* LIO's own limit for a login, as of 6.12. */
	loopback::Work login_timer = {};

private:
	bool has_turn();
	int negotiate();
	void end_round(int result);
	bool check_names();
	void reinstate();
	void refuse(u8 status_class, u8 status_detail);
	void drop_login();
	void finish_login();
	void receive_thread();
	void transmit_thread();
	bool transmit_one();
	void exit(std::shared_ptr<loopback::Thread> &other);
	void close();
	void release_commands();

	struct Queued {
		iscsit_cmd *cmd;
		enum target_state state;
	};
	std::deque<Queued> immediates_;
	std::deque<Queued> responses_;
	std::shared_ptr<loopback::Thread> receive_;
	std::shared_ptr<loopback::Thread> transmit_;
};

/* One PDU's command; of a SCSI command and task management, the core's too. */
struct iscsit_cmd {
	explicit iscsit_cmd(iscsit_conn &conn);
	~iscsit_cmd();

	/* The core: lio_core.cpp. */
	void begin(bool tmr);
	int put();
	void new_command();
	void execute();
	void complete(u8 scsi_status);
	void fail(u16 asc_ascq, u8 key);
	void queue_status();
	void handle_tmr();

	/* iSCSI: lio_command.cpp. */
	void list();
	void unlist();
	void sequence();
	void take_turn();
	void free(bool shutdown);
	void count();
	void parse_cdb();
	loopback::Disk &disk();

	iscsit_conn &conn;
	/* The transport's part. */
	std::vector<u64> memory;
	iser::Bhs request = {};
	iser::IscsiOpcode opcode = {};
	u32 itt = ~0u;
	u32 ttt = ~0u;
	u32 cmd_sn = 0;
	bool immediate = false;
	bool listed = false;
	/* LIO has only to free it. */
	bool to_remove = false;
	/* MaxCmdSN has moved for it. */
	bool counted = false;
	u32 responses_queued = 0;
	u32 immediates_queued = 0;
	/* Text, ping data, or what was rejected. */
	std::vector<u8> buffer;
	u8 reason = 0;

	/* Of the core. */
	bool core = false;
	int references = 0;
	bool is_complete = false;
	bool aborted = false;
	bool write_pending = false;
	/* The core's task management finds it. */
	bool in_state_list = false;
	u64 lun = 0;
	u8 status = 0;
	u8 sense_key = 0;
	u16 sense_code = 0;
	/* Who waits for its release. */
	std::shared_ptr<bool> released;
	/* Outlives it. */
	std::shared_ptr<bool> gone = std::make_shared<bool>(false);

	/* Of a SCSI command. */
	bool write = false;
	bool immediate_data = false;
	/* More comes in Data-Out PDUs; and so it was from the first. */
	bool unsolicited = false;
	bool was_unsolicited = false;
	bool got_last = false;
	u32 lba = 0;
	u32 data_length = 0;
	u32 first_burst = 0;
	u32 received = 0;
	u32 residual = 0;
	bool underflow = false;
	bool overflow = false;
	std::vector<std::unique_ptr<u8[]>> pages;
	std::vector<loopback::Segment> segments;
	loopback::Segment *data = nullptr;
	u32 entries = 0;
	bool no_allocation = false;

	/* Of a Text Request: what of the answer is still to be sent. */
	bool answered = false;
	std::vector<u8> text_left;

	/* Of task management. */
	iser::TaskFunction function = {};
	u32 ref_tag = 0;
	u8 response = 0;
	bool call_transport = false;
};

namespace loopback {

/* The target: a portal, its group, one disk. */
class Lio {
public:
	static constexpr const char *target_name =
		"iqn.2003-01.org.example:loopback";

	explicit Lio(const Settings &settings);
	~Lio();

	/* Begins to listen; 0 or -errno. */
	int open(const port_address &address);
	/* Ends the sessions, then the portal. */
	void close();
	/* Has the connection's receive thread end it, as an administrator. */
	void stop_session(size_t number);
	/* As LIO with ErrorRecoveryLevel 2 does when a connection drops. */
	bool send_async(size_t number);

	Settings settings;
	Disk disk;
	/* Who logs in; the others wait. */
	iscsit_conn *logging_in = nullptr;
	std::vector<iscsit_conn *> connections;
	/* In full feature phase, the oldest first. */
	std::vector<iscsit_conn *> running;
	/* What exists of each kind. */
	size_t commands = 0;
	size_t sessions = 0;
	/* Sessions that their last connection left behind. */
	size_t kept_sessions = 0;
	/* Of Broken. */
	bool forget_aborted = false;
	/* Commands that had a response, by status. */
	u64 responses = 0;
	u64 aborts = 0;
	/* Commands that were gone when LIO looked at them. */
	u64 looked_too_late = 0;
	u16 last_tsih = 0;

private:
	void portal_thread();

	iscsi_np np_;
};

} // namespace loopback
