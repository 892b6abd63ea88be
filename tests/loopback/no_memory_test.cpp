// SPDX-License-Identifier: GPL-2.0
/*
 * F-20: memory runs out once, at each moment in turn, while a portal is opened,
 * an initiator logs in, works and leaves.  Whatever ends then, nothing is left,
 * and the next login succeeds.
 */
#include <gtest/gtest.h>

#include "host/host.h"
#include "libiser/command_queue.h"
#include "loopback/machine.h"
#include "loopback/script.h"

namespace {

using namespace loopback;
using libiser::ByteVector;
using libiser::CommandQueue;

/* Commands with data in every way, so many at a time that the window widens. */
void work(libiser::Session &session)
{
	constexpr u32 count = 40;
	std::vector<ByteVector> data(count, ByteVector(8 * Disk::block));
	CommandQueue queue(session, count);

	for (u32 i = 0; i < count; ++i) {
		libiser::ScsiRequest request;

		if (i % 4 == 0) {
			request.cdb = read_10(8 * i, 8);
			request.in = data[i];
		} else {
			request.cdb = write_10(8 * i, 8);
			request.out = data[i];
			request.immediate = i % 4 * 512 - 512;
		}
		queue.submit(request, [](const libiser::ScsiResult &) {});
	}
	queue.drain();
	session.discover();
}

void play()
{
	Initiator initiator;

	initiator.session.login(Machine::login_options());
	work(initiator.session);
	EXPECT_EQ(initiator.session.logout(), 0);
}

/* False: there were not as many allocations. */
bool without_piece(size_t number, const Machine::Options &options)
{
	Machine machine(options);

	host::fail_allocation_after(number);
	if (machine.open() < 0) {
		machine.close();
		EXPECT_EQ(machine.leftovers(), "") << "allocation " << number;
		return true;
	}
	try {
		play();
	} catch (const libiser::Error &error) {
		EXPECT_FALSE(host::allocation_is_to_fail()) << error.what();
	}
	/* The next one has all that it needs. */
	const bool failed = !host::allocation_is_to_fail();

	host::fail_no_allocation();
	play();
	machine.close();
	EXPECT_EQ(machine.leftovers(), "") << "allocation " << number;
	return failed;
}

TEST(NoMemory, F20_EachAllocationMayFail)
{
	Machine::Options options;
	size_t number = 0;

	options.settings.disk_ms = 5;
	while (without_piece(number, options))
		++number;
	std::printf("%zu allocations, each failed once\n", number);
	EXPECT_GT(number, 200u);
}

TEST(NoMemory, F20_EachAllocationMayFailInARandomRun)
{
	for (u64 seed = 0; seed < 300; ++seed) {
		RandomRun run = {.seed = seed,
				 .no_memory_for = seed * 7 % 400};

		note_seed(seed);
		ASSERT_EQ(run.go(), "") << "seed " << seed;
	}
}

} // namespace
