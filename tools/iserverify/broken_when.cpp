// SPDX-License-Identifier: GPL-2.0
/* Which messages a fault is about. */
#include <algorithm>

#include "broken_parts.h"

namespace iserverify {

When is(std::initializer_list<IscsiOpcode> opcodes)
{
	return [opcodes = std::vector<IscsiOpcode>(opcodes)](
		       const BrokenConnection &, const Message &message) {
		const iser::MessageHead *head = head_of(message);

		return head && std::find(opcodes.begin(), opcodes.end(),
					 head->bhs.opcode()) != opcodes.end();
	};
}

When commands() { return is({IscsiOpcode::ScsiCommand}); }
When data_outs() { return is({IscsiOpcode::DataOut}); }
When login_requests() { return is({IscsiOpcode::LoginRequest}); }
When logout_requests() { return is({IscsiOpcode::LogoutRequest}); }
When nop_outs() { return is({IscsiOpcode::NopOut}); }
When task_requests() { return is({IscsiOpcode::TaskManagementRequest}); }
When text_requests() { return is({IscsiOpcode::TextRequest}); }
When login_responses() { return is({IscsiOpcode::LoginResponse}); }
When logout_responses() { return is({IscsiOpcode::LogoutResponse}); }
When nop_ins() { return is({IscsiOpcode::NopIn}); }
When rejects() { return is({IscsiOpcode::Reject}); }
When scsi_responses() { return is({IscsiOpcode::ScsiResponse}); }
When task_responses() { return is({IscsiOpcode::TaskManagementResponse}); }
When text_responses() { return is({IscsiOpcode::TextResponse}); }

When pdu(std::function<bool(const Pdu &)> holds)
{
	return [=](const BrokenConnection &, const Message &message) {
		return head_of(message) && holds(taken_apart(message));
	};
}

When immediate()
{
	return has<iser::Bhs>([](auto &bhs) { return bhs.immediate(); });
}

When final()
{
	return has<iser::Bhs>([](auto &bhs) { return bhs.final(); });
}

When more_data_than(std::size_t bytes)
{
	return pdu([=](const Pdu &pdu) { return pdu.data.size() > bytes; });
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

} // namespace iserverify
