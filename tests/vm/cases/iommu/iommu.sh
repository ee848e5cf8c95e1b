# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash disable=SC2034 # for those who read this file
# For the cases in which the copy engine of tests/engine stores what is received.
. "$OMX_TESTS/memory.sh"
export OMX_MEMORY=device

poke=/sys/module/engine_poke/parameters

[ -e /run/lab/run/engine_driver.ko ] || { echo "this kernel has no IOMMU" && exit 77; }
insmod /run/lab/run/engine_poke.ko
trap 'rmmod engine_poke' EXIT

find_engine() {
	engine=$(grep -l '^0x6f6d$' /sys/bus/pci/devices/*/device)
	engine=${engine%/device}
}
find_engine

# peek NAME: the sum of that register of all channels, see poke/poke.c.
peek() { cat "$poke/$1"; }

# said_of_engine: what omx_info says of it.
said_of_engine() { node 1 omx_info | grep '^Copy engine'; }
is_used() { said_of_engine | grep -q 'used with'; }
await_used() {
	local try
	for ((try = 0; try < 50; try++)); do
		! is_used || return 0
		sleep 0.1
	done
	fail "it is not used: $(said_of_engine)"
}

# counted WHAT: the sum of that counter of both nodes.
counted() { echo $(($(counter 1 "$1") + $(counter 2 "$1"))); }

# grows WHAT COMMAND...: runs COMMAND, during which that counter must grow.
grows() {
	local before
	before=$(counted "$1")
	"${@:2}"
	echo "$1: $(($(counted "$1") - before))"
	[ "$(counted "$1")" -gt "$before" ] || fail "it did not happen: $1; $(said_of_engine)"
}

copied='piece of a frame copied by the device'
read='piece of a frame read by the device'
faulted='fault reported by the device'
resumed='copy resumed by the device after a fault'
refused='piece of a frame not taken by the device'
taken_over='piece of a frame copied again, not by the device'
drained='invalidation drained the device'

messages() { pair msg_random --count "$(by_form 12 30 6)" --mode large --length 4000000 "$@"; }
