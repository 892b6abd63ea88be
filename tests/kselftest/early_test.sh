#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Commands that come too early, connections that go too early (F-04, F-19,
# F-22), and writes whose data never comes (F-25).

. "${BASH_SOURCE[0]%/*}/lib.sh"
. "${BASH_SOURCE[0]%/*}/raw.sh"

raw_checks early connection order task
run_checks
