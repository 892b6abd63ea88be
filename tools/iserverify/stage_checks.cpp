// SPDX-License-Identifier: GPL-2.0
/* The steps of a login: stages, numbers, the last response, more connections. */
#include <algorithm>
#include <cstring>

#include "dialog.h"

namespace iserverify {

namespace {

using iser::LoginResponsePdu;

const LoginResponsePdu &fields(const Pdu &response)
{
	return response.head.bhs.as<LoginResponsePdu>();
}

/* RFC 7145 5.1.2: nothing but the response follows the last request. */
void final_response_first(Lab &lab)
{
	Dialog login(lab);
	RawConnection &connection = login.session->connection();

	connection.send(login.session->login_request(
		login.options, to_full_feature, to_text(login.keys())).bytes());

	auto message = connection.receive(Milliseconds(15000));

	expect(message.has_value(), "no answer to the only Login Request");
	expect(!message->invalidated, "a Login Response invalidates an STag");

	/* Takes apart what has an iSER header of 28 bytes without STags. */
	const Pdu pdu(*message);

	expect(pdu.opcode() == IscsiOpcode::LoginResponse,
	       "the first message is no Login Response");
	expect_equal(fields(pdu).flags & 0x8f, 0x87,
		     "T, CSG and NSG of the last Login Response");
	expect_equal(fields(pdu).status_class, 0, "the status class");
}

void echoed_fields(Lab &lab)
{
	Dialog login(lab);
	std::uint32_t stat_sn = 0;

	for (int round = 0; round < 3; ++round) {
		login.say(round == 2 ? to_full_feature : operational,
			  round == 0 ? login.keys() : TextKeys{});
		expect(!login.refused(), "a round of the login was refused");

		const LoginResponsePdu &pdu = fields(login.response);

		expect(round == 0 || pdu.stat_sn == stat_sn + 1,
		       "StatSN does not go up by one with each response");
		stat_sn = pdu.stat_sn;
		expect(!std::memcmp(pdu.isid, login.options.isid.data(), 6),
		       "ISID is not that of the request");
		expect_equal(pdu.itt, 0u, "the Initiator Task Tag");
		expect_equal(pdu.version_active, 0, "Version-active");
		expect_equal(pdu.exp_cmd_sn, 1u, "ExpCmdSN in the login");
		expect_equal(login.response.ahs.size(), 0u,
			     "the length of AHS in a Login Response");
	}
	expect(fields(login.response).tsih != 0,
	       "TSIH is 0 in the last response");
	login.expect_accepted("a login of three rounds");
}

void versions(Lab &lab)
{
	Dialog login(lab);
	Pdu pdu = login.session->login_request(login.options, to_full_feature,
					       to_text(login.keys()));
	auto &request = pdu.head.bhs.as<iser::LoginRequestPdu>();

	request.version_max = request.version_min = 0x7f;
	login.session->connection().send(pdu.bytes());

	const Pdu answer = login.session->receive(Milliseconds(15000));

	expect(answer.opcode() == IscsiOpcode::LoginResponse,
	       "a login of version 127 got no Login Response");
	expect_equal(fields(answer).status_class << 8 |
		     fields(answer).status_detail, 0x0205,
		     "the status of a login of version 127");
	expect_closed(*login.session, "a login of version 127");
}

/* What a login must not change on its way (RFC 7143 11.12). */
void changed_on_the_way(Lab &lab)
{
	const auto changed = [&](void (*change)(iser::LoginRequestPdu &),
				 const char *what) {
		Dialog login(lab);

		login.say(operational, login.keys());
		expect(!login.refused(), "the first round was refused");

		Pdu pdu = login.session->login_request(login.options,
						       to_full_feature, {});

		change(pdu.head.bhs.as<iser::LoginRequestPdu>());
		login.session->connection().send(pdu.bytes());
		expect_outcome(outcome_of(*login.session),
			       {Outcome::Closed, Outcome::Refused}, what);
		expect_closed(*login.session, what);
	};

	changed([](auto &request) { request.isid[5] ^= 1; },
		"another ISID in mid login");
	changed([](auto &request) { request.itt = 4711; },
		"another ITT in mid login");
	changed([](auto &request) { request.version_max = 1; },
		"another version in mid login");
	changed([](auto &request) { request.flags = to_operational; },
		"back to SecurityNegotiation in mid login");
}

void unknown_session(Lab &lab)
{
	Dialog login(lab);

	login.options.tsih = 0x7a7a;
	login.log_in();
	login.expect_refused("a login to a session that does not exist",
			     {0x020a});
}

/* Without an operational stage RDMAExtensions cannot be agreed on. */
void past_the_operational_stage(Lab &lab)
{
	Dialog login(lab);
	TextKeys keys = Session::identity_keys(login.options);

	keys.emplace_back("AuthMethod", "None");
	login.say(0x83, keys); /* T, CSG 0, NSG 3 */
	if (!login.refused())
		expect(!login.complete,
		       "full feature phase without an operational stage");
}

void both_stages(Lab &lab)
{
	Dialog login(lab);
	TextKeys keys = Session::identity_keys(login.options);

	keys.emplace_back("AuthMethod", "None");
	login.say(to_operational, keys);
	expect(!login.refused(), "AuthMethod=None was refused");
	login.say(to_full_feature,
		  Session::operational_keys(login.options));
	login.expect_accepted("a login of two stages");
}

void too_much_data(Lab &lab)
{
	Dialog login(lab);
	ByteVector text = to_text(login.keys());

	text.resize(8196, 'x');
	login.say(operational, text);
	login.expect_refused("a Login Request of 8196 data bytes");
}

/* ---- more connections -------------------------------------------------------------- */

/* A second connection for the session of @first. */
Dialog second_connection(Lab &lab, const Dialog &first, TextKeys keys)
{
	keys.emplace_back("MaxOutstandingUnexpectedPDUs", "");
	keys.emplace_back("MaxAHSLength", "");
	keys.emplace_back("TaggedBufferForSolicitedDataOnly", "");
	keys.emplace_back("iSERHelloRequired", "");

	Dialog second(lab, std::move(keys));

	second.options.isid = first.options.isid;
	second.options.tsih = first.tsih;
	second.options.cid = 2;
	return second;
}

/* What is agreed on for the whole session is not on the table again. */
TextKeys keys_of_a_connection(const Dialog &dialog)
{
	TextKeys keys = Session::identity_keys(dialog.options);

	for (const char *key : {"TargetRecvDataSegmentLength",
				"InitiatorRecvDataSegmentLength"})
		keys.emplace_back(key, "8192");
	return keys;
}

void one_connection_too_many(Lab &lab)
{
	Dialog first(lab, {{"MaxConnections", "1"}});

	first.log_in();
	first.expect_accepted("a session of one connection");

	Dialog second = second_connection(lab, first, {});

	second.say(to_full_feature, keys_of_a_connection(second));
	second.expect_refused("a second connection with MaxConnections=1");
	expect_usable(*first.session);
}

std::unique_ptr<Dialog> session_for_two(Lab &lab)
{
	auto first = std::make_unique<Dialog>(
		lab, TextKeys{{"MaxConnections", "2"}});

	first->log_in();
	first->expect_accepted("MaxConnections=2");

	const std::string *most = first->answer("MaxConnections");

	if (!most || *most == "1")
		throw NotApplicable("the target allows one connection a "
				    "session");
	return first;
}

void second_connection_inherits_iser(Lab &lab)
{
	const auto first = session_for_two(lab);
	Dialog second = second_connection(lab, *first, {});

	second.say(to_full_feature, keys_of_a_connection(second));
	expect(!second.refused() && second.complete,
	       "a second connection was refused");
	expect(!second.answer("RDMAExtensions"),
	       "RDMAExtensions on a second connection");
	expect_usable(*first->session);
}

void second_connection_offers_iser(Lab &lab)
{
	const auto first = session_for_two(lab);
	Dialog second = second_connection(lab, *first, {});
	TextKeys keys = keys_of_a_connection(second);

	keys.emplace_back("RDMAExtensions", "Yes");
	second.say(to_full_feature, keys);
	second.expect_refused("RDMAExtensions on a second connection");
	expect_usable(*first->session);
}

} // namespace

std::vector<Check> stage_checks()
{
	return {
		{"login", "last-response",
		 "T-001 T-008 T-011 B-009 the last Login Response comes first",
		 final_response_first, every_profile},
		{"login", "echoed-fields",
		 "E15 StatSN, ISID, ITT and TSIH of Login Responses",
		 echoed_fields, every_profile},
		{"login", "versions", "a version that does not exist: 0x0205",
		 versions, every_profile},
		{"login", "changed-fields",
		 "E16 ISID, ITT, version and stage changed in mid login",
		 changed_on_the_way, every_profile},
		{"login", "unknown-session",
		 "a TSIH that does not exist: status 0x020a", unknown_session,
		 every_profile},
		{"login", "no-operational-stage",
		 "B-005 from SecurityNegotiation to full feature phase",
		 past_the_operational_stage, every_profile},
		{"login", "both-stages", "a login of both stages", both_stages,
		 every_profile},
		{"login", "long-request",
		 "K-11 more than 8192 bytes in a Login Request",
		 too_much_data, every_profile},
		{"login", "second-connection",
		 "a second connection with MaxConnections=1",
		 one_connection_too_many, every_profile},
		{"login", "inherited-iser",
		 "B-013 a second connection is iSER without the key",
		 second_connection_inherits_iser, every_profile},
		{"login", "iser-again",
		 "B-014 RDMAExtensions on a second connection",
		 second_connection_offers_iser, every_profile},
	};
}

} // namespace iserverify
