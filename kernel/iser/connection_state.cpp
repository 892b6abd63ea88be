// SPDX-License-Identifier: GPL-2.0
#include "iser/connection_state.h"

namespace iser {
namespace {

struct Row {
	State state;
	Event event;
	State next;
	Action action;
};

/* Every pair that can happen. */
constexpr Row rows[] = {
	{State::Connecting, Event::Established,
	 State::AwaitingLogin, Action::None},
	/* A message may overtake the event that announces the connection. */
	{State::Connecting, Event::FirstRequest,
	 State::Queued, Action::Queue},
	{State::Connecting, Event::Lost, State::Closing, Action::Release},

	{State::AwaitingLogin, Event::FirstRequest,
	 State::Queued, Action::Queue},
	{State::AwaitingLogin, Event::Lost, State::Closing, Action::Release},

	{State::Queued, Event::Established, State::Queued, Action::None},
	{State::Queued, Event::Accepted, State::Negotiating, Action::None},
	{State::Queued, Event::Lost, State::Closing, Action::Release},

	{State::Negotiating, Event::Established,
	 State::Negotiating, Action::None},
	{State::Negotiating, Event::ResponseSent,
	 State::AwaitingRequest, Action::None},
	{State::Negotiating, Event::FinalResponse,
	 State::FinalResponse, Action::None},
	{State::Negotiating, Event::Lost, State::Closing, Action::Remember},

	{State::AwaitingRequest, Event::Established,
	 State::AwaitingRequest, Action::None},
	{State::AwaitingRequest, Event::RequestArrived,
	 State::Negotiating, Action::Present},
	{State::AwaitingRequest, Event::Lost, State::Closing, Action::Present},

	{State::FinalResponse, Event::Established,
	 State::FinalResponse, Action::None},
	{State::FinalResponse, Event::Started,
	 State::FullFeature, Action::None},
	{State::FinalResponse, Event::Lost, State::Closing, Action::Wake},

	{State::FullFeature, Event::Established,
	 State::FullFeature, Action::None},
	{State::FullFeature, Event::Lost, State::Closing, Action::Wake},

	/* What was under way when the connection was lost. */
	{State::Closing, Event::Established, State::Closing, Action::None},
	{State::Closing, Event::FirstRequest, State::Closing, Action::None},
	{State::Closing, Event::ResponseSent, State::Closing, Action::None},
	{State::Closing, Event::RequestArrived, State::Closing, Action::None},
	{State::Closing, Event::FinalResponse, State::Closing, Action::None},
	{State::Closing, Event::Started, State::Closing, Action::Wake},
	{State::Closing, Event::Lost, State::Closing, Action::None},
};

struct Table {
	Transition at[state_count][event_count];
	bool unambiguous;
};

constexpr Table make_table()
{
	Table table = {};

	table.unambiguous = true;
	for (size_t state = 0; state < state_count; ++state)
		for (Transition &cell : table.at[state])
			cell = {static_cast<State>(state), Action::Invalid};
	for (const Row &row : rows) {
		Transition &cell = table.at[static_cast<size_t>(row.state)]
					   [static_cast<size_t>(row.event)];

		if (cell.action != Action::Invalid)
			table.unambiguous = false;
		cell = {row.next, row.action};
	}
	return table;
}

constexpr Table table = make_table();
static_assert(table.unambiguous, "one row for each pair");

struct StateWords {
	const char *name;
	const char *text;
};

constexpr StateWords state_words[] = {
	{"connecting", "The transport is making the connection."},
	{"awaiting_login",
	 "The connection stands, and the first Login Request is on its way."},
	{"queued",
	 "The first Login Request is here, and waits until LIO accepts."},
	{"negotiating", "LIO works on a Login Request."},
	{"awaiting_request",
	 "LIO answered, and the next Login Request is on its way."},
	{"final_response",
	 "The login succeeded, and the last response waits for the receives."},
	{"full_feature", "The session is up, and commands run."},
	{"closing", "The connection is gone, and is being cleaned up."},
};
static_assert(sizeof(state_words) / sizeof(state_words[0]) == state_count);

} // namespace

Transition transition(State state, Event event)
{
	return table.at[static_cast<size_t>(state)]
		       [static_cast<size_t>(event)];
}

const char *text(State state)
{
	return state_words[static_cast<size_t>(state)].text;
}

const char *name(State state)
{
	return state_words[static_cast<size_t>(state)].name;
}

} // namespace iser
