// SPDX-License-Identifier: GPL-2.0
#include "broken_parts.h"

#include <algorithm>
#include <cstring>

namespace iserverify {

namespace {

constexpr IscsiOpcode with_text[] = {
	IscsiOpcode::LoginRequest, IscsiOpcode::LoginResponse,
	IscsiOpcode::TextRequest, IscsiOpcode::TextResponse,
};

ResponsePdu &response_of(Pdu &pdu)
{
	return pdu.head.bhs.as<ResponsePdu>();
}

/* Text that came in parts may be none by itself: left as it is. */
std::optional<TextKeys> keys_of(const Pdu &pdu)
{
	if (std::find(std::begin(with_text), std::end(with_text),
		      pdu.opcode()) == std::end(with_text))
		return std::nullopt;
	try {
		return from_text(pdu.data);
	} catch (const ProtocolError &) {
		return std::nullopt;
	}
}

/* A change of the keys, if there are any. */
Change keys(std::function<void(TextKeys &)> change)
{
	return [=](Pdu &pdu) {
		std::optional<TextKeys> found = keys_of(pdu);

		if (!found || found->empty())
			return;
		change(*found);
		pdu.data = to_text(*found);
	};
}

/* As the target would number it: behind what it sent last. */
Pdu numbered(const BrokenConnection &connection, IscsiOpcode opcode)
{
	const ResponsePdu &last = connection.last_response();
	Pdu pdu(opcode);
	ResponsePdu &response = response_of(pdu);

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

} // namespace

/* ---- which messages ------------------------------------------------------ */

When is(std::initializer_list<IscsiOpcode> opcodes)
{
	return [opcodes = std::vector<IscsiOpcode>(opcodes)](
		       const BrokenConnection &, const Message &message) {
		const iser::MessageHead *head = head_of(message);

		return head && std::find(opcodes.begin(), opcodes.end(),
					 head->bhs.opcode()) != opcodes.end();
	};
}

When pdu(std::function<bool(const Pdu &)> holds)
{
	return [=](const BrokenConnection &, const Message &message) {
		return head_of(message) && holds(taken_apart(message));
	};
}

When shorter_than(std::size_t bytes)
{
	return [=](const BrokenConnection &, const Message &message) {
		return message.bytes.size() < bytes;
	};
}

When lies()
{
	return [](const BrokenConnection &, const Message &message) {
		const iser::MessageHead *head = head_of(message);

		return head && sizeof(*head) + head->bhs.ahs_bytes() +
				head->bhs.data_segment_length >
			message.bytes.size();
	};
}

When iser_opcode(unsigned opcode)
{
	return [=](const BrokenConnection &, const Message &message) {
		return !message.bytes.empty() &&
		       message.bytes[0] >> 4 == static_cast<int>(opcode);
	};
}

When has_key(const char *key)
{
	return pdu([=](const Pdu &pdu) {
		const std::optional<TextKeys> keys = keys_of(pdu);

		return keys && find_key(*keys, key);
	});
}

When with_solicited_event()
{
	return [](const BrokenConnection &, const Message &message) {
		return message.opcode == SendOpcode::SendSolicited ||
		       message.opcode == SendOpcode::SendSolicitedInvalidate;
	};
}

When before_login()
{
	return [](const BrokenConnection &connection, const Message &) {
		return !connection.login_answered();
	};
}

/* Serial number arithmetic (RFC 7143 4.2.2.1). */
When outside_window()
{
	return [](const BrokenConnection &connection, const Message &message) {
		const iser::MessageHead *head = head_of(message);

		if (!head)
			return false;

		const std::uint32_t number =
			head->bhs.as<RequestPdu>().cmd_sn;
		const ResponsePdu &last = connection.last_response();
		const auto from_first =
			static_cast<std::int32_t>(number - last.exp_cmd_sn);
		const auto from_last =
			static_cast<std::int32_t>(number - last.max_cmd_sn);

		return from_first < 0 || from_last > 0;
	};
}

When both(When one, When other)
{
	return [=](const BrokenConnection &connection, const Message &message) {
		return one(connection, message) && other(connection, message);
	};
}

When is_not(When when)
{
	return [=](const BrokenConnection &connection, const Message &message) {
		return !when(connection, message);
	};
}

When from_the_first(When when, bool itself)
{
	return [=, met = std::make_shared<bool>(false)](
		       const BrokenConnection &connection,
		       const Message &message) {
		const bool before = *met;

		*met = before || when(connection, message);
		return itself ? *met : before;
	};
}

When beyond(unsigned count, When when)
{
	return [=, left = std::make_shared<unsigned>(count)](
		       const BrokenConnection &connection,
		       const Message &message) {
		if (!when(connection, message))
			return false;
		if (*left == 0)
			return true;
		--*left;
		return false;
	};
}

/* ---- what happens to them ------------------------------------------------ */

namespace {

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

Breakage sends_besides(When when, IscsiOpcode opcode)
{
	return {.to_check = for_those(when, [=](BrokenConnection &connection,
						Message &) {
		connection.deliver(
			{.bytes = numbered(connection, opcode).bytes()});
		return true;
	})};
}

Breakage succeeds(When when, IscsiOpcode opcode)
{
	return {.to_target = for_those(when, [=](BrokenConnection &connection,
						 Message &message) {
		const Pdu request = taken_apart(message);
		Pdu answer = numbered(connection, opcode);

		answer.head.bhs.itt = request.head.bhs.itt;
		if (opcode == IscsiOpcode::LoginResponse)
			grant(request, answer);
		connection.deliver({.bytes = answer.bytes()});
		return false;
	})};
}

Breakage hangs_up_on(When when)
{
	return {.to_target = for_those(when, [](BrokenConnection &connection,
						Message &) {
		connection.hang_up();
		return false;
	})};
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
	return {.accepts = [left = std::make_shared<unsigned>(count)] {
		return *left > 0 && (*left)--;
	}};
}

Breakage places(std::function<void(std::span<std::uint8_t>)> change)
{
	return {.placed = std::move(change)};
}

Breakage fetches(Edit edit)
{
	return {.advertised = std::move(edit)};
}

Breakage pretends(const char *key, const char *offered, const char *answer)
{
	return {.to_target = changed(is({IscsiOpcode::LoginRequest}),
				     key_is(key, offered)),
		.to_check = changed(is({IscsiOpcode::LoginResponse}),
				    key_is(key, answer))};
}

/* ---- changes ------------------------------------------------------------- */

Change response_is(std::uint8_t code)
{
	return [=](Pdu &pdu) { response_of(pdu).response = code; };
}

Change status_is(std::uint8_t status)
{
	return [=](Pdu &pdu) { response_of(pdu).status = status; };
}

Change residual_is(std::uint32_t count)
{
	return [=](Pdu &pdu) { response_of(pdu).residual = count; };
}

Change flags_without(std::uint8_t flags)
{
	return [=](Pdu &pdu) { pdu.head.bhs.flags &= ~flags; };
}

/* Behind the two bytes of SenseLength, in either format (SPC-4 4.5). */
Change sense_key_is(std::uint8_t key)
{
	return [=](Pdu &pdu) {
		if (pdu.data.size() < 5)
			return;
		pdu.data[(pdu.data[2] & 0x7e) == 0x72 ? 3 : 4] = key;
	};
}

Change login_status_is(std::uint16_t status)
{
	return [=](Pdu &pdu) {
		auto &response = pdu.head.bhs.as<iser::LoginResponsePdu>();

		response.status_class = static_cast<u8>(status >> 8);
		response.status_detail = static_cast<u8>(status);
	};
}

Change data_is(ByteVector data)
{
	return [=](Pdu &pdu) { pdu.data = data; };
}

Change data_of_size(std::size_t size)
{
	return [=](Pdu &pdu) { pdu.data.resize(size); };
}

Change data_without(std::size_t bytes)
{
	return [=](Pdu &pdu) {
		pdu.data.resize(pdu.data.size() -
				std::min(bytes, pdu.data.size()));
	};
}

Change data_shifted()
{
	return [](Pdu &pdu) { shift(pdu.data); };
}

/* In its place, since some keys belong to the one before them. */
Change key_is(const char *key, const char *value)
{
	return keys([=](TextKeys &keys) {
		const auto at = std::find_if(
			keys.begin(), keys.end(),
			[&](const auto &pair) { return pair.first == key; });

		if (at != keys.end())
			at->second = value;
		else
			keys.emplace_back(key, value);
	});
}

Change key_added(const char *key, const char *value, unsigned times)
{
	return keys([=](TextKeys &keys) {
		keys.insert(keys.end(), times, {key, value});
	});
}

Change without_key(const char *key)
{
	return keys([=](TextKeys &keys) {
		std::erase_if(keys, [&](const auto &pair) {
			return pair.first == key;
		});
	});
}

Change without_ahs()
{
	return [](Pdu &pdu) { pdu.ahs.clear(); };
}

void shift(ByteVector &bytes)
{
	if (!bytes.empty())
		std::rotate(bytes.begin(), bytes.begin() + 1, bytes.end());
}

} // namespace iserverify
