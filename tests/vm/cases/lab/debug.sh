#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The kernel of --debug works, the driver's own tests pass in it, and what it
# is there to find is found: by its log, and by status 125.
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

cat >"$out/messages" <<'END'
set -e
dmesg | grep "self-tests passed"
readlink "/lib/modules/$(uname -r)/build" >"$LAB_OUT/tree"
node 1 omx_perf -s --timeout 20 >/dev/null &
sleep 5
node 2 omx_perf -d node1:0 --verify -N 3 --sizes 1,5000,1000000
END
expect 0 bash "$out/messages"

cp "$(dirname "$0")"/bugs/* "$out/"
make -s -C "$(cat "$out/tree")" M="$out" modules || exit 1

# Lockdep trusts nothing any more after the last two.
cat >"$out/loud" <<'END'
sysctl -q kernel.panic_on_warn=0
while read -r bug line; do
	insmod "$LAB_OUT/bugs.ko" bug="$bug" && rmmod bugs
	dmesg | grep -q "$line" || echo "not found: $bug"
done <<'BUGS'
sleep BUG: sleeping function called from invalid context
timer ODEBUG: free active
rcu WARNING: suspicious RCU usage
order WARNING: possible circular locking dependency
use-after-free BUG: KASAN: use-after-free
BUGS
END
expect 125 --no-module bash "$out/loud"
! grep -F 'not found:' "$out/said" || exit 1

expect 125 --no-module insmod "$out/bugs.ko" bug=leak
grep -q 'unreferenced object' "$out/said" && grep -q 'leak.*\[bugs\]' "$out/said"
