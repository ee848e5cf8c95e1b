# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# For the cases about memory. OMX_MEMORY_ROUNDS multiplies what they do; see
# "Long runs" in docs/MEMORY.md.
. "$OMX_TESTS/pair.sh"

# rounds N: N, or as many times that as asked for.
rounds() { echo $(($1 * ${OMX_MEMORY_ROUNDS:-1})); }

# in_modes 'MODE...' COMMAND...: with --mode M for each, all of them even if some
# fail.
in_modes() {
	local mode failed=''
	for mode in $1; do
		echo "$mode"
		"${@:2}" --mode "$mode" || failed+=" $mode"
	done
	[ -z "$failed" ] || fail "failed in mode$failed"
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
		swap_to /dev/ram*
	else
		echo "neither zram nor RAM disks: nothing can be swapped out"
	fi
}

swap_to() {
	local device
	for device in "$@"; do
		mkswap "$device" >/dev/null && swapon "$device"
	done
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
