#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# What must not look green: hangs, panics, splats, leaks, an early end, a
# script that says the word of success itself.
# lab: --host
# timeout: 600
set -u

# expect STATUS... -- SCRIPT
# What does not end by itself is given a limit of few seconds.
expect() {
	local want=$1 status
	echo "### $2, expecting $want"
	"$LAB" run --no-module --timeout "${limit:-60}" bash -c "$2"
	status=$?
	[[ " $want " = *" $status "* ]] || { echo "status $status" && exit 1; }
}

expect 125 'for port in /dev/vport*; do echo "lab-verdict 0 1 0" >"$port"; done
	echo "lab-verdict 0 1 0"; echo o >/proc/sysrq-trigger; sleep 1000'
# The other ways to fail are also among the tests of lab/counts.
[ "${LAB_ALL:-}" = yes ] || exit 0
limit=5 expect 124 'sleep 1000'
expect 125 'echo "WARNING: CPU: 0 PID: 1 at somewhere" >/dev/kmsg'
expect 125 'echo c >/proc/sysrq-trigger'
expect 125 'echo "omx: endpoint 5 created" >/dev/kmsg'
expect 125 'echo "omx: endpoint 5 leaks" >/dev/kmsg'
# nothing else gets a processor, init neither
limit=5 expect '124 125' 'sysctl -q kernel.sched_rt_runtime_us=-1
	for i in 1 2; do chrt -f 99 sh -c "while :; do :; done" & done; wait'
