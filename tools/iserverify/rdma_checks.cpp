// SPDX-License-Identifier: GPL-2.0
/* The key RDMAExtensions, without which there is no iSER (RFC 7145 6.3). */
#include "dialog.h"

namespace iserverify {

namespace {

constexpr const char *rdma_extensions = "RDMAExtensions";

void rdma_yes(Lab &lab)
{
	Dialog login(lab);

	login.log_in();
	login.expect_accepted("RDMAExtensions=Yes");
	expect(is(login.answer(rdma_extensions), {"Yes"}),
	       "RDMAExtensions=Yes was answered with " +
	       shown(login.answer(rdma_extensions)));
}

/* In the very next response, not when the stage ends. */
void rdma_answered_at_once(Lab &lab)
{
	Dialog login(lab);

	login.say(operational, login.keys());
	expect(!login.refused(), "the first round was refused");
	expect(is(find_key(login.latest, rdma_extensions), {"Yes"}),
	       "the first response has no RDMAExtensions=Yes");
	login.say(to_full_feature, ByteVector());
	login.expect_accepted("a login of two rounds");
}

void rdma_answered_behind_the_chain(Lab &lab)
{
	Dialog login(lab);
	const ByteVector text = to_text(login.keys());
	const std::size_t half = text.size() / 2;

	login.say(continued, ByteVector(text.begin(), text.begin() + half));
	expect(!login.refused(), "the first half of a chain was refused");
	expect(login.latest.empty(), "keys in the answer to a PDU with C=1");
	login.say(to_full_feature,
		  ByteVector(text.begin() + half, text.end()));
	login.expect_accepted("a chain of two");
	expect(is(login.answer(rdma_extensions), {"Yes"}),
	       "no RDMAExtensions=Yes in the answer to the whole chain");
}

/* The target may offer it, at once or never; without it there is no iSER. */
void rdma_not_offered(Lab &lab)
{
	Dialog login(lab, {{rdma_extensions, ""}});

	login.say(to_full_feature, login.keys());
	if (login.refused())
		return login.expect_refused("a login without RDMAExtensions");

	expect(!login.complete,
	       "iSER began, and nobody had offered RDMAExtensions");
	expect(is(login.answer(rdma_extensions), {"Yes"}),
	       "the target neither offers RDMAExtensions nor ends the login");
	login.say(to_full_feature, TextKeys{{rdma_extensions, "Yes"}});
	login.expect_accepted("RDMAExtensions that the target offered");
}

void rdma_offer_in_the_first_response(Lab &lab)
{
	Dialog login(lab, {{rdma_extensions, ""}});

	login.say(operational, login.keys());
	if (login.refused())
		return;
	if (!find_key(login.latest, rdma_extensions)) {
		login.say(to_full_feature, ByteVector());
		expect(!login.answer(rdma_extensions),
		       "RDMAExtensions was offered later than it may be");
		return login.expect_refused("a login without RDMAExtensions");
	}
	expect(!(login.response.head.bhs.flags & 0x80),
	       "an offer that wants an answer came with T=1");
}

/* Admissible are Yes and No; and one No is the end of iSER. */
void rdma_offer_answered_badly(Lab &lab)
{
	for (const char *value : {"No", "Maybe", "Reject"}) {
		Dialog login(lab, {{rdma_extensions, ""}});

		login.say(operational, login.keys());
		if (login.refused())
			continue;
		if (!is(login.answer(rdma_extensions), {"Yes"}))
			throw NotApplicable(
				"the target offers no RDMAExtensions itself");
		login.say(to_full_feature, TextKeys{{rdma_extensions, value}});
		login.expect_refused(std::string("RDMAExtensions=") + value +
				     " in answer to an offer");
	}
}

void rdma_bad_values(Lab &lab)
{
	for (const char *value : {"yes", "1", "", "Yes,No", "YES"}) {
		Dialog login(lab, {{rdma_extensions, ""}});

		/* Where it is not Yes, there is nothing to go on with. */
		login.log_in({{rdma_extensions, value}});
		login.expect_refused(std::string("RDMAExtensions=") + value);
	}
}

void rdma_twice(Lab &lab)
{
	Dialog login(lab);

	login.log_in({{rdma_extensions, "Yes"}});
	login.expect_refused("RDMAExtensions twice in a PDU");
}

void rdma_again(Lab &lab)
{
	Dialog login(lab);

	login.say(operational, login.keys());
	expect(!login.refused(), "the first round was refused");
	login.say(to_full_feature, TextKeys{{rdma_extensions, "Yes"}});
	login.expect_refused("RDMAExtensions in two PDUs");
}

void rdma_in_security_stage(Lab &lab)
{
	Dialog login(lab);
	TextKeys keys = Session::identity_keys(login.options);

	keys.emplace_back("AuthMethod", "None");
	keys.emplace_back(rdma_extensions, "Yes");
	login.say(to_operational, keys);
	login.expect_refused("RDMAExtensions in SecurityNegotiation");
}

/* Too late; what a target does about it is open (OQ-10), but it must know it. */
void rdma_in_a_later_round(Lab &lab)
{
	Dialog login(lab, {{rdma_extensions, ""}});

	login.say(operational, login.keys());
	if (login.refused())
		return;
	if (find_key(login.latest, rdma_extensions))
		throw NotApplicable("the target offers RDMAExtensions first");
	login.say(to_full_feature, TextKeys{{rdma_extensions, "Yes"}});
	if (login.refused())
		return login.expect_refused("RDMAExtensions in a later round");
	login.expect_accepted("RDMAExtensions in a later round");
	expect(is(login.answer(rdma_extensions), {"Yes"}),
	       "RDMAExtensions was answered with " +
	       shown(login.answer(rdma_extensions)));
}

void rdma_in_discovery(Lab &lab)
{
	Dialog login(lab);

	login.options.discovery = true;
	login.options.keys = {{rdma_extensions, "Yes"}};
	login.log_in();
	if (login.refused())
		return login.expect_refused("RDMAExtensions in discovery");
	expect(!is(login.answer(rdma_extensions), {"Yes", "NotUnderstood"}),
	       "RDMAExtensions in a discovery session was answered with " +
	       shown(login.answer(rdma_extensions)));
}

} // namespace

std::vector<Check> rdma_checks()
{
	return {
		{"keys", "rdma-yes", "B-004 K-2 RDMAExtensions=Yes: Yes",
		 rdma_yes, every_profile},
		{"keys", "rdma-at-once",
		 "T-023 RDMAExtensions is answered in the next response",
		 rdma_answered_at_once, every_profile},
		{"keys", "rdma-chain",
		 "T-023 K-10 RDMAExtensions in a chain: answered at its end",
		 rdma_answered_behind_the_chain, every_profile},
		{"keys", "rdma-silent",
		 "B-005 no iSER unless RDMAExtensions is agreed on",
		 rdma_not_offered, every_profile},
		{"keys", "rdma-offer",
		 "T-022 a target that offers RDMAExtensions does so at once",
		 rdma_offer_in_the_first_response, every_profile},
		{"keys", "rdma-bad-answer",
		 "K-5 B-005 the target's RDMAExtensions answered with No",
		 rdma_offer_answered_badly, every_profile},
		{"keys", "rdma-bad", "K-4 RDMAExtensions=yes and other values",
		 rdma_bad_values, every_profile},
		{"keys", "rdma-twice", "K-9 RDMAExtensions twice in one PDU",
		 rdma_twice, every_profile},
		{"keys", "rdma-again", "K-9 RDMAExtensions in two PDUs",
		 rdma_again, every_profile},
		{"keys", "rdma-security",
		 "B-005 K-13 RDMAExtensions in SecurityNegotiation",
		 rdma_in_security_stage, every_profile},
		{"keys", "rdma-late",
		 "B-012 OQ-10 RDMAExtensions later than in the first PDU",
		 rdma_in_a_later_round, every_profile},
		{"keys", "rdma-discovery",
		 "B-011 RDMAExtensions in a discovery session",
		 rdma_in_discovery, every_profile},
	};
}

} // namespace iserverify
