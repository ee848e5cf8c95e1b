#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# What is wrong in a command line is said at once, before anything is built, with
# the command whose --help to read.
# lab: --host
set -u
status=0

# refused WHAT COMMAND [WORD...]
refused() {
	local what=$1 said code=0
	shift
	said=$(timeout 20 "$LAB" "$@" 2>&1) || code=$?
	[ "$code" = 2 ] && [[ $said == *"$what"* ]] && [[ $said == *"try ./lab $1 --help"* ]] &&
		[[ $said != *building* ]] && return
	echo "$*: status $code, said: $said"
	status=1
}

refused '--memory is' run --memory x true
refused '--memory is' run --memory 2048 true
refused '--mtu is' run --mtu x true
refused '--boot needs a value' run --boot
refused 'has no --iommu' run --kernel 7.2 --iommu true
refused 'has no --iommu and no --sva' run --kernel 7.2 --sva true
refused 'has no --sva' run --debug --sva true
refused '--speed needs --virtual-time' run --speed 10 true
refused '--speed is a number' run --virtual-time --speed 0 true
refused 'of congestion' bench --pattern incast latency
refused 'congestion is measured alone' bench congestion latency
refused 'congestion is measured alone' bench --wall congestion
refused '--udp is' run --udp 5 true
refused '--udp is' check --udp loss
refused '--udp joins' run --udp 4 --machines true
refused 'has no UDP tunnels' run --kernel 7.2 --udp 6 true
refused '--udp excludes' check --all --udp 6 loss
refused '--all and --debug' check --all --debug memory
refused 'unknown option --everything' check memory --everything
refused 'no group nothing' check nothing
refused 'takes no argument' build everything
refused 'takes no argument' package everything
refused '--release takes' package --release
refused '--release takes' package --release 13
refused 'takes no argument' build --no-module everything
refused 'no group nothing' bench nothing
refused '--rounds is' bench --rounds 0
refused '--model is of --nic' bench --model vmxnet3
refused '--model is e1000 or vmxnet3' bench --nic --model e1000e
refused '--moderated is of --nic' bench --moderated latency
refused '--moderated is of --nic' bench --nic --model vmxnet3 --moderated
refused '--moderated is of --nic e1000' run --moderated true
refused '--moderated is of --nic e1000' run --nic vmxnet3 --moderated true
refused '--link is of --nic' bench --link 10gbit latency
refused '--link is a rate' bench --nic --link fast
refused 'not measured over emulated NICs' bench --nic onesided
refused 'without --link, --policy and groups' bench --nic --markdown rate
refused 'without --link, --policy and groups' bench --nic --markdown --link 10gbit
refused 'without --link, --policy and groups' bench --nic --markdown --policy stock
refused '--policy is of --nic' bench --policy stock latency
refused '--policy is batch or stock' bench --nic --policy idle latency
refused '--policy is of latency' bench --nic --policy stock latency memory
refused 'takes no argument' demo now
exit $status
