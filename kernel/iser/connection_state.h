// SPDX-License-Identifier: GPL-2.0
#pragma once

#include "port/types.h"

namespace iser {

/* Life of a connection; the sentences stand in connection_state.cpp. */
enum class State : u8 {
	Connecting,
	AwaitingLogin,
	Queued,
	Negotiating,
	AwaitingRequest,
	FinalResponse,
	FullFeature,
	Closing,
};
inline constexpr size_t state_count = static_cast<size_t>(State::Closing) + 1;

enum class Event : u8 {
	/* The transport connected; may come late, behind the first message. */
	Established,
	/* The first Login Request is complete, C-bit chain and all. */
	FirstRequest,
	/* LIO took the connection over. */
	Accepted,
	/* LIO handed over a response; raise it before the response is posted. */
	ResponseSent,
	/* A further Login Request is complete. */
	RequestArrived,
	/* LIO handed over the response that ends the login. */
	FinalResponse,
	/* Full-feature receives are posted and the final response is sent. */
	Started,
	/* The connection is gone, or is to go. */
	Lost,
};
inline constexpr size_t event_count = static_cast<size_t>(Event::Lost) + 1;

/* What the connection's owner has to do about an event. */
enum class Action : u8 {
	None,
	Queue,    /* offer the connection to LIO's accept */
	Present,  /* let LIO's login work look */
	Release,  /* LIO does not know it yet: clean up ourselves */
	Wake,     /* end the wait of LIO's receive thread */
	Remember, /* LIO is at work, and learns it when it asks */
	/*
	 * Cannot happen.  For a message: the peer broke the order of the
	 * login, so end the connection.  Otherwise a fault of our own.
	 */
	Invalid,
};

struct Transition {
	State next;
	Action action;
};

Transition transition(State state, Event event);

/* A sentence that tells a person what the connection is doing. */
const char *text(State state);
/* The state as an identifier. */
const char *name(State state);

} // namespace iser
