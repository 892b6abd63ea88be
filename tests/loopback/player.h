// SPDX-License-Identifier: GPL-2.0
#pragma once

#include <map>

#include "loopback/misfortune.h"
#include "loopback/model.h"
#include "loopback/script.h"

namespace loopback {

/* Blocks of the disk that each player has for himself. */
inline constexpr u32 blocks_of_each = 80;

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
		libiser::ByteVector data;
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
	void ask_and_leave(const libiser::ConnectOptions &connect);
	void work();
	void step();
	void leave();
	void choose_way(libiser::ScsiRequest &request);
	void start_transfer(bool write);
	void start_failing();
	void finish_one(libiser::Milliseconds timeout);
	void finish(libiser::Session::Tag tag);
	void check(const Task &task, const libiser::ScsiResult &result);
	void abort_one();
	void reset();
	void take_finished();
	void give_up(bool later);
	void ping();
	void snack();
	void async();
	void finish_all();
	bool is_free(u32 lba, u32 blocks) const;
	libiser::Session &session() { return initiator_->session; }

	RandomRun &run_;
	Machine &machine_;
	Random random_;
	u32 number_;
	Model model_;
	std::unique_ptr<Initiator> initiator_;
	std::unique_ptr<Misfortune> misfortune_;
	std::map<libiser::Session::Tag, Task> tasks_;
	bool logged_in_ = false;
	/* PDUs without a task that may come. */
	u32 rejects_ = 0;
	std::string problems_;
};

} // namespace loopback
