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

/* Enough commands at a time that the window widens. */
void work(libiser::Session &session)
{
	ByteVector out(16 * Disk::block, 0x42);
	std::vector<ByteVector> in(12, ByteVector(16 * Disk::block));
	CommandQueue queue(session, in.size() + 1);
	const auto ignore = [](const libiser::ScsiResult &) {};

	queue.submit({.cdb = write_10(0, 16), .out = out, .immediate = 512},
		     ignore);
	for (ByteVector &data : in)
		queue.submit({.cdb = read_10(16, 16), .in = data}, ignore);
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
	if (machine.open() < 0)
		return true;
	try {
		play();
	} catch (const libiser::Error &) {
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

	options.settings.initial_r2t = false;
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
