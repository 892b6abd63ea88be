// SPDX-License-Identifier: GPL-2.0
#pragma once

#include "loopback/machine.h"

namespace loopback {

/* In steps of the scheduler, the latest: a login and some commands. */
inline constexpr u32 latest_misfortune = 900;

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
	/* In this run something happened that others feel, too. */
	static inline bool struck_all = false;

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
			struck_all = true;
			machine_.network.disturb_listeners(
				Network::Failure::Removed);
			break;
		case 3:
			struck_all = true;
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

} // namespace loopback
