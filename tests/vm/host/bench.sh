# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# ./lab bench: runs tests/bench/run.sh in a guest and shows its report.

usage_bench() {
	cat <<END
usage: ./lab bench [--wall] [--against FILE] [--json FILE] [GROUP...]

Measures omx beside TCP in virtual time, where one instruction takes one
nanosecond: figures repeat to a fraction of a percent whatever this machine
is doing; what memory costs omx; and what MPI programs get. Groups: latency,
bandwidth, memory, mpi; all if none is named.

  --json FILE      keep the results
  --against FILE   say what changed by more than 2 % (--wall: 10 %) since those
                   results (mpi: large messages by 10 and 20 %); the status is 1 if
                   something became worse, 2 if FILE has nothing to compare with
  --wall           by the clock on the wall, with two processors: the stock
                   kernel where KVM works, else user-mode Linux $uml_series, which
                   is built at first; leave this machine alone meanwhile. Shown
                   are medians of $wall_rounds rounds.
END
}

wall_rounds=5
bench_script=$top/tests/bench/run.sh
bench_report=$top/tests/bench/report.py

cmd_bench() {
	local wall=no against='' report=() groups=()
	while [ $# -gt 0 ]; do
		case $1 in
		--help | -h) usage_bench && return ;;
		--wall) wall=yes ;;
		--against | --json)
			[ $# -ge 2 ] || usage_error "$1 needs a file"
			report+=("$1" "$(realpath -m "$2")")
			[ "$1" = --json ] || against=${report[-1]}
			shift
			;;
		-*) usage_error "unknown option $1" ;;
		latency | bandwidth | memory | mpi) groups+=("$1") ;;
		*) usage_error "there is no group $1" ;;
		esac
		shift
	done
	ensure_packages "${packages[@]}" "${packages_bench[@]}" "${packages_mpi[@]}"
	choose_clock
	[ -z "$against" ] ||
		python3 "$bench_report" --against "$against" --accelerator "$accelerator" || return
	prepare_guest
	choose_out
	run_guest "$out" "$top" "$bench_script" "${rounds[@]}" "${groups[@]}" || return
	python3 "$bench_report" "${report[@]}" "$out/bench.jsonl"
}

# Sets the options of the guest, and rounds for the script.
choose_clock() {
	default_options
	opt_timeout=3600 rounds=()
	if [ "$wall" = no ]; then
		opt_virtual_time=yes
		say "measuring in virtual time; this takes minutes"
	else
		ensure_kernel
		kvm_works || opt_kernel=$uml_series
		rounds=(--rounds "$wall_rounds")
		say "measuring by the clock on the wall; what else runs here is measured too:" \
			"the load is $(cut -d ' ' -f 1 /proc/loadavg)"
	fi
	check_options
	choose_accelerator
}
