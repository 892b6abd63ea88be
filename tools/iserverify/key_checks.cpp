// SPDX-License-Identifier: GPL-2.0
/* The keys of RFC 7145 6, each with good values and with bad ones. */
#include <algorithm>

#include "dialog.h"

namespace iserverify {

namespace {

constexpr const char *rdma_extensions = "RDMAExtensions";
constexpr const char *target_length = "TargetRecvDataSegmentLength";
constexpr const char *initiator_length = "InitiatorRecvDataSegmentLength";

/* What a number may be answered with: another one from 512 up. */
bool is_length(const std::string &text)
{
	return !text.empty() && text.size() < 9 &&
	       text.find_first_not_of("0123456789") == std::string::npos &&
	       std::stoul(text) >= 512 && std::stoul(text) < 1u << 24;
}

/*
 * A value that the key cannot have (RFC 7143 6.2.2, 7.12): the login fails; or
 * the answer is Reject, or a value that the key can have, and it goes on.
 */
void bad_values(Lab &lab, const std::string &key,
		std::initializer_list<const char *> values,
		bool (*admissible)(const std::string &))
{
	for (const char *value : values) {
		const std::string what = key + "=" + value;
		Dialog login(lab, {{key, ""}});

		login.log_in({{key, value}});
		if (login.refused()) {
			login.expect_refused(what);
			continue;
		}
		const std::string *answer = login.answer(key);

		expect(is(answer, {"Reject"}) ||
		       (answer && admissible(*answer)),
		       what + " was answered with " + shown(answer));
	}
}

/* A declaration has no answer: a bad value ends the login (RFC 7143 7.12). */
void bad_declarations(Lab &lab, const std::string &key,
		      std::initializer_list<const char *> values)
{
	for (const char *value : values) {
		Dialog login(lab, {{key, ""}});

		login.log_in({{key, value}});
		login.expect_refused(key + "=" + value);
	}
}

/* Reject, or a Text Response that does not agree to it. */
void expect_no_agreement(Session &session, const std::string &key,
			 const std::string &value)
{
	Pdu pdu = session.make(IscsiOpcode::TextRequest);

	pdu.request().specific_20 = iser::reserved_tag;
	pdu.data = to_text({{key, value}});
	session.send(pdu);

	Pdu answer;

	try {
		answer = session.receive(Milliseconds(8000));
	} catch (const ConnectionLost &) {
		return;
	}
	if (answer.opcode() == IscsiOpcode::Reject)
		return;
	expect(answer.opcode() == IscsiOpcode::TextResponse,
	       key + " in a Text Request: neither Text Response nor Reject");

	const TextKeys answers = from_text(answer.data);

	expect(is(find_key(answers, key),
		  {"Reject", "Irrelevant", "NotUnderstood"}),
	       key + " in full feature phase was answered with " +
	       shown(find_key(answers, key)));
}

/* The text fails, the connection lives, all stays as it was (10.1.4.6). */
void login_keys_in_full_feature(Lab &lab)
{
	for (const auto &[key, value] : TextKeys{
		     {rdma_extensions, "Yes"}, {target_length, "512"},
		     {initiator_length, "512"}, {"HeaderDigest", "CRC32C"}}) {
		auto session = lab.login();

		expect_no_agreement(*session, key, value);
		if (!session->connection().closed())
			expect_usable(*session);
	}
}

/* ---- receive lengths --------------------------------------------------------- */

/* The result is the smaller of what both ends want. */
void lengths(Lab &lab, const char *key)
{
	for (const char *value : {"512", "1024", "8192", "16777215"}) {
		Dialog login(lab, {{key, value}});
		const std::string what = std::string(key) + "=" + value;

		login.log_in();
		login.expect_accepted(what);

		const std::string *answer = login.answer(key);

		expect(answer && is_length(*answer) &&
		       std::stoul(*answer) <= std::stoul(value),
		       what + " was answered with " + shown(answer));
	}
}

void target_lengths(Lab &lab) { lengths(lab, target_length); }
void initiator_lengths(Lab &lab) { lengths(lab, initiator_length); }

#define BAD_LENGTHS {"0", "511", "16777216", "4294967296", "many", "", "-1", \
		     "512~1024", "4096bytes"}

void target_bad_lengths(Lab &lab)
{
	bad_values(lab, target_length, BAD_LENGTHS, is_length);
}

void initiator_bad_lengths(Lab &lab)
{
	bad_values(lab, initiator_length, BAD_LENGTHS, is_length);
}

void hexadecimal_numbers(Lab &lab)
{
	Dialog login(lab, {{target_length, "0x400"}});

	login.log_in();
	login.expect_accepted("TargetRecvDataSegmentLength=0x400");

	const std::string *answer = login.answer(target_length);
	/* It may be answered in hexadecimal, too; a word is 0. */
	const unsigned long length =
		answer ? std::strtoul(answer->c_str(), nullptr, 0) : 0;

	expect(length >= 512 && length <= 0x400,
	       "0x400 was answered with " + shown(answer));
}

/* They count, although RDMAExtensions stands behind them (OQ-34). */
void lengths_before_rdma_extensions(Lab &lab)
{
	Dialog login(lab, {{rdma_extensions, ""}, {target_length, ""},
			   {initiator_length, ""}});
	TextKeys keys = login.keys();

	keys.insert(keys.end(), {{initiator_length, "4096"},
				 {target_length, "2048"},
				 {rdma_extensions, "Yes"}});
	login.say(to_full_feature, keys);
	login.expect_accepted("lengths in front of RDMAExtensions");
	for (const char *key : {initiator_length, target_length})
		expect(login.answer(key) && is_length(*login.answer(key)),
		       std::string(key) + " was answered with " +
		       shown(login.answer(key)));
}

/* ---- digests and markers ------------------------------------------------------- */

void digests_offered(Lab &lab)
{
	for (const char *key : {"HeaderDigest", "DataDigest"})
		for (const char *value : {"None,CRC32C", "CRC32C,None"}) {
			Dialog login(lab, {{key, value}});
			const std::string what =
				std::string(key) + "=" + value;

			login.log_in();
			login.expect_accepted(what);
			expect(is(login.answer(key), {"None", "Irrelevant"}),
			       what + " was answered with " +
			       shown(login.answer(key)));
		}
}

void digests_demanded(Lab &lab)
{
	for (const char *key : {"HeaderDigest", "DataDigest"}) {
		Dialog login(lab, {{key, "CRC32C"}});
		const std::string what = std::string(key) + "=CRC32C";

		login.log_in();
		if (login.refused()) {
			login.expect_refused(what);
			continue;
		}
		login.expect_accepted(what);
		expect(is(login.answer(key), {"Irrelevant", "Reject"}),
		       what + " was answered with " + shown(login.answer(key)));
	}
}

void digests_unknown(Lab &lab)
{
	Dialog login(lab, {{"HeaderDigest", "X-org.lio-iser.sum,None"}});

	login.log_in();
	if (login.refused())
		return login.expect_refused("a digest that does not exist");
	login.expect_accepted("a digest that does not exist, or None");
	expect(is(login.answer("HeaderDigest"), {"None", "Irrelevant"}),
	       "an unknown digest, or None, was answered with " +
	       shown(login.answer("HeaderDigest")));
}

/* Obsolete is not unknown (RFC 7143 13.25). */
void markers(Lab &lab, const char *value,
	     std::initializer_list<const char *> forbidden)
{
	for (const char *key : {"OFMarker", "IFMarker"}) {
		Dialog login(lab, {{key, value}});
		const std::string what = std::string(key) + "=" + value;

		login.log_in();
		login.expect_accepted(what);
		expect(!is(login.answer(key), forbidden),
		       what + " was answered with " + shown(login.answer(key)));
	}
}

void markers_declined(Lab &lab)
{
	markers(lab, "No", {"Yes", "NotUnderstood"});
}

void markers_wanted(Lab &lab)
{
	markers(lab, "Yes", {"Yes", "NotUnderstood"});
}

void marker_intervals(Lab &lab)
{
	for (const char *key : {"OFMarkInt", "IFMarkInt"}) {
		Dialog login(lab, {{key, "2048~8192"}});
		const std::string what = std::string(key) + "=2048~8192";

		login.log_in();
		login.expect_accepted(what);
		expect(is(login.answer(key), {"Reject", "Irrelevant"}),
		       what + " was answered with " + shown(login.answer(key)));
	}
}

/* ---- MaxRecvDataSegmentLength ---------------------------------------------------- */

void plain_length_is_ignored(Lab &lab)
{
	Dialog login(lab, {{"MaxRecvDataSegmentLength", "512"}});

	login.log_in();
	login.expect_accepted("MaxRecvDataSegmentLength=512");
	expect(login.session->parameters().target_recv_data_segment_length >
	       512, "MaxRecvDataSegmentLength=512 lowered "
	       "TargetRecvDataSegmentLength");
	for (const char *key : {target_length, initiator_length})
		expect(login.answer(key) && *login.answer(key) != "Irrelevant",
		       std::string(key) + " was answered with " +
		       shown(login.answer(key)));
}

/* Even when it is wrong: it has no meaning to be wrong in. */
void bad_plain_length_is_ignored(Lab &lab)
{
	for (const char *value : {"0", "511", "16777216"}) {
		Dialog login(lab, {{"MaxRecvDataSegmentLength", value}});

		login.log_in();
		login.expect_accepted(
			std::string("MaxRecvDataSegmentLength=") + value);
	}
}

void plain_length_in_full_feature(Lab &lab)
{
	auto session = lab.login();
	Pdu pdu = session->make(IscsiOpcode::TextRequest);

	pdu.request().specific_20 = iser::reserved_tag;
	pdu.data = to_text({{"MaxRecvDataSegmentLength", "512"}});
	session->send(pdu);
	expect(outcome_of(*session) != Outcome::Silent,
	       "MaxRecvDataSegmentLength in full feature phase: no answer");
	if (!session->connection().closed())
		expect_usable(*session);
}

/* ---- what RFC 7145 added ----------------------------------------------------------- */

void declarations(Lab &lab, const char *key,
		  std::initializer_list<const char *> values)
{
	for (const char *value : values) {
		Dialog login(lab, {{key, value}});
		const std::string what = std::string(key) + "=" + value;

		login.log_in();
		login.expect_accepted(what);

		const std::string *answer = login.answer(key);

		expect(!is(answer, {"NotUnderstood", "Reject", "Irrelevant"}),
		       what + " was answered with " + shown(answer));
		/* It may be a declaration of the target's own. */
		expect(!answer || std::stoul(*answer, nullptr, 0) != 1,
		       std::string("the target declares ") + key + "=1");
	}
}

void unexpected_pdus_declared(Lab &lab)
{
	declarations(lab, "MaxOutstandingUnexpectedPDUs",
		     {"0", "2", "0x10", "4294967295"});
}

void unexpected_pdus_badly_declared(Lab &lab)
{
	bad_declarations(lab, "MaxOutstandingUnexpectedPDUs",
			 {"1", "4294967296", "some", "-2", "2~4"});
}

void ahs_declared(Lab &lab)
{
	declarations(lab, "MaxAHSLength",
		     {"0", "2", "256", "1020", "4294967295"});
}

void ahs_badly_declared(Lab &lab)
{
	bad_declarations(lab, "MaxAHSLength", {"1", "4294967296", "long"});
}

void hello_badly_declared(Lab &lab)
{
	bad_declarations(lab, "iSERHelloRequired", {"1", "yes", "Yes,No"});
}

void tagged_buffer_badly_declared(Lab &lab)
{
	bad_declarations(lab, "TaggedBufferForSolicitedDataOnly",
			 {"maybe", "no", "0"});
}

/* Only an initiator declares these, so there is no value in return. */
void initiators_declarations_only(Lab &lab)
{
	for (const char *key : {"TaggedBufferForSolicitedDataOnly",
				"iSERHelloRequired"})
		for (const char *value : {"Yes", "No"}) {
			Dialog login(lab, {{key, value}});

			login.log_in();
			expect(!login.refused() && login.complete,
			       std::string(key) + "=" + value +
			       " was not accepted");
			expect(!login.answer(key),
			       std::string(key) + "=" + value +
			       " was answered with " + shown(login.answer(key)));
		}
}

/* ---- rules of all keys -------------------------------------------------------------- */

void names_have_a_case(Lab &lab)
{
	Dialog login(lab, {{"initialr2t", "No"},
			   {"TARGETRECVDATASEGMENTLENGTH", "512"}});

	login.log_in();
	login.expect_accepted("keys in another case");
	for (const char *key : {"initialr2t", "TARGETRECVDATASEGMENTLENGTH"})
		expect(is(login.answer(key), {"NotUnderstood"}),
		       std::string(key) + " was answered with " +
		       shown(login.answer(key)));
	expect(login.session->parameters().target_recv_data_segment_length >
	       512, "a key in another case was obeyed");
}

/* Every negotiated key that we offer has one answer, and no key has two. */
void one_answer_each(Lab &lab)
{
	Dialog login(lab, {{"InitialR2T", "No"}});

	login.log_in();
	login.expect_accepted("a usual login");
	for (const char *key : {"HeaderDigest", "DataDigest", "InitialR2T",
				"ImmediateData", "MaxBurstLength",
				"FirstBurstLength", "MaxOutstandingR2T",
				"MaxConnections", "DefaultTime2Wait",
				"DefaultTime2Retain", "ErrorRecoveryLevel",
				target_length, initiator_length,
				rdma_extensions})
		expect_equal(std::count_if(login.answers.begin(),
					   login.answers.end(),
					   [&](const auto &pair) {
						   return pair.first == key;
					   }),
			     1, std::string("the number of answers to ") + key);
}

void words_as_proposals(Lab &lab)
{
	for (const char *word : {"Reject", "Irrelevant", "NotUnderstood"})
		for (const char *key : {"MaxBurstLength", "ImmediateData"}) {
			Dialog login(lab, {{key, word}});
			const std::string what = std::string(key) + "=" + word;

			login.log_in();
			if (login.refused())
				login.expect_refused(what);
			else
				expect(is(login.answer(key), {"Reject"}),
				       what + " was answered with " +
				       shown(login.answer(key)));
		}
}

void key_twice(Lab &lab)
{
	for (const char *key : {"ImmediateData", target_length,
				"MaxOutstandingUnexpectedPDUs"}) {
		Dialog login(lab);
		const std::string value =
			*key == 'I' ? "Yes" : *key == 'M' ? "16" : "8192";

		login.options.keys.emplace_back(key, value);
		login.log_in({{key, value}});
		login.expect_refused(std::string(key) + " twice in a PDU");
	}
}

void key_again(Lab &lab)
{
	Dialog login(lab);

	login.say(operational, login.keys());
	expect(!login.refused(), "the first round was refused");
	login.say(to_full_feature, TextKeys{{target_length, "4096"}});
	login.expect_refused("TargetRecvDataSegmentLength in two PDUs");
}

void key_in_the_wrong_stage(Lab &lab)
{
	for (const char *key : {target_length, "MaxBurstLength"}) {
		Dialog login(lab);
		TextKeys keys = Session::identity_keys(login.options);

		keys.emplace_back("AuthMethod", "None");
		keys.emplace_back(key, "4096");
		login.say(to_operational, keys);
		login.expect_refused(std::string(key) +
				     " in SecurityNegotiation");
	}
}

/* 8192 bytes in all have to be digestible (RFC 7143 6.1). */
void as_much_text_as_may_be(Lab &lab)
{
	Dialog login(lab);
	TextKeys more;

	while (to_text(login.keys(more)).size() < 7800)
		more.emplace_back("X-org.lio-iser.test" +
				  std::to_string(more.size()),
				  std::string(255, 'v'));
	login.log_in(more);
	login.expect_accepted("7800 bytes of login text");
	for (const auto &[key, value] : more)
		expect(is(login.answer(key), {"NotUnderstood"}),
		       key + " was answered with " + shown(login.answer(key)));
}

/* Fails when resources may be there already: all ends, and nothing is left. */
void late_failure(Lab &lab)
{
	Dialog login(lab);

	login.say(operational, login.keys());
	expect(!login.refused(), "the first round was refused");
	login.say(to_full_feature, TextKeys{{"MaxConnections", "none"}});
	login.expect_refused("a login that fails in its second round",
			     {0x0200});
	expect_usable(*lab.login());
}

} // namespace

