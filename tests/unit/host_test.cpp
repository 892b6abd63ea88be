// SPDX-License-Identifier: GPL-2.0
/* The wrappers of kernel/base around the port, and the port of the tests. */
#include "base/gate.h"
#include "base/lock.h"
#include "base/memory.h"
#include "base/reference.h"
#include "base/work.h"

#include <gtest/gtest.h>

#include "host/host.h"

namespace base {
namespace {

class HostTest : public testing::Test {
protected:
	void TearDown() override
	{
		host::fail_no_allocation();
		host::run_work();
		EXPECT_EQ(host::live_allocations(), 0u);
		EXPECT_EQ(host::queued_work(), 0u);
	}
};
using HostDeathTest = HostTest;

struct Counted : Allocated, ReferenceCounted<Counted> {
	explicit Counted(int &alive) : alive_(alive) { ++alive_; }
	~Counted() { --alive_; }
	void last_put() { delete this; }
	int &alive_;
};

/* Counts how often its work ran, and opens its gate when it did. */
struct Worker {
	void run()
	{
		++runs;
		at = port_now_ms();
		gate.open();
	}
	int runs = 0;
	u64 at = 0;
	Gate gate;
	Work<Worker, &Worker::run> work{*this};
};

TEST_F(HostTest, LastPutDeletes)
{
	int alive = 0;
	Counted *object = make<Counted>(PORT_ATOMIC, alive).value().release();

	EXPECT_EQ(alive, 1);
	EXPECT_EQ(host::live_allocations(), 1u);
	object->get();
	object->put();
	EXPECT_EQ(alive, 1);
	object->put();
	EXPECT_EQ(alive, 0);
}

TEST_F(HostTest, MakeFailsWithoutAConstructorRun)
{
	int alive = 0;

	host::fail_allocation_after(0);
	EXPECT_EQ(make<Counted>(PORT_ATOMIC, alive).error(), Error::NoMemory);
	EXPECT_EQ(alive, 0);
	EXPECT_TRUE(make<Counted>(PORT_ATOMIC, alive).ok());
	EXPECT_EQ(alive, 0);
}

/* A window that could not be widened is widened later (F-20). */
TEST_F(HostTest, F20_AnArrayThatFailedMayBeAllocatedAgain)
{
	struct Large {
		u8 bytes[1500];
	};
	constexpr size_t count = 10;
	OwnArray<Large> array;

	/* The list of pieces, and five pieces of two. */
	for (size_t successes = 0; successes < 6; ++successes) {
		host::fail_allocation_after(successes);
		EXPECT_EQ(array.allocate(count), Error::NoMemory);
		EXPECT_EQ(array.size(), 0u);
		EXPECT_EQ(host::live_allocations(), 0u);
	}
	EXPECT_EQ(array.allocate(count), Error::None);
	for (Large &large : array)
		large.bytes[0] = 1;
}

TEST_F(HostTest, WorkRunsOnceAndInItsTime)
{
	Worker worker;
	u64 start = port_now_ms();

	worker.work.queue(100);
	worker.work.queue(5);
	host::advance(99);
	EXPECT_EQ(worker.runs, 0);
	host::advance(1);
	EXPECT_EQ(worker.runs, 1);
	EXPECT_EQ(worker.at, start + 100);
	host::advance(1000);
	EXPECT_EQ(worker.runs, 1);
}

TEST_F(HostTest, PostponeMovesQueuedWork)
{
	Worker worker;

	worker.work.queue(10);
	worker.work.postpone(20);
	host::advance(19);
	EXPECT_EQ(worker.runs, 0);
	host::advance(1);
	EXPECT_EQ(worker.runs, 1);
}

TEST_F(HostTest, CancelledWorkDoesNotRun)
{
	Worker worker;

	EXPECT_FALSE(worker.work.cancel());
	worker.work.queue();
	EXPECT_TRUE(worker.work.cancel());
	host::run_work();
	EXPECT_EQ(worker.runs, 0);
	worker.work.queue();
}

TEST_F(HostTest, WaitLetsWorkOpenTheGate)
{
	Worker worker;

	worker.work.queue(50);
	EXPECT_EQ(worker.gate.wait_ms(49), Error::TimedOut);
	EXPECT_EQ(worker.gate.wait_ms(2), Error::None);
	worker.gate.close();
	worker.work.queue(5);
	worker.gate.wait();
	EXPECT_EQ(worker.runs, 2);
	worker.gate.close();
	host::interrupt();
	EXPECT_EQ(worker.gate.wait_interruptible(), Error::Interrupted);
}

TEST_F(HostTest, AddressesAreWrittenAsTheKernelDoes)
{
	port_address v4 = host::address("10.0.0.1", 3260);
	port_address v6 = host::address("fe80::1", 3260);
	char text[64];

	port_address_text(&v4, text, sizeof(text));
	EXPECT_STREQ(text, "10.0.0.1:3260");
	port_address_set_port(&v6, 3261);
	port_address_text(&v6, text, sizeof(text));
	EXPECT_STREQ(text, "[fe80::1]:3261");
	EXPECT_EQ(port_address_port(&v6), 3261);
	port_address_text(&v6, text, 5);
	EXPECT_STREQ(text, "[fe8");

	port_address other = host::address("10.0.0.1", 1);

	EXPECT_TRUE(port_address_same_host(&v4, &other));
	EXPECT_FALSE(port_address_same_host(&v4, &v6));
	other = host::address("10.0.0.2", 3260);
	EXPECT_FALSE(port_address_same_host(&v4, &other));
}

TEST_F(HostTest, LogAndLinesAreWhatWasWritten)
{
	std::string lines;
	char text[4];

	port_log(PORT_INFO, "%s %d", "one", 1);
	port_emit(host::reader(lines), "%u\n", 2u);
	EXPECT_EQ(host::take_log(), "one 1\n");
	EXPECT_EQ(host::take_log(), "");
	EXPECT_EQ(lines, "2\n");
	EXPECT_EQ(port_format(text, sizeof(text), "%s", "abcdef"), 3);
	EXPECT_STREQ(text, "abc");
}

TEST_F(HostDeathTest, NothingSleepsUnderASpinLock)
{
	SpinLock lock("test");
	Mutex mutex("test");
	Worker worker;
	int alive = 0;

	EXPECT_DEATH({
		SpinGuard guard(lock);
		(void)make<Counted>(PORT_MAY_SLEEP, alive);
	}, "sleeping allocation");
	EXPECT_DEATH({
		SpinGuard guard(lock);
		MutexGuard inner(mutex);
	}, "mutex");
	EXPECT_DEATH({
		SpinGuard guard(lock);
		worker.work.cancel_sync();
	}, "waiting for work");
	EXPECT_DEATH({
		SpinGuard guard(lock);
		(void)worker.gate.wait_ms(0);
	}, "waiting under");
}

TEST_F(HostDeathTest, DeadLocksAbort)
{
	SpinLock spin("spin");
	Mutex mutex("mutex");
	Gate gate;

	EXPECT_DEATH({
		SpinGuard outer(spin);
		SpinGuard inner(spin);
	}, "spin: .*taken twice");
	EXPECT_DEATH({
		MutexGuard outer(mutex);
		MutexGuard inner(mutex);
	}, "mutex: .*taken twice");
	EXPECT_DEATH(gate.wait(), "nobody ends");
}

TEST_F(HostDeathTest, MisuseOfMemoryAborts)
{
	int local;

	EXPECT_DEATH(port_free(&local), "not allocated");
	EXPECT_DEATH((void)port_alloc(8193, PORT_ATOMIC), "larger");
}

TEST_F(HostDeathTest, LogLineIsOneLine)
{
	EXPECT_DEATH(port_log(PORT_INFO, "a%cb", '\n'), "line break");
}

} // namespace
} // namespace base
