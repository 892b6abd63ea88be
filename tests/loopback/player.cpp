// SPDX-License-Identifier: GPL-2.0
#include "loopback/player.h"

#include <algorithm>

namespace loopback {

using libiser::ByteVector;
using libiser::Milliseconds;
using libiser::ScsiRequest;
using libiser::ScsiResult;
using libiser::Session;
using libiser::TaskManagement;
using libiser::TextKeys;

namespace {

/* Of 100: how often a connection does not live until its logout. */
constexpr unsigned misfortunes = 40;

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

u32 pdus_of(u32 length, u32 size) { return (length + size - 1) / size; }

} // namespace

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
	       Misfortune::struck_all ||
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
	if (random_.chance(10))
		ask_and_leave(connect);
	initiator_ = std::make_unique<Initiator>(connect);
	session().login(options);
	logged_in_ = true;
	++run_.logins;
}

/* That is no concern of anybody else (F-19). */
void Player::ask_and_leave(const libiser::ConnectOptions &connect)
{
	Initiator hasty(connect);

	hasty.session.connection().request();
	if (random_.chance(50))
		machine_.scheduler.maybe_hold_up();
	hasty.session.connection().disconnect();
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

/* How the data of a write travels, within what was negotiated. */
void Player::choose_way(ScsiRequest &request)
{
	const libiser::Parameters &p = session().parameters();
	const u32 most = p.immediate_data ?
		std::min(p.first_burst_length,
			 p.target_recv_data_segment_length) : 0;

	if (random_.chance(50))
		request.immediate = std::min(random_.below(9) * 512, most);
	if (random_.chance(30))
		request.data_out_size =
			std::min(random_.between(1, 8) * 512,
				 p.target_recv_data_segment_length);
	/* Small ones may take more buffers than the target counts with. */
	if (request.data_out_size &&
	    pdus_of(p.first_burst_length, request.data_out_size) >
		    pdus_of(p.first_burst_length,
			    p.target_recv_data_segment_length))
		request.data_out_size = 0;
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
		choose_way(request);
	} else {
		task.data.assign(size_t{blocks} * Disk::block, 0xee);
		request.cdb = read_10(lba, blocks);
		request.in = task.data;
	}
	/* What start() throws must not forget it: it may have been sent. */
	tasks_[iser::reserved_tag] = std::move(task);

	const Session::Tag tag = session().start(request);
	auto node = tasks_.extract(iser::reserved_tag);

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

} // namespace loopback
