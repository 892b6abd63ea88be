// SPDX-License-Identifier: GPL-2.0
#pragma once

#include <functional>

#include "lab.h"

namespace iserverify {

/* There is an answer, and it is one of @values. */
bool is(const std::string *answer, std::initializer_list<const char *> values);
/* For a message: the answer, or "nothing". */
std::string shown(const std::string *answer);

/* Flags of a Login Request. */
inline constexpr std::uint8_t security = 0x00;
inline constexpr std::uint8_t operational = 0x04;
inline constexpr std::uint8_t continued = 0x44; /* C, CSG 1 */
inline constexpr std::uint8_t to_operational = 0x81; /* T, CSG 0, NSG 1 */
inline constexpr std::uint8_t to_full_feature = 0x87; /* T, CSG 1, NSG 3 */

/*
 * A login by hand, request by request, and what the target made of it.  A
 * refusal and the end of the connection are no exceptions here.
 */
class Dialog {
public:
	/* With the lab's usual keys, @keys in place of those of the same name. */
	explicit Dialog(Lab &lab, TextKeys keys = {});

	/* All keys of a login in one; @more behind them, even if twice. */
	TextKeys keys(const TextKeys &more = {}) const;
	/*
	 * One request and its answer.  Where the target wants to go on first,
	 * although the request asked for the next stage, it is let.
	 */
	void say(std::uint8_t flags, const ByteVector &text);
	void say(std::uint8_t flags, const TextKeys &text);
	/* say() of all that a login needs, to full feature phase. */
	void log_in(const TextKeys &more = {});

	bool refused() const { return closed || status != 0; }
	/* The target's answer to @key, or null. */
	const std::string *answer(const std::string &key) const;

	/* The login has succeeded, and the session works. */
	void expect_accepted(const std::string &what);
	/*
	 * It has not; the connection has ended or ends soon.  Of several
	 * statuses that the RFCs have for it, @statuses; none: any.
	 */
	void expect_refused(const std::string &what,
			    std::initializer_list<unsigned> statuses = {});

	LoginOptions options;
	std::unique_ptr<Session> session;
	bool closed = false;
	bool complete = false; /* full feature phase is reached */
	std::uint16_t tsih = 0;
	unsigned status = 0;   /* class in the high byte, detail in the low */
	TextKeys answers;
	/* Those of the last Login Response alone, and what it was. */
	TextKeys latest;
	Pdu response;

private:
	bool exchange(std::uint8_t flags, const ByteVector &text);
};

} // namespace iserverify
