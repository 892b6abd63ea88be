// SPDX-License-Identifier: GPL-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "grammar.h"
#include "harmless.h"
#include "lab.h"
#include "random.h"

namespace iserverify {

/* What the target did about a case; all of them are its right. */
enum class Ending : std::uint8_t {
	Unconnected, /* the connection was not made */
	Closed,	     /* the target closed it */
	Refused,     /* the login was refused */
	Answered,    /* it goes on, and answers */
	Silent,	     /* it is up, and says nothing */
	Left,	     /* we did not wait for what the target does */
};
inline constexpr std::size_t endings = 6;

/* Of a run so far: how fast the target was to those who are innocent. */
struct Slowest {
	Milliseconds answer{0}; /* a read, between cases and within them */
	Milliseconds login{0};	/* a legal login, by tries until it succeeds */
};

/*
 * One case of the abuse: where its random numbers come from, what it did, and
 * the means that all kinds of cases share.
 */
class AbuseCase {
public:
	AbuseCase(Lab &lab, std::uint64_t seed, std::uint32_t number,
		  Slowest &slowest);

	Lab &lab;
	const std::uint64_t seed;
	const std::uint32_t number;
	Random random;

	/* A line for whoever looks for what made the target fail. */
	void note(const std::string &line);
	const std::vector<std::string> &notes() const { return notes_; }
	/* Notes are printed as they come. */
	bool verbose = false;

	/* For connections of which there are many, and which say little. */
	ConnectOptions small_connection() const;
	LoginOptions login_options(TextKeys keys = {});
	/* Connected; nothing if the target did not want that. */
	std::unique_ptr<Session> connect(const ConnectOptions &options);
	/* By the book; throws if the target refuses that for too long. */
	std::unique_ptr<Session> log_in(TextKeys keys = {});

	bool is_harmless(ByteView bytes) const
	{
		return harmless_.allows(bytes);
	}
	/* Sends what is harmless, and notes it.  False: it was not. */
	bool send(Session &session, const Message &message);

	/* The next message, whatever it is, or how it ended. */
	Ending await(Session &session, Milliseconds patience);
	/* Whether the target has digested all that was sent. */
	Ending fence(Session &session, Milliseconds patience);

	/* The innocent session's data is intact, and comes soon. */
	void check_innocent();

private:
	void check_message(const Received &message);

	Harmless harmless_;
	Slowest &slowest_;
	std::vector<std::string> notes_;
	std::uint32_t logins_ = 0;
};

/* A session in full feature phase, with memory that the target may access. */
class AbuseSession {
public:
	explicit AbuseSession(AbuseCase &one, TextKeys keys = {});

	Surroundings surroundings;
	std::unique_ptr<Session> session;

	/* Legal, then changed @mutations times in ways out of @families. */
	Message make(PduKind kind, unsigned families, unsigned mutations);
	void send(const Message &message);
	/* From now on the target may not access it any more. */
	void deregister();

private:
	AbuseCase &case_;
	ByteVector in_;
	ByteVector out_;
	std::optional<RegisteredMemory> in_memory_;
	std::optional<RegisteredMemory> out_memory_;
};

/* A kind of case; @weight: how often, compared with the others. */
struct AbuseKind {
	const char *name;
	const char *title;
	unsigned weight;
	std::function<Ending(AbuseCase &one)> run;
};

std::vector<AbuseKind> login_abuse();
std::vector<AbuseKind> session_abuse();
std::vector<AbuseKind> connection_abuse();

/* A process that does I/O until it is killed: see abuse_connection.cpp. */
[[noreturn]] void be_a_victim(Lab &lab, std::uint64_t seed);

} // namespace iserverify
