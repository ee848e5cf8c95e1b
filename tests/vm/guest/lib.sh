# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash disable=SC1091,SC2154 # parts and settings come from the host
# What the guest's init, the nodes and the test runner share.

kernel_log=/run/lab/kmsg
problems=/run/lab/problems

problem() { echo "$*" >>"$problems"; }

. "$run/guest/leaks.sh"

mount_kernel_views() {
	mount -t cgroup2 cgroup2 /sys/fs/cgroup &&
		mount -t debugfs debugfs /sys/kernel/debug || return
	# a kernel may be without tracing
	[ ! -d /sys/kernel/tracing ] || mount -t tracefs tracefs /sys/kernel/tracing
}

# User-mode Linux has no such keys.
press_sysrq() {
	local key
	[ -e /proc/sysrq-trigger ] || return
	for key in "$@"; do
		echo "$key" >/proc/sysrq-trigger
	done
}

use_module() { [ "$module" = yes ]; }

module_loaded() { [ -d /sys/module/omx ]; }

kill_group() {
	local try
	for ((try = 0; try < 100; try++)); do
		[[ $(<"$1/cgroup.events") != *"populated 0"* ]] || return 0
		echo 1 >"$1/cgroup.kill"
		sleep 0.05
	done
	return 1
}

# An endpoint may live a moment longer than its process: try for 2 s.
unload_module() {
	local said
	said=$(remove_module) || problem "the module cannot be unloaded: $said"
}

remove_module() {
	local try said
	for ((try = 0; try < 20; try++)); do
		module_loaded || return 0
		said=$(rmmod omx 2>&1) && return
		sleep 0.1
	done
	echo "$said"
	return 1
}

# Everything that the kernel said so far is in $kernel_log afterwards.
sync_kernel_log() {
	local try mark="lab: mark $BASHPID.$RANDOM.$RANDOM"
	echo "$mark" >/dev/kmsg
	for ((try = 0; try < 100; try++)); do
		grep -qF "$mark" "$kernel_log" && return
		sleep 0.02
	done
	problem "the kernel log does not come through"
}

# Each endpoint that was created has been destroyed.
unbalanced_endpoints() {
	awk '
		!match($0, /omx: endpoint .* (created|destroyed)/) { next }
		{
			said = substr($0, RSTART + 5, RLENGTH - 5)
			ended = sub(/ destroyed$/, "", said)
			sub(/ created$/, "", said)
			n[said] += ended ? -1 : 1
		}
		END { for (e in n) if (n[e]) printf "%s%s", sep++ ? ", " : "", e }' "$kernel_log"
}

check_ledger() {
	local left
	sync_kernel_log
	left=$(unbalanced_endpoints)
	[ -z "$left" ] || problem "created and destroyed do not balance: $left"
}
