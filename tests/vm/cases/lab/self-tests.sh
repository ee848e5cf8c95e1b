#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A debug build tests itself when it is loaded, and then works.
# lab: --host
# timeout: 300
set -eu
top=$(dirname "$LAB")
"$LAB" build --self-tests

# shellcheck disable=SC2016 # for the guest's shell
"$LAB" run bash -euc '
	lab-module unload
	OMX_MODULE=$1 lab-module load
	dmesg | grep "self-tests passed"
	node 1 omx_perf -s --timeout 5 >/dev/null &
	sleep 1
	node 2 omx_perf -d node1:0 --verify -N 5 --sizes 1,5000,1000000' - "$top/build/check-driver/omx.ko"
