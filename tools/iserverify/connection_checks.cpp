// SPDX-License-Identifier: GPL-2.0
/* Connections that come and go, or only stand there: F-19, F-22, F-40. */
#include <csignal>
#include <random>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "lab.h"

namespace iserverify {

namespace {

using Clock = std::chrono::steady_clock;

/* How far a connection gets before it is dropped. */
enum class Stage {
	Requested,   /* no reply awaited */
	Replied,     /* the reply is here and not answered: no RTU */
	Established, /* the object is destroyed, no disconnect */
	Disconnected,
	LoggingIn,   /* one Login Request is on its way */
	Answered,    /* one Login Response is here */
};
constexpr int stages = 6;

/* For connections of which there are many, and which say little. */
ConnectOptions small(Lab &lab)
{
	ConnectOptions options = lab.connect_options();

	options.receive_count = 2;
	options.send_count = 2;
	options.send_size = 1024;
	return options;
}

void go_to(Lab &lab, Stage stage, Milliseconds delay, bool die = false)
{
	Session session(lab.connector(small(lab)));
	RawConnection &connection = session.connection();
	LoginOptions options = lab.login_options();

	connection.resolve();
	connection.create_queue_pair();
	connection.request();
	if (stage >= Stage::Replied)
		expect(connection.await_reply(Milliseconds(5000)),
		       "no reply to the connection request");
	if (stage >= Stage::Established)
		connection.establish();
	if (stage >= Stage::LoggingIn)
		connection.send(session.login_request(
			options, 0x04,
			to_text(Session::identity_keys(options))).bytes());
	if (stage == Stage::Answered)
		session.receive(Milliseconds(5000));
	if (die)
		kill(getpid(), SIGKILL);
	std::this_thread::sleep_for(delay);
	if (stage == Stage::Disconnected)
		connection.disconnect();
}

void expect_login(Lab &lab, Milliseconds limit)
{
	Session session(lab.raw_connection());
	RawConnection &connection = session.connection();
	const auto before = connection.now();

	session.login(lab.login_options());
	expect_usable(session);

	auto took = std::chrono::ceil<Milliseconds>(connection.now() - before);

	expect(took <= limit, "a normal login took " +
	       std::to_string(took.count()) + " ms");
}

void dropped_at(Lab &lab, Stage stage)
{
	std::mt19937 random(static_cast<unsigned>(stage));

	for (int i = 0; i < 200; ++i)
		go_to(lab, stage, Milliseconds(random() % 6));
	expect_login(lab, Milliseconds(5000));
}

void dropped_requested(Lab &lab) { dropped_at(lab, Stage::Requested); }
void dropped_replied(Lab &lab) { dropped_at(lab, Stage::Replied); }
void dropped_established(Lab &lab) { dropped_at(lab, Stage::Established); }
void dropped_disconnected(Lab &lab) { dropped_at(lab, Stage::Disconnected); }
void dropped_logging_in(Lab &lab) { dropped_at(lab, Stage::LoggingIn); }
void dropped_answered(Lab &lab) { dropped_at(lab, Stage::Answered); }

/* In a process that ends without a word. */
void killed_at_any_stage(Lab &lab)
{
	std::mt19937 random(40);

	for (int i = 0; i < 20; ++i) {
		std::string stage = std::to_string(random() % stages);
		std::string host = "[" + lab.address + "]:" +
				   std::to_string(lab.port);
		pid_t child = fork();

		/* An RDMA device cannot be shared with a child: a new program. */
		if (child == 0) {
			execl("/proc/self/exe", "iserverify", "--die-at",
			      stage.c_str(), "--initiator",
			      lab.initiator_name.c_str(), host.c_str(),
			      lab.target_name.c_str(), nullptr);
			_exit(2);
		}

		int status = 0;

		waitpid(child, &status, 0);
		expect(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL,
		       "the program to be killed did not get to stage " + stage);
	}
	expect_login(lab, Milliseconds(5000));
}

std::unique_ptr<Session> stalled(Lab &lab, bool speaks)
{
	auto session = std::make_unique<Session>(
		lab.connector(small(lab)));
	LoginOptions options = lab.login_options();

	session->connection().connect();
	if (speaks)
		session->connection().send(session->login_request(
			options, 0x04,
			to_text(Session::identity_keys(options))).bytes());
	return session;
}

void stalled_logins(Lab &lab)
{
	std::vector<std::unique_ptr<Session>> sessions;
	unsigned turned_away = 0;
	auto start = Clock::now();

	for (int i = 0; i < 40; ++i)
		try {
			sessions.push_back(stalled(lab, i >= 20));
		} catch (const ConnectError &) {
			/* The target bounds how many may be pending. */
			++turned_away;
		}
	expect_login(lab, Milliseconds(2000));
	expect_login(lab, Milliseconds(2000));

	unsigned left = 0;

	for (auto &session : sessions) {
		auto until = start + std::chrono::seconds(20);
		auto rest = std::chrono::ceil<Milliseconds>(until -
							    Clock::now());

		left += !session->connection().wait_closed(
			std::max(rest, Milliseconds(0)));
	}
	std::printf("# %u of 40 were turned away at once\n", turned_away);
	expect(left == 0, std::to_string(left) +
	       " stalled connections are up after 20 s");
	expect_login(lab, Milliseconds(2000));
}

void talks_too_much_in_login(Lab &lab)
{
	auto session = lab.connect();
	LoginOptions options = lab.login_options();
	const ByteVector first = session->login_request(
		options, 0x04,
		to_text(Session::identity_keys(options))).bytes();
	/* Who asks may be said once; what is empty is waited for again. */
	const ByteVector more = session->login_request(options, 0x04,
						       {}).bytes();

	try {
		session->connection().send(first);
		for (int i = 1; i < 60; ++i)
			session->connection().send(more);
	} catch (const ConnectionLost &) {
	}
	expect_closed(*session, "60 Login Requests in one go",
		      Milliseconds(20000));
	expect_login(lab, Milliseconds(2000));
}

void reinstatement(Lab &lab)
{
	LoginOptions options = lab.login_options();
	Session old(lab.raw_connection());
	Session young(lab.raw_connection());

	old.login(options);
	young.login(options);
	expect_closed(old, "a session that another one took the place of");
	expect_usable(young);
}

} // namespace

void die_at(Lab &lab, int stage)
{
	go_to(lab, static_cast<Stage>(stage), Milliseconds(0), true);
}

std::vector<Check> connection_checks()
{
	return {
		{"connection", "drop-requested",
		 "F-19 E2 dropped after the request, 200 times",
		 dropped_requested},
		{"connection", "drop-replied",
		 "F-19 dropped after the reply, no RTU, 200 times",
		 dropped_replied},
		{"connection", "drop-established",
		 "F-22 dropped when established, 200 times",
		 dropped_established},
		{"connection", "drop-disconnected",
		 "F-22 disconnected when established, 200 times",
		 dropped_disconnected},
		{"connection", "drop-logging-in",
		 "F-22 dropped behind a Login Request, 200 times",
		 dropped_logging_in},
		{"connection", "drop-answered",
		 "F-22 E3 B-032 dropped behind a Login Response, 200 times",
		 dropped_answered},
		{"connection", "killed",
		 "F-19 killed at any stage, 20 times", killed_at_any_stage},
		{"connection", "reinstatement",
		 "session reinstatement: the old connection ends",
		 reinstatement},
		{"stalled", "flood",
		 "a flood of Login Requests on one connection",
		 talks_too_much_in_login},
		{"stalled", "stalled-logins",
		 "F-40 40 stalled logins: others get in, they are closed",
		 stalled_logins},
	};
}

} // namespace iserverify
