# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# ./lab demo

usage_demo() {
	cat <<'END'
usage: ./lab demo

Two nodes in a guest find each other, show what omx_info knows, and send each
other messages of 0 B to 4 MiB whose every byte is checked.
END
}

cmd_demo() {
	case ${1:-} in
	'') ;;
	*) usage_demo && return ;;
	esac
	default_options
	check_options
	prepare_guest
	choose_out
	say "booting two nodes (a guest, its script begins in about 10 s)"
	run_guest "$out" / /run/lab/run/guest/demo
}
