# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# For the cases: programs with two sides.

# by_form QUICK LONG SLOW: what a case uses in its quick form, in the long one of
# check --all, or, instead of either, where the kernel checks itself and is slow.
by_form() {
	if [ -e /proc/lockdep ]; then
		echo "$3"
	elif [ "${LAB_ALL:-no}" = yes ]; then
		echo "$2"
	else
		echo "$1"
	fi
}

# by_link CLEAN LOSSY: what a case uses on links that lose no frames, and on those that do.
# The congestion control takes each loss for congestion, so that these carry much less.
by_link() {
	if node 1 tc qdisc show dev eth0 | grep -q "netem.* loss"; then
		echo "$2"
	else
		echo "$1"
	fi
}

# pair PROGRAM [OPTION...]: its server on node 1, its client on node 2. Both
# must succeed; when one fails, the other is not waited for.
pair() {
	local program=$OMX_TESTS/$1 server client
	shift
	node 1 "$program" --server "$@" &
	server=$!
	node 2 "$program" --client node1:0 "$@" &
	client=$!
	both "$server" "$client"
}

# both PID PID
both() {
	local status=0
	wait -n "$1" "$2" || status=$?
	if [ "$status" != 0 ]; then
		kill "$1" "$2" 2>/dev/null
	else
		wait "$1" && wait "$2" || status=$?
	fi
	return "$status"
}

# serves PID: returns when the server on node 1 has opened its endpoint, number 1,
# which other programs on the node would take.
serves() {
	until node 1 omx_endpoints | grep -q ' 1  open by'; do
		kill -0 "$1" && sleep 0.1 || return
	done
}

# alone I PROGRAM [OPTION...]: on node I; a program with two sides starts both.
alone() {
	local node=$1 program=$OMX_TESTS/$2
	shift 2
	node "$node" "$program" "$@"
}

# counter I LABEL: of the boards of node I.
counter() {
	node "$1" omx_counters --verbose | awk -v label="$2" '
		{ line = $0; sub(/^[ \t]+/, "", line) }
		index(line, label) == 1 || $0 ~ label { for (i = 1; i <= NF; i++) if ($i ~ /^[0-9]+$/) n += $i }
		END { print n + 0 }'
}

# local_accesses I: how many puts and gets were performed by their initiators on node I.
local_accesses() {
	counter "$1" 'put or get performed by its initiator on this host'
}

# at_once I PROGRAM [OPTION...]: alone, and some of its accesses are performed by the
# calls that post them.
at_once() {
	local before
	before=$(local_accesses "$1")
	alone "$@"
	[ "$(local_accesses "$1")" -gt "$before" ] ||
		fail "$2: no access is performed by the call that posts it"
}

# says WORD FILE PID: within 20 s the program writes that to its log.
says() {
	local try
	for ((try = 0; try < 200; try++)); do
		! grep -q "$1" "$2" || return 0
		kill -0 "$3" 2>/dev/null || break
		sleep 0.1
	done
	cat "$2"
	fail "the program does not say '$1'"
}

# KiB that are not free and cannot be had at once.
used() {
	echo 3 >/proc/sys/vm/drop_caches
	awk '
		/^MemTotal:/ { n += $2 }
		/^(MemFree|Buffers|Cached|SReclaimable):/ { n -= $2 }
		$1 == "Shmem:" { n += $2 }
		$1 == "count:" { n -= $2 * 4 }
		END { print n }' /proc/meminfo /proc/zoneinfo
}

fail() {
	echo "$*" >&2
	exit 1
}
