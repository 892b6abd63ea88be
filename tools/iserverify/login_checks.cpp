// SPDX-License-Identifier: GPL-2.0
/* Logins as no honest initiator makes them, and some that are only unusual. */
#include <algorithm>

#include "lab.h"
#include "libiser/chap.h"

namespace iserverify {

namespace {

constexpr std::uint8_t to_full_feature = 0x87; /* T, CSG 1, NSG 3 */
constexpr std::uint8_t operational = 0x04;
constexpr std::uint8_t security = 0x00;

ByteVector whole_login(const LoginOptions &options)
{
	TextKeys keys = Session::identity_keys(options);

	for (const auto &key : Session::operational_keys(options))
		keys.push_back(key);
	return to_text(keys);
}

unsigned status_of(const Pdu &answer)
{
	const auto &response = answer.head.bhs.as<iser::LoginResponsePdu>();

	return response.status_class << 8u | response.status_detail;
}

/* Command right behind the last Login Request, not waiting for the answer. */
void early_command(Lab &lab)
{
	unsigned answered = 0;

	for (int i = 0; i < 50; ++i) {
		auto session = lab.connect();
		LoginOptions options = lab.login_options();
		Pdu login = session->login_request(options, to_full_feature,
						   whole_login(options));
		Pdu ready = session->make(IscsiOpcode::ScsiCommand);

		session->connection().send(login.bytes());
		session->connection().send(ready.bytes());

		Outcome first = outcome_of(*session);

		if (first == Outcome::Closed)
			continue;
		expect_outcome(first, {Outcome::Answered, Outcome::Refused},
			       "login with a command behind it");
		if (first == Outcome::Refused)
			continue;
		expect_outcome(outcome_of(*session),
			       {Outcome::Closed, Outcome::Answered,
				Outcome::Failed},
			       "command right behind the last Login Request");
		++answered;
	}
	std::printf("# %u of 50 early commands were waited for\n", answered);
}

/* Answered with 16 bytes for each four, by a core that does not count. */
void many_unknown_keys(Lab &lab)
{
	auto session = lab.connect();
	LoginOptions options = lab.login_options();
	ByteVector text = whole_login(options);

	while (text.size() + 4 <= 8192)
		for (char c : {'a', '=', 'b', '\0'})
			text.push_back(static_cast<std::uint8_t>(c));
	session->connection().send(
		session->login_request(options, operational, text).bytes());
	expect_outcome(outcome_of(*session),
		       {Outcome::Closed, Outcome::Refused},
		       "login with two thousand unknown keys");
	expect_closed(*session, "login with two thousand unknown keys");
}

void long_key_names(Lab &lab)
{
	for (std::size_t length : {65, 255, 4000}) {
		auto session = lab.connect();
		LoginOptions options = lab.login_options();
		ByteVector text = whole_login(options);
		ByteVector more = to_text({{std::string(length, 'K'), "1"}});

		text.insert(text.end(), more.begin(), more.end());
		session->connection().send(
			session->login_request(options, to_full_feature, text)
				.bytes());
		/* 63 bytes are legal (RFC 7143 6.1), and LIO takes 64. */
		expect_outcome(outcome_of(*session),
			       {Outcome::Closed, Outcome::Refused},
			       "key name of " + std::to_string(length) +
			       " bytes");
	}
}

void unknown_key_is_not_understood(Lab &lab)
{
	auto session = lab.login({{"X-org.lio-iser.test", "1"}});
	const std::string *answer = find_key(session->parameters().answers,
					     "X-org.lio-iser.test");

	expect(answer && *answer == "NotUnderstood",
	       "an unknown key was not answered with NotUnderstood");
	expect_usable(*session);
}

/* Whatever becomes of them, these keys are understood (5046 3.3 item 3). */
void keys_of_iser(Lab &lab)
{
	const TextKeys keys = {
		{"RDMAExtensions", "Yes"},
		{"TargetRecvDataSegmentLength", "4096"},
		{"InitiatorRecvDataSegmentLength", "4096"},
		{"MaxAHSLength", "256"},
		{"TaggedBufferForSolicitedDataOnly", "Yes"},
	};

	for (const auto &key : keys) {
		auto session = lab.login({key});
		const std::string *answer = find_key(
			session->parameters().answers, key.first);

		expect(!answer || *answer != "NotUnderstood",
		       key.first + " was answered with NotUnderstood");
		expect_usable(*session);
	}
}

void stages_that_do_not_exist(Lab &lab)
{
	/* CSG 2; NSG 2; T and C; T with NSG before CSG; NSG as CSG. */
	for (std::uint8_t flags : {0x08, 0x86, 0xc7, 0x84, 0x85}) {
		auto session = lab.connect();
		LoginOptions options = lab.login_options();

		session->connection().send(
			session->login_request(options, flags,
					       whole_login(options)).bytes());
		expect_outcome(outcome_of(*session),
			       {Outcome::Closed, Outcome::Refused},
			       "Login Request with flags " +
			       std::to_string(flags));
	}
}

void broken_text(Lab &lab)
{
	using namespace std::string_literals;
	const std::string texts[] = {"=", "==", "InitiatorName", "=x\0"s,
				     "InitiatorName=\0"s, "\0\0\0\0"s};

	for (const std::string &text : texts) {
		auto session = lab.connect();
		ByteVector bytes(text.begin(), text.end());

		session->connection().send(
			session->login_request(lab.login_options(), operational,
					       bytes).bytes());
		expect_outcome(outcome_of(*session),
			       {Outcome::Closed, Outcome::Refused},
			       "login text " + text);
	}
}

/* The login fails, with one of the statuses @wanted if there are any. */
void refused(Lab &lab, const LoginOptions &options,
	     std::initializer_list<unsigned> wanted, const std::string &what)
{
	Session session(lab.raw_connection());

	try {
		session.login(options);
	} catch (const LoginRefused &refusal) {
		expect(wanted.size() == 0 ||
		       std::find(wanted.begin(), wanted.end(),
				 refusal.status()) != wanted.end(),
		       what + ": " + refusal.what());
		return expect_closed(session, what);
	}
	throw Failure(what + " was accepted");
}

void login_to_nowhere(Lab &lab)
{
	LoginOptions options = lab.login_options();

	options.target_name += ".nowhere";
	/* LIO's core has its own opinion and says "service unavailable". */
	refused(lab, options, {0x0203, 0x0301}, "unknown target");
}

void rdma_extensions_no(Lab &lab)
{
	refused(lab, lab.login_options({{"RDMAExtensions", "No"}}), {},
		"login with RDMAExtensions=No");
}

void text_over_many_pdus(Lab &lab)
{
	for (std::size_t size : {5, 64, 333}) {
		Session session(lab.raw_connection());
		LoginOptions options = lab.login_options();

		options.text_per_pdu = size;
		session.login(options);
		expect(find_key(session.parameters().answers,
				"TargetRecvDataSegmentLength"),
		       "the answer to the chain lacks a key");
		expect_usable(session);
	}
}

void keys_over_several_rounds(Lab &lab)
{
	Session session(lab.raw_connection());
	LoginOptions options = lab.login_options();
	TextKeys answers;
	TextKeys keys = Session::identity_keys(options);

	/* RDMAExtensions belongs into the first PDU of the stage. */
	keys.emplace_back("RDMAExtensions", "Yes");
	for (const auto &key : Session::operational_keys(options))
		if (key.first != "RDMAExtensions")
			keys.push_back(key);
	for (std::size_t at = 0; at < keys.size(); at += 5) {
		TextKeys part(keys.begin() + at,
			      keys.begin() + std::min(at + 5, keys.size()));
		bool last = at + 5 >= keys.size();
		Pdu answer = session.login_exchange(
			options, last ? to_full_feature : operational,
			to_text(part));

		expect_equal(status_of(answer), 0, "login status");
		for (const auto &key : from_text(answer.data))
			answers.push_back(key);
	}
	session.conclude(options, answers);
	const std::string *value = find_key(answers, "RDMAExtensions");
	expect(value && *value == "Yes", "RDMAExtensions was not answered Yes");
	expect_usable(session);
}

/* C-bit chain that never ends: there has to be a limit. */
void endless_chain(Lab &lab)
{
	Session session(lab.raw_connection());
	LoginOptions options = lab.login_options();
	ByteVector text = to_text({{"X-org.lio-iser.test",
				    std::string(8000, 'x')}});

	for (int i = 0; i < 50; ++i) {
		try {
			Pdu answer = session.login_exchange(options, 0x44,
							    text);

			if (status_of(answer))
				return expect_closed(session,
						     "a refused C-bit chain");
		} catch (const ConnectionLost &) {
			return;
		}
	}
	throw Failure("1.6 MB of login text were taken");
}

void continue_and_transit(Lab &lab)
{
	auto session = lab.connect();
	LoginOptions options = lab.login_options();

	session->connection().send(
		session->login_request(options, 0xc7, whole_login(options))
			.bytes());
	expect_outcome(outcome_of(*session),
		       {Outcome::Closed, Outcome::Refused},
		       "Login Request with both T and C");
}

void other_opcodes_before_login(Lab &lab)
{
	for (IscsiOpcode opcode : {IscsiOpcode::NopOut,
				   IscsiOpcode::ScsiCommand,
				   IscsiOpcode::TextRequest,
				   IscsiOpcode::DataOut,
				   IscsiOpcode::LogoutRequest}) {
		auto session = lab.connect();

		session->connection().send(session->make(opcode).bytes());
		expect_outcome(outcome_of(*session),
			       {Outcome::Closed, Outcome::Refused},
			       "opcode " + std::to_string(int(opcode)) +
			       " before the login");
	}
}

/* ---- CHAP ----------------------------------------------------------------- */

void chap_login(Lab &lab)
{
	expect(!lab.chap.name.empty(), "iserverify was not given --chap");
	expect_usable(*lab.login());
}

void wrong_chap_secret(Lab &lab)
{
	LoginOptions options = lab.login_options();

	options.chap.secret += "x";
	refused(lab, options, {0x0201}, "wrong secret");
}

void wrong_chap_name(Lab &lab)
{
	LoginOptions options = lab.login_options();

	options.chap.name += "x";
	refused(lab, options, {0x0201}, "wrong CHAP name");
}

void chap_left_out(Lab &lab)
{
	LoginOptions options = lab.login_options();

	options.chap = {};
	refused(lab, options, {}, "login without the CHAP that is demanded");
}

/* CHAP up to the challenge; then @response in place of ours. */
void chap_answering(Lab &lab, const std::string &response)
{
	Session session(lab.raw_connection());
	LoginOptions options = lab.login_options();
	TextKeys keys = Session::identity_keys(options);

	keys.emplace_back("AuthMethod", "CHAP");
	expect_equal(status_of(session.login_exchange(options, security,
						      to_text(keys))), 0,
		     "status of the offer of CHAP");
	expect_equal(status_of(session.login_exchange(
			     options, security, to_text({{"CHAP_A", "5"}}))),
		     0, "status of CHAP_A");
	session.connection().send(
		session.login_request(options, 0x81,
				      to_text({{"CHAP_N", lab.chap.name},
					       {"CHAP_R", response}}))
			.bytes());
	expect_outcome(outcome_of(session),
		       {Outcome::Closed, Outcome::Refused},
		       "CHAP_R=" + response.substr(0, 20));
	expect_closed(session, "failed CHAP");
}

void odd_chap_responses(Lab &lab)
{
	chap_answering(lab, "0b" + std::string(127, 'A'));
	chap_answering(lab, "0b" + std::string(4000, 'A'));
	chap_answering(lab, "0x" + std::string(254, 'f'));
	chap_answering(lab, "0x" + std::string(31, '0'));
	chap_answering(lab, "0x");
	chap_answering(lab, "0xzz");
	chap_answering(lab, "");
}

void huge_chap_challenge(Lab &lab)
{
	Session session(lab.raw_connection());
	LoginOptions options = lab.login_options();
	TextKeys keys = Session::identity_keys(options);

	keys.emplace_back("AuthMethod", "CHAP");
	session.login_exchange(options, security, to_text(keys));
	session.login_exchange(options, security, to_text({{"CHAP_A", "5"}}));
	session.connection().send(
		session.login_request(options, 0x81,
			to_text({{"CHAP_N", lab.chap.name},
				 {"CHAP_R", "0x" + std::string(32, '0')},
				 {"CHAP_I", "1"},
				 {"CHAP_C", "0x" + std::string(7000, '5')}}))
			.bytes());
	expect_outcome(outcome_of(session),
		       {Outcome::Closed, Outcome::Refused}, "huge CHAP_C");
}

} // namespace

std::vector<Check> login_checks()
{
	return {
		{"early", "early-command",
		 "F-04 command right behind the last Login Request, 50 times",
		 early_command, every_profile},
		{"login", "stages", "login stages and flags that do not exist",
		 stages_that_do_not_exist, every_profile},
		{"login", "broken-text", "login text that is none",
		 broken_text, every_profile},
		{"login", "unknown-target", "unknown target is refused",
		 login_to_nowhere, every_profile},
		{"login", "no-rdma-extensions",
		 "B-010 login with RDMAExtensions=No fails",
		 rdma_extensions_no, every_profile},
		{"login", "unknown-key", "K-8 unknown key: NotUnderstood",
		 unknown_key_is_not_understood, every_profile},
		{"login", "iser-keys", "B-008 no key of iSER: NotUnderstood",
		 keys_of_iser, every_profile},
		{"login", "chain", "K-10 C-bit chain, keys cut in the middle",
		 text_over_many_pdus, every_profile},
		{"login", "rounds", "keys spread over several rounds",
		 keys_over_several_rounds, every_profile},
		{"login", "chain-and-transit", "K-10 C with T is refused",
		 continue_and_transit, every_profile},
		{"login", "endless-chain", "C-bit chain without an end",
		 endless_chain, every_profile},
		{"login", "other-opcodes",
		 "nothing but Login Requests before the login",
		 other_opcodes_before_login, every_profile},
		{"login", "long-key-names", "F-08 key names of 65 to 4000 bytes",
		 long_key_names, every_profile},
		{"login", "many-unknown-keys",
		 "F-05 two thousand unknown keys in one PDU",
		 many_unknown_keys, every_profile},
		{"chap", "chap", "CHAP login",
		 chap_login, every_profile},
		{"chap", "chap-secret", "wrong CHAP secret: status 0x0201",
		 wrong_chap_secret, every_profile},
		{"chap", "chap-name", "wrong CHAP name: status 0x0201",
		 wrong_chap_name, every_profile},
		{"chap", "chap-left-out", "CHAP demanded and not offered",
		 chap_left_out, every_profile},
		{"chap", "chap-responses",
		 "F-08 CHAP responses too long, too short, no number",
		 odd_chap_responses, every_profile},
		{"chap", "chap-challenge", "F-08 huge CHAP challenge",
		 huge_chap_challenge, every_profile},
	};
}

} // namespace iserverify
