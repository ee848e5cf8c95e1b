# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# ./lab demo

usage_demo() {
	cat <<'END'
usage: ./lab demo

Two nodes in a guest find each other, show what omx_info knows, and send each
other messages of 0 B to 4 MiB whose every byte is checked. Times are virtual,
one instruction is one nanosecond, so they do not depend on this machine.
END
}

cmd_demo() {
	case ${1:-} in
	'') ;;
	--help | -h) usage_demo && return ;;
	*) usage_error "demo takes no arguments" ;;
	esac
	default_options
	# else the figures would be those of an emulator on a busy machine
	opt_virtual_time=yes
	check_options
	prepare_guest
	choose_out
	say "booting two nodes in a guest; times in it are virtual, one instruction is 1 ns"
	run_guest "$out" / /run/lab/run/guest/demo
}
