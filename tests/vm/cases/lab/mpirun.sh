#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# mpirun starts programs on nodes as it does on machines.
# lab:
# lab: --no-module --machines
# check: all
# timeout: 200
set -eu

# starts WHERE WORD...: what runs says on which node it is
starts() {
	local where=$1 said
	shift
	echo "mpirun $*"
	said=$("${caller[@]}" mpirun "$@" sh -c 'echo $(hostname):$(id -un)' | sort | xargs)
	echo "    $said"
	[ "$said" = "$where" ]
}

caller=(env)
starts 'node1:root node1:root node2:root node2:root' -np 4 --host node1:2,node2:2
starts 'node2:root' -np 1 --host 10.0.0.2
caller=(node 2)
starts 'node1:root node2:root' -np 2 --host node1,node2
caller=(setpriv --reuid nobody --regid nogroup --clear-groups)
starts 'node1:nobody node2:nobody' -np 2 --host node1,node2

# refused WORD...
refused() {
	echo "mpirun $*: is to fail"
	! mpirun "$@"
}
refused -np 3 --host node1:1,node2:1 true
refused -np 2 --host node1,node2 sh -c '[ $(hostname) = node1 ] || exit 3'
refused -np 1 --host node99 true
refused -np 1 --host elsewhere true

mpirun -np 2 --host node2 --oversubscribe true
