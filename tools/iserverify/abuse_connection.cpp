// SPDX-License-Identifier: GPL-2.0
/* Connections that end in every state, floods of them, processes killed. */
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include <fmt/format.h>

#include "abuse_case.h"
#include "text_grammar.h"

namespace iserverify {

namespace {

using Clock = std::chrono::steady_clock;

/* How far a connection gets. */
enum class Stage : std::uint8_t {
	Resolved,     /* no queue pair, no request */
	Requested,    /* no reply awaited */
	Replied,      /* the reply is here and not answered: no RTU */
	Established,
	LoggingIn,    /* the first Login Request is on its way */
	Answered,     /* the first Login Response is here */
	LastRequest,  /* the request for full feature phase is on its way */
	FullFeature,
	Busy,	      /* reads, and writes if they may be, are under way */
	Aborting,     /* and task management behind them */
	LoggingOut,   /* and a Logout Request */
};
constexpr unsigned stages = 11;
constexpr const char *stage_names[stages] = {
	"resolved", "requested", "replied", "established", "logging in",
	"answered", "last request sent", "full feature", "busy", "aborting",
	"logging out",
};

/* For connections of which there are hundreds. */
ConnectOptions tiny(const AbuseCase &one)
{
	ConnectOptions options = one.small_connection();

	options.receive_count = 2;
	options.send_count = 2;
	options.send_size = 1024;
	return options;
}

ByteVector whole_login(const LoginOptions &options)
{
	TextKeys keys = Session::identity_keys(options);
	const TextKeys more = Session::operational_keys(options);

	keys.insert(keys.end(), more.begin(), more.end());
	return to_text(keys);
}

/* A connection that stops before full feature phase, and is up. */
std::unique_ptr<Session> half_open(AbuseCase &one, Stage stage)
{
	auto session = std::make_unique<Session>(
		one.lab.connector(tiny(one)));
	RawConnection &connection = session->connection();
	const LoginOptions options = one.login_options();

	connection.resolve();
	if (stage == Stage::Resolved)
		return session;
	connection.create_queue_pair();
	connection.request();
	if (stage >= Stage::Replied)
		connection.await_reply(Milliseconds(2000));
	if (stage >= Stage::Established)
		connection.establish();
	if (stage == Stage::LastRequest)
		connection.send(session->login_request(
			options, 0x87, whole_login(options)).bytes());
	else if (stage >= Stage::LoggingIn)
		connection.send(session->login_request(
			options, 0x04,
			to_text(Session::identity_keys(options))).bytes());
	if (stage == Stage::Answered)
		one.await(*session, Milliseconds(2000));
	return session;
}

void make_busy(AbuseCase &one, AbuseSession &abused, Stage stage)
{
	const std::uint32_t count = one.random.between(1, 8);

	for (std::uint32_t i = 0; i < count; ++i)
		abused.send(abused.make(one.random.chance(50) ? PduKind::Read :
								PduKind::Write,
					0, 0));
	if (stage >= Stage::Aborting)
		abused.send(abused.make(PduKind::TaskManagement, 0, 0));
	if (stage >= Stage::LoggingOut)
		abused.send(abused.make(PduKind::Logout, 0, 0));
}

/* Gone by disconnecting, or without a word, a moment later. */
void leave(AbuseCase &one, Session &session, Stage stage)
{
	const bool in_order = stage >= Stage::Established &&
			      one.random.chance(40);
	const std::uint32_t delay = one.random.below(6);

	one.note(fmt::format("left {}, {} ms later, {}",
			     stage_names[static_cast<unsigned>(stage)], delay,
			     in_order ? "disconnecting" : "without a word"));
	std::this_thread::sleep_for(Milliseconds(delay));
	if (in_order)
		session.connection().disconnect();
}

Ending drop(AbuseCase &one)
{
	const Stage stage = static_cast<Stage>(one.random.below(stages));

	if (stage < Stage::FullFeature) {
		leave(one, *half_open(one, stage), stage);
		return Ending::Left;
	}
	AbuseSession abused(one, one.random.chance(50) ?
				 TextKeys{{"InitialR2T", "No"}} : TextKeys());

	if (stage >= Stage::Busy)
		make_busy(one, abused, stage);
	leave(one, *abused.session, stage);
	return Ending::Left;
}

/* ---- many at once ---------------------------------------------------------- */

/*
 * Of a connection that stops before full feature phase; for the @patient one
 * whose end we hear of, and that has an end.
 */
Stage some_stage(Random &random, bool patient)
{
	const Stage first = patient ? Stage::Established : Stage::Requested;
	const Stage last = patient ? Stage::Answered : Stage::LastRequest;

	return static_cast<Stage>(random.between(
		static_cast<unsigned>(first), static_cast<unsigned>(last)));
}

/*
 * Others may be turned away while so many wait; who is logged in may not
 * notice.  Now and then the target has to close them all by itself.
 */
Ending flood(AbuseCase &one)
{
	const std::uint32_t count = one.random.between(20, 150);
	const bool patient = one.random.chance(10);
	std::vector<std::unique_ptr<Session>> sessions;
	std::uint32_t turned_away = 0;
	std::uint32_t left = 0;

	for (std::uint32_t i = 0; i < count; ++i) {
		const Stage stage = some_stage(one.random, patient);

		try {
			sessions.push_back(half_open(one, stage));
		} catch (const Error &) {
			++turned_away;
		}
		if (i % 16 == 15)
			one.check_innocent();
	}
	one.note(fmt::format("{} half-open logins, {} turned away", count,
			     turned_away));
	one.check_innocent();
	if (!patient)
		return Ending::Left;

	const auto deadline = Clock::now() + std::chrono::seconds(30);

	for (auto &session : sessions) {
		while (!session->connection().wait_closed(Milliseconds(1000))) {
			one.check_innocent();
			if (Clock::now() > deadline) {
				++left;
				break;
			}
		}
	}
	if (left > 0)
		throw Failure(fmt::format(
			"{} half-open logins are up after 30 s", left));
	return Ending::Closed;
}

/* A session's name again and again, while its commands are under way. */
Ending reinstatement(AbuseCase &one)
{
	const std::uint32_t times = one.random.between(2, 6);
	std::vector<std::unique_ptr<AbuseSession>> sessions;
	const LoginOptions options = one.login_options();
	std::uint16_t tsih = 0;

	sessions.push_back(std::make_unique<AbuseSession>(one));
	make_busy(one, *sessions.back(), Stage::Busy);
	for (std::uint32_t i = 0; i < times; ++i) {
		auto again = std::make_unique<Session>(
			one.lab.connector(one.small_connection()));
		LoginOptions same = options;

		/* That of the session, of another one, or new. */
		if (one.random.chance(50))
			same.tsih = one.random.chance(70) ? tsih :
				static_cast<std::uint16_t>(one.random.next());
		same.cid = static_cast<std::uint16_t>(one.random.below(3));
		/* The first login of the case was with the next ISID. */
		if (one.random.chance(50))
			++same.isid[5];
		try {
			tsih = again->login(same).tsih;
			one.note(fmt::format("login {}: TSIH {}", i + 1, tsih));
		} catch (const Error &error) {
			one.note(error.what());
		}
	}
	return one.fence(*sessions.back()->session, Milliseconds(500));
}

/* ---- processes ---------------------------------------------------------------- */

std::vector<std::string> victim_arguments(const Lab &lab, std::uint64_t seed)
{
	std::vector<std::string> arguments = {
		"iserverify", "--abuse-victim", std::to_string(seed),
		"--initiator", lab.initiator_name,
		"[" + lab.address + "]:" + std::to_string(lab.port),
		lab.target_name, std::to_string(lab.lun),
	};

	if (lab.may_write)
		arguments.push_back("--write");
	if (!lab.chap.name.empty())
		arguments.insert(arguments.end(),
				 {"--chap", lab.chap.name + ":" +
						    lab.chap.secret});
	return arguments;
}

/* A child that says a line once its I/O is under way. */
class Victim {
public:
	Victim(const Lab &lab, std::uint64_t seed)
	{
		std::vector<std::string> arguments =
			victim_arguments(lab, seed);
		std::vector<char *> pointers;
		posix_spawn_file_actions_t actions;
		int ends[2];

		for (std::string &argument : arguments)
			pointers.push_back(argument.data());
		pointers.push_back(nullptr);
		if (pipe(ends))
			throw Failure("no pipe");
		posix_spawn_file_actions_init(&actions);
		posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
		posix_spawn_file_actions_addclose(&actions, ends[0]);
		const int error = posix_spawn(&child_, "/proc/self/exe",
					      &actions, nullptr,
					      pointers.data(), environ);

		posix_spawn_file_actions_destroy(&actions);
		close(ends[1]);
		said_ = ends[0];
		if (error) {
			child_ = 0;
			close(said_);
			throw Failure("the program to be killed did not start");
		}
	}

