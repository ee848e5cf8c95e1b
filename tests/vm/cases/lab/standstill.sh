#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A guest whose host stands still for half a minute goes on afterwards.
# lab: --host
# check: all
# timeout: 200
set -u

# The process of this one's children and theirs that is the guest.
emulator() {
	local child
	for child in $(pgrep -P "$1"); do
		if [[ $(cat "/proc/$child/comm") = qemu-* ]]; then
			echo "$child"
		else
			emulator "$child"
		fi
	done
}

said=$LAB_OUT.said
# Interfaces that come and go keep RCU busy, which is the first to complain.
"$LAB" run --no-module --timeout 120 bash -c 'echo ready; end=$((SECONDS + 20))
	while [ $SECONDS -lt $end ]; do ip link add dummy9 type dummy && ip link del dummy9 || exit; done
	echo goes on' >"$said" &
lab=$!
until grep -qx ready "$said"; do
	kill -0 $lab || exit 1
	sleep 0.2
done
guest=$(emulator $lab)
kill -STOP "$guest" || exit 1
sleep 35
kill -CONT "$guest"
wait $lab || exit 1
grep -x 'goes on' "$said"
