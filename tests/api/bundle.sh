# SPDX-License-Identifier: BSD-2-Clause
# Sourced by cases in which short messages share packets, behind pair.sh.
cork=/sys/module/omx/parameters/cork_us
default=$(cat $cork)

restore() {
	echo "$default" >$cork
	node 1 tc qdisc del dev eth0 root 2>/dev/null || true
}
trap restore EXIT

# sends US COUNT OPTION...: what node 2 needs to send so many messages, in `frames` and
# `bundles`, if messages wait for so many us.
sends() {
	local us=$1 count=$2
	shift 2
	echo "$us" >$cork
	node 1 omx_counters --clear
	node 2 omx_counters --clear
	pair msg_bundle --count "$count" "$@"
	bundles=$(counter 2 'sent bundle')
	frames=$((bundles + $(counter 2 'sent eager')))
	echo "cork_us $us: $count messages ($*), $frames frames, $bundles bundles"
	[ "$(counter 1 'received bundle')" = "$bundles" ] || fail "not all bundles were received"
}
