// SPDX-License-Identifier: GPL-2.0
/* The steps of a login, who logs in to what, and RDMAExtensions. */
#include "broken_faults.h"
#include "broken_parts.h"

namespace iserverify {

namespace {

using iser::LoginRequestPdu;
using iser::LoginResponsePdu;

constexpr const char *rdma_extensions = "RDMAExtensions";

/* What says who logs in comes with the first one. */
When first_request() { return has_key("InitiatorName"); }
When later_request()
{
	return both(login_requests(), is_not(first_request()));
}

/* Of the stage SecurityNegotiation. */
When security_request()
{
	return both(login_requests(), has<LoginRequestPdu>([](auto &request) {
		return request.current_stage() == 0;
	}));
}

When for_a_second_connection()
{
	return both(login_requests(), has<LoginRequestPdu>([](auto &request) {
		return request.cid == 2;
	}));
}

/* It answers a request with the C bit, unless something is wrong. */
When without_text()
{
	return both(login_responses(), pdu([](const Pdu &pdu) {
		return pdu.data.empty();
	}));
}

When refusals()
{
	return both(login_responses(), has<LoginResponsePdu>([](auto &pdu) {
		return pdu.status_class != 0;
	}));
}

/* As if the initiator had offered RDMAExtensions, and no second time. */
Breakages offers_rdma_extensions()
{
	return {takes(first_request(), key_is(rdma_extensions, "Yes")),
		takes(later_request(), without_key(rdma_extensions))};
}

const std::vector<Fault> faults = {
	{"logs-in-slowly", "takes six seconds for each login",
	 []() -> Breakages {
		 return {delays(login_responses(), Milliseconds(6000))};
	 }},
	{"ignores-early-commands", "loses what comes before the login ends",
	 []() -> Breakages {
		 return {ignores(both(commands(), before_login()))};
	 }},
	{"grants-every-login", "answers each Login Request with success",
	 []() -> Breakages {
		 return {succeeds(login_requests(), IscsiOpcode::LoginResponse)};
	 }},
	{"grants-any-proof", "takes any CHAP response for the right one",
	 []() -> Breakages {
		 return {succeeds(from_the_first(has_key("CHAP_R"), true),
				  IscsiOpcode::LoginResponse)};
	 }},
	{"refuses-without-a-reason", "refuses logins with status 0x0200",
	 []() -> Breakages {
		 return {sends(login_responses(), login_status_is(0x0200))};
	 }},
	{"refuses-for-its-own-failure", "refuses logins with status 0x0300",
	 []() -> Breakages {
		 return {sends(refusals(), login_status_is(0x0300))};
	 }},
	{"ignores-others-before-login",
	 "passes over PDUs other than a Login Request before the login",
	 []() -> Breakages {
		 return {ignores(both(is_not(login_requests()),
				      before_login()))};
	 }},
	{"deaf-to-later-keys",
	 "passes over the keys of all Login Requests but the first",
	 []() -> Breakages { return {takes(later_request(), data_is({}))}; }},
	{"deaf-to-keys-of-another-stage",
	 "passes over operational keys in SecurityNegotiation",
	 []() -> Breakages {
		 return {takes(security_request(),
			       with_keys_only({"InitiatorName", "SessionType",
					       "TargetName", "AuthMethod"}))};
	 }},
	{"takes-the-first-of-two", "takes the first of two keys of one name",
	 []() -> Breakages {
		 return {takes(login_requests(), without_repetition())};
	 }},
	{"knows-no-security-stage", "refuses a login in SecurityNegotiation",
	 []() -> Breakages {
		 return {refuses_logins(security_request(), 0x0200)};
	 }},
	{"refuses-much-text", "refuses more than 4096 bytes of login text",
	 []() -> Breakages {
		 return {refuses_logins(both(login_requests(),
					     more_data_than(4096)), 0x0200)};
	 }},
	{"minds-plain-lengths", "refuses a login with MaxRecvDataSegmentLength",
	 []() -> Breakages {
		 return {refuses_logins(both(login_requests(),
				has_key("MaxRecvDataSegmentLength")), 0x0200)};
	 }},
	{"takes-any-session", "takes a TSIH that it does not know for 0",
	 []() -> Breakages {
		 return {takes(login_requests(),
			       fields<LoginRequestPdu>([](auto &request) {
				       request.tsih = 0;
			       }))};
	 }},

	/* More connections. */
	{"grants-a-second-connection",
	 "lets a second connection join any session",
	 []() -> Breakages {
		 return {succeeds(for_a_second_connection(),
				  IscsiOpcode::LoginResponse)};
	 }},
	{"agrees-to-two-connections",
	 "agrees to MaxConnections=2 and takes one connection",
	 []() -> Breakages { return {pretends("MaxConnections", "1", "2")}; }},
	{"negotiates-twice",
	 "takes keys of the session from a second connection",
	 []() -> Breakages {
		 return {pretends("MaxConnections", "1", "2"),
			 succeeds(for_a_second_connection(),
				  IscsiOpcode::LoginResponse)};
	 }},

	/* The fields of a Login Response. */
	{"speaks-before-the-login-ends",
	 "sends a NOP-In in front of each Login Response",
	 []() -> Breakages {
		 return {sends_before(login_responses(), IscsiOpcode::NopIn)};
	 }},
	{"login-without-transit", "leaves T of a Login Response at 0",
	 []() -> Breakages {
		 return {sends(login_responses(),
			       flags_without(LoginRequestPdu::transit_bit))};
	 }},
	{"login-that-invalidates",
	 "sends a Login Response by Send with Invalidate",
	 []() -> Breakages { return {invalidates(login_responses())}; }},
	{"wrong-isid", "answers a login with another ISID",
	 []() -> Breakages {
		 return {sends(login_responses(),
			       fields<LoginResponsePdu>([](auto &response) {
				       response.isid[5] ^= 1;
			       }))};
	 }},
	{"no-tsih", "gives a new session no TSIH",
	 []() -> Breakages {
		 return {sends(login_responses(),
			       fields<LoginResponsePdu>([](auto &response) {
				       response.tsih = 0;
			       }))};
	 }},
	{"login-without-numbers", "gives all Login Responses the same StatSN",
	 []() -> Breakages {
		 return {sends(login_responses(),
			       fields<LoginResponsePdu>([](auto &response) {
				       response.stat_sn = 1;
			       }))};
	 }},

	/* RDMAExtensions. */
	{"rdma-extensions-always", "takes RDMAExtensions=No for Yes",
	 []() -> Breakages {
		 return {takes(login_requests(),
			       key_is("RDMAExtensions", "Yes"))};
	 }},
	{"rdma-extensions-no", "answers RDMAExtensions with No",
	 []() -> Breakages {
		 return {sends(login_responses(),
			       key_is("RDMAExtensions", "No"))};
	 }},
	{"knows-no-key-of-iser", "does not understand RDMAExtensions",
	 []() -> Breakages {
		 return {sends(login_responses(),
			       key_is("RDMAExtensions", "NotUnderstood"))};
	 }},
	{"answers-rdma-extensions-late",
	 "answers RDMAExtensions when the stage ends",
	 []() -> Breakages {
		 return {sends(login_responses(),
			       key_with_transit(rdma_extensions))};
	 }},
	{"answers-amid-a-chain",
	 "answers RDMAExtensions before the text with it is whole",
	 []() -> Breakages {
		 return {sends(without_text(), data_is(to_text(
				 {{rdma_extensions, "Yes"}})))};
	 }},
	{"offers-rdma-extensions-late",
	 "offers RDMAExtensions when the stage ends",
	 []() -> Breakages {
		 Breakages offers = offers_rdma_extensions();

		 offers.push_back(sends(login_responses(),
					key_with_transit(rdma_extensions)));
		 return offers;
	 }},
	{"takes-no-for-yes",
	 "offers RDMAExtensions, and goes on whatever the answer is",
	 offers_rdma_extensions},
	{"forgets-later-rdma-extensions",
	 "does not answer RDMAExtensions in a later Login Request",
	 []() -> Breakages {
		 Breakages offers = offers_rdma_extensions();

		 offers.push_back(sends(login_responses(),
					without_key(rdma_extensions)));
		 return offers;
	 }},
	{"rdma-extensions-in-discovery",
	 "agrees to RDMAExtensions in a discovery session",
	 []() -> Breakages {
		 return {takes(login_requests(), without_key(rdma_extensions)),
			 answers(rdma_extensions, "Yes")};
	 }},
};

} // namespace

std::vector<Fault> login_faults()
{
	return faults;
}

} // namespace iserverify
