# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# What every part of the lab uses: where things are, how it talks, locks.

build=$top/build
vm=$top/tests/vm
cache=${OMX_LAB_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/omx-lab}

# Exit statuses of the lab itself; anything else is the script's own.
exit_usage=2
exit_timeout=124
exit_lab=125

say() { printf 'lab: %s\n' "$*" >&2; }

die() {
	say "$*"
	exit "$exit_lab"
}

usage_error() {
	say "$*"
	say "try ./lab --help"
	exit "$exit_usage"
}

# locked FILE CMD...: run CMD in this shell while holding FILE.
locked() {
	local file=$1 fd
	shift
	mkdir -p "$(dirname "$file")"
	exec {fd}>"$file"
	flock "$fd"
	"$@"
	exec {fd}>&-
}

as_root() {
	if [ "$(id -u)" = 0 ]; then
		"$@"
	else
		sudo "$@"
	fi
}
