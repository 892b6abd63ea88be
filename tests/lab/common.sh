# SPDX-License-Identifier: GPL-2.0
# Shared by the scripts of the lab: where things are cached, how they are
# made once, and how the rest of the world is told about it.
# shellcheck shell=bash

# A failure inside $(...) must end the script too.
set -euo pipefail
shopt -s inherit_errexit

lab_dir=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck disable=SC2034 # for the scripts
checkout=$(cd "$lab_dir/../.." && pwd)
cache=${LIO_ISER_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/lio-iser}

mkdir -p "$cache/locks" "$cache/versions" "$cache/build"

started=$SECONDS

say() {
	printf '[%4d s] %s\n' $((SECONDS - started)) "$*" >&2
}

die() {
	printf '%s: %s\n' "${0##*/}" "$*" >&2
	exit 2
}

known_kernel() {
	case $1 in
	uml | uml-debug | 6.1 | 6.12) ;;
	*) die "no kernel '$1'; there are uml, uml-debug, 6.1 and 6.12" ;;
	esac
}

# Runs a command with its output in a file, and shows the end of that file
# when the command fails.  Like with_lock not for conditions: there bash would
# not stop at the first failure inside the command.
quietly() {
	local log=$1 rc
	shift
	set +e
	(set -e; "$@") > "$log" 2>&1
	rc=$?
	set -e
	[ $rc != 0 ] || return 0
	tail -n 40 "$log" >&2
	say "failed, status $rc: $*"
	return $rc
}

# Short name for a set of strings that decide what a cached thing contains.
digest() {
	printf '%s\n' "$@" | sha256sum | cut -c 1-12
}

# with_lock NAME COMMAND...: one caller at a time; the others find the thing
# made when their turn comes.
with_lock() {
	local name=$1 fd
	shift
	exec {fd}> "$cache/locks/$name"
	flock -n "$fd" || {
		say "waiting for another run that makes $name"
		flock "$fd"
	}
	"$@"
	exec {fd}>&-
}

# The version of a Debian package that the lab uses stays the same until
# somebody asks for newer ones (prepare --update).
pinned() {
	local name=$1 find=$2 value
	if [ ! -s "$cache/versions/$name" ]; then
		value=$("$find")
		[ -n "$value" ] || die "apt knows no package for $name"
		printf '%s\n' "$value" > "$cache/versions/$name.tmp.$$"
		mv "$cache/versions/$name.tmp.$$" "$cache/versions/$name"
	fi
	cat "$cache/versions/$name"
}
