// SPDX-License-Identifier: GPL-2.0
/* Abuse in full feature phase. */
#include "abuse_case.h"
#include "mutation.h"
#include "text_grammar.h"

#include <fmt/format.h>

namespace iserverify {

namespace {

constexpr Milliseconds answer{2000};
constexpr Milliseconds patience{10000};
constexpr std::size_t opcode_at = sizeof(iser::ControlHeader);

/* How the messages of a case are made. */
struct Recipe {
	std::vector<PduKind> kinds;
	unsigned families;
	/* Per cent of the messages that are legal. */
	unsigned legal;
	/* And per cent of the cases in which the order is changed. */
	unsigned shuffled;
};

const std::vector<PduKind> all_kinds = {
	PduKind::NopOut, PduKind::Read, PduKind::Read, PduKind::Write,
	PduKind::Write, PduKind::TaskManagement, PduKind::Login, PduKind::Text,
	PduKind::DataOut, PduKind::DataOut, PduKind::Logout, PduKind::Snack,
};

/* Half of the sessions promise data that is not asked for. */
TextKeys some_login_keys(Random &random)
{
	static const TextKeys choices[] = {
		{},
		{{"InitialR2T", "No"}},
		{{"InitialR2T", "No"}, {"ImmediateData", "No"}},
		{{"ImmediateData", "No"}},
		{{"TargetRecvDataSegmentLength", "512"}},
		{{"InitiatorRecvDataSegmentLength", "512"}},
		{{"TaggedBufferForSolicitedDataOnly", "No"}},
		{{"MaxOutstandingUnexpectedPDUs", "4"}},
		{{"MaxBurstLength", "512"}, {"FirstBurstLength", "512"}},
	};

	return random.chance(40) ? TextKeys() : random.pick(choices);
}

/* Ends a session that is still up, in one of the ways to do it. */
void leave(AbuseCase &one, AbuseSession &abused)
{
	switch (one.random.below(4)) {
	case 0:
		abused.session->connection().disconnect();
		break;
	case 1:
		abused.send(abused.make(PduKind::Logout, of_all, 0));
		one.await(*abused.session, answer);
		break;
	default:
		break;
	}
}

std::vector<Message> cook(AbuseCase &one, AbuseSession &abused,
			  const Recipe &recipe)
{
	const std::uint32_t count = one.random.between(1, 12);
	std::vector<Message> messages;

	for (std::uint32_t i = 0; i < count; ++i) {
		const unsigned mutations = one.random.chance(recipe.legal) ?
			0 : one.random.between(1, 3);

		messages.push_back(abused.make(one.random.pick(recipe.kinds),
					       recipe.families, mutations));
	}
	if (one.random.chance(recipe.shuffled)) {
		const std::uint32_t times = one.random.between(1, 4);

		for (std::uint32_t i = 0; i < times; ++i)
			one.note(shuffle_messages(messages, one.random));
	}
	return messages;
}

Ending play(AbuseCase &one, const Recipe &recipe)
{
	AbuseSession abused(one, some_login_keys(one.random));
	const std::vector<Message> messages = cook(one, abused, recipe);
	const bool waits = one.random.chance(30);

	for (const Message &message : messages) {
		abused.send(message);
		if (!waits)
			continue;

		const Ending ending = one.fence(*abused.session, answer);

		if (ending != Ending::Answered)
			return ending;
	}
	/* With commands under way, or when all is said. */
	if (one.random.chance(15))
		return Ending::Left;

	const Ending ending = one.fence(*abused.session, answer);

	if (ending == Ending::Answered)
		leave(one, abused);
	return ending;
}

AbuseKind kind(const char *name, const char *title, unsigned weight,
	       Recipe recipe)
{
	return {name, title, weight, [recipe](AbuseCase &one) {
			return play(one, recipe);
		}};
}

/* More than the window and the unexpected PDUs allow, and nobody listens. */
Ending overrun(AbuseCase &one)
{
	const PduKind kinds[] = {PduKind::NopOut, PduKind::Read, PduKind::Write,
				 PduKind::Text, PduKind::TaskManagement};
	AbuseSession abused(one, some_login_keys(one.random));
	const PduKind kind = one.random.pick(kinds);
	const std::uint32_t count = one.random.between(20, 300);

	one.note(fmt::format("{} times {}", count, name_of(kind)));
	for (std::uint32_t i = 0; i < count; ++i)
		abused.send(abused.make(kind, of_all,
					one.random.chance(10) ? 1 : 0));
	if (one.random.chance(30))
		return Ending::Left;
	return one.fence(*abused.session, answer);
}

/* The target is in the middle of it when its STags go. */
Ending withdrawn(AbuseCase &one)
{
	AbuseSession abused(one, some_login_keys(one.random));
	const std::uint32_t count = one.random.between(1, 8);

	for (std::uint32_t i = 0; i < count; ++i)
		abused.send(abused.make(one.random.chance(50) ? PduKind::Read :
								PduKind::Write,
					of_all, 0));
	abused.deregister();
	one.note("STags withdrawn");
	return one.fence(*abused.session, answer);
}

/*
 * The same fault hundreds of times in one session: what is lost each time, a
 * tag or a buffer, is missing in the end.  Immediate, so that nothing may wait
 * for its turn.
 */
Ending endurance(AbuseCase &one)
{
	const PduKind kinds[] = {PduKind::NopOut, PduKind::Read, PduKind::Read,
				 PduKind::TaskManagement, PduKind::Snack,
				 PduKind::Login};
	constexpr std::uint32_t times = 300;
	constexpr std::uint32_t between_fences = 6;
	AbuseSession abused(one);
	const PduKind kind = one.random.pick(kinds);
	const Random again = one.random;
	Ending ending = Ending::Answered;

	for (std::uint32_t i = 0; i < times && ending == Ending::Answered;
	     ++i) {
		one.random = again;

		Message message = abused.make(kind, of_all,
					      one.random.between(1, 2));

		if (message.bytes.size() <= opcode_at)
			return Ending::Left;
		message.bytes[opcode_at] |= iser::Bhs::immediate_bit;
		abused.send(message);
		if (i % between_fences == 0)
			ending = one.fence(*abused.session, patience);
	}
	if (ending == Ending::Answered)
		ending = one.fence(*abused.session, patience);
	if (ending == Ending::Silent)
		throw Failure("a session falls silent when a message comes "
			      "again and again");
	return ending;
}

Ending text_abuse(AbuseCase &one)
{
	AbuseSession abused(one);
	const std::uint32_t count = one.random.between(1, 6);

	for (std::uint32_t i = 0; i < count; ++i) {
		Message message = abused.make(PduKind::Text, of_all, 0);
		Pdu pdu(Received{message.bytes, {}});
		const std::uint32_t changes = one.random.below(3);

		if (one.random.chance(60))
			pdu.data = to_text(some_keys(one.random));
		for (std::uint32_t c = 0; c < changes; ++c)
			one.note(mutate_text(pdu.data, one.random));
		pdu.data.resize(std::min<std::size_t>(pdu.data.size(), 8192));
		if (one.random.chance(30))
			pdu.request().flags = static_cast<u8>(
				one.random.below(4) << 6);
		if (one.random.chance(20))
			pdu.request().specific_20 = one.random.below(5);
		abused.send(to_message(PduKind::Text, pdu));
		one.await(*abused.session, Milliseconds(500));
	}

	const Ending ending = one.fence(*abused.session, answer);

	if (ending == Ending::Answered)
		leave(one, abused);
	return ending;
}

/* A discovery session is a session, too. */
Ending discovery(AbuseCase &one)
{
	LoginOptions options = one.login_options();
	auto session = one.connect(one.small_connection());
	const std::uint32_t count = one.random.between(1, 6);
	Surroundings around;

	if (!session)
		return Ending::Unconnected;
	options.discovery = true;
	session->login(options);
	around.cmd_sn = session->make(IscsiOpcode::NopOut, true)
				.request().cmd_sn;
	for (std::uint32_t i = 0; i < count; ++i) {
		Message message = legal_message(one.random.chance(60) ?
							PduKind::Text :
							one.random.pick(all_kinds),
						around, one.random);

		if (one.random.chance(60))
			message.name += "; " + mutate(message, of_all, around,
						      one.random);
		one.send(*session, message);
	}
	return one.fence(*session, answer);
}

} // namespace

std::vector<AbuseKind> session_abuse()
{
	return {
		kind("pdu", "PDUs changed in any way", 14,
		     {all_kinds, of_all, 20, 20}),
		kind("lengths", "lies about lengths", 8,
		     {all_kinds, of_lengths, 20, 0}),
		kind("stags", "wrong STags and offsets", 8,
		     {{PduKind::Read, PduKind::Write}, of_stags, 30, 0}),
		kind("tags", "wrong ITT, TTT and LUN", 8,
		     {{PduKind::Read, PduKind::Write, PduKind::TaskManagement,
		       PduKind::DataOut, PduKind::Text, PduKind::NopOut,
		       PduKind::Logout},
		      of_tags, 40, 10}),
		kind("cdbs", "CDBs and additional header segments", 8,
		     {{PduKind::Read, PduKind::Write}, of_cdbs, 20, 0}),
		kind("order", "legal PDUs out of order, twice, not at all", 8,
		     {all_kinds, of_all, 100, 100}),
		kind("aborts", "tasks and their aborts", 6,
		     {{PduKind::Read, PduKind::Write, PduKind::Write,
		       PduKind::DataOut, PduKind::TaskManagement,
		       PduKind::TaskManagement},
		      of_tags, 85, 50}),
		{"overrun", "more PDUs than there are buffers for", 2, overrun},
		{"withdrawn", "STags withdrawn in mid I/O", 4, withdrawn},
		{"endurance", "the same fault 300 times in a session", 3,
		 endurance},
		{"text", "Text Requests", 6, text_abuse},
		{"discovery", "PDUs of discovery sessions", 3, discovery},
	};
}

} // namespace iserverify
