# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# ./lab check: static checks, unit tests, and the tests of tests/vm/cases.
# Several workers take jobs from one list until none is left; cases.sh says
# what the tests in guests are, results.sh what becomes of their results.

usage_check() {
	cat <<END
usage: ./lab check [--all | --debug | --udp 4|6] [GROUP...]

Runs each test once on the stock kernel, or only those of the groups:
$(groups).
The last line is "N passed, N failed, N skipped". The logs are in build/logs.

  --all      every test with all of its options and its long form, on every
             kernel and Open MPI; builds the other kernels the first time,
             which takes up to half an hour. What needs a kernel that cannot
             be had is skipped.
  --debug    only what runs in guests with the stock kernel, but with one that
             checks itself, which is built the first time, and the proof that
             it does. Tests have $debug_slowness times the time.
  --udp V    only what runs in guests with two or more nodes joined by veth, but with
             a router between the nodes and over UDP (IPv4 or IPv6).  For the groups
             messages, loss and mpi; others take nodes on one Ethernet for granted.

LAB_WORKERS is how many jobs run at once: $(worker_count).
END
}

cases=${LAB_CASES:-$vm/cases}
check_everything=no

groups() {
	[ -n "${LAB_CASES:-}" ] || [ "$default_debug$default_udp" != no ] || printf 'build unit '
	(cd "$cases" && printf '%s\n' */) | tr -d / | sort | tr '\n' ' ' | sed 's/ $//'
}

# Tests wait half of the time, and one worker computes for minutes.
worker_count() { echo "${LAB_WORKERS:-$(($(nproc) + 2))}"; }

cmd_check() {
	local list=()
	while [ $# -gt 0 ]; do
		case $1 in
		--all) check_everything=yes ;;
		--debug) default_debug=yes ;;
		--udp) default_udp=$(ip_version "$1" "${2:-}") && shift || exit ;;
		-h | --help) usage_check && return ;;
		-*) usage_error "unknown option $1" ;;
		*) list+=("$1") ;;
		esac
		shift
	done
	[ -z "$default_udp" ] || [ "$check_everything$default_debug" = nono ] ||
		usage_error "--udp excludes --all and --debug"
	[ "$check_everything$default_debug" != yesyes ] ||
		usage_error "--all and --debug exclude each other: --all runs what is for the debug kernel as well"
	[ ${#list[@]} -gt 0 ] || read -ra list <<<"$(groups)"
	check_arguments "${list[@]}"
	prepare_check
	list_jobs "${list[@]}"
	build_kernels
	run_workers
	fail_lost_runs
	summarize
}

check_arguments() {
	local group
	number LAB_WORKERS "$(worker_count)" 1 64 >/dev/null
	for group in "$@"; do
		[[ " $(groups) " = *" $group "* ]] || usage_error "there is no group $group"
	done
}

prepare_check() {
	export LAB_ALL=$check_everything
	default_options
	ensure_packages "${packages[@]}" "${packages_check[@]}" \
		"${packages_mpi[@]}" "${packages_mpi_check[@]}"
	make_build_directory
	logs=$(mktemp -d "$build/runs/check.XXXXXX")
	chmod 755 "$logs"
	mkdir "$logs/claimed" "$logs/guests"
	: >"$logs/results"
	[ -n "${LAB_CASES:-}" ] || ln -sfn "${logs#"$build/"}" "$build/logs"
	ensure_kernel
	build_all
	export LAB_BUILT=$driver_build
}

# $logs/jobs: what does not need a guest, then the options of guests, the most
# frequent ones last: all workers can share in those. The first worker takes what is in
# it from the beginning; the others have $logs/guests-first, so that there are guests,
# which wait, while the first one computes.
list_jobs() {
	local group
	for group in "$@"; do
		case $group in
		build) list_static_checks ;;
		unit) echo 'unit all' ;;
		*) list_runs "$group" >>"$logs/runs" ;;
		esac
	done >"$logs/jobs"
	[ -e "$logs/runs" ] || : >"$logs/runs"
	awk -F '\t' '$5 == "--host" { print $3, "host", $1 }' "$logs/runs" |
		sort -rn | cut -d ' ' -f 2- >>"$logs/jobs"
	awk -F '\t' '$5 != "--host" { n[$5]++ } END { for (o in n) print n[o], "guests", o }' \
		"$logs/runs" | sort -n | cut -d ' ' -f 2- >>"$logs/jobs"
	awk '/^guests / { print; next } { rest = rest $0 "\n" } END { printf "%s", rest }' \
		"$logs/jobs" >"$logs/guests-first"
}

