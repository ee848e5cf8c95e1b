#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# --netem is on both ends of the cable.
# lab: --netem 'delay 300ms loss 1%'
set -eux
node 1 tc qdisc show dev eth0 | grep 'netem .* delay 300ms loss 1%'
node 2 tc qdisc show dev eth0 | grep 'netem .* delay 300ms loss 1%'
