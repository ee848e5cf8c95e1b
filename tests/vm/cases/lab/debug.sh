#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# What the kernel of --debug is there to find is found: by its log, and by
# status 125. That the driver works there is for the cases that run in it.
# lab: --host
# needs: --debug
# timeout: 900
set -u
out=$LAB_OUT
mkdir -p "$out"

in_debug() { LAB_OUT=$out LAB_CACHED_KERNELS=y "$LAB" run --debug --timeout 200 "$@"; }

# expect STATUS ARGUMENT...
expect() {
	local want=$1 status
	shift
	echo "### $*, expecting $want"
	in_debug "$@" 2>&1 | tee "$out/said" | tail -n 40
	status=${PIPESTATUS[0]}
	[ "$status" != 77 ] || { echo "the kernel of --debug is not in the cache; ./lab run --debug true builds it" && exit 77; }
	[ "$status" = "$want" ] || { echo "status $status" && exit 1; }
}

# Lockdep trusts nothing any more after the last two. The leak is found at the end.
cat >"$out/loud" <<'END'
sysctl -q kernel.panic_on_warn=0
while read -r bug line; do
	insmod "/run/lab/run/bugs.ko" bug="$bug" && rmmod bugs
	dmesg | grep -q "$line" || echo "not found: $bug"
done <<'BUGS'
sleep BUG: sleeping function called from invalid context
timer ODEBUG: free active
rcu WARNING: suspicious RCU usage
order WARNING: possible circular locking dependency
use-after-free BUG: KASAN: use-after-free
BUGS
insmod "/run/lab/run/bugs.ko" bug=leak
END
expect 125 bash "$out/loud"
! grep -F 'not found:' "$out/said" || exit 1
grep -q 'unreferenced object' "$out/said" && grep -q 'leak.*\[bugs\]' "$out/said"
