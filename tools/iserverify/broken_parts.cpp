// SPDX-License-Identifier: GPL-2.0
/* What happens to the messages that a fault is about. */
#include "broken_parts.h"

#include <algorithm>
#include <utility>

namespace iserverify {

namespace {

/* As the target would number it: behind what it sent last. */
Pdu numbered(const BrokenConnection &connection, IscsiOpcode opcode)
{
	const ResponsePdu &last = connection.last_response();
	Pdu pdu(opcode);
	auto &response = pdu.head.bhs.as<ResponsePdu>();

	response.flags = iser::Bhs::final_bit;
	response.itt = iser::reserved_tag;
	response.ttt = iser::reserved_tag;
	response.stat_sn = last.stat_sn + 1;
	response.exp_cmd_sn = last.exp_cmd_sn + 1;
	response.max_cmd_sn = last.max_cmd_sn + 1;
	return pdu;
}

/* Success in answer to a Login Request: what it asks for is granted. */
void grant(const Pdu &request, Pdu &answer)
{
	const auto &asked = request.head.bhs.as<iser::LoginRequestPdu>();
	auto &granted = answer.head.bhs.as<iser::LoginResponsePdu>();

	granted.flags = asked.continues() ?
		asked.flags & ~(iser::LoginRequestPdu::transit_bit |
				iser::LoginRequestPdu::continue_bit) :
		asked.flags;
	std::copy_n(asked.isid, sizeof(asked.isid), granted.isid);
	granted.tsih = 1;
	granted.exp_cmd_sn = asked.cmd_sn;
	granted.max_cmd_sn = asked.cmd_sn + 8;
}

/* @handler, for the messages that are meant; the others arrive. */
Handler for_those(When when, Handler handler)
{
	return [=](BrokenConnection &connection, Message &message) {
		return !when(connection, message) ||
		       handler(connection, message);
	};
}

/* They do not arrive, and neither does what would follow from them. */
Handler lost(When when)
{
	return for_those(when, [](BrokenConnection &connection, Message &) {
		connection.fall_silent();
		return false;
	});
}

Handler edited(When when, Edit edit)
{
	return for_those(when, [=](BrokenConnection &, Message &message) {
		edit(message.bytes);
		return true;
	});
}

Handler changed(When when, Change change)
{
	return for_those(when, [=](BrokenConnection &, Message &message) {
		if (!head_of(message))
			return true;

		Pdu pdu = taken_apart(message);

		change(pdu);
		message.bytes = pdu.bytes();
		return true;
	});
}

} // namespace

Breakage ignores(When when)
{
	return {.to_target = lost(when)};
}

Breakage deaf_behind(When when)
{
	const auto deaf = std::make_shared<bool>(false);

	return {.to_target = lost([=](const BrokenConnection &,
				      const Message &) { return *deaf; }),
		.to_check = for_those(when, [=](BrokenConnection &, Message &) {
			*deaf = true;
			return true;
		})};
}

Breakage loses(When when)
{
	return {.to_target = [=](BrokenConnection &connection,
				 Message &message) {
		return !when(connection, message);
	}};
}

Breakage withholds(When when)
{
	return {.to_check = lost(when)};
}

Breakage takes(When when, Change change)
{
	return {.to_target = changed(when, change)};
}

Breakage takes_bytes(When when, Edit edit)
{
	return {.to_target = edited(when, edit)};
}

Breakage sends(When when, Change change)
{
	return {.to_check = changed(when, change)};
}

Breakage sends_bytes(When when, Edit edit)
{
	return {.to_check = edited(when, edit)};
}

Breakage doubles(When when)
{
	return {.to_check = for_those(when, [](BrokenConnection &connection,
					       Message &message) {
		connection.deliver(message);
		return true;
	})};
}

Breakage sends_behind(When when, IscsiOpcode opcode, Change change)
{
	return {.to_check = for_those(when, [=](BrokenConnection &connection,
						Message &) {
		Pdu pdu = numbered(connection, opcode);

		if (change)
			change(pdu);
		connection.deliver({.bytes = pdu.bytes()});
		return true;
	})};
}

Breakage sends_before(When when, IscsiOpcode opcode)
{
	return {.to_check = for_those(when, [=](BrokenConnection &connection,
						Message &message) {
		connection.deliver(
			{.bytes = numbered(connection, opcode).bytes()});
		connection.deliver(std::move(message));
		return false;
	})};
}

Breakage invalidates(When when)
{
	return {.to_check = for_those(when, [](BrokenConnection &,
					       Message &message) {
		message.invalidated = 0xdeadbeef;
		return true;
	})};
}

Breakage replies(When when, IscsiOpcode opcode, Reply reply)
{
	return {.to_target = for_those(when, [=](BrokenConnection &connection,
						 Message &message) {
		const Pdu request = taken_apart(message);
		Pdu answer = numbered(connection, opcode);

		answer.head.bhs.itt = request.head.bhs.itt;
		reply(request, answer);
		connection.deliver({.bytes = answer.bytes()});
		return false;
	})};
}

Breakage succeeds(When when, IscsiOpcode opcode)
{
	return replies(when, opcode, [=](const Pdu &request, Pdu &answer) {
		if (opcode == IscsiOpcode::LoginResponse)
			grant(request, answer);
	});
}

Breakage refuses_logins(When when, std::uint16_t status)
{
	Breakage refuses = replies(when, IscsiOpcode::LoginResponse,
				   [=](const Pdu &request, Pdu &answer) {
		grant(request, answer);
		login_status_is(status)(answer);
	});

	refuses.to_target = [=, reply = refuses.to_target](
				    BrokenConnection &connection,
				    Message &message) {
		const bool passes = reply(connection, message);

		if (!passes)
			connection.hang_up();
		return passes;
	};
	return refuses;
}

Breakage hangs_up_on(When when)
{
	return {.to_target = for_those(when, [](BrokenConnection &connection,
						Message &) {
		connection.hang_up();
		return false;
	})};
}

Breakage dies_of(When when)
{
	const auto dead = std::make_shared<bool>(false);

	return {.to_target = for_those(when, [=](BrokenConnection &connection,
						 Message &) {
			*dead = true;
			connection.hang_up();
			return false;
		}),
		.accepts = [=](const ConnectOptions &) { return !*dead; }};
}

Breakage never_hangs_up()
{
	return {.never_hangs_up = true};
}

Breakage delays(When when, Milliseconds time)
{
	return {.to_check = for_those(when, [=](BrokenConnection &connection,
						Message &) {
		connection.skip(time);
		return true;
	})};
}

Breakage spoils(When when, std::uint32_t lba, std::uint32_t blocks)
{
	return {.to_target = for_those(when, [=](BrokenConnection &connection,
						 Message &) {
		connection.lab().write(lba, pattern(blocks * block, 666));
		return true;
	})};
}

Breakage refuses_connections_after(unsigned count)
{
	return {.accepts = [left = std::make_shared<unsigned>(count)](
				   const ConnectOptions &) {
		return *left > 0 && (*left)--;
	}};
}

Breakage places(std::function<void(std::span<std::uint8_t>)> change)
{
	return {.placed = std::move(change)};
}

/* With whatever the initiator does next, as long as it may be written. */
Breakage places_late()
{
	return {.to_target = [](BrokenConnection &connection, Message &) {
		std::ranges::fill(connection.last_placed(), 0);
		return true;
	}};
}

Breakage fetches(Edit edit)
{
	return {.advertised = std::move(edit)};
}

Breakage answers(const char *key, const char *value)
{
	return sends(login_responses(), key_is(key, value));
}

Breakage pretends(const char *key, const char *offered, const char *answer)
{
	return {.to_target = changed(login_requests(), key_is(key, offered)),
		.to_check = changed(login_responses(), key_is(key, answer))};
}

Breakage agrees_to_any(const char *key, const char *value)
{
	const auto offered = std::make_shared<std::string>();
	const auto exchange = [=](const std::string &theirs, bool keep) {
		return keys([=](TextKeys &keys) {
			const auto at = pair_of(keys, key);

			if (at == keys.end())
				return;
			if (keep)
				*offered = at->second;
			at->second = keep ? theirs : *offered;
		});
	};

	return {.to_target = changed(login_requests(), exchange(value, true)),
		.to_check = changed(login_responses(), exchange({}, false))};
}

} // namespace iserverify
