// SPDX-License-Identifier: GPL-2.0
#pragma once

#include "broken.h"

/* What faults are put together from. */
namespace iserverify {

/* ---- which messages ------------------------------------------------------ */

using When = std::function<bool(const BrokenConnection &, const Message &)>;

/* A whole PDU with one of these opcodes. */
When is(std::initializer_list<IscsiOpcode> opcodes);
/* A whole PDU that @holds. */
When pdu(std::function<bool(const Pdu &)> holds);
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

/* The target behaves as if they had not come. */
Breakage ignores(When when);
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
/* The target sends @opcode besides. */
Breakage sends_besides(When when, IscsiOpcode opcode);
/* The target answers them with @opcode and success, and does nothing. */
Breakage succeeds(When when, IscsiOpcode opcode);
Breakage hangs_up_on(When when);
Breakage never_hangs_up();
/* The target is that much later with them. */
Breakage delays(When when, Milliseconds time);
/* The target writes what it likes to @blocks of the LUN. */
Breakage spoils(When when, std::uint32_t lba, std::uint32_t blocks);
Breakage refuses_connections_after(unsigned count);
/* Read data arrives wrong. */
Breakage places(std::function<void(std::span<std::uint8_t>)> change);
/* Write data is fetched wrong. */
Breakage fetches(Edit edit);
/* The target takes @key for @offered, and answers it with @answer. */
Breakage pretends(const char *key, const char *offered, const char *answer);

/* ---- changes ------------------------------------------------------------- */

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
Change key_is(const char *key, const char *value);
Change key_added(const char *key, const char *value, unsigned times = 1);
Change without_key(const char *key);
Change without_ahs();

void shift(ByteVector &bytes);

} // namespace iserverify
