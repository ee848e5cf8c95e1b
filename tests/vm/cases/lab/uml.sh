#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The driver builds for another kernel without a warning; its nodes exchange
# messages, every byte of them checked; what goes wrong there is red too; and
# nothing there, not even a mount of its own, can write to this machine.
# lab: --host
# needs: --kernel 7.2
# timeout: 900
set -u
out=$LAB_OUT
mkdir -p "$out"

in_uml() {
	LAB_OUT=$out LAB_CACHED_KERNELS=y "$LAB" run --kernel 7.2 --timeout 60 "$@"
}

# expect STATUS ARGUMENT...
expect() {
	local want=$1 status
	shift
	echo "### $*, expecting $want"
	in_uml "$@" 2>&1 | tail -n 40
	status=${PIPESTATUS[0]}
	[ "$status" != 77 ] || { echo "user-mode Linux is not in the cache; ./lab run --kernel 7.2 true builds it" && exit 77; }
	[ "$status" = "$want" ] || { echo "status $status" && exit 1; }
}

cat >"$out.writes" <<'END'
touch "$(dirname "$0")/from-a-guest"
mkdir /tmp/host && mount -t hostfs -o "$(dirname "$0")" none /tmp/host &&
	touch /tmp/host/from-a-guest
echo data >"$LAB_OUT/file"
exit 3
END

expect 0 "$(dirname "$LAB")/tests/vm/guest/demo"
expect 3 "$out.writes"
[ "$(cat "$out/file")" = data ] && [ ! -e "$(dirname "$out")/from-a-guest" ] || exit 1
expect 125 --no-module bash -c 'echo "WARNING: at somewhere" >/dev/kmsg'
expect 124 --no-module --timeout 2 sleep 1000
expect 2 --machines true
expect 2 --virtual-time true
