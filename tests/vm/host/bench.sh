# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# ./lab bench: runs tests/bench/run.sh in virtual time and shows its report.

usage_bench() {
	cat <<'END'
usage: ./lab bench [--against FILE] [--json FILE] [GROUP...]

Measures omx beside TCP in virtual time, where one instruction takes one
nanosecond: figures repeat to a fraction of a percent whatever this machine
is doing. Groups: latency, bandwidth; all if none is named.

  --json FILE      keep the results
  --against FILE   say what changed by more than 2 % since those results
  --wall           by the clock on the wall: not yet
END
}

cmd_bench() {
	local report=() groups=()
	while [ $# -gt 0 ]; do
		case $1 in
		--help | -h) usage_bench && return ;;
		--wall) not_yet "--wall" ;;
		--against | --json)
			[ $# -ge 2 ] || usage_error "$1 needs a file"
			report+=("$1" "$(realpath -m "$2")")
			shift
			;;
		-*) usage_error "unknown option $1" ;;
		*) groups+=("$1") ;;
		esac
		shift
	done
	default_options
	opt_virtual_time=yes opt_timeout=3600
	check_options
	ensure_packages "${packages_bench[@]}"
	prepare_guest
	choose_out
	say "measuring in virtual time; this takes minutes"
	run_guest "$out" "$top" "$top/tests/bench/run.sh" "${groups[@]}" || return
	python3 "$top/tests/bench/report.py" "${report[@]}" "$out/bench.jsonl"
}
