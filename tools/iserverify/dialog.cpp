// SPDX-License-Identifier: GPL-2.0
#include "dialog.h"

#include <algorithm>

namespace iserverify {

using iser::LoginRequestPdu;
using iser::LoginResponsePdu;

bool is(const std::string *answer, std::initializer_list<const char *> values)
{
	return answer && std::any_of(values.begin(), values.end(),
				     [&](const char *value) {
					     return *answer == value;
				     });
}

std::string shown(const std::string *answer)
{
	return answer ? *answer : "nothing";
}

Dialog::Dialog(Lab &lab, TextKeys keys)
	: options(lab.login_options(std::move(keys))), session(lab.connect())
{
}

TextKeys Dialog::keys(const TextKeys &more) const
{
	TextKeys all = Session::identity_keys(options);

	for (const TextKeys &part : {Session::operational_keys(options), more})
		all.insert(all.end(), part.begin(), part.end());
	return all;
}

/* False: there is no more to say. */
bool Dialog::exchange(std::uint8_t flags, const ByteVector &text)
{
	try {
		response = session->login_exchange(options, flags, text);
	} catch (const ConnectionLost &) {
		closed = true;
		return false;
	}
	const auto &pdu = response.head.bhs.as<LoginResponsePdu>();

	status = pdu.status_class << 8u | pdu.status_detail;
	tsih = pdu.tsih;
	latest = from_text(response.data);
	answers.insert(answers.end(), latest.begin(), latest.end());
	return status == 0;
}

void Dialog::say(std::uint8_t flags, const ByteVector &text)
{
	constexpr int rounds = 4;
	const bool transit = flags & LoginRequestPdu::transit_bit;

	if (!exchange(flags, text) || !transit)
		return;
	for (int round = 0; round < rounds; ++round) {
		const std::uint8_t said = response.head.bhs.flags;

		if (said & LoginRequestPdu::transit_bit) {
			complete = (said & 3) == 3;
			break;
		}
		if (!exchange(flags, {}))
			return;
	}
	if (complete)
		session->conclude(options, answers);
}

void Dialog::say(std::uint8_t flags, const TextKeys &text)
{
	say(flags, to_text(text));
}

void Dialog::log_in(const TextKeys &more)
{
	say(to_full_feature, keys(more));
}

const std::string *Dialog::answer(const std::string &key) const
{
	return find_key(answers, key);
}

void Dialog::expect_accepted(const std::string &what)
{
	expect(!closed, what + ": the connection ended");
	expect(!status, what + ": refused with " + login_status_text(status));
	expect(complete, what + ": the login does not come to its end");
	expect_usable(*session);
}

void Dialog::expect_refused(const std::string &what,
			    std::initializer_list<unsigned> statuses)
{
	expect(refused(), what + ": was accepted");
	expect(closed || statuses.size() == 0 ||
	       std::find(statuses.begin(), statuses.end(), status) !=
		       statuses.end(),
	       what + ": refused with status " + std::to_string(status) +
	       ", " + login_status_text(status));
	expect_closed(*session, what);
}

} // namespace iserverify
