// SPDX-License-Identifier: GPL-2.0
/* iSCSI's own keys (RFC 7143 13), and who logs in to what. */
#include <algorithm>

#include "dialog.h"

namespace iserverify {

namespace {

unsigned long number(const std::string *answer, const std::string &key)
{
	expect(answer && !answer->empty() &&
	       answer->find_first_not_of("0123456789") == std::string::npos,
	       key + " was answered with " + (answer ? *answer : "nothing"));
	return std::stoul(*answer);
}

/* The result of a number: within @low to @high, and as @combined has it. */
void numbers(Lab &lab, const char *key, std::initializer_list<unsigned> offers,
	     unsigned low, unsigned high,
	     bool (*combined)(unsigned long answer, unsigned long offer))
{
	for (unsigned offer : offers) {
		Dialog login(lab, {{key, std::to_string(offer)}});
		const std::string what =
			std::string(key) + "=" + std::to_string(offer);

		login.log_in();
		login.expect_accepted(what);

		const unsigned long answer = number(login.answer(key), what);

		expect(answer >= low && answer <= high &&
		       combined(answer, offer),
		       what + " was answered with " + std::to_string(answer));
	}
}

bool not_more(unsigned long answer, unsigned long offer)
{
	return answer <= offer;
}

bool not_less(unsigned long answer, unsigned long offer)
{
	return answer >= offer;
}

/* Out of range: the login fails, or the answer is one that is in range. */
void out_of_range(Lab &lab, const char *key,
		  std::initializer_list<const char *> values, unsigned low,
		  unsigned high)
{
	for (const char *value : values) {
		Dialog login(lab, {{key, value}});
		const std::string what = std::string(key) + "=" + value;

		login.log_in();
		if (login.refused()) {
			login.expect_refused(what);
			continue;
		}
		const std::string *answer = login.answer(key);

		if (answer && *answer == "Reject")
			continue;
		const unsigned long result = number(answer, what);

		expect(result >= low && result <= high,
		       what + " was answered with " + *answer);
	}
}

void max_burst(Lab &lab)
{
	numbers(lab, "MaxBurstLength", {512, 65536, 16777215}, 512, 16777215,
		not_more);
}

void first_burst(Lab &lab)
{
	numbers(lab, "FirstBurstLength", {512, 4096, 262144}, 512, 16777215,
		not_more);
}

void bad_bursts(Lab &lab)
{
	for (const char *key : {"MaxBurstLength", "FirstBurstLength"})
		out_of_range(lab, key, {"0", "511", "16777216", "all"}, 512,
			     16777215);
}

/* RFC 7143 13.14 */
void first_burst_above_max_burst(Lab &lab)
{
	Dialog login(lab, {{"MaxBurstLength", "4096"},
			   {"FirstBurstLength", "65536"}});

	login.log_in();
	if (login.refused())
		return login.expect_refused("FirstBurstLength above "
					    "MaxBurstLength");
	login.expect_accepted("FirstBurstLength above MaxBurstLength");

	const Parameters &p = login.session->parameters();

	expect(p.first_burst_length <= p.max_burst_length,
	       "FirstBurstLength is above MaxBurstLength in the result");
}

void outstanding_r2t(Lab &lab)
{
	numbers(lab, "MaxOutstandingR2T", {1, 8, 65535}, 1, 65535, not_more);
	out_of_range(lab, "MaxOutstandingR2T", {"0", "65536"}, 1, 65535);
}

void recovery_levels(Lab &lab)
{
	numbers(lab, "ErrorRecoveryLevel", {0, 1, 2}, 0, 2, not_more);
	out_of_range(lab, "ErrorRecoveryLevel", {"3", "-1"}, 0, 2);
}

void max_connections(Lab &lab)
{
	numbers(lab, "MaxConnections", {1, 2, 65535}, 1, 65535, not_more);
	out_of_range(lab, "MaxConnections", {"0", "65536"}, 1, 65535);
}

void waiting_times(Lab &lab)
{
	numbers(lab, "DefaultTime2Wait", {0, 2, 3600}, 0, 3600, not_less);
	numbers(lab, "DefaultTime2Retain", {0, 20, 3600}, 0, 3600, not_more);
	out_of_range(lab, "DefaultTime2Wait", {"3601"}, 0, 3600);
	out_of_range(lab, "DefaultTime2Retain", {"3601"}, 0, 3600);
}

/* Both results of a boolean, the answer left out where it may be. */
void booleans(Lab &lab, const char *key, const char *deciding)
{
	for (const char *offer : {"Yes", "No"}) {
		Dialog login(lab, {{key, offer}});
		const std::string what = std::string(key) + "=" + offer;

		login.log_in();
		login.expect_accepted(what);

		const std::string *answer = login.answer(key);
		const bool decided = std::string(offer) == deciding;

		expect(decided || answer, what + " was not answered");
		expect(!answer || *answer == "Yes" || *answer == "No",
		       what + " was answered with " +
		       (answer ? *answer : "nothing"));
		expect(!decided || !answer || *answer == deciding,
		       what + " decides, and was answered otherwise");
	}
}

void initial_r2t(Lab &lab) { booleans(lab, "InitialR2T", "Yes"); }
void immediate_data(Lab &lab) { booleans(lab, "ImmediateData", "No"); }
void pdu_order(Lab &lab) { booleans(lab, "DataPDUInOrder", "Yes"); }
void sequence_order(Lab &lab) { booleans(lab, "DataSequenceInOrder", "Yes"); }

void bad_booleans(Lab &lab)
{
	for (const char *key : {"InitialR2T", "ImmediateData"})
		for (const char *value : {"yes", "1", "Yes,No"}) {
			Dialog login(lab, {{key, value}});
			const std::string what = std::string(key) + "=" + value;

			login.log_in();
			if (login.refused()) {
				login.expect_refused(what);
				continue;
			}
			expect(login.answer(key) &&
			       (*login.answer(key) == "Reject" ||
				*login.answer(key) == "Yes" ||
				*login.answer(key) == "No"),
			       what + " was accepted");
		}
}

/* Younger than some targets: known or not understood, and no harm done. */
void younger_keys(Lab &lab)
{
	Dialog login(lab, {{"TaskReporting", "RFC3720,ResponseFence"},
			   {"iSCSIProtocolLevel", "1"}});

	login.log_in();
	login.expect_accepted("TaskReporting and iSCSIProtocolLevel");
	for (const char *key : {"TaskReporting", "iSCSIProtocolLevel"}) {
		const std::string *answer = login.answer(key);

		expect(answer && (*answer == "NotUnderstood" ||
				  *answer == "Reject" ||
				  *answer == "Irrelevant" ||
				  *answer == "RFC3720" ||
				  *answer == "ResponseFence" ||
				  *answer == "0" || *answer == "1"),
		       std::string(key) + " was answered with " +
		       (answer ? *answer : "nothing"));
	}
}

/* ---- who logs in to what ------------------------------------------------------- */

void say_without(Dialog &login, const char *key)
{
	TextKeys keys = login.keys();

	std::erase_if(keys, [key](const auto &pair) {
		return pair.first == key;
	});
	login.say(to_full_feature, keys);
}

void without_initiator_name(Lab &lab)
{
	Dialog login(lab);

	say_without(login, "InitiatorName");
	login.expect_refused("a login without InitiatorName",
			     {0x0200, 0x0207});
}

void without_target_name(Lab &lab)
{
	Dialog login(lab);

	say_without(login, "TargetName");
	login.expect_refused("a normal session without TargetName",
			     {0x0200, 0x0203, 0x0207});
}

void unknown_session_type(Lab &lab)
{
	Dialog login(lab);
	TextKeys keys = login.keys();

	for (auto &[key, value] : keys)
		if (key == "SessionType")
			value = "Casual";
	login.say(to_full_feature, keys);
	login.expect_refused("SessionType=Casual", {0x0200, 0x0209});
}

/*
 * A target that goes by the first at one time and by the last at another has
 * let in somebody else, or made a normal session as it makes one for discovery.
 */
void identity_twice(Lab &lab)
{
	const std::pair<const char *, const char *> second[] = {
		{"InitiatorName", "iqn.2003-01.org.lio-iser:another"},
		{"TargetName", "iqn.2003-01.org.lio-iser:another"},
		{"SessionType", "Discovery"},
	};

	for (const auto &[key, value] : second) {
		Dialog login(lab);

		login.say(to_full_feature, login.keys({{key, value}}));
		login.expect_refused(std::string(key) + " twice");
	}
}

void portal_group_tag(Lab &lab)
{
	Dialog login(lab);

	login.say(operational, login.keys());
	expect(!login.refused(), "the first round was refused");

	const std::string *tag =
		find_key(login.latest, "TargetPortalGroupTag");

	expect(tag && number(tag, "TargetPortalGroupTag") <= 65535,
	       "the first Login Response has no TargetPortalGroupTag");
}

void alias(Lab &lab)
{
	Dialog login(lab, {{"InitiatorAlias", "a machine with a name"}});

	login.log_in();
	login.expect_accepted("InitiatorAlias");
	expect(!login.answer("InitiatorAlias"), "InitiatorAlias was answered");
}

} // namespace

std::vector<Check> session_key_checks()
{
	return {
		{"keys", "max-burst", "K-2 MaxBurstLength: the smaller one",
		 max_burst, every_profile},
		{"keys", "first-burst",
		 "K-2 FirstBurstLength: the smaller one", first_burst,
		 every_profile},
		{"keys", "bursts-bad",
		 "K-4 MaxBurstLength and FirstBurstLength out of range",
		 bad_bursts, every_profile},
		{"keys", "first-above-max",
		 "2.11 FirstBurstLength above MaxBurstLength",
		 first_burst_above_max_burst, every_profile},
		{"keys", "outstanding-r2t", "K-4 MaxOutstandingR2T",
		 outstanding_r2t, every_profile},
		{"keys", "recovery-level", "K-4 ErrorRecoveryLevel",
		 recovery_levels, every_profile},
		{"keys", "max-connections", "K-4 MaxConnections",
		 max_connections, every_profile},
		{"keys", "waiting-times",
		 "K-4 DefaultTime2Wait: the larger one, Time2Retain: the smaller",
		 waiting_times, every_profile},
		{"keys", "initial-r2t", "K-3 InitialR2T: one Yes is enough",
		 initial_r2t, every_profile},
		{"keys", "immediate-data", "K-3 ImmediateData: one No is enough",
		 immediate_data, every_profile},
		{"keys", "pdu-order", "K-3 DataPDUInOrder", pdu_order,
		 every_profile},
		{"keys", "sequence-order", "K-3 DataSequenceInOrder",
		 sequence_order, every_profile},
		{"keys", "booleans-bad",
		 "K-4 booleans that are neither Yes nor No", bad_booleans,
		 every_profile},
		{"keys", "younger-keys",
		 "K-8 TaskReporting and iSCSIProtocolLevel", younger_keys,
		 every_profile},
		{"login", "no-initiator-name",
		 "2.11 a login without InitiatorName", without_initiator_name,
		 every_profile},
		{"login", "no-target-name",
		 "2.11 a normal session without TargetName",
		 without_target_name, every_profile},
		{"login", "session-type", "2.11 a SessionType that does not exist",
		 unknown_session_type, every_profile},
		{"login", "identity-twice",
		 "K-9 InitiatorName, TargetName or SessionType twice",
		 identity_twice, every_profile},
		{"login", "group-tag",
		 "2.11 TargetPortalGroupTag is in the first response",
		 portal_group_tag, every_profile},
		{"login", "alias", "K-2 InitiatorAlias is no question", alias,
		 every_profile},
	};
}

} // namespace iserverify
