#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Flow control, STags and their order, unsolicited data (RFC 7145 7.3, 8).

. "${BASH_SOURCE[0]%/*}/lib.sh"
. "${BASH_SOURCE[0]%/*}/raw.sh"

raw_checks flow stag unsolicited
run_checks
