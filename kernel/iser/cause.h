// SPDX-License-Identifier: GPL-2.0
#pragma once

#include "port/types.h"

namespace iser {

/* Why a connection ended or was refused. */
enum class Cause : u8 {
	None,

	/* Somebody decided so. */
	PeerDisconnected,
	LoggedOut,
	SessionStopped,
	PortalRemoved,
	PortalDisabled,
	DeviceRemoved,
	AddressChanged,

	/* The connection was never made. */
	PeerRefused,
	ConnectFailed,
	TooManyPending,
	OutOfMemory,
	NoQueuePair,

	/* The login failed. */
	LoginTimedOut,
	LoginRefused,
	LoginMalformed,
	LoginTextTooLong,
	RdmaExtensionsRefused,

	/* The peer broke the protocol. */
	MessageTooShort,
	MessageTooLong,
	LengthLies,
	AhsMalformed,
	DataSegmentTooLong,
	BadIserOpcode,
	UnexpectedHello,
	HelloMissing,
	HelloMalformed,
	HelloRejected,
	NoReadAllowed,
	StagMissing,
	OffsetWraps,
	UnexpectedDataOut,
	DiscoveryOpcode,

	/* An operation failed. */
	ReceiveFailed,
	SendFailed,
	RdmaReadFailed,
	RdmaWriteFailed,
	QueuePairFailed,
	PingUnanswered,
	CoreRefused,
};
inline constexpr size_t cause_count =
	static_cast<size_t>(Cause::CoreRefused) + 1;

/* The cause in plain words, as a part of a sentence. */
const char *text(Cause cause);
/* The cause as the name of a counter. */
const char *name(Cause cause);

} // namespace iser
