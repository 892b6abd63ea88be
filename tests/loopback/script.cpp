// SPDX-License-Identifier: GPL-2.0
#include "loopback/script.h"

#include <algorithm>
#include <csignal>
#include <cstdio>

#include "host/host.h"
#include "loopback/model.h"

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/common_interface_defs.h>
#endif

namespace loopback {

using libiser::ByteVector;
using libiser::ConnectionLost;
using libiser::Milliseconds;
using libiser::ScsiRequest;
using libiser::ScsiResult;
using libiser::Session;
using libiser::TaskManagement;
using libiser::TextKeys;

namespace {

constexpr u32 blocks_of_each = 80;
/* Of 100: how often a connection does not live until its logout. */
constexpr unsigned misfortunes = 40;
/* In steps of the scheduler: a login and some commands. */
constexpr u32 latest_misfortune = 900;

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

TextKeys random_keys(Random &random)
{
	const u32 first_burst = random.between(1, 32) * 512;
	const u32 max_burst = first_burst + random.between(0, 64) * 512;
	TextKeys keys = {
		{"InitialR2T", random.chance(50) ? "No" : "Yes"},
		{"ImmediateData", random.chance(85) ? "Yes" : "No"},
		{"FirstBurstLength", std::to_string(first_burst)},
		{"MaxBurstLength", std::to_string(max_burst)},
	};

	if (random.chance(30))
		keys.emplace_back("TaggedBufferForSolicitedDataOnly",
				  random.chance(50) ? "Yes" : "No");
	if (random.chance(30))
		keys.emplace_back("MaxOutstandingUnexpectedPDUs",
				  std::to_string(random.between(2, 8)));
	return keys;
}

/* What befalls a connection, at a step that was drawn before. */
class Misfortune {
public:
	Misfortune(Machine &machine, Random &random,
		   std::function<Link *()> link)
		: machine_(machine), kind_(random.below(5)),
		  link_(std::move(link)),
		  event_("a misfortune",
			 [this, at = machine.scheduler.steps() +
				     random.below(latest_misfortune)] {
				 return !happened_ && link_() &&
					machine_.scheduler.steps() >= at;
			 },
			 [this] { strike(); })
	{
	}

	bool happened() const { return happened_; }
	/* In this run. */
	static inline bool stopped_any = false;

private:
	void strike()
	{
		Link &link = *link_();

		happened_ = true;
		switch (kind_) {
		case 0:
			machine_.network.fail(link,
					      Network::Failure::QueuePair);
			break;
		case 1:
			machine_.network.fail(link,
					      Network::Failure::AddressChanged);
			break;
		case 2:
			machine_.network.fail(link, Network::Failure::Removed);
			break;
		case 3:
			stopped_any = true;
			machine_.lio.stop_session(0);
			break;
		default:
			link.cut = true;
			break;
		}
	}

	Machine &machine_;
	const u32 kind_;
	std::function<Link *()> link_;
	bool happened_ = false;
	Events event_;
};

/* Now and then the network owes acknowledgements for a while. */
class LateAcknowledgements {
public:
	LateAcknowledgements(Machine &machine, Random &random)
		: machine_(machine), every_(random.between(20, 400)),
		  event_("acknowledgements change their mind",
			 [this] { return machine_.scheduler.steps() >= next_; },
			 [this] { change(); })
	{
	}
	/* From now on they are on time. */
	void stop()
	{
		machine_.network.acknowledgements_late = false;
		next_ = never;
		machine_.scheduler.wait("the last acknowledgements", nullptr,
					machine_.scheduler.now() +
						longest_ms);
	}

private:
	void change()
	{
		bool &late = machine_.network.acknowledgements_late;

		late = !late;
		next_ = machine_.scheduler.steps() +
			machine_.scheduler.random().below(every_);
		/* Time would stand still for who waits for one. */
		if (late)
			machine_.scheduler.post([this] {
				machine_.network.acknowledgements_late = false;
			}, longest_ms);
	}

	/* How long they may be owed. */
	static constexpr u64 longest_ms = 20;

	Machine &machine_;
	const u32 every_;
	u64 next_ = 0;
	Events event_;
};

/* One initiator: logs in, works, logs out or loses its connection; again. */
class Player {
public:
	Player(RandomRun &run, Machine &machine, u32 number)
		: run_(run), machine_(machine),
		  random_(Random::of_case(run.seed, 100 + number)),
		  number_(number),
		  model_(number * blocks_of_each, blocks_of_each)
	{
	}

