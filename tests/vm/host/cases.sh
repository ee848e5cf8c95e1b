# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# The tests of tests/vm/cases. A test there is an executable file; it passes
# with status 0 and is skipped with 77 (its last line says why). Comments in
# it say how it is run:
#	# lab: --nodes 4 --netem 'loss 5%'	options of lab run
#	# timeout: 60				seconds, 120 if not said
#	# check: all				only by check --all
#	# needs: --debug			a kernel that it uses by itself
# Several "# lab:" lines are several runs. "# lab: --host" runs the test on
# this machine instead of in a guest, with $LAB the lab's path.
#
# Without --all a test runs once, with the options of its first line but on
# the stock kernel. With --all $LAB_ALL is "yes", which stands for a test's
# long form.

# list_runs GROUP: one line per run of a test: name, file, timeout, what netem
# does ("-": nothing), options of its guest, separated by tabs. Tests with the
# same guest share it; netem is applied to each. What the check leaves out goes
# to $logs/left-out.
list_runs() {
	local file options name limit
	for file in "$cases/$1"/*; do
		[ -f "$file" ] && [ -x "$file" ] || continue
		name=$1/$(basename "$file" .sh)
		limit=$(sed -n 's/^# timeout: *//p' "$file" | head -n 1)
		while read -r options; do
			printf '%s\t%s\t%s\t%s\t%s\n' "$name$(suffix_of "$options")" "$file" \
				"$(limit_with "$options" "${limit:-120}")" \
				"$(netem_of "$options")" "$(without_netem "$options")"
		done < <(chosen_options "$file" "$name")
	done
}

# Distinguishes the runs of one test; also the name of a directory.
suffix_of() {
	case $1 in
	'' | --host) ;;
	*) tr -s ' -' . <<<".$1" | tr -cd 'a-z0-9.%' ;;
	esac
}

netem_option="--netem '([^']*)'"

netem_of() {
	if [[ $1 =~ $netem_option ]]; then
		echo "${BASH_REMATCH[1]}"
	else
		echo -
	fi
}

without_netem() { sed -E "s/ ?$netem_option//; s/^ //" <<<"$1"; }

all_options() {
	{ grep '^# lab:' "$1" || echo '# lab:'; } | sed 's/^# lab: *//'
}

# chosen_options FILE NAME
chosen_options() {
	if [ -n "$default_udp" ]; then
		all_options "$1" | udp_options | head -n 1
	elif [ "$default_debug" = yes ]; then
		debug_options "$1"
	elif [ "$check_everything" = yes ]; then
		all_options "$1"
	elif grep -qE '^# (check: all|needs:)' "$1"; then
		all_options "$1" | leave_out "$2"
	else
		all_options "$1" | head -n 1 | stock_kernel
		all_options "$1" | tail -n +2 | leave_out "$2"
	fi
}

# A test that chooses how its nodes are joined stays as it is.
udp_options() { grep -vE -- '--(host|kernel|debug|sva|nic|machines|udp|virtual-time|no-module)' || true; }

# On the host check --debug only runs what proves its own kernel.
debug_options() {
	local proves_debug=no options
	! grep -q '^# needs: --debug' "$1" || proves_debug=yes
	all_options "$1" | while read -r options; do
		case $options in
		--host) [ "$proves_debug" = no ] || echo "$options" ;;
		*--kernel* | *--debug* | *--sva*) ;;
		*) echo "$options" ;;
		esac
	done
}

stock_kernel() { sed -E 's/ ?--(kernel [0-9.]+|debug)//; s/^ //'; }

leave_out() { sed "s|^|$1\t|" >>"$logs/left-out"; }

limit_with() {
	case $default_debug$1 in
	yes* | *--debug*) echo $(($2 * debug_slowness)) ;;
	*) echo "$2" ;;
	esac
}

# Whoever makes a run's directory among the claimed ones runs it, be it a worker
# or a guest (guest/run-tests); when it has a result, that is noted there.
claim() { mkdir "$logs/claimed/${1//\//-}" 2>/dev/null; }

# settle NAME STATUS SECONDS LOG
settle() {
	: >"$logs/claimed/${1//\//-}/settled"
	result "$(bare_name "$1")" "${@:2:3}" "$(options_of "$1")"
}

# The options are shown beside the name; see suffix_of().
bare_name() { cut -d . -f 1 <<<"$1"; }

options_of() {
	run_named "$1" | awk -F '\t' '
		$5 != "--host" { print $5 ($4 == "-" ? "" : ($5 == "" ? "" : " ") "--netem \047" $4 "\047") }'
}

