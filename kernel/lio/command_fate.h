// SPDX-License-Identifier: GPL-2.0
#pragma once

#include "port/target.h"

/*
 * Who ends a command.  One in the core has a reference for the fabric, which
 * is ours, and one for the core, which gives it up when it has run the command.
 * There are ways past that, and a connection that ends waits for all of them.
 */
namespace lio {

/*
 * The core's reference is still there although the core will not give it up:
 * the command failed while it waited for data; or it is task management that
 * LIO answered by itself, and in its turn, where LIO forgets that reference.
 * What LIO removes because of its CmdSN, it has given up, too.
 */
bool core_never_had_it(const target_command_state &state);

/*
 * Of a connection whose stream is closed, and whose LIO threads are gone.
 * A response was to be sent, or the command to be removed.
 */
bool is_unsent(const target_command_state &state);
/* It waits for data that will not come, or for its turn. */
bool is_unsubmitted(const target_command_state &state);

} // namespace lio
