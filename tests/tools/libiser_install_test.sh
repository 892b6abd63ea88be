#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# libiser installed somewhere, and a program outside of this tree that finds it
# by CMake and by pkg-config.
set -eu

checkout=$(cd "$(dirname "$0")/../.." && pwd)
tools=$checkout/build/tools
example=$checkout/tools/libiser/example
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

cmake --install "$tools" --prefix "$scratch/prefix" > /dev/null
# Nothing but what a user is to see, and no header that is not there.
find "$scratch/prefix" -name '*.h' | grep -q /libiser/session.h

cmake -S "$example" -B "$scratch/build" \
	-DCMAKE_PREFIX_PATH="$scratch/prefix" > /dev/null
cmake --build "$scratch/build"

export PKG_CONFIG_PATH=$scratch/prefix/lib/pkgconfig
# shellcheck disable=SC2046 # flags are words
g++ -std=c++20 -Wall -Wextra -Werror -o "$scratch/read_disk" \
	"$example/read_disk.cpp" $(pkg-config --cflags --libs libiser)

for program in "$scratch/build/read_disk" "$scratch/read_disk"; do
	status=0
	"$program" 127.0.0.1 iqn.2003-01.org.lio-iser:none \
		> "$scratch/said" 2>&1 || status=$?
	cat "$scratch/said"
	[ $status = 1 ]
	# One sentence, whatever of RDMA this machine has.
	grep -q . "$scratch/said"
done
