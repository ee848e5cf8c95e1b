#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Nodes are what lab run --help says.
# lab:
# lab: --no-module
# lab: --no-module --nodes 4 --mtu 1500
# lab: --no-module --machines
# lab: --no-module --nic e1000
set -eux

for ((i = 1; i <= LAB_NODES; i++)); do
	[ "$(node "$i" hostname)" = "node$i" ]
	[ "$(node "$i" cat /sys/class/net/eth0/mtu)" = "$LAB_MTU" ]
	node "$i" ip -br address show dev eth0 | grep -qw "10.0.0.$i/24"
	node "$i" busybox ping -c 1 -s $((LAB_MTU - 28)) node1
done

status=0
node 2 sh -c 'exit 5' || status=$?
[ "$status" = 5 ]
[ "$(echo input | node 2 cat)" = input ]
[ "$(node 2 pwd)" = "$PWD" ]
[ "$(node 2 sh -c 'echo error >&2' 2>&1)" = error ]
[ "$(node 2 node 1 hostname)" = node1 ]
[ "$(su nobody -s /bin/sh -c 'node 2 id -un')" = nobody ]

# a background job is the command itself: signals reach it
node 2 sleep 98765 &
sleep 0.5
kill $!
wait $! || status=$?
[ "$status" = 143 ]
! node 2 pgrep -fx 'sleep 98765' || exit 1

echo from-node2 | node 2 sh -c 'cat >"$LAB_OUT/file"'
[ "$(cat "$LAB_OUT/file")" = from-node2 ]
