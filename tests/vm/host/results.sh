# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# The results of ./lab check. Workers add to $logs/results, whose lines are
# status, seconds (which may be empty) and name; the summary is made of it.

# result NAME STATUS SECONDS LOG [OPTIONS]
result() { locked "$logs/results.lock" add_result "$@"; }

add_result() {
	local shown="$1${5:+ [$5]}" time=${3:+ ($3 s)}
	printf '%s\t%s\t%s\n' "$2" "$3" "$shown" >>"$logs/results"
	case $2 in
	0) echo "PASS $shown$time" ;;
	77) echo "SKIP $shown: $(tail -n 1 "$4")" ;;
	*)
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

# on_host NAME CMD...: a test that needs no guest of the check's.
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

# Prints what took long, what was left out or failed, and the counts; true if all passed.
summarize() {
	print_slowest
	print_left_out
	print_standstills
	print_failed
	awk -F '\t' '
		$1 == 0 { passed++; next }
		$1 == 77 { skipped++; next }
		{ failed++ }
		END {
			printf "%d passed, %d failed, %d skipped\n", passed, failed, skipped
			exit failed > 0 || passed == 0
		}' "$logs/results"
}

print_slowest() {
	echo "The slowest tests:"
	awk -F '\t' '$2 != "" { printf "%8.1f s  %s\n", $2, $3 }' "$logs/results" | sort -rn | sed -n 1,10p
}

print_failed() {
	awk -F '\t' '
		$1 == 0 || $1 == 77 { next }
		!n++ { print "Failed:" }
		{ print "    " $3 }' "$logs/results"
}

# Watches the clock: a host that stands still makes tests fail that have done nothing wrong.
note_standstills() {
	local before now
	while kill -0 $$ 2>/dev/null; do
		before=$EPOCHSECONDS
		sleep 1
		now=$EPOCHSECONDS
		[ $((now - before)) -lt 10 ] ||
			printf '    %d s until %(%T)T\n' $((now - before)) "$now" >>"$logs/standstills"
	done
}

print_standstills() {
	[ -s "$logs/standstills" ] || return 0
	echo "This host stood still:"
	cat "$logs/standstills"
}

print_left_out() {
	[ -s "$logs/left-out" ] || return 0
	echo "Left out ($(wc -l <"$logs/left-out") runs; ./lab check --all includes them):"
	sort "$logs/left-out" | awk -F '\t' '
		{ runs[$1] = runs[$1] ($2 == "" ? "" : " [" $2 "]") }
		END { for (name in runs) print "    " name runs[name] }' | sort
}
