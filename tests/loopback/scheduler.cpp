// SPDX-License-Identifier: GPL-2.0
#include "loopback/scheduler.h"

#include <algorithm>
#include <cstdio>

#include "host/host.h"

namespace loopback {

namespace {

/* More than any test takes: somebody runs in circles. */
constexpr u64 most_steps = 3'000'000;
/* A timer that a busy machine may let come before other things. */
constexpr u64 short_timer_ms = 100;
/* Of 256: how often it does, and how often a stubborn run changes its mind. */
constexpr u32 slow_moments = 12;
constexpr u32 mood_swings = 8;

/* A number that looks random, for @number in the mood @mood. */
u64 mix(u64 number, u64 mood)
{
	return Random(number * 0x9e3779b97f4a7c15ull ^ mood).next();
}

} // namespace

/* A stack, and what is under way on it; waits for its next job in between. */
struct Scheduler::Strand {
	std::unique_ptr<Fiber> fiber;
	/* It has no job. */
	bool idle = true;
	Source *source = nullptr;
	Work *work = nullptr;
	std::shared_ptr<Thread> thread;

	/* The wait that it is in. */
	const char *why = nullptr;
	std::function<bool()> until;
	u64 deadline = never;
	bool interruptible = false;
	/* Goes on when there is no choice left. */
	bool when_idle = false;
	u64 id = 0;
	u64 age = 0;
};

Scheduler *Scheduler::instance_;

/* Stacks cost time to make, so each is used for all tests. */
std::vector<std::unique_ptr<Scheduler::Strand>> &Scheduler::strands()
{
	static std::vector<std::unique_ptr<Strand>> strands;

	return strands;
}

Source::Source(const char *name) : name_(name)
{
	Scheduler::instance().add(*this);
}

Source::~Source()
{
	Scheduler::instance().remove(*this);
}

Scheduler::Scheduler(const Options &options)
	: options_(options), random_(options.seed),
	  main_(std::make_unique<Strand>()), current_(main_.get())
{
	if (instance_)
		host::die("two schedulers");
	instance_ = this;
	main_->fiber = std::make_unique<Fiber>();
	stubborn_ = options.seed && random_.chance(50);
	mood_ = random_.next();
}

/* After a test that failed, somebody may wait for ever. */
Scheduler::~Scheduler()
{
	for (Strand *strand : waiting_)
		for (auto &mine : strands())
			if (mine.get() == strand)
				static_cast<void>(mine.release());
	std::erase(strands(), nullptr);
	instance_ = nullptr;
}

void Scheduler::die(const char *why) const
{
	std::fprintf(stderr, "%s, at %llu ms, in step %llu; who waits:\n%s",
		     why, now_, steps_, waiting().c_str());
	host::die(why);
}

bool Scheduler::chance(u32 of_256)
{
	return options_.seed && random_.below(256) < of_256;
}

/* Sources, threads, work --------------------------------------------------- */

void Scheduler::add(Source &source)
{
	source.id_ = source.age_ = ++last_id_;
	sources_.push_back(&source);
}

void Scheduler::remove(Source &source)
{
	std::erase(sources_, &source);
	/* From its own step: it does not come back to it. */
	if (current_->source == &source)
		current_->source = nullptr;
	else if (source.busy_)
		host::die("a source goes while its event is handled");
}

bool Scheduler::runs(const Source &source) const
{
	return current_->source == &source;
}

std::shared_ptr<Thread> Scheduler::start(std::string name,
					 std::function<void()> body)
{
	auto thread = std::make_shared<Thread>();

	thread->name = std::move(name);
	post([this, thread, body = std::move(body)] {
		current_->thread = thread;
		body();
		current_->thread.reset();
		thread->ended = true;
	});
	return thread;
}

Thread *Scheduler::thread() const
{
	return current_->thread.get();
}

void Scheduler::queue(Work &work, u64 delay_ms)
{
	if (work.queued)
		return;
	work.due = now_ + delay_ms;
	work.id = ++last_id_;
	work.queued = true;
	works_.push_back(&work);
}

bool Scheduler::cancel(Work &work)
{
	const bool queued = work.queued;

	std::erase(works_, &work);
	work.queued = false;
	return queued;
}

/* What it points at may be gone: the address tells. */
bool Scheduler::running(const Work &work) const
{
	return std::ranges::any_of(waiting_, [&](const Strand *strand) {
		return strand->work == &work;
	});
}

bool Scheduler::runs(const Work &work) const
{
	return current_->work == &work;
}

void Scheduler::post(std::function<void()> body, u64 delay_ms)
{
	struct Once {
		Work work = {};
		std::function<void()> body;
	};
	auto once = new Once;

	once->body = std::move(body);
	once->work.context = once;
	once->work.run = [](void *context) {
		std::unique_ptr<Once> mine(static_cast<Once *>(context));

		mine->body();
	};
	queue(once->work, delay_ms);
}

/* Waiting ------------------------------------------------------------------ */

bool Scheduler::satisfied(const Strand &strand) const
{
	return (strand.until && strand.until()) || now_ >= strand.deadline ||
	       (strand.interruptible && strand.thread &&
		strand.thread->interrupted);
}

bool Scheduler::wait(const char *why, std::function<bool()> until, u64 deadline,
		     bool interruptible)
{
	Strand &self = *current_;

	host::might_sleep(why);
	self.why = why;
	self.until = std::move(until);
	self.deadline = deadline;
	self.interruptible = interruptible;
	give_away();

	const bool so = self.until && self.until();

	self.until = nullptr;
	self.interruptible = false;
	self.deadline = never;
	if (!so && interruptible && self.thread && self.thread->interrupted)
		self.thread->interrupted = false;
	return so;
}

void Scheduler::maybe_hold_up()
{
	if (options_.hold_up && chance(options_.hold_up))
		wait("held up", [] { return true; });
}

void Scheduler::settle()
{
	current_->when_idle = true;
	wait("all to be done", nullptr);
	current_->when_idle = false;
}

std::string Scheduler::waiting() const
{
	std::string lines;

	for (const Strand *strand : waiting_) {
		lines += "  ";
		lines += strand->thread ? strand->thread->name :
			 strand->source ? strand->source->name() :
			 strand == main_.get() ? "the test" : "work";
		lines += ": waits for ";
		lines += strand->why;
		lines += "\n";
	}
	return lines;
}

/* The current strand waits.  Comes back when it is chosen. */
void Scheduler::give_away()
{
	Strand &self = *current_;

	self.age = ++last_id_;
	waiting_.push_back(&self);

	const Choice choice = choose();
	Strand &next = choice.strand ? *choice.strand : idle_strand();

	begin(next, choice);
	if (&next != &self)
		hand_over(next);
}

/* @strand, which is not under way, takes what was chosen. */
void Scheduler::begin(Strand &strand, const Choice &choice)
{
	if (choice.strand) {
		std::erase(waiting_, choice.strand);
		return;
	}
	strand.idle = false;
	strand.id = choice.id;
	if (choice.source) {
		choice.source->busy_ = true;
		choice.source->age_ = ++last_id_;
		strand.source = choice.source;
	} else {
		cancel(*choice.work);
		strand.work = choice.work;
	}
}

void Scheduler::hand_over(Strand &to)
{
	Strand &self = *current_;

	current_ = &to;
	to.fiber->run(*self.fiber);
}

/* Jobs --------------------------------------------------------------------- */

Scheduler::Strand &Scheduler::idle_strand()
{
	for (auto &strand : strands())
		if (strand->idle)
			return *strand;

	auto strand = std::make_unique<Strand>();

	strand->fiber = std::make_unique<Fiber>(&Scheduler::strand_main,
						strand.get());
	strands().push_back(std::move(strand));
	return *strands().back();
}

void Scheduler::run_job(Strand &strand)
{
	if (Source *source = strand.source) {
		source->step();
		/* Unless it is gone. */
		if (strand.source)
			source->busy_ = false;
		strand.source = nullptr;
		return;
	}
	Work &work = *strand.work;

	work.run(work.context);
	strand.work = nullptr;
}

/* A strand's life: a job, then whatever comes next. */
void Scheduler::strand_main(void *argument)
{
	auto &self = *static_cast<Strand *>(argument);

	for (;;) {
		run_job(self);
		self.idle = true;

		/* The next one may be ours: then it needs no other stack. */
		Scheduler &scheduler = instance();
		const Choice choice = scheduler.choose();

		scheduler.begin(choice.strand ? *choice.strand : self, choice);
		if (choice.strand)
			scheduler.hand_over(*choice.strand);
	}
}

/* Choices ------------------------------------------------------------------ */

void Scheduler::list_choices()
{
	choices_.clear();
	for (Strand *strand : waiting_)
		if (satisfied(*strand))
			choices_.push_back({.strand = strand,
					    .id = strand->id,
					    .age = strand->age});
	for (Source *source : sources_)
		if (!source->busy_ && source->ready())
			choices_.push_back({.source = source,
					    .id = source->id_,
					    .age = source->age_});
	for (Work *work : works_)
		if (work->due <= now_ && !running(*work))
			choices_.push_back({.work = work,
					    .id = work->id,
					    .age = work->id});
}

u64 Scheduler::next_timer() const
{
	u64 next = never;

	for (const Strand *strand : waiting_)
		next = std::min(next, strand->deadline);
	for (const Work *work : works_)
		if (work->due > now_)
			next = std::min(next, work->due);
	return next;
}

/* False: nothing would come of it. */
bool Scheduler::pass_time()
{
	const u64 next = next_timer();

	if (next == never)
		return false;
	now_ = std::max(now_, next);
	return true;
}

/* A slow moment: a timer comes before what is possible already. */
bool Scheduler::hurry_timer()
{
	const u64 next = next_timer();

	return next != never && next > now_ && next - now_ <= short_timer_ms &&
	       chance(slow_moments);
}

Scheduler::Choice Scheduler::choose()
{
	if (++steps_ > most_steps)
		die("it goes on and on");
	if (hurry_timer())
		pass_time();
	list_choices();
	while (choices_.empty()) {
		/* Whoever lets all be done does not let time pass. */
		for (Strand *strand : waiting_)
			if (strand->when_idle)
				return {.strand = strand};
		if (!pass_time())
			die("everybody waits, and nothing is to come");
		list_choices();
	}
	return choices_[pick()];
}

size_t Scheduler::pick()
{
	if (!options_.seed)
		return pick_oldest();
	if (stubborn_)
		return pick_stubbornly();
	return random_.below(choices_.size());
}

size_t Scheduler::pick_oldest() const
{
	return static_cast<size_t>(
		std::ranges::min_element(choices_, {}, &Choice::age) -
		choices_.begin());
}

/* Lets some go first and others starve, for a while. */
size_t Scheduler::pick_stubbornly()
{
	const auto rank = [this](const Choice &choice) {
		return mix(choice.id, mood_);
	};

	if (chance(mood_swings))
		mood_ = random_.next();
	return static_cast<size_t>(
		std::ranges::min_element(choices_, {}, rank) -
		choices_.begin());
}

} // namespace loopback
