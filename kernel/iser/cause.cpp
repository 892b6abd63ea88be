// SPDX-License-Identifier: GPL-2.0
#include "iser/cause.h"

namespace iser {
namespace {

struct CauseWords {
	Cause cause;
	const char *name;
	const char *text;
};

constexpr CauseWords cause_words[] = {
	{Cause::None, "none", "no fault"},

	{Cause::PeerDisconnected, "peer_disconnected",
	 "the peer disconnected"},
	{Cause::LoggedOut, "logged_out", "the initiator logged out"},
	{Cause::SessionStopped, "session_stopped",
	 "the target core ended the session"},
	{Cause::PortalRemoved, "portal_removed", "the portal was removed"},
	{Cause::PortalDisabled, "portal_disabled",
	 "the portal group was disabled"},
	{Cause::DeviceRemoved, "device_removed",
	 "the RDMA device was removed"},
	{Cause::AddressChanged, "address_changed",
	 "the address of the RDMA device changed"},

	{Cause::PeerRefused, "peer_refused",
	 "the peer gave the connection up before it was made"},
	{Cause::ConnectFailed, "connect_failed",
	 "the connection could not be made"},
	{Cause::TooManyPending, "too_many_pending",
	 "too many connections wait for their login"},
	{Cause::OutOfMemory, "out_of_memory", "memory ran out"},
	{Cause::NoQueuePair, "no_queue_pair",
	 "the RDMA device gave no queue pair"},

	{Cause::LoginTimedOut, "login_timed_out",
	 "the login took too long"},
	{Cause::LoginRefused, "login_refused",
	 "the target refused the login"},
	{Cause::LoginMalformed, "login_malformed",
	 "the peer sent what is no valid Login Request"},
	{Cause::LoginTextTooLong, "login_text_too_long",
	 "the peer sent more login text than is allowed"},
	{Cause::RdmaExtensionsRefused, "rdma_extensions_refused",
	 "the login ended without RDMAExtensions=Yes"},

	{Cause::MessageTooShort, "message_too_short",
	 "the peer sent a message shorter than its headers"},
	{Cause::MessageTooLong, "message_too_long",
	 "the peer sent more data than it declared"},
	{Cause::LengthLies, "length_lies",
	 "the peer declared more data than it sent"},
	{Cause::AhsMalformed, "ahs_malformed",
	 "the peer sent a malformed additional header segment"},
	{Cause::DataSegmentTooLong, "data_segment_too_long",
	 "the peer sent a data segment longer than was negotiated"},
	{Cause::BadIserOpcode, "bad_iser_opcode",
	 "the peer sent an unknown iSER opcode"},
	{Cause::UnexpectedHello, "unexpected_hello",
	 "the peer sent an iSER Hello that was not asked for"},
	{Cause::HelloMissing, "hello_missing",
	 "the peer declared iSERHelloRequired=Yes and sent no iSER Hello"},
	{Cause::HelloMalformed, "hello_malformed",
	 "the peer sent a malformed iSER Hello"},
	{Cause::HelloRejected, "hello_rejected",
	 "the peer's iSER Hello wants what we cannot do"},
	{Cause::NoReadAllowed, "no_read_allowed",
	 "the peer allows no RDMA Read and sent a write that needs one"},
	{Cause::StagMissing, "stag_missing",
	 "the peer sent a command without the STag that it needs"},
	{Cause::OffsetWraps, "offset_wraps",
	 "the peer advertised a buffer beyond the end of its address space"},
	{Cause::UnexpectedDataOut, "unexpected_data_out",
	 "the peer sent data that no command waits for"},
	{Cause::DiscoveryOpcode, "discovery_opcode",
	 "the peer sent a request that a discovery session does not allow"},

	{Cause::ReceiveFailed, "receive_failed", "a receive failed"},
	{Cause::SendFailed, "send_failed", "a send failed"},
	{Cause::RdmaReadFailed, "rdma_read_failed", "an RDMA Read failed"},
	{Cause::RdmaWriteFailed, "rdma_write_failed",
	 "an RDMA Write failed"},
	{Cause::QueuePairFailed, "queue_pair_failed",
	 "the queue pair failed"},
	{Cause::PingUnanswered, "ping_unanswered",
	 "the peer did not answer a ping"},
	{Cause::CoreRefused, "core_refused",
	 "the target core refused a request"},
};

constexpr bool every_cause_has_its_words()
{
	for (size_t i = 0; i < cause_count; ++i)
		if (static_cast<size_t>(cause_words[i].cause) != i)
			return false;
	return true;
}
static_assert(sizeof(cause_words) / sizeof(cause_words[0]) == cause_count);
static_assert(every_cause_has_its_words());

const CauseWords &words_of(Cause cause)
{
	size_t index = static_cast<size_t>(cause);

	return cause_words[index < cause_count ? index : 0];
}

} // namespace

const char *text(Cause cause) { return words_of(cause).text; }
const char *name(Cause cause) { return words_of(cause).name; }

} // namespace iser
