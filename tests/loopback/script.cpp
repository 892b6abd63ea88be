// SPDX-License-Identifier: GPL-2.0
#include "loopback/script.h"

#include <algorithm>
#include <csignal>
#include <cstdio>

#include "host/host.h"
#include "loopback/player.h"
#include "loopback/sanitizer.h"

namespace loopback {

namespace {

/* What the machine of a run is like. */
Machine::Options random_machine(u64 seed, Random &random)
{
	Machine::Options options;
	Device &device = options.device;
	Settings &settings = options.settings;
	constexpr u32 hold_ups[] = {0, 0, 4, 24};
	constexpr u32 receive_sizes[] = {512, 1024, 2048, 4096};

	options.scheduler.seed = seed + 1;
	options.scheduler.hold_up = random.pick(hold_ups);
	options.receive_data = random.pick(receive_sizes);
	device.send_with_invalidate = random.chance(80);
	device.read_depth = static_cast<u8>(random.between(1, 16));
	device.pieces = static_cast<u16>(random.between(1, 16));
	if (random.chance(30))
		device.registrations = random.between(1, 8);
	device.no_back_pressure = random.chance(50);
	device.flushes_late = random.chance(30);
	device.refuses_posts = random.chance(30);
	settings.command_window = random.between(1, 64);
	settings.tags = random.chance(30) ? random.between(4, 12) : 136;
	settings.initial_r2t = random.chance(50);
	settings.immediate_data = random.chance(85);
	settings.login_rounds = random.between(1, 3);
	settings.disk_blocks = 3 * blocks_of_each;
	settings.disk_ms = random.chance(50) ? random.below(20) : 0;
	if (random.chance(30))
		settings.text_part = random.between(16, 64);
	if (random.chance(20))
		settings.nopin_timeout = 0;
	return options;
}

u64 noted_seed;

void tell_seed()
{
	std::fprintf(stderr, "LOOPBACK_SEED=%llu\n", noted_seed);
}

void tell_seed_of_signal(int signal)
{
	tell_seed();
	std::signal(signal, SIG_DFL);
	std::raise(signal);
}

} // namespace

void note_seed(u64 seed)
{
	noted_seed = seed;
	std::signal(SIGABRT, tell_seed_of_signal);
	std::signal(SIGILL, tell_seed_of_signal);
	std::signal(SIGTRAP, tell_seed_of_signal);
#ifdef HAS_ASAN
	__sanitizer_set_death_callback(tell_seed);
#endif
}

namespace {

/* The initiators of a run, each on a thread of its own. */
class Company {
public:
	Company(RandomRun &run, Machine &machine) : machine_(machine)
	{
		for (u32 i = 0; i < run.initiators; ++i)
			add(std::make_unique<Player>(run, machine, i));
	}

	bool has_ended() const
	{
		return std::ranges::all_of(threads_, &Thread::ended);
	}
	/* What was wrong with them, and with what they wrote. */
	std::string problems();

private:
	void add(std::unique_ptr<Player> player)
	{
		threads_.push_back(machine_.scheduler.start(
			"an initiator",
			[player = player.get()] { player->play(); }));
		players_.push_back(std::move(player));
	}

	Machine &machine_;
	std::vector<std::unique_ptr<Player>> players_;
	std::vector<std::shared_ptr<Thread>> threads_;
};

std::string Company::problems()
{
	std::string problems;

	for (auto &player : players_) {
		Model &model = player->model();

		problems += player->problems();
		if (!model.may_read(model.first(),
				    machine_.lio.disk.at(model.first(),
							 model.blocks())))
			problems += "the disk has what was not written; ";
	}
	return problems;
}

/* The portal goes while they are at it (F-12). */
void close_portal_early(Machine &machine, const Company &company,
			Random &random)
{
	const u64 moment = random.below(latest_misfortune);

	Misfortune::struck_all = true;
	machine.scheduler.wait("the portal's end", [&] {
		return company.has_ended() ||
		       machine.scheduler.steps() >= moment;
	});
	machine.lio.close();
}

} // namespace

std::string RandomRun::go()
{
	constexpr u32 crowds[] = {1, 1, 2, 3};
	Random random = Random::of_case(seed, 1);
	Machine machine(random_machine(seed, random));
	std::string problems;

	initiators = random.pick(crowds);
	Misfortune::struck_all = false;
	machine.network.broken = broken;
	machine.lio.forget_aborted = broken.forget_aborted;
	if (no_memory_for)
		host::fail_allocation_after(*no_memory_for);
	if (machine.open() >= 0)
		problems = play(machine, random);
	host::fail_no_allocation();
	machine.close();
	problems += machine.leftovers();
	if (machine.network.dry)
		problems += "no receive buffer was posted; ";
	/* A stream's close() has waited for what does not come. */
	if (!broken.lose_send_completion &&
	    host::take_log().find("does not tell of") != std::string::npos)
		problems += "a stream waited in vain for its end; ";
	steps = machine.scheduler.steps();
	responses = machine.lio.responses;
	aborts = machine.lio.aborts;
	return problems;
}

std::string RandomRun::play(Machine &machine, Random &random)
{
	std::optional<LateAcknowledgements> late;

	if (random.chance(30))
		late.emplace(machine, random);

	Company company(*this, machine);

	if (!undisturbed && random.chance(8))
		close_portal_early(machine, company, random);
	machine.scheduler.wait("the initiators",
			       [&] { return company.has_ended(); });
	host::fail_no_allocation();
	if (late)
		late->stop();
	/* Nothing is written any more. */
	machine.close();
	return company.problems();
}

} // namespace loopback
