#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The same while the host is busy: six programs that only compute compete with
# the emulator from its start to its end. The guest runs in the emulator that
# ./lab run uses where KVM does not work; three guests, one after the other.
# lab: --host
# check: all
# timeout: 400
set -u
busy=()
for _ in 1 2 3 4 5 6; do
	while :; do :; done &
	busy+=($!)
done
trap 'kill "${busy[@]}"' EXIT

for round in 1 2 3; do
	echo "### guest $round"
	LAB_OUT=$LAB_OUT.$round "$LAB" run --no-module --timeout 60 \
		"$(dirname "$LAB")/tests/vm/cases/lab/clock.sh" || exit 1
done
