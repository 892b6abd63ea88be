// SPDX-License-Identifier: GPL-2.0
/* Abuse before full feature phase: text, requests, private data, Hello. */
#include "abuse_case.h"
#include "mutation.h"
#include "text_grammar.h"

#include <fmt/format.h>

namespace iserverify {

namespace {

constexpr Milliseconds login_answer{2000};
constexpr Milliseconds session_answer{2000};

/* What is not an answer that lets a login go on. */
bool over(Ending ending)
{
	return ending != Ending::Answered;
}

Message request(Session &session, const LoginOptions &options,
		const LoginStep &step)
{
	return to_message(PduKind::Login,
			  session.login_request(options, step.flags,
						step.text));
}

/* Step by step, each behind the answer to the one before. */
Ending play(AbuseCase &one, Session &session,
	    const std::vector<Message> &requests)
{
	for (const Message &message : requests) {
		one.send(session, message);

		const Ending ending = one.await(session, login_answer);

		if (over(ending))
			return ending;
	}
	/* It may have got in, and then it has to work. */
	return one.fence(session, session_answer);
}

std::vector<Message> requests_of(Session &session, const LoginOptions &options,
				 const LoginPlan &plan)
{
	std::vector<Message> requests;

	for (const LoginStep &step : plan.steps)
		requests.push_back(request(session, options, step));
	return requests;
}

Ending text_abuse(AbuseCase &one)
{
	const LoginOptions options = one.login_options();
	LoginPlan plan = legal_login(options, one.random);
	const std::uint32_t changes = one.random.below(4);

	for (std::uint32_t i = 0; i < changes; ++i)
		mutate_login(plan, one.random);

	auto session = one.connect(one.small_connection());

	if (!session)
		return Ending::Unconnected;
	one.note("login" + plan.changes);
	return play(one, *session, requests_of(*session, options, plan));
}

Ending request_abuse(AbuseCase &one)
{
	const LoginOptions options = one.login_options();
	const LoginPlan plan = legal_login(options, one.random);
	const std::uint32_t changes = one.random.between(1, 3);
	auto session = one.connect(one.small_connection());

	if (!session)
		return Ending::Unconnected;

	std::vector<Message> requests = requests_of(*session, options, plan);
	Message &victim = one.random.pick(requests);

	for (std::uint32_t i = 0; i < changes; ++i)
		victim.name += "; " + mutate(victim, of_all, Surroundings(),
					     one.random);
	return play(one, *session, requests);
}

/* All requests at once, some of them again and again. */
Ending hasty_login(AbuseCase &one)
{
	const LoginOptions options = one.login_options();
	LoginPlan plan = legal_login(options, one.random);
	const std::uint32_t times = one.random.between(1, 8);

	if (one.random.chance(50))
		mutate_login(plan, one.random);

	auto session = one.connect(one.small_connection());

	if (!session)
		return Ending::Unconnected;

	std::vector<Message> requests = requests_of(*session, options, plan);

	if (one.random.chance(50))
		one.note(shuffle_messages(requests, one.random));
	for (std::uint32_t i = 0; i < times; ++i)
		for (const Message &message : requests)
			one.send(*session, message);

	Ending ending = one.await(*session, login_answer);

	while (ending == Ending::Answered && one.random.chance(80))
		ending = one.await(*session, Milliseconds(200));
	return ending;
}

/* A whole login in one request, and full feature PDUs right behind it. */
Ending early_pdus(AbuseCase &one)
{
	const PduKind kinds[] = {PduKind::NopOut, PduKind::Read, PduKind::Read,
				 PduKind::TaskManagement, PduKind::Text,
				 PduKind::DataOut, PduKind::Logout,
				 PduKind::Hello};
	const LoginOptions options = one.login_options();
	TextKeys keys = Session::identity_keys(options);
	const TextKeys more = Session::operational_keys(options);
	const std::uint32_t count = one.random.between(1, 8);
	Surroundings around;
	auto session = one.connect(one.small_connection());

	if (!session)
		return Ending::Unconnected;
	keys.insert(keys.end(), more.begin(), more.end());
	around.lun = one.lab.lun;
	one.send(*session,
		 request(*session, options, {0x87, to_text(keys)}));
	for (std::uint32_t i = 0; i < count; ++i) {
		Message message = legal_message(one.random.pick(kinds), around,
						one.random);

		if (one.random.chance(40))
			message.name += "; " + mutate(message, of_all, around,
						      one.random);
		one.send(*session, message);
	}
	if (one.random.chance(20))
		return Ending::Left;
	return one.fence(*session, session_answer);
}

/* Private data of any length up to what a connection manager carries. */
Ending private_data(AbuseCase &one)
{
	ConnectOptions options = one.small_connection();
	const std::uint8_t depths[] = {0, 1, 2, 16, 128, 255,
				       one.random.byte()};

	options.private_data.resize(one.random.below(57));
	for (std::uint8_t &byte : options.private_data)
		byte = one.random.chance(30) ? 0 : one.random.byte();
	options.responder_resources = one.random.pick(depths);
	options.initiator_depth = one.random.pick(depths);
	options.retry_count = static_cast<std::uint8_t>(one.random.below(8));
	one.note(fmt::format("{} bytes of private data, depths {} and {}",
			     options.private_data.size(),
			     options.responder_resources,
			     options.initiator_depth));

	auto session = one.connect(options);

	if (!session)
		return Ending::Unconnected;
	try {
		session->login(one.login_options());
	} catch (const LoginRefused &refused) {
		one.note(refused.what());
		return Ending::Refused;
	} catch (const TimedOut &) {
		return Ending::Silent;
	}
	return one.fence(*session, session_answer);
}

/* Hello where it may be, may not be, has to be; legal or not. */
Ending hello_abuse(AbuseCase &one)
{
	const TextKeys choices[] = {
		{}, {{"iSERHelloRequired", "Yes"}}, {{"iSERHelloRequired", "No"}},
	};
	AbuseSession abused(one, one.random.pick(choices));
	const std::uint32_t before = one.random.chance(70) ? 0 : 1;
	const std::uint32_t times = one.random.between(1, 3);

	for (std::uint32_t i = 0; i < before; ++i)
		abused.send(abused.make(PduKind::Read, of_all, 0));
	for (std::uint32_t i = 0; i < times; ++i)
		abused.send(abused.make(PduKind::Hello,
					of_numbers | of_lengths | of_bytes,
					one.random.below(3)));
	abused.send(abused.make(PduKind::Read, of_all, 0));
	return one.fence(*abused.session, session_answer);
}

} // namespace

std::vector<AbuseKind> login_abuse()
{
	return {
		{"login-text", "keys, values, chains and stages of the login",
		 12, text_abuse},
		{"login-request", "bytes of Login Requests", 8, request_abuse},
		{"login-haste", "Login Requests that wait for no answer", 3,
		 hasty_login},
		{"early", "PDUs right behind the last Login Request", 6,
		 early_pdus},
		{"private-data", "private data and depths of the connection", 3,
		 private_data},
		{"hello", "Hello messages", 4, hello_abuse},
	};
}

} // namespace iserverify
