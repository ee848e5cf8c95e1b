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

# lab_command is what the user has called: run, check, ...
usage_error() {
	say "$*"
	say "try ./lab${lab_command:+ $lab_command} --help"
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
		command -v sudo >/dev/null || die "this takes root, and there is no sudo: $*"
		sudo "$@"
	fi
}

# What is built and what a run leaves is in the tree.
make_build_directory() {
	mkdir -p "$build/runs" 2>/dev/null && [ -w "$build/runs" ] ||
		die "$(id -un) cannot write to $build: run ./lab as root, or in a clone of your own"
}
