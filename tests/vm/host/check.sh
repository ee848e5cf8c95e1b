# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# ./lab check: static checks, unit tests, and the tests of tests/vm/cases.
#
# A test there is an executable file; it passes with status 0, is skipped
# with 77 (its last line says why). Comments in it say how it is run:
#	# lab: --nodes 4 --netem 'loss 5%'	options of lab run
#	# timeout: 60				seconds, 120 if not said
#	# needs: --debug			a kernel that it uses by itself
# Several "# lab:" lines are several runs. "# lab: --host" runs the test on
# this machine instead of in a guest, with $LAB the lab's path.

usage_check() {
	cat <<END
usage: ./lab check [--debug] [GROUP...]

Runs all tests, or those of the groups: $(groups).
The last line is "N passed, N failed, N skipped"; logs are in build/logs.
The first time it builds the other kernels that they run in, which takes up to
half an hour; what needs one that cannot be had is skipped.

  --debug    only what runs in guests with the stock kernel, but with one that
             checks itself, which is built at first, and the proof that it
             does; tests have $debug_slowness times the time
END
}

cases=${LAB_CASES:-$vm/cases}
passed=0 failed=0 skipped=0

groups() {
	[ -n "${LAB_CASES:-}" ] || [ "$default_debug" = yes ] || printf 'build unit '
	(cd "$cases" && printf '%s\n' */) | tr -d / | sort | tr '\n' ' ' | sed 's/ $//'
}

cmd_check() {
	local group list
	case ${1:-} in
	--debug) default_debug=yes && shift ;;
	-h | --help) usage_check && return ;;
	-*) usage_error "unknown option $1" ;;
	esac
	list=("$@")
	[ $# -gt 0 ] || read -ra list <<<"$(groups)"
	for group in "${list[@]}"; do
		[[ " $(groups) " = *" $group "* ]] || usage_error "there is no group $group"
	done
	prepare_check
	build_kernels "${list[@]}"
	for group in "${list[@]}"; do
		check_group "$group"
	done
	echo "$passed passed, $failed failed, $skipped skipped"
	[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
}

prepare_check() {
	default_options
	ensure_packages "${packages[@]}" "${packages_check[@]}" \
		"${packages_mpi[@]}" "${packages_mpi_check[@]}"
	mkdir -p "$build/runs"
	logs=$(mktemp -d "$build/runs/check.XXXXXX")
	chmod 755 "$logs"
	[ -n "${LAB_CASES:-}" ] || ln -sfn "${logs#"$build/"}" "$build/logs"
	ensure_kernel
	build_all
	built_for=" $kver "
}

# What takes minutes is built where it can be seen.
build_kernels() {
	local options
	while read -r options; do
		set_options "$options"
		(ensure_kernel </dev/null) || say "what needs $options is skipped"
	done < <(kernels_of "$@" | sort -u)
	default_options
}

kernels_of() {
	local group
	[ "$default_debug" = no ] || { echo --debug && return; }
	for group in "$@"; do
		[ ! -d "$cases/$group" ] || grep -hE '^# (lab|needs):' "$cases/$group"/* 2>/dev/null |
			grep -oE -- '--debug|--kernel [0-9.]+'
	done
}

check_group() {
	say "group $1"
	case $1 in
	build) check_build ;;
	unit) check_unit ;;
	*) check_cases "$1" ;;
	esac
}

# result NAME STATUS SECONDS LOG [LABEL]; SECONDS may be empty
result() {
	local shown="$1${5:+ [$5]}" time=${3:+ ($3 s)}
	case $2 in
	0)
		passed=$((passed + 1))
		echo "PASS $shown$time"
		;;
	77)
		skipped=$((skipped + 1))
		echo "SKIP $shown: $(tail -n 1 "$4")"
		;;
	*)
		failed=$((failed + 1))
		echo "FAIL $shown$time: status $2"
		last_words "$4" | sed 's/^/    /'
		;;
	esac
}

# The end of each part of a log: what the test said, then the kernel's log,
# then the guest's, as far as they are there.
last_words() {
	awk -v most=20 '
		function flush(i) {
			for (i = n > most ? n - most : 0; i < n; i++)
				print line[i]
			n = 0
			most = 40
		}
		/^--- (kernel log|guest)$/ { flush(); print; next }
		{ line[n++] = $0 }
		END { flush() }' "$1" | tr -d '\r'
}

# on_host NAME CMD...: a test that needs no guest.
on_host() {
	local name=$1 status=0 begin=$EPOCHREALTIME
	mkdir -p "$(dirname "$logs/$name")"
	("${@:2}") >"$logs/$name.log" 2>&1 </dev/null || status=$?
	result "$name" "$status" "$(since "$begin")" "$logs/$name.log"
}

since() {
	local now=$EPOCHREALTIME
	awk -v a="$1" -v b="$now" 'BEGIN { printf "%.1f", b - a }'
}

# ---- unit tests: automake's own, counted here ----

check_unit() {
	local begin=$EPOCHREALTIME log=$logs/unit/make.log status=0 line
	mkdir -p "$logs/unit"
	make -C "$build/user" -k check >"$log" 2>&1 </dev/null || status=$?
	while read -r line; do
		unit_result "$line"
	done < <(grep -aE '^(PASS|FAIL|SKIP|XFAIL|XPASS|ERROR): ' "$log")
	if [ "$status" != 0 ] && ! grep -qaE '^(FAIL|XPASS|ERROR): ' "$log"; then
		result unit/make "$status" "$(since "$begin")" "$log"
	fi
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

# ---- tests in guests ----

# One line per run of a test: options, group/name, file, timeout.
list_runs() {
	local file options limit
	for file in "$cases/$1"/*; do
		[ -f "$file" ] && [ -x "$file" ] || continue
		limit=$(sed -n 's/^# timeout: *//p' "$file" | head -n 1)
		{ grep '^# lab:' "$file" || echo '# lab:'; } | sed 's/^# lab: *//' |
			while read -r options; do
				is_of_this_check "$file" "$options" || continue
				printf '%s\t%s\t%s\t%s\n' "$options" "$1/$(basename "$file" .sh)" \
					"$file" "$(limit_with "$options" "${limit:-120}")"
			done
	done
}

# On the host check --debug only runs what proves its own kernel, which takes
# minutes and is left out otherwise.
is_of_this_check() {
	local proves_debug=no
	if [ "$2" = --host ]; then
		! grep -q '^# needs: --debug' "$1" || proves_debug=yes
		[ "$proves_debug" = "$default_debug" ]
	else
		[ "$default_debug" = no ] || [[ $2 != *--kernel* && $2 != *--debug* ]]
	fi
}

limit_with() {
	case $default_debug$1 in
	yes* | *--debug*) echo $(($2 * debug_slowness)) ;;
	*) echo "$2" ;;
	esac
}