list_static_checks() {
	printf 'static %s\n' "${static_checks[@]}"
	[ "$check_everything" = no ] || printf 'static %s\n' "${more_static_checks[@]}"
}

# What takes minutes is built where it can be seen.
build_kernels() {
	local options
	while read -r options; do
		set_options "$options"
		(ensure_kernel </dev/null) || say "what needs $options is skipped"
	done < <(kernels_needed | sort -u)
	default_options
}

kernels_needed() {
	local file
	[ "$default_debug" = no ] || { echo --debug && return; }
	{
		cut -f 5 "$logs/runs"
		cut -f 2 "$logs/runs" | sort -u | while read -r file; do
			grep -h '^# needs:' "$file"
		done
	} | grep -oE -- '--debug|--sva|--kernel [0-9.]+'
}

# ---- workers ----

run_workers() {
	local i watcher
	note_standstills </dev/null &
	watcher=$!
	for ((i = 1; i <= $(worker_count); i++)); do
		work "$i" </dev/null &
		pids+=($!)
	done
	wait "${pids[@]}" || true
	kill "$watcher" 2>/dev/null || true
	pids=()
}

# A worker that is told to end takes its guest along.
work() {
	worker=$1
	trap 'exit 143' TERM
	pids=() job=
	while choose_job; do
		run_job
	done
}

run_job() {
	case $job in
	'static '*) check_static "${job#static }" ;;
	unit*) check_unit ;;
	'host '*) run_on_host "${job#host }" ;;
	'guests '*)
		run_in_guest "${job#guests }"
		rm -rf "$logs/guests/$worker.serves"
		;;
	esac
}

# Sets job; false if nothing is left to do.
choose_job() {
	job=
	locked "$logs/jobs.lock" take_job
	[ -n "$job" ]
}

take_job() {
	local line list=$logs/jobs
	[ "$worker" = 1 ] || list=$logs/guests-first
	while IFS= read -r line; do
		case $line in
		'guests '*) joins_guests "${line#guests }" || continue ;;
		*) claim "${line#host }" || continue ;;
		esac
		job=$line
		return
	done <"$list"
}

# Another guest is worth its boot if there are enough tests for it.
joins_guests() {
	local left guests
	left=$(unclaimed "$1" | wc -l)
	guests=$(cat "$logs"/guests/*.serves 2>/dev/null | grep -cxF -- "options $1" || true)
	[ "$left" -gt $((4 * guests)) ] || return
	echo "options $1" >"$logs/guests/$worker.serves"
}

# ---- unit tests: automake's own, counted here ----

check_unit() {
	local begin=$EPOCHREALTIME log=$logs/unit/make line failed_log
	mkdir -p "$logs/unit"
	make_unit >"$log" 2>&1 </dev/null
	while read -r line; do
		unit_result "$line"
	done < <(grep -aE '^(PASS|FAIL|SKIP|XFAIL|XPASS|ERROR): ' "$log")
	for failed_log in "${logs_failed[@]}"; do
		grep -qaE '^(FAIL|XPASS|ERROR): ' "$failed_log" ||
			result "unit/$(basename "$failed_log" .log)/make" 1 "$(since "$begin")" "$failed_log"
	done
}

# All directories at once: some tests wait for timeouts most of the time. What failed comes last.
# Sets logs_failed.
make_unit() {
	local directory pid logs_passed=()
	local -A log_of=()
	pids=() logs_failed=()
	for directory in "$build"/user/tests/unit/*/; do
		compiled nice make -C "$directory" -k check >"$logs/unit/$(basename "$directory").log" 2>&1 &
		pids+=($!)
		log_of[$!]=$logs/unit/$(basename "$directory").log
	done
	for pid in "${pids[@]}"; do
		if wait "$pid"; then
			logs_passed+=("${log_of[$pid]}")
		else
			logs_failed+=("${log_of[$pid]}")
		fi
	done
	pids=()
	cat "${logs_passed[@]}" "${logs_failed[@]}" </dev/null
}

unit_result() {
	local name=${1#*: } status=1 log
	case $1 in
	PASS* | XFAIL*) status=0 ;;
	SKIP*) status=77 ;;
	esac
	log=$(find "$build/user" -path "*/${name%% *}.log" -newer "$logs/unit" | head -n 1)
	result "unit/$name" "$status" "" "${log:-/dev/null}"
}
