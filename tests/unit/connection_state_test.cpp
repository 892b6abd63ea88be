// SPDX-License-Identifier: GPL-2.0
#include "iser/connection_state.h"

#include <initializer_list>
#include <set>
#include <string>
#include <utility>

#include <gtest/gtest.h>

namespace iser {
namespace {

State state(size_t index) { return static_cast<State>(index); }
Event event(size_t index) { return static_cast<Event>(index); }

/* Runs @events from Connecting, expecting the action of each. */
State
run(std::initializer_list<std::pair<Event, Action>> events)
{
	State now = State::Connecting;

	for (auto [event, action] : events) {
		Transition step = transition(now, event);

		EXPECT_EQ(step.action, action) << name(now);
		now = step.next;
	}
	return now;
}

TEST(ConnectionState, LoginWithThreeRequestsLeadsToFullFeature)
{
	EXPECT_EQ(run({{Event::Established, Action::None},
		       {Event::FirstRequest, Action::Queue},
		       {Event::Accepted, Action::None},
		       {Event::ResponseSent, Action::None},
		       {Event::RequestArrived, Action::Present},
		       {Event::ResponseSent, Action::None},
		       {Event::RequestArrived, Action::Present},
		       {Event::FinalResponse, Action::None},
		       {Event::Started, Action::None}}),
		  State::FullFeature);
}

TEST(ConnectionState, F22_FirstRequestMayOvertakeEstablished)
{
	EXPECT_EQ(run({{Event::FirstRequest, Action::Queue},
		       {Event::Established, Action::None},
		       {Event::Accepted, Action::None}}),
		  State::Negotiating);
	EXPECT_EQ(run({{Event::FirstRequest, Action::Queue},
		       {Event::Accepted, Action::None},
		       {Event::FinalResponse, Action::None},
		       {Event::Established, Action::None},
		       {Event::Started, Action::None},
		       {Event::Established, Action::None}}),
		  State::FullFeature);
}

TEST(ConnectionState, F22_EstablishedAfterTheLossChangesNothing)
{
	EXPECT_EQ(run({{Event::Lost, Action::Release},
		       {Event::Established, Action::None}}),
		  State::Closing);
}

TEST(ConnectionState, LossIsOursUntilLioAccepts)
{
	for (State now : {State::Connecting, State::AwaitingLogin,
			  State::Queued})
		EXPECT_EQ(transition(now, Event::Lost).action,
			  Action::Release) << name(now);
}

TEST(ConnectionState, F40_LossWakesWhoeverWaitsInLio)
{
	EXPECT_EQ(transition(State::Negotiating, Event::Lost).action,
		  Action::Remember);
	EXPECT_EQ(transition(State::AwaitingRequest, Event::Lost).action,
		  Action::Present);
	EXPECT_EQ(transition(State::FinalResponse, Event::Lost).action,
		  Action::Wake);
	EXPECT_EQ(transition(State::FullFeature, Event::Lost).action,
		  Action::Wake);
}

TEST(ConnectionState, EveryLossLeadsToClosingAndOnlyALossDoes)
{
	for (size_t i = 0; i < state_count; ++i) {
		EXPECT_EQ(transition(state(i), Event::Lost).next,
			  State::Closing);
		for (size_t j = 0; j < event_count; ++j) {
			if (event(j) == Event::Lost ||
			    state(i) == State::Closing)
				continue;
			EXPECT_NE(transition(state(i), event(j)).next,
				  State::Closing);
		}
	}
}

TEST(ConnectionState, NothingLeavesClosing)
{
	for (size_t j = 0; j < event_count; ++j)
		EXPECT_EQ(transition(State::Closing, event(j)).next,
			  State::Closing);
}

TEST(ConnectionState, SecondLossIsNoNews)
{
	EXPECT_EQ(transition(State::Closing, Event::Lost).action,
		  Action::None);
}

TEST(ConnectionState, LossDuringTheLastResponseWakesTheReceiveThread)
{
	EXPECT_EQ(run({{Event::Established, Action::None},
		       {Event::FirstRequest, Action::Queue},
		       {Event::Accepted, Action::None},
		       {Event::Lost, Action::Remember},
		       {Event::FinalResponse, Action::None},
		       {Event::Started, Action::Wake}}),
		  State::Closing);
}

TEST(ConnectionState, F04_RequestOutOfTurnIsInvalidAndChangesNothing)
{
	for (State now : {State::Queued, State::Negotiating,
			  State::FinalResponse, State::FullFeature}) {
		Transition step = transition(now, Event::RequestArrived);

		EXPECT_EQ(step.action, Action::Invalid) << name(now);
		EXPECT_EQ(step.next, now);
	}
}

/* The table as a picture: a change of any cell is a change of this test. */
TEST(ConnectionState, WholeTable)
{
	/* Rows are states, columns events; actions by their first letter. */
	const char *expected[state_count] = {
		"NQ.....R", /* Connecting */
		".Q.....R", /* AwaitingLogin */
		"N.N....R", /* Queued */
		"N..N.N.M", /* Negotiating */
		"N...P..P", /* AwaitingRequest */
		"N.....NW", /* FinalResponse */
		"N......W", /* FullFeature */
		"NN.NNNWN", /* Closing */
	};
	const char letters[] = {'N', 'Q', 'P', 'R', 'W', 'M', '.'};

	for (size_t i = 0; i < state_count; ++i) {
		std::string row;

		for (size_t j = 0; j < event_count; ++j) {
			Action action = transition(state(i), event(j)).action;

			row += letters[static_cast<size_t>(action)];
		}
		EXPECT_EQ(row, expected[i]) << name(state(i));
	}
}

TEST(ConnectionState, EveryStateHasItsNameAndItsSentence)
{
	std::set<std::string> names, texts;

	for (size_t i = 0; i < state_count; ++i) {
		names.insert(name(state(i)));
		texts.insert(text(state(i)));
		EXPECT_EQ(std::string(text(state(i))).back(), '.');
	}
	EXPECT_EQ(names.size(), state_count);
	EXPECT_EQ(texts.size(), state_count);
	EXPECT_STREQ(name(State::Queued), "queued");
	EXPECT_STREQ(name(State::Closing), "closing");
}

} // namespace
} // namespace iser
