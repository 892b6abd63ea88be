// SPDX-License-Identifier: GPL-2.0
/*
 * Reads the first MiB of a logical unit over iSER, eight commands at a time:
 *
 *	read_disk ADDRESS TARGET-IQN [INITIATOR-IQN]
 */
#include <cstdio>
#include <exception>

#include "libiser/command_queue.h"

using namespace libiser;

namespace {

constexpr std::uint32_t block = 512;
constexpr std::uint32_t blocks_per_read = 64;
constexpr std::uint32_t reads = 32;

/* READ(10), SBC-3 5.8 */
ByteVector read_10(std::uint32_t lba)
{
	return {0x28, 0,
		static_cast<std::uint8_t>(lba >> 24),
		static_cast<std::uint8_t>(lba >> 16),
		static_cast<std::uint8_t>(lba >> 8),
		static_cast<std::uint8_t>(lba),
		0, 0, blocks_per_read, 0};
}

/* A new session finds a unit attention, once. */
void become_ready(Session &session)
{
	ScsiRequest test_unit_ready;

	test_unit_ready.cdb = ByteVector(6);
	if (!session.scsi(test_unit_ready).good() &&
	    !session.scsi(test_unit_ready).good())
		throw Error("the logical unit is not ready");
}

void read_disk(Session &session, ByteVector &data)
{
	CommandQueue queue(session, 8);
	std::span<std::uint8_t> rest(data);

	for (std::uint32_t i = 0; i < reads; ++i) {
		ScsiRequest request;

		request.cdb = read_10(i * blocks_per_read);
		request.in = rest.first(blocks_per_read * block);
		rest = rest.subspan(request.in.size());
		queue.submit(request, [](const ScsiResult &result) {
			if (!result.good())
				throw Error("a read failed");
		});
	}
	queue.drain();
}

} // namespace

int main(int argc, char **argv)
try {
	if (argc < 3) {
		std::fprintf(stderr, "usage: %s ADDRESS TARGET-IQN "
			     "[INITIATOR-IQN]\n", argv[0]);
		return 2;
	}

	ConnectOptions connect;
	LoginOptions login;
	ByteVector data(reads * blocks_per_read * block);

	connect.address = argv[1];
	login.target_name = argv[2];
	if (argc > 3)
		login.initiator_name = argv[3];

	Session session(connect);

	session.login(login);
	become_ready(session);
	read_disk(session, data);
	std::printf("%zu bytes read\n", data.size());
	return session.logout();
} catch (const Error &error) {
	std::fprintf(stderr, "%s. %s\n", error.what(), error.remedy().c_str());
	return 1;
} catch (const std::exception &error) {
	std::fprintf(stderr, "%s\n", error.what());
	return 1;
}