std::vector<Check> key_checks()
{
	return {
		{"keys", "login-keys-later",
		 "K-13 E20 keys of the login in full feature phase",
		 login_keys_in_full_feature, every_profile},
		{"keys", "target-length",
		 "K-2 TargetRecvDataSegmentLength: the smaller one",
		 target_lengths, every_profile},
		{"keys", "initiator-length",
		 "K-2 InitiatorRecvDataSegmentLength: the smaller one",
		 initiator_lengths, every_profile},
		{"keys", "target-length-bad",
		 "K-4 TargetRecvDataSegmentLength out of range, no number",
		 target_bad_lengths, every_profile},
		{"keys", "initiator-length-bad",
		 "K-4 InitiatorRecvDataSegmentLength out of range, no number",
		 initiator_bad_lengths, every_profile},
		{"keys", "hexadecimal", "K-1 numbers in hexadecimal",
		 hexadecimal_numbers, every_profile},
		{"keys", "key-order",
		 "OQ-34 receive lengths in front of RDMAExtensions",
		 lengths_before_rdma_extensions, every_profile},
		{"keys", "digests",
		 "B-015 digests offered and not wanted: None",
		 digests_offered, every_profile},
		{"keys", "digests-only", "B-015 OQ-09 digests demanded",
		 digests_demanded, every_profile},
		{"keys", "digest-unknown",
		 "B-015 a digest that does not exist, or None",
		 digests_unknown, every_profile},
		{"keys", "markers-no", "B-008 markers declined",
		 markers_declined, every_profile},
		{"keys", "markers-yes", "B-008 markers wanted: never Yes",
		 markers_wanted, every_profile},
		{"keys", "marker-intervals", "2.7 marker intervals: Reject",
		 marker_intervals, every_profile},
		{"keys", "plain-length",
		 "N-013 MaxRecvDataSegmentLength has no effect",
		 plain_length_is_ignored, every_profile},
		{"keys", "plain-length-bad",
		 "N-013 MaxRecvDataSegmentLength is ignored even if wrong",
		 bad_plain_length_is_ignored, rfc7145_only},
		{"keys", "plain-length-later",
		 "N-013 MaxRecvDataSegmentLength in full feature phase",
		 plain_length_in_full_feature, every_profile},
		{"keys", "unexpected-pdus",
		 "B-008 MaxOutstandingUnexpectedPDUs of 0, 2 and more",
		 unexpected_pdus_declared, rfc7145_only},
		{"keys", "unexpected-pdus-bad",
		 "K-6 MaxOutstandingUnexpectedPDUs of 1, too large, no number",
		 unexpected_pdus_badly_declared, rfc7145_only},
		{"keys", "ahs-length", "B-008 MaxAHSLength of 0, 2 and more",
		 ahs_declared, rfc7145_only},
		{"keys", "ahs-length-bad",
		 "K-6 MaxAHSLength of 1, too large, no number",
		 ahs_badly_declared, rfc7145_only},
		{"keys", "hello-key-bad",
		 "K-6 iSERHelloRequired that is neither Yes nor No",
		 hello_badly_declared, rfc7145_only},
		{"keys", "tagged-buffer-bad",
		 "K-6 TaggedBufferForSolicitedDataOnly of no sense",
		 tagged_buffer_badly_declared, rfc7145_only},
		{"keys", "initiators-keys",
		 "K-2 keys of an initiator alone are not answered",
		 initiators_declarations_only, rfc7145_only},
		{"keys", "key-case", "K-1 names of keys in another case",
		 names_have_a_case, every_profile},
		{"keys", "one-answer",
		 "K-2 every key offered is answered, and once",
		 one_answer_each, every_profile},
		{"keys", "words", "K-7 Reject and the like as proposals",
		 words_as_proposals, every_profile},
		{"keys", "key-twice", "K-9 the same key twice in one PDU",
		 key_twice, every_profile},
		{"keys", "key-again", "K-9 the same key in two PDUs",
		 key_again, every_profile},
		{"keys", "key-stage", "K-13 keys in the wrong stage",
		 key_in_the_wrong_stage, every_profile},
		{"keys", "much-text", "K-11 8 KiB of login text",
		 as_much_text_as_may_be, every_profile},
		{"keys", "late-failure",
		 "T-068 B-037 E19 a login that fails in its second round",
		 late_failure, every_profile},
	};
}

} // namespace iserverify
