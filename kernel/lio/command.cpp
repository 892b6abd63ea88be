// SPDX-License-Identifier: GPL-2.0
#include "lio/command.h"

namespace lio {

Command &Command::of(iscsit_cmd *cmd)
{
	void *memory = target_command_private(cmd);
	auto *command = static_cast<Command *>(memory);

	if (!command->cmd_)
		new (base::InPlace{}, memory) Command(cmd);
	return *command;
}

Command &Command::of(iser::TaskResources &task)
{
	return base::container_of(task, &Command::task);
}

} // namespace lio
