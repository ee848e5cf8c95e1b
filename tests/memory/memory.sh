# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# For the cases about memory. OMX_MEMORY_ROUNDS multiplies what they do; see
# "Long runs" in docs/MEMORY.md.
. "$OMX_TESTS/pair.sh"

# patience SECONDS: that, or as many times that as asked for.
patience() { echo $(($1 * ${OMX_MEMORY_ROUNDS:-1})); }

# rounds N: likewise, but a sixth of it without check --all, and fewer where the
# kernel checks itself and is slow.
rounds() {
	local count=$(($1 * ${OMX_MEMORY_ROUNDS:-1}))
	[ "${LAB_ALL:-no}" = yes ] || count=$(((count + 5) / 6))
	[ ! -e /proc/lockdep ] || count=$(((count + 11) / 12))
	echo "$count"
}

# in_modes 'MODE...' COMMAND...: with --mode M for each, all of them even if some
# fail; what those said is said again at the end.
in_modes() {
	local mode failed='' errors
	errors=$(mktemp)
	for mode in $1; do
		echo "$mode"
		(
			set -o pipefail
			"${@:2}" --mode "$mode" 2>&1 >&3 | tee -a "$errors" >&2
		) 3>&1 || failed+=" $mode"
	done
	[ -z "$failed" ] || fail "failed in mode$failed: $(cat "$errors")"
}

# quick_modes 'MODE...': without check --all the two that differ most, of those.
quick_modes() { by_form 'pin unpinned' "$1" "$1"; }

# pair_as_user LIMIT PROGRAM [OPTION...]: pair, as a user without privileges who
# may lock that much memory.
pair_as_user() {
	local limit=$1 program=$2 server
	shift 2
	as_user 1 "$limit" "$program" --server "$@" &
	server=$!
	as_user 2 "$limit" "$program" --client node1:0 "$@" &
	both $server $!
}
as_user() {
	local i=$1 limit=$2 program=$OMX_TESTS/$3
	shift 3
	node "$i" prlimit --memlock="$limit:$limit" setpriv --reuid 65534 --regid 65534 \
		--clear-groups --bounding-set=-all "$program" "$@"
}

# Something to swap to, in memory, compressed where the kernel can; it may be
# without.
make_swap() {
	! grep -qE '^/dev/(zram|ram)' /proc/swaps || return 0
	modprobe zram num_devices=1 2>/dev/null || true
	if [ -e /sys/block/zram0/disksize ]; then
		echo 512M >/sys/block/zram0/disksize
		swap_to /dev/zram0
	elif [ -b /dev/ram0 ]; then
		swap_to /dev/ram0
	else
		echo "neither zram nor RAM disks: nothing can be swapped out"
	fi
}

swap_to() {
	mkswap "$1" >/dev/null && swapon "$1"
}

# balance_nodes 0|1: does the kernel migrate pages to where they are used?
balance_nodes() {
	[ ! -e /proc/sys/kernel/numa_balancing ] || echo "$1" >/proc/sys/kernel/numa_balancing
}

# torture MODE N [OPTION...]: N rounds of each act in each state. Nothing may be
# left out on the stock kernel. Pages also migrate by themselves.
torture() {
	local log status=0
	log=$(mktemp)
	make_swap
	balance_nodes 1
	(
		set -o pipefail
		pair mem_torture --mode "$1" --count "$(rounds "$2")" --timeout "$(patience 300)" \
			"${@:3}" | tee "$log"
	) || status=$?
	balance_nodes 0		# whatever comes next in this guest may count invalidations
	[ "$status" = 0 ] || return "$status"
	[ -e /proc/lockdep ] || ! grep -q 'left out' "$log" || fail "not all has been tried"
}

vmstat() { awk -v name="$1" '$1 == name { print $2 }' /proc/vmstat; }
# What processors have not added up yet included.
pinned_by_kernel() {
	echo 1 >/proc/sys/vm/stat_refresh
	echo $(($(vmstat nr_foll_pin_acquired) - $(vmstat nr_foll_pin_released)))
}

# At the end of a case: no page is left pinned, neither by the driver's own
# count nor by the kernel's; what ends last may take a moment.
nothing_pinned() {
	local try i pages
	for ((try = 0; try < 50; try++)); do
		pages=$(pinned_by_kernel)
		for i in 1 2; do
			pages+=" $(counter $i 'pages pinned now')"
		done
		[ "$pages" != '0 0 0' ] || return 0
		sleep 0.1
	done
	fail "pages are still pinned (by the kernel's count, node 1, node 2): $pages"
}

# show_counters: what the memory of both nodes went through.
show_counters() {
	local i
	for i in 1 2; do
		echo "node$i:"
		node $i omx_counters | grep -iE 'fault|pin|invalidat|region|page|pull' || true
	done
}
