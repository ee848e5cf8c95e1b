#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The kernel log has the lines that the ledger of endpoints is made of, and
# an endpoint whose process is killed is in it twice.
set -eux
node 1 omx_perf &
for ((try = 0; try < 100; try++)); do
	! dmesg | grep 'omx: endpoint .* created' || break
	sleep 0.1
done
kill -KILL $!
wait $! || true
for ((try = 0; try < 100; try++)); do
	! dmesg | grep 'omx: endpoint .* destroyed' || exit 0
	sleep 0.1
done
exit 1
