// SPDX-License-Identifier: GPL-2.0
#pragma once

#include "broken.h"

/* What faults are put together from. */
namespace iserverify {

/* ---- which messages ------------------------------------------------------ */

using When = std::function<bool(const BrokenConnection &, const Message &)>;

/* A whole PDU with one of these opcodes. */
When is(std::initializer_list<IscsiOpcode> opcodes);
/* To the target. */
When commands();
When data_outs();
When login_requests();
When logout_requests();
When nop_outs();
When task_requests();
When text_requests();
/* To the check. */
When login_responses();
When logout_responses();
When nop_ins();
When rejects();
When scsi_responses();
When task_responses();
When text_responses();

/* A whole PDU that @holds. */
When pdu(std::function<bool(const Pdu &)> holds);
/* A PDU whose header, as that of @As, @holds. */
template <typename As, typename Holds> When has(Holds holds)
{
	return pdu([=](const Pdu &pdu) {
		return holds(pdu.head.bhs.as<As>());
	});
}
When immediate();
When final();
When more_data_than(std::size_t bytes);
When shorter_than(std::size_t bytes);
/* Its lengths claim more than it has. */
When lies();
/* First nibble: 1 control-type, 2 Hello, 3 HelloReply. */
When iser_opcode(unsigned opcode);
/* Login or text that has the key. */
When has_key(const char *key);
When with_solicited_event();
/* Sent before the first Login Response was here. */
When before_login();
/* Its CmdSN is not in the target's window. */
When outside_window();

When both(When one, When other);
When is_not(When when);
/* What comes behind the first one; that one too, if @itself. */
When from_the_first(When when, bool itself);
/* All but the first @count. */
When beyond(unsigned count, When when);

/* ---- what happens to them ------------------------------------------------ */

using Change = std::function<void(Pdu &)>;
using Edit = std::function<void(ByteVector &)>;
/* Makes @answer, numbered already, fit @request. */
using Reply = std::function<void(const Pdu &request, Pdu &answer)>;

/* The target behaves as if they had not come, and is not heard of again. */
Breakage ignores(When when);
/* It hears nothing more when it has sent one of those. */
Breakage deaf_behind(When when);
/* They do not come; what does is answered as ever. */
Breakage loses(When when);
/* The target does not send them. */
Breakage withholds(When when);
/* The target sends them twice. */
Breakage doubles(When when);
/* The target takes them for something else. */
Breakage takes(When when, Change change);
Breakage takes_bytes(When when, Edit edit);
/* The target sends something else. */
Breakage sends(When when, Change change);
Breakage sends_bytes(When when, Edit edit);
/* The target sends @opcode besides, behind them or before them. */
Breakage sends_behind(When when, IscsiOpcode opcode, Change change = {});
Breakage sends_before(When when, IscsiOpcode opcode);
/* The target sends them by Send with Invalidate. */
Breakage invalidates(When when);
/* The target answers them with @opcode, and does nothing. */
Breakage replies(When when, IscsiOpcode opcode, Reply reply);
/* The same, with success. */
Breakage succeeds(When when, IscsiOpcode opcode);
/* The target refuses the login, and ends the connection. */
Breakage refuses_logins(When when, std::uint16_t status);
Breakage hangs_up_on(When when);
/* That connection ends, and the target takes no other one. */
Breakage dies_of(When when);
Breakage never_hangs_up();
/* The target is that much later with them. */
Breakage delays(When when, Milliseconds time);
/* The target writes what it likes to @blocks of the LUN. */
Breakage spoils(When when, std::uint32_t lba, std::uint32_t blocks);
Breakage refuses_connections_after(unsigned count);
/* Read data arrives wrong. */
Breakage places(std::function<void(std::span<std::uint8_t>)> change);
/* Zeros still come when the SCSI Response was sent. */
Breakage places_late();
/* Write data is fetched wrong. */
Breakage fetches(Edit edit);
/* The target answers @key with @value, whatever was offered. */
Breakage answers(const char *key, const char *value);
/* The target takes @key for @offered, and answers it with @answer. */
Breakage pretends(const char *key, const char *offered, const char *answer);
/* It answers @key with what was offered, and goes on as if with @value. */
Breakage agrees_to_any(const char *key, const char *value);

/* ---- changes ------------------------------------------------------------- */

/* Of the header, as that of @As. */
template <typename As, typename Does> Change fields(Does does)
{
	return [=](Pdu &pdu) { does(pdu.head.bhs.as<As>()); };
}
Change response_is(std::uint8_t code);
Change status_is(std::uint8_t status);
Change residual_is(std::uint32_t count);
Change flags_without(std::uint8_t flags);
Change sense_key_is(std::uint8_t key);
Change login_status_is(std::uint16_t status);
Change data_is(ByteVector data);
Change data_of_size(std::size_t size);
/* The last @bytes are not there. */
Change data_without(std::size_t bytes);
/* Each byte is where its neighbour should be. */
Change data_shifted();
/* Added, if it is not there. */
Change key_is(const char *key, const char *value);
/* If it is there. */
Change key_becomes(const char *key, const char *value);
Change key_added(const char *key, const char *value, unsigned times = 1);
Change without_key(const char *key);
/* Without all keys that have this value. */
Change without_value(const char *value);
Change with_keys_only(std::initializer_list<const char *> keys);
/* Of keys that come again, the first. */
Change without_repetition();
/* Kept back until a Login Response has T set. */
Change key_with_transit(const char *key);
Change without_ahs();

/* Of its keys, if it has any. */
Change keys(std::function<void(TextKeys &)> change);

void shift(ByteVector &bytes);
/*
 * The keys of a login or of text; nothing if it is neither, or in parts that
 * are no text by themselves.
 */
std::optional<TextKeys> keys_of(const Pdu &pdu);
/* The first one, or the end. */
TextKeys::iterator pair_of(TextKeys &keys, const std::string &key);

} // namespace iserverify
