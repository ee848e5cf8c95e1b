#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# With --speed 100 the guest's clock and its timers advance by a nanosecond in 100
# instructions. The kernel stamps its log with the scheduler's clock, which goes on
# counting each instruction as one.
# lab: --no-module --virtual-time --speed 100
# check: all
set -eu

# stamp NAME: us of the scheduler's clock.
stamp() {
	echo "speed: $1" >/dev/kmsg
	dmesg | sed -n "s/^\[ *\([0-9]*\)\.\([0-9]*\)\] speed: $1\$/\1\2/p"
}

clock=${EPOCHREALTIME/./} scheduler=$(stamp begin)
for ((i = 0; i < 20; i++)); do
	sleep 0.01
done
clock=$((${EPOCHREALTIME/./} - clock)) scheduler=$(($(stamp end) - scheduler))
echo "20 times 10 ms took $clock us, and $scheduler us by the scheduler's clock"
[ "$clock" -ge 200000 ]
[ "$scheduler" -gt $((clock * 95)) ] && [ "$scheduler" -lt $((clock * 105)) ]