fail_lost_runs() {
	local name
	while IFS=$'\t' read -r name _; do
		[ -e "$logs/claimed/${name//\//-}/settled" ] ||
			result "$(bare_name "$name")" "$exit_lab" "" /dev/null "no result; $(options_of "$name")"
	done <"$logs/runs"
}

# ---- on this machine ----

run_on_host() {
	local name file limit status=0 begin=$EPOCHREALTIME
	IFS=$'\t' read -r name file limit _ < <(run_named "$1")
	mkdir -p "$(dirname "$logs/$name")"
	LAB=$top/lab LAB_OUT=$logs/$name compiled timeout -k 5 "$limit" "$file" \
		>"$logs/$name.log" 2>&1 </dev/null || status=$?
	settle "$name" "$status" "$(since "$begin")" "$logs/$name.log"
}

run_named() { awk -F '\t' -v name="$1" '$1 == name' "$logs/runs"; }

# ---- in guests ----

# The runs with these options that nobody has claimed.
unclaimed() {
	local name options
	while IFS=$'\t' read -r name _ _ _ options; do
		[ "$options" != "$1" ] || [ -e "$logs/claimed/${name//\//-}" ] || echo "$name"
	done <"$logs/runs"
}

# One guest, which runs tests with these options until none is left, or until
# one has left it in disorder.
run_in_guest() {
	local options=$1 log status=0
	log=$(mktemp -d "$logs/guests/XXXXXX")
	chmod 755 "$log"
	set_options "$options"
	use_kernel 2>"$log/log" || status=$?
	if [ "$status" != 0 ]; then
		give_up "$status" "$log/log" "$options"
		return
	fi
	list_for_guest "$options" >"$log/list"
	opt_timeout=$((60 + $(awk -F '\t' '{ n += $3 + 10 } END { print n }' "$log/list")))
	mkfifo "$log/events"
	serve_tests "$log" &
	pids=($!)
	follow_guest "$log" "$options" <"$log/events"
	wait "${pids[0]}" || status=$?
	pids=()
	judge_guest "$status" "$log" "$options"
}

# Those that are given much time first: a long one that begins last is waited for.
list_for_guest() {
	awk -F '\t' -v OFS='\t' -v o="$1" '$5 == o { print $1, $2, $3, $4 }' "$logs/runs" |
		sort -s -t $'\t' -k 3,3nr
}

serve_tests() {
	trap 'stop_guests' EXIT
	trap 'exit 143' TERM
	run_guest "$logs" / /run/lab/run/guest/run-tests "/run/lab/out/${1#"$logs/"}/list" \
		>"$1/events" 2>"$1/log" </dev/null
}

# Sets started, the test without a result, and began, how many there were, and
# failures. A guest that is silent for too long is stopped.
follow_guest() {
	local patience=$((300 * $(slowness "$2"))) word name status seconds rc=0
	started='' began=0 failures=0
	while read -r -t "$patience" word name status seconds || { rc=$?; false; }; do
		case $word in
		start)
			started=$name began=$((began + 1))
			patience=$((60 * $(slowness "$2") + $(run_named "$name" | cut -f 3)))
			;;
		done)
			started=''
			[ "$status" = 0 ] || [ "$status" = 77 ] || failures=$((failures + 1))
			settle "$name" "$status" "$seconds" "$logs/$name/log"
			;;
		esac
	done
	[ "$rc" -le 128 ] || kill "${pids[0]}"
}

slowness() {
	case $default_debug$1 in
	yes* | *--debug*) echo "$debug_slowness" ;;
	*) echo 1 ;;
	esac
}

judge_guest() {
	local status=$1 log=$2 options=$3
	if [ -n "$started" ]; then
		{ echo '--- guest' && cat "$log/log"; } >>"$logs/$started/log"
		settle "$started" "$status" "" "$logs/$started/log"
	elif [ "$began" = 0 ]; then
		give_up "$((status ? status : exit_lab))" "$log/log" "$options"
	elif [ "$status" != 0 ] && [ "$failures" = 0 ]; then
		result "end-of-guest" "$status" "" "$log/log" "$options"
	fi
}

# give_up STATUS LOG OPTIONS: no test with these began, and none would.
give_up() {
	local name
	while read -r name; do
		! claim "$name" || settle "$name" "$1" "" "$2"
	done < <(unclaimed "$3")
}

# One that takes minutes to build is used if it is there.
use_kernel() {
	(LAB_CACHED_KERNELS=y ensure_kernel) || return
	ensure_kernel
	(build_all)
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
