#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A debug build tests itself when it is loaded, and then works.
# lab: --host
# timeout: 300
set -eu
top=$(dirname "$LAB")
# The kernel that the lab runs, whose headers are here.
for driver in "$top"/build/driver-6.1*; do kernel=${driver##*/driver-}; done
# Built as the static checks build it, so that it is built once.
copy=$top/build/check-driver
mkdir -p "$copy"
(
	flock 9
	cp -ru --preserve=timestamps "$top/contract" "$top/build/"
	cp -ru --preserve=timestamps "$top/driver/." "$copy/"
	make -s -C "/usr/src/linux-headers-$kernel" M="$copy" OMX_DEBUG=1 KCFLAGS=-Werror modules
) 9>"$copy.lock"

# shellcheck disable=SC2016 # for the guest's shell
"$LAB" run bash -euc '
	lab-module unload
	OMX_MODULE=$1 lab-module load
	dmesg | grep "self-tests passed"
	node 1 omx_perf -s --timeout 5 >/dev/null &
	sleep 1
	node 2 omx_perf -d node1:0 --verify -N 5 --sizes 1,5000,1000000' - "$copy/omx.ko"
