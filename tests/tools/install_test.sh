#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# make install and make uninstall, into a folder, for a kernel of the lab: what
# LIO asks for becomes lio_iser, and nothing is left afterwards.
#
#	install_test.sh KERNEL-RELEASE
set -eu

release=${1:?which kernel release?}
checkout=$(cd "$(dirname "$0")/../.." && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# The tree stays as it is.
git -C "$checkout" ls-files -z -- Makefile Kbuild kernel |
	(cd "$checkout" && xargs -0 cp --parents -t "$scratch")

run_make()
{
	make -s -C "$scratch" KVER="$release" DESTDIR="$scratch/root" "$@"
}

run_make modules "-j$(nproc)"
mkdir "$scratch/root"
run_make install
find "$scratch/root" -type f

# modprobe of this machine, with the files that were installed.
asked=$(modprobe -d "$scratch/root" -S "$release" \
	-C "$scratch/root/etc/modprobe.d" --resolve-alias ib_isert)
[ "$asked" = lio_iser ] || {
	echo "ib_isert is '$asked', not lio_iser"
	exit 1
}
modinfo -b "$scratch/root" -k "$release" lio_iser | grep '^filename:.*/updates/'

run_make uninstall
left=$(find "$scratch/root" -name '*lio_iser*')
[ -z "$left" ] || {
	echo "left behind: $left"
	exit 1
}
# A module that goes into depmod's index again would be found by its name.
if modinfo -b "$scratch/root" -k "$release" lio_iser; then
	exit 1
fi