check_cases() {
	local all options
	all=$(list_runs "$1")
	while read -r options; do
		mapfile -t pending < <(awk -F '\t' -v o="$options" '$1 == o' <<<"$all")
		if [ "$options" = --host ]; then
			run_on_host
		else
			run_in_guests "$1" "$options"
		fi
	done < <(cut -f 1 <<<"$all" | sort -u)
}

run_on_host() {
	local run name file limit
	for run in "${pending[@]}"; do
		IFS=$'\t' read -r _ name file limit <<<"$run"
		LAB=$top/lab LAB_OUT=$logs/$name on_host "$name" timeout -k 5 "$limit" "$file"
	done
}

# Guests until every pending test has a result: one that fails may leave its
# guest in disorder, or dead, and then the others get a new one.
run_in_guests() {
	local guest=0
	while [ "${#pending[@]}" -gt 0 ]; do
		guest=$((guest + 1))
		run_pending "$1" "$2" "$logs/$1/guest$guest${2//[^a-z0-9]/}"
	done
}

# A list with an empty field first: read would take the tab for a space.
field() { cut -f "$2" <<<"$1"; }

run_pending() {
	local group=$1 options=$2 log=$3 status=0 run started=''
	set_options "$options"
	mkdir -p "$logs/$group"
	: >"$log.list"
	use_kernel 2>"$log.log" || status=$?
	if [ "$status" != 0 ]; then
		fail_pending "$status" "$log.log" "$options"
		return
	fi
	opt_timeout=60
	for run in "${pending[@]}"; do
		field "$run" 2-4 >>"$log.list"
		opt_timeout=$((opt_timeout + $(field "$run" 4) + 10))
	done
	run_guest "$logs" / /run/lab/run/guest/run-tests "/run/lab/out/${log#"$logs/"}.list" \
		> >(tee "$log.events" | show_results "$options") 2>"$log.log" || status=$?
	wait $!
	count_results "$log.events"
	started=$(unfinished "$log.events")
	cut -d ' ' -f 2 "$log.events" | sort -u >"$log.seen"
	if [ -n "$started" ]; then
		{ echo '--- guest' && cat "$log.log"; } >>"$logs/$started/log"
		result "$started" "$status" "" "$logs/$started/log" "$options"
	elif [ ! -s "$log.events" ]; then
		# no test began, and none would
		fail_pending "$status" "$log.log" "$options"
		return
	elif [ "$status" != 0 ] && ! grep -qE '^done [^ ]+ (1|[2-9]|[1-9][0-9]+) ' "$log.events"; then
		result "$group/end-of-guest" "$status" "" "$log.log" "$options"
	fi
	drop_pending "$log.seen"
}

# One that takes minutes to build is used if it is there.
use_kernel() {
	(LAB_CACHED_KERNELS=y ensure_kernel) || return
	ensure_kernel
	[[ $built_for = *" $kver "* ]] || (build_all) || return
	built_for+="$kver "
}

set_options() {
	local words
	default_options
	mapfile -t words < <(xargs -n 1 printf '%s\n' <<<"$1")
	[ -n "${words[*]}" ] || words=()
	set -- "${words[@]}"
	while [ $# -gt 0 ]; do
		take_option "$@"
		shift "$taken"
	done
	check_options
}

# Prints each result as it comes; counting is for the shell that survives.
show_results() {
	local word name status seconds
	while read -r word name status seconds; do
		[ "$word" != done ] || result "$name" "$status" "$seconds" "$logs/$name/log" "$1"
	done
}

count_results() {
	local word status
	while read -r word _ status _; do
		[ "$word" = done ] || continue
		case $status in
		0) passed=$((passed + 1)) ;;
		77) skipped=$((skipped + 1)) ;;
		*) failed=$((failed + 1)) ;;
		esac
	done <"$1"
}

unfinished() {
	awk '$1 == "start" { name = $2 } $1 == "done" { name = "" } END { print name }' "$1"
}

fail_pending() {
	local run
	for run in "${pending[@]}"; do
		result "$(field "$run" 2)" "$1" "" "$2" "$3"
	done
	pending=()
}

drop_pending() {
	local run rest=()
	for run in "${pending[@]}"; do
		grep -qxF "$(field "$run" 2)" "$1" || rest+=("$run")
	done
	pending=("${rest[@]}")
}
