// SPDX-License-Identifier: GPL-2.0
#include "loopback/machine.h"

#include "host/host.h"

namespace loopback {

using libiser::ByteVector;

namespace {

/* The same for every test: how the module is loaded by default. */
constexpr struct lio_settings default_settings = {
	.max_pending = 128,
	.login_timeout = 15,
	.receive_data = 4096,
	.silent_write_base = 1,
};

ByteVector cdb_10(u8 operation, u32 lba, u32 blocks)
{
	return {operation,
		0,
		static_cast<u8>(lba >> 24),
		static_cast<u8>(lba >> 16),
		static_cast<u8>(lba >> 8),
		static_cast<u8>(lba),
		0,
		static_cast<u8>(blocks >> 8),
		static_cast<u8>(blocks),
		0};
}

/* A reader of debugfs, who may look at a connection that is half made (F-10). */
void read_debugfs()
{
	std::string lines;

	lio_show_connections(host::reader(lines));
}

} // namespace

Machine::Machine(const Options &options)
	: scheduler(options.scheduler), lio(options.settings),
	  allocations_(host::live_allocations())
{
	network.device = options.device;
	lio_settings = default_settings;
	lio_settings.receive_data = options.receive_data;
	host::take_log();
}

Machine::~Machine()
{
	host::fail_no_allocation();
	close();
}

int Machine::open()
{
	const port_address address = host::address("10.0.0.1", 3260);

	if (int error = lio_module_create(); error < 0)
		return error;
	loaded_ = true;
	host::look_in_allocations(read_debugfs);
	return lio.open(address);
}

void Machine::close()
{
	if (!loaded_)
		return;
	loaded_ = false;
	lio.close();
	/* Logins that LIO's worker has, and streams that are being freed. */
	scheduler.wait("connections to end",
		       [this] { return lio.connections.empty(); });
	scheduler.wait("streams to end",
		       [this] { return network.streams.empty(); });
	scheduler.settle();
	host::look_in_allocations(nullptr);
	lio_module_destroy();
}

std::string Machine::leftovers() const
{
	std::string words;
	const auto note = [&words](const char *what, size_t count) {
		if (count)
			words += std::to_string(count) + " " + what + "; ";
	};

	note("pieces of memory", host::live_allocations() - allocations_);
	note("commands of LIO", lio.commands);
	note("sessions of LIO", lio.sessions);
	note("sessions that LIO keeps", lio.kept_sessions);
	note("connections of LIO", lio.connections.size());
	note("streams", network.streams.size());
	note("works that are queued", scheduler.queued());
	return words + scheduler.waiting() + network.offences.words;
}

libiser::ConnectOptions Machine::connect_options()
{
	libiser::ConnectOptions options;

	options.address = "10.0.0.1";
	/* Send with Invalidate is welcome. */
	options.private_data = {0x80, 0, 0, 0};
	return options;
}

libiser::LoginOptions Machine::login_options()
{
	libiser::LoginOptions options;

	options.target_name = Lio::target_name;
	return options;
}

ByteVector read_10(u32 lba, u32 blocks) { return cdb_10(0x28, lba, blocks); }
ByteVector write_10(u32 lba, u32 blocks) { return cdb_10(0x2a, lba, blocks); }

ByteVector inquiry(u16 length)
{
	return {0x12, 0, 0, static_cast<u8>(length >> 8),
		static_cast<u8>(length), 0};
}

} // namespace loopback

/* Of the module's parameters. */
struct lio_settings lio_settings;
