// SPDX-License-Identifier: GPL-2.0
/* What all kinds of cases share. */
#include "abuse_case.h"

#include <algorithm>
#include <cstdio>
#include <thread>

#include <fmt/format.h>

#include "mutation.h"

namespace iserverify {

namespace {

using Clock = std::chrono::steady_clock;

/* A legal login may be turned away while others are cleared away. */
constexpr std::chrono::seconds login_patience{10};
constexpr std::size_t longest_message = 28 + 48 + 1020 + 8192;
constexpr std::uint32_t first_itt = 0x10000;
constexpr std::size_t most_notes = 400;

Milliseconds since(Clock::time_point start)
{
	return std::chrono::ceil<Milliseconds>(Clock::now() - start);
}

/* The start of a message, for a note. */
std::string hex(ByteView bytes)
{
	std::string text;

	for (std::size_t i = 0; i < bytes.size() && i < 76; ++i)
		text += fmt::format("{}{:02x}", i == 28 || i % 4 ? "" : " ",
				    bytes[i]);
	return text;
}

bool is_ping_answer(const Pdu &pdu, std::uint32_t tag)
{
	return pdu.opcode() == IscsiOpcode::NopIn &&
	       pdu.response().itt == tag;
}

} // namespace

AbuseCase::AbuseCase(Lab &lab, std::uint64_t seed, std::uint32_t number,
		     Slowest &slowest)
	: lab(lab), seed(seed), number(number),
	  random(Random::of_case(seed, number)), slowest_(slowest)
{
	harmless_.may_write = lab.may_write;
	harmless_.lun = lab.lun;
	harmless_.first_block = Lab::scratch;
	harmless_.end_block = Lab::end_of_scratch;
	harmless_.innocent_isid = lab.innocent_isid();
}

void AbuseCase::note(const std::string &line)
{
	if (verbose)
		fmt::print("    {}\n", line);
	else if (notes_.size() < most_notes)
		notes_.push_back(line);
}

ConnectOptions AbuseCase::small_connection() const
{
	ConnectOptions options = lab.connect_options();

	options.receive_count = 4;
	options.send_count = 4;
	options.send_size = longest_message;
	return options;
}

LoginOptions AbuseCase::login_options(TextKeys keys)
{
	LoginOptions options = lab.login_options(std::move(keys));

	options.isid = {0x80, static_cast<std::uint8_t>(number >> 16),
			static_cast<std::uint8_t>(number >> 8),
			static_cast<std::uint8_t>(number), 0xab,
			static_cast<std::uint8_t>(logins_++)};
	return options;
}

std::unique_ptr<Session> AbuseCase::connect(const ConnectOptions &options)
{
	auto session = std::make_unique<Session>(lab.connector(options));

	try {
		session->connection().connect();
	} catch (const ConnectError &error) {
		note(error.what());
		return nullptr;
	}
	session->already_connected();
	return session;
}

std::unique_ptr<Session> AbuseCase::log_in(TextKeys keys)
{
	const auto start = Clock::now();
	ConnectOptions connection = small_connection();

	connection.receive_count = 32;
	connection.send_count = 32;
	for (;;) {
		auto session = std::make_unique<Session>(
			lab.connector(connection));

		session->set_lun(lab.lun);
		if (!lab.may_write)
			session->forbid_writes();
		try {
			session->login(login_options(keys));
			slowest_.login = std::max(slowest_.login, since(start));
			return session;
		} catch (const Error &error) {
			if (Clock::now() - start > login_patience)
				throw Failure(std::string(
					"a legal login has failed for 10 s: ") +
					      error.what());
			note(fmt::format("login: {}", error.what()));
		}
		std::this_thread::sleep_for(Milliseconds(50));
	}
}

bool AbuseCase::send(Session &session, const Message &message)
{
	ByteView bytes = message.bytes;

	if (!is_harmless(bytes)) {
		note(message.name + ": held back");
		return false;
	}
	bytes = bytes.first(std::min(bytes.size(), longest_message));
	note(fmt::format("{}, {} bytes:{}", message.name, bytes.size(),
			 hex(bytes)));
	session.connection().send(bytes, message.opcode, message.invalidate);
	return true;
}

/* What a target sends has to be well formed, whatever it was sent. */
void AbuseCase::check_message(const Received &message)
{
	constexpr unsigned hello_reply = 3;

	if (message.bytes.size() == sizeof(iser::ControlHeader) &&
	    message.bytes[0] >> 4 == hello_reply)
		return;
	const Pdu pdu(message);

	note(fmt::format("  answer: opcode {:#04x}, {} bytes:{}",
			 static_cast<unsigned>(pdu.opcode()),
			 message.bytes.size(),
			 hex(ByteView(message.bytes).subspan(28))));
}

Ending AbuseCase::await(Session &session, Milliseconds patience)
{
	try {
		const auto message = session.connection().receive(patience);

		if (!message)
			return Ending::Silent;
		check_message(*message);

		const auto &response = reinterpret_cast<
			const iser::MessageHead *>(message->bytes.data())
			->bhs.as<iser::LoginResponsePdu>();

		if (message->bytes.size() >= sizeof(iser::MessageHead) &&
		    response.opcode == static_cast<u8>(
			    IscsiOpcode::LoginResponse) &&
		    response.status_class)
			return Ending::Refused;
		return Ending::Answered;
	} catch (const ConnectionLost &lost) {
		note(fmt::format("  {}", lost.what()));
		return Ending::Closed;
	}
}

Ending AbuseCase::fence(Session &session, Milliseconds patience)
{
	const auto deadline = Clock::now() + patience;

	try {
		Pdu ping = session.make(IscsiOpcode::NopOut, true);
		const std::uint32_t tag = ping.request().itt;

		ping.request().specific_20 = iser::reserved_tag;
		session.connection().send(ping.bytes());
		while (Clock::now() < deadline) {
			const auto message = session.connection().receive(
				std::chrono::ceil<Milliseconds>(
					deadline - Clock::now()));

			if (!message)
				return Ending::Silent;
			check_message(*message);
			if (message->bytes.size() >= sizeof(iser::MessageHead) &&
			    is_ping_answer(Pdu(*message), tag))
				return Ending::Answered;
		}
		return Ending::Silent;
	} catch (const ConnectionLost &lost) {
		note(fmt::format("  {}", lost.what()));
		return Ending::Closed;
	} catch (const TimedOut &) {
		return Ending::Silent;
	}
}

void AbuseCase::check_innocent()
{
	const auto start = Clock::now();

	lab.check_innocent();
	slowest_.answer = std::max(slowest_.answer, since(start));
}

/* ---- sessions --------------------------------------------------------------- */

AbuseSession::AbuseSession(AbuseCase &one, TextKeys keys)
	: session(one.log_in(std::move(keys))), case_(one),
	  in_(surroundings.buffer_size),
	  out_(pattern(surroundings.buffer_size, one.number))
{
	Pdu fresh = session->make(IscsiOpcode::NopOut, true);
	RawConnection &connection = session->connection();

	in_memory_.emplace(connection.register_memory(
		in_, RawConnection::Access::RemoteWrite));
	out_memory_.emplace(connection.register_memory(
		out_, RawConnection::Access::RemoteRead));
	surroundings.lun = one.lab.lun;
	surroundings.itt = first_itt;
	surroundings.cmd_sn = fresh.request().cmd_sn;
	surroundings.exp_stat_sn = fresh.request().exp_stat_sn;
	surroundings.read_stag = in_memory_->stag();
	surroundings.read_base = in_memory_->base();
	surroundings.write_stag = out_memory_->stag();
	surroundings.write_base = out_memory_->base();
	surroundings.first_block = Lab::scratch;
	surroundings.blocks = Lab::end_of_scratch - Lab::scratch;
	surroundings.may_write = one.lab.may_write;
	surroundings.initial_r2t = session->parameters().initial_r2t;
	surroundings.data_segment =
		session->parameters().target_recv_data_segment_length;
}

Message AbuseSession::make(PduKind kind, unsigned families,
			   unsigned mutations)
{
	const Surroundings before = surroundings;

	for (int tries = 0; tries < 16; ++tries) {
		surroundings = before;

		Message message = legal_message(kind, surroundings,
						case_.random);

		for (unsigned i = 0; i < mutations; ++i)
			message.name += "; " + mutate(message, families,
						      surroundings,
						      case_.random);
		if (case_.is_harmless(message.bytes))
			return message;
	}
	surroundings = before;
	return legal_message(PduKind::NopOut, surroundings, case_.random);
}

void AbuseSession::send(const Message &message)
{
	case_.send(*session, message);
}

void AbuseSession::deregister()
{
	in_memory_.reset();
	out_memory_.reset();
}

} // namespace iserverify