	~Victim()
	{
		if (child_ > 0) {
			kill(child_, SIGKILL);
			waitpid(child_, nullptr, 0);
		}
		close(said_);
	}

	bool busy(Milliseconds patience) const
	{
		pollfd fd = {said_, POLLIN, 0};
		char byte;

		return poll(&fd, 1, static_cast<int>(patience.count())) > 0 &&
		       read(said_, &byte, 1) == 1;
	}

private:
	pid_t child_ = 0;
	int said_ = -1;
};

Ending killed(AbuseCase &one)
{
	const std::uint32_t count = one.random.between(1, 3);
	std::vector<std::unique_ptr<Victim>> victims;

	for (std::uint32_t i = 0; i < count; ++i)
		victims.push_back(std::make_unique<Victim>(one.lab,
							   one.random.next()));
	for (const auto &victim : victims)
		if (!victim->busy(Milliseconds(20000)))
			throw Failure("the program to be killed did not get to "
				      "its I/O within 20 s");
	std::this_thread::sleep_for(Milliseconds(one.random.below(50)));
	one.note(fmt::format("{} processes killed", count));
	return Ending::Left;
}

} // namespace

/* Queue depth 8, for ever. */
[[noreturn]] void be_a_victim(Lab &lab, std::uint64_t seed)
{
	constexpr std::uint32_t depth = 8;
	constexpr std::uint16_t blocks = 64;
	Random random(seed);
	LoginOptions options = lab.login_options();
	Session session(lab.raw_connection());
	std::vector<ByteVector> buffers(depth,
					pattern(blocks * block, 99));
	std::vector<Session::Tag> tags(depth);

	options.isid[3] = 0xcd;
	session.set_lun(lab.lun);
	if (!lab.may_write)
		session.forbid_writes();
	session.login(options);
	for (bool said = false;; said = true) {
		for (std::uint32_t i = 0; i < depth; ++i) {
			ScsiRequest request;
			const std::uint32_t lba =
				Lab::scratch + random.below(4096);

			if (lab.may_write && random.chance(50)) {
				request.cdb = write_cdb(lba, blocks);
				request.out = buffers[i];
			} else {
				request.cdb = read_cdb(lba, blocks);
				request.in = buffers[i];
			}
			tags[i] = session.start(request);
		}
		if (!said && write(STDOUT_FILENO, "\n", 1) != 1)
			_exit(1);
		for (Session::Tag tag : tags)
			session.finish(tag);
	}
}

std::vector<AbuseKind> connection_abuse()
{
	return {
		{"drop", "connections that end in every state", 16, drop},
		{"flood", "floods of half-open logins", 1, flood},
		{"reinstatement", "logins in the name of sessions that are up",
		 3, reinstatement},
		{"killed", "processes killed in mid I/O", 1, killed},
	};
}

} // namespace iserverify