	void play();
	Model &model() { return model_; }
	/* What was wrong. */
	const std::string &problems() const { return problems_; }

private:
	/* A command that is under way. */
	struct Task {
		ByteVector data;
		u32 lba = 0;
		u32 blocks = 0;
		u32 generation = 0;
		bool write = false;
		bool read = false;
		bool fails = false;
	};

	void problem(const std::string &what);
	void one_session();
	bool is_excused() const;
	void log_in();
	void work();
	void step();
	void leave();
	void start_transfer(bool write);
	void start_failing();
	void finish_one(Milliseconds timeout);
	void finish(Session::Tag tag);
	void check(const Task &task, const ScsiResult &result);
	void abort_one();
	void reset();
	void take_finished();
	void give_up(bool later);
	void ping();
	void snack();
	void async();
	void finish_all();
	bool is_free(u32 lba, u32 blocks) const;
	Session &session() { return initiator_->session; }

	RandomRun &run_;
	Machine &machine_;
	Random random_;
	u32 number_;
	Model model_;
	std::unique_ptr<Initiator> initiator_;
	std::unique_ptr<Misfortune> misfortune_;
	std::map<Session::Tag, Task> tasks_;
	bool logged_in_ = false;
	/* PDUs without a task that may come. */
	u32 rejects_ = 0;
	std::string problems_;
};

void Player::problem(const std::string &what)
{
	problems_ += "initiator " + std::to_string(number_) + ": " + what +
		     "; ";
}

void Player::play()
{
	const u32 sessions = random_.chance(40) ? 2 : 1;

	for (u32 i = 0; i < sessions; ++i) {
		one_session();
		/* Outside of any handler of an exception. */
		give_up(true);
		misfortune_.reset();
		initiator_.reset();
	}
}

/* Whether what was thrown is all right is decided here. */
void Player::one_session()
{
	std::string failure;

	if (!run_.undisturbed && random_.chance(misfortunes))
		misfortune_ = std::make_unique<Misfortune>(
			machine_, random_, [this] {
				return initiator_ ? initiator_->link() :
						    nullptr;
			});
	try {
		log_in();
		work();
		leave();
	} catch (const libiser::Error &error) {
		failure = error.what();
	}
	if (failure.empty())
		return;
	++run_.lost;
	if (!is_excused())
		problem(failure);
}

/*
 * A connection may end early for what befell it, or another one: whom an
 * administrator takes is the oldest.  And who logs in slowly while others wait
 * is not waited for (F-40).
 */
bool Player::is_excused() const
{
	return run_.no_memory_for || (misfortune_ && misfortune_->happened()) ||
	       Misfortune::stopped_any ||
	       (!logged_in_ && run_.initiators > 1);
}

void Player::log_in()
{
	libiser::LoginOptions options = Machine::login_options();
	libiser::ConnectOptions connect = Machine::connect_options();
	constexpr size_t text_sizes[] = {8192, 8192, 200, 64};

	if (random_.chance(30))
		connect.private_data = {0xc0, 0, 0, 0};
	connect.responder_resources =
		static_cast<std::uint8_t>(random_.between(0, 16));
	options.isid[5] = static_cast<u8>(number_ + 1);
	options.keys = random_keys(random_);
	options.text_per_pdu = random_.pick(text_sizes);
	rejects_ = 0;
	logged_in_ = false;
	initiator_ = std::make_unique<Initiator>(connect);
	session().login(options);
	logged_in_ = true;
	++run_.logins;
}

void Player::work()
{
	for (u32 steps = random_.between(0, 30); steps > 0; --steps)
		step();
}

void Player::step()
{
	const u32 what = random_.below(100);

	if (what < 30)
		start_transfer(true);
	else if (what < 55)
		start_transfer(false);
	else if (what < 60)
		start_failing();
	else if (what < 80)
		finish_one(Milliseconds(random_.below(3)));
	else if (what < 85)
		ping();
	else if (what < 91)
		abort_one();
	else if (what < 93)
		reset();
	else if (what < 95)
		snack();
	else if (what < 96)
		session().discover();
	else if (what < 97)
		async();
	else if (what < 98)
		finish_all();
	else
		finish_one(Milliseconds(8000));
}

bool Player::is_free(u32 lba, u32 blocks) const
{
	return std::ranges::none_of(tasks_, [&](const auto &entry) {
		const Task &task = entry.second;

		return lba < task.lba + task.blocks &&
		       task.lba < lba + blocks;
	});
}

void Player::start_transfer(bool write)
{
	const u32 blocks = random_.chance(10) ? random_.between(1, 64) :
						random_.between(1, 12);
	const u32 lba = model_.first() +
			random_.below(model_.blocks() - blocks + 1);
	Task task = {.lba = lba, .blocks = blocks, .write = write,
		     .read = !write};
	ScsiRequest request;

	if (!is_free(lba, blocks))
		return;
	if (write) {
		task.data = model_.new_data(lba, blocks);
		task.generation = model_.generation();
		request.cdb = write_10(lba, blocks);
		request.out = task.data;
		if (random_.chance(50))
			request.immediate = random_.below(9) * 512;
		if (random_.chance(30))
			request.data_out_size = random_.between(1, 8) * 512;
	} else {
		task.data.assign(size_t{blocks} * Disk::block, 0xee);
		request.cdb = read_10(lba, blocks);
		request.in = task.data;
	}
	/* The data stays where it is, whatever the map does. */
	const auto &p = session().parameters();

	if (request.immediate && !p.immediate_data)
		request.immediate = 0;
	if (request.immediate)
		request.immediate = std::min(
			{*request.immediate, p.first_burst_length,
			 p.target_recv_data_segment_length});
	if (request.data_out_size)
		request.data_out_size =
			std::min(request.data_out_size,
				 p.target_recv_data_segment_length);
	/* Small ones would take more buffers than were promised. */
	if (request.data_out_size * 4 < p.first_burst_length)
		request.data_out_size = 0;
	/* Known before it is on its way: it may be lost on the way. */
	Task &kept = tasks_[~0u] = std::move(task);

	static_cast<void>(kept);

	const Session::Tag tag = session().start(request);
	auto node = tasks_.extract(~0u);

	node.key() = tag;
	tasks_.insert(std::move(node));
}

/* Commands that end with CHECK CONDITION, and their data is of no use. */
void Player::start_failing()
{
	Task task = {.fails = true};
	ScsiRequest request;

	task.data.resize(random_.between(1, 8) * 512);
	if (random_.chance(50)) {
		request.cdb = write_10(1u << 20, static_cast<u32>(
						 task.data.size() / 512));
		request.out = task.data;
	} else {
		request.cdb = read_10(1u << 20, static_cast<u32>(
						task.data.size() / 512));
		request.in = task.data;
	}
	const Session::Tag tag = session().start(request);

	tasks_[tag] = std::move(task);
}

void Player::finish_one(Milliseconds timeout)
{
	if (const auto tag = session().any_finished(timeout))
		finish(*tag);
}

void Player::finish(Session::Tag tag)
{
	const ScsiResult result = session().finish(tag);
	auto node = tasks_.extract(tag);

	if (node.empty())
		problem("a response to no command");
	else
		check(node.mapped(), result);
}

void Player::check(const Task &task, const ScsiResult &result)
{
	if (result.good() == task.fails)
		problem("status " + std::to_string(result.status));
	if (!result.good())
		return;
	if (task.write)
		model_.written(task.lba, task.blocks, task.generation);
	if (task.read && !model_.may_read(task.lba, task.data))
		problem("data that was not written, from block " +
			std::to_string(task.lba));
}

/* Responses that are here already. */
void Player::take_finished()
{
	while (const auto tag = session().any_finished(Milliseconds(0)))
		finish(*tag);
}

void Player::abort_one()
{
	if (tasks_.empty())
		return;

	auto victim = tasks_.begin();

	std::advance(victim, random_.below(tasks_.size()));

	const Session::Tag tag = victim->first;
	const u8 response = session().task_management(
		TaskManagement::AbortTask, {}, tag);

	take_finished();
	victim = tasks_.find(tag);
	if (victim == tasks_.end())
		return;
	/* RFC 7143 11.6.1: what does not exist has been answered. */
	if (response != 0)
		problem("a task that is not there has no response (" +
			std::to_string(response) + ")");
	if (victim->second.write)
		model_.maybe_written(victim->second.lba, victim->second.blocks,
				     victim->second.generation, false);
	session().forget(tag);
	tasks_.erase(victim);
}

void Player::reset()
{
	const u8 response = session().task_management(
		TaskManagement::LogicalUnitReset);

	if (response != 0)
		problem("a reset that failed");
	take_finished();
	for (const auto &[tag, task] : tasks_)
		session().forget(tag);
	give_up(false);
}

/* There will be no responses; but a command may still be executed @later. */
void Player::give_up(bool later)
{
	for (const auto &[tag, task] : tasks_)
		if (task.write)
			model_.maybe_written(task.lba, task.blocks,
					     task.generation, later);
	if (later && initiator_)
		for (const auto &[tag, task] : tasks_)
			session().forget(tag);
	tasks_.clear();
}

void Player::ping()
{
	ByteVector data(random_.below(100));

	for (u8 &byte : data)
		byte = random_.byte();
	if (session().ping(data) != data)
		problem("a ping came back changed");
}

void Player::snack()
{
	session().send(session().make(iser::IscsiOpcode::SnackRequest, true));
	++rejects_;
}

/* Of whichever session it is; whoever gets it keeps it. */
void Player::async()
{
	if (run_.initiators == 1 && machine_.lio.send_async(0))
		++rejects_;
}

void Player::finish_all()
{
	const u64 until = machine_.scheduler.now() + 60000;

	while (!tasks_.empty() && machine_.scheduler.now() < until)
		finish_one(Milliseconds(10000));
	if (!tasks_.empty())
		throw libiser::TimedOut("a command has no response");
}

void Player::leave()
{
	const u32 how = run_.undisturbed ? 50 : random_.below(100);

	if (how < 10) {
		session().connection().disconnect();
		return;
	}
	/* As a process that is killed. */
	if (how < 20)
		return;
	if (how < 90)
		finish_all();
	if (session().logout() != 0)
		problem("a logout that failed");
	++run_.logouts;
	/* Rejects may be suppressed, but nothing may come twice. */
	if (session().unclaimed() > rejects_ + tasks_.size())
		problem("PDUs that nobody asked for");
}

} // namespace

namespace {

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
#ifdef __SANITIZE_ADDRESS__
	__sanitizer_set_death_callback(tell_seed);
#endif
}

std::string RandomRun::go()
{
	Random random = Random::of_case(seed, 1);
	Machine machine(random_machine(seed, random));
	std::vector<std::unique_ptr<Player>> players;
	std::vector<std::shared_ptr<Thread>> threads;
	std::string problems;

	constexpr u32 crowds[] = {1, 1, 2, 3};

	initiators = random.pick(crowds);
	Misfortune::stopped_any = false;

	machine.network.broken = broken;
	machine.lio.forget_aborted = broken.forget_aborted;
	if (no_memory_for)
		host::fail_allocation_after(*no_memory_for);
	if (machine.open() < 0) {
		host::fail_no_allocation();
		machine.close();
		return machine.leftovers();
	}

	std::optional<LateAcknowledgements> late;

	if (random.chance(30))
		late.emplace(machine, random);
	for (u32 i = 0; i < initiators; ++i) {
		players.push_back(std::make_unique<Player>(*this, machine, i));
		threads.push_back(machine.scheduler.start(
			"an initiator",
			[player = players.back().get()] { player->play(); }));
	}

	const auto all_ended = [&] {
		return std::ranges::all_of(threads, &Thread::ended);
	};

	/* The portal may go while they are at it (F-12). */
	if (!undisturbed && random.chance(8)) {
		const u64 moment = random.below(latest_misfortune);

		Misfortune::stopped_any = true;
		machine.scheduler.wait("the portal's end", [&] {
			return all_ended() ||
			       machine.scheduler.steps() >= moment;
		});
		machine.lio.close();
	}
	machine.scheduler.wait("the initiators", all_ended);
	host::fail_no_allocation();
	if (late)
		late->stop();
	machine.close();
	for (auto &player : players) {
		Model &model = player->model();

		problems += player->problems();
		if (!model.may_read(model.first(),
				    machine.lio.disk.at(model.first(),
							model.blocks())))
			problems += "the disk has what was not written; ";
	}
	problems += machine.leftovers();
	if (machine.network.dry)
		problems += "no receive buffer was posted; ";
	steps = machine.scheduler.steps();
	responses = machine.lio.responses;
	aborts = machine.lio.aborts;
	return problems;
}

} // namespace loopback
