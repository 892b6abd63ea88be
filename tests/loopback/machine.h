// SPDX-License-Identifier: GPL-2.0
#pragma once

#include "libiser/session.h"
#include "loopback/initiator.h"
#include "loopback/lio.h"

namespace loopback {

/*
 * A target with the module in it, a network, and what initiators need to log
 * in: everything that a test has, in one process.
 */
class Machine {
public:
	struct Options {
		Scheduler::Options scheduler;
		Settings settings;
		Device device;
		/* The module's parameter receive_data. */
		u32 receive_data = 4096;
	};

	explicit Machine(const Options &options);
	Machine() : Machine(Options()) {}
	~Machine();

	/* The module is loaded, and the portal listens; 0 or -errno. */
	int open();
	/* All sessions end, the portal goes, the module is unloaded. */
	void close();
	/* What is left behind by then, in words; empty: nothing. */
	std::string leftovers() const;

	static libiser::ConnectOptions connect_options();
	static libiser::LoginOptions login_options();

	Scheduler scheduler;
	Network network;
	Lio lio;

private:
	size_t allocations_;
	bool loaded_ = false;
};

/* A session over a Link of its own, not logged in yet. */
class Initiator {
public:
	explicit Initiator(const libiser::ConnectOptions &options =
				   Machine::connect_options())
		: Initiator(new Connection(options))
	{
	}

	/* Null before the session has connected. */
	Link *link() const { return connection_->link().get(); }

private:
	explicit Initiator(Connection *connection)
		: connection_(connection),
		  session(std::unique_ptr<libiser::RawConnection>(connection))
	{
	}

	Connection *connection_;

public:
	libiser::Session session;
};

/* The CDBs that the disk knows. */
libiser::ByteVector read_10(u32 lba, u32 blocks);
libiser::ByteVector write_10(u32 lba, u32 blocks);
libiser::ByteVector inquiry(u16 length);

} // namespace loopback
