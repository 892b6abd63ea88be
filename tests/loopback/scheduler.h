// SPDX-License-Identifier: GPL-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "iserverify/random.h"
#include "loopback/fiber.h"
#include "port/types.h"

namespace loopback {

using iserverify::Random;

inline constexpr u64 never = ~u64{0};

/*
 * What has events of its own, one at a time and in its order: a queue of a
 * device, the events of a CM id.
 */
class Source {
public:
	explicit Source(const char *name);
	virtual ~Source();
	Source(const Source &) = delete;
	Source &operator=(const Source &) = delete;

	const char *name() const { return name_; }
	/* Whether an event is there.  Changes nothing. */
	virtual bool ready() const = 0;
	/* Takes the next event; may wait. */
	virtual void step() = 0;
	/* Whether step() is under way. */
	bool busy() const { return busy_; }

private:
	friend class Scheduler;
	const char *name_;
	u64 id_;
	/* Since when it waits for its turn. */
	u64 age_;
	bool busy_ = false;
};

/* A Source of two functions. */
class Events final : public Source {
public:
	Events(const char *name, std::function<bool()> ready,
	       std::function<void()> step)
		: Source(name), ready_(std::move(ready)), step_(std::move(step))
	{
	}
	bool ready() const override { return ready_(); }
	void step() override { step_(); }

private:
	std::function<bool()> ready_;
	std::function<void()> step_;
};

/* Deferred work, as port.h has it; small, because it lives in its storage. */
struct Work {
	void (*run)(void *context);
	void *context;
	u64 due;
	u64 id;
	bool queued;
};

/* A thread of the target's system. */
struct Thread {
	std::string name;
	bool interrupted = false;
	bool ended = false;
};

/*
 * Decides what happens next.  Who waits gives the processor away; then every
 * event that is possible is a choice: whoever waited and may go on, the next
 * event of each source, work that is due.  The oldest one is taken, or one by
 * the seed of a random generator, so that each run can be had again.
 *
 * Time stands still as long as there is a choice, and then moves to the next
 * timer; with a seed a short timer may also come earlier, as if the machine
 * were slow.
 */
class Scheduler {
public:
	struct Options {
		/* 0: the oldest choice is taken. */
		u64 seed = 0;
		/* Of 256: how often who takes a lock is held up. */
		u32 hold_up = 0;
	};
	explicit Scheduler(const Options &options);
	~Scheduler();
	Scheduler(const Scheduler &) = delete;
	Scheduler &operator=(const Scheduler &) = delete;

	/* There is one at a time. */
	static Scheduler &instance() { return *instance_; }

	u64 now() const { return now_; }
	Random &random() { return random_; }
	bool chance(u32 of_256);

	std::shared_ptr<Thread> start(std::string name,
				      std::function<void()> body);
	/* The thread that runs; null: the test, or an event. */
	Thread *thread() const;
	/* Tells apart who runs. */
	const void *runner() const { return current_; }
	bool runs(const Source &source) const;
	bool runs(const Work &work) const;

	/*
	 * Until @until is so; false if the time is past @deadline, or if the
	 * thread was interrupted and @interruptible.
	 */
	bool wait(const char *why, std::function<bool()> until,
		  u64 deadline = never, bool interruptible = false);
	/* Maybe somebody else goes first here. */
	void maybe_hold_up();
	/* Until nothing can happen any more without time passing. */
	void settle();

	void queue(Work &work, u64 delay_ms);
	bool cancel(Work &work);
	/* Somebody else runs it. */
	bool running(const Work &work) const;
	/* @body runs once, later. */
	void post(std::function<void()> body, u64 delay_ms = 0);

	/* Work that is queued, due or not. */
	size_t queued() const { return works_.size(); }
	/* Who waits, and for what, a line each. */
	std::string waiting() const;
	u64 steps() const { return steps_; }

private:
	struct Strand;
	struct Choice {
		Strand *strand = nullptr;
		Source *source = nullptr;
		Work *work = nullptr;
		/* Who it is, and since when it waits for its turn. */
		u64 id = 0;
		u64 age = 0;
	};
	friend class Source;

	static std::vector<std::unique_ptr<Strand>> &strands();
	static void strand_main(void *strand);
	void begin(Strand &strand, const Choice &choice);
	Strand &idle_strand();
	static void run_job(Strand &strand);
	void give_away();
	void hand_over(Strand &to);
	void list_choices();
	bool satisfied(const Strand &strand) const;
	bool pass_time();
	u64 next_timer() const;
	bool hurry_timer();
	Choice choose();
	size_t pick();
	size_t pick_oldest() const;
	size_t pick_stubbornly();
	void add(Source &source);
	void remove(Source &source);
	[[noreturn]] void die(const char *why) const;

	static Scheduler *instance_;

	const Options options_;
	Random random_;
	u64 now_ = 1000;
	u64 last_id_ = 0;
	u64 steps_ = 0;
	/* Of a stubborn run: while it lasts, the same ones come first. */
	bool stubborn_ = false;
	u64 mood_ = 0;
	std::vector<Source *> sources_;
	std::vector<Work *> works_;
	std::vector<Strand *> waiting_;
	std::vector<Choice> choices_;
	std::unique_ptr<Strand> main_;
	Strand *current_;
};

} // namespace loopback
