# SPDX-License-Identifier: BSD-2-Clause
# Sourced by cases in which short messages share packets, behind pair.sh.
cork=/sys/module/omx/parameters/cork_us
default=$(cat $cork)

restore() {
	echo "$default" >$cork
	for i in 1 2; do
		node $i tc qdisc del dev eth0 root 2>/dev/null || true
		node $i ethtool -K eth0 gso on || true
	done
}
trap restore EXIT

# sends US COUNT OPTION...: what node 2 needs to send so many messages, in `frames`, and how
# many travel together with others, in `bundled`, if messages wait for so many us.
sends() {
	local us=$1 count=$2
	shift 2
	echo "$us" >$cork
	node 1 omx_counters --clear
	node 2 omx_counters --clear
	pair msg_bundle --count "$count" "$@"
	bundled=$(counter 2 'short message sent together with others')
	frames=$(($(counter 2 'sent bundle') + $(counter 2 'sent eager')))
	echo "cork_us $us: $count messages ($*), $frames frames, $bundled messages together"
}
