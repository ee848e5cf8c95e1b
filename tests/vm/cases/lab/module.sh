#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# lab-module takes the module away and brings it back, everybody known.
# lab:
# lab: --machines
# check: all
set -eux
lab-module unload
[ ! -e /sys/module/omx ]
node 2 test ! -e /sys/module/omx
lab-module load
node 1 omx_peers | grep -w node2:0
node 2 omx_peers | grep -w node1:0
