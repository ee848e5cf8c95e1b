# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# The nodes of a guest.
#
#	2 nodes:  node1 [eth0]--veth--[eth0] node2
#	more:     node1 [eth0]--veth--(br0)--veth--[eth0] node2, node3, ...
#	          with br0 in the guest's own namespace
#	machines: node1 = machine 1, node2 = machine 2, no namespaces; eth0 is
#	          the emulated NIC, lab0 a second one for the command `node`
#
# A node is three namespaces, kept alive by files: network in /run/netns,
# host name and mounts (for a /sys that shows its interfaces) in /run/lab/ns.

address() { echo "10.0.0.$1"; }

name_nodes() {
	local i
	for i in $(seq "$nodes"); do
		echo "$(address "$i") node$i"
	done >>/etc/hosts
}

set_up_nodes() {
	name_nodes
	if [ "$machines" = yes ]; then
		set_up_machine
	else
		set_up_namespaces
	fi
}

set_up_machine() {
	modprobe "$nic_module" && modprobe virtio_net || die "no driver for the NIC"
	hostname "node$machine"
	rename_nic 52:54:00:00:00:0"$machine" eth0
	rename_nic 52:54:00:00:01:0"$machine" lab0
	ip address add "169.254.77.$machine/24" dev lab0
	ip link set lab0 up
	set_up_interface "$machine"
}

rename_nic() {
	local path
	path=$(grep -lx "$1" /sys/class/net/*/address)
	path=${path%/address}
	ip link set "${path##*/}" name "$2" || die "no NIC with address $1"
}

set_up_namespaces() {
	local i
	modprobe veth || die "no veth"
	mount -t tmpfs -o mode=755 ns /run/lab/ns
	mount --make-private /run/lab/ns
	for i in $(seq "$nodes"); do
		make_node "$i" || die "cannot make node $i"
	done
	if [ "$nodes" = 2 ]; then
		ip link add eth0 mtu "$mtu" netns node1 type veth peer name eth0 mtu "$mtu" netns node2
	elif [ "$nodes" -gt 2 ]; then
		join_by_bridge
	else
		ip -n node1 link add eth0 mtu "$mtu" type dummy
	fi || die "cannot connect the nodes"
	for i in $(seq "$nodes"); do
		node "$i" bash -c '. /run/lab/run/guest/nodes.sh; mtu=$1 set_up_interface "$2"' - "$mtu" "$i" ||
			die "cannot set up node $i"
	done
}

make_node() {
	local ns=/run/lab/ns/node$1
	touch "$ns.uts" "$ns.mnt"
	ip netns add "node$1"
	unshare --net="/run/netns/node$1" --uts="$ns.uts" --mount="$ns.mnt" \
		--propagation slave true
	nsenter --net="/run/netns/node$1" --uts="$ns.uts" --mount="$ns.mnt" \
		bash -c '. /run/lab/run/guest/lib.sh
			hostname "$1" && umount -l /sys && mount -t sysfs sys /sys &&
			mount_kernel_views' - "node$1"
}

join_by_bridge() {
	local i
	modprobe bridge || return
	ip link add br0 mtu "$mtu" type bridge stp_state 0 forward_delay 0 mcast_snooping 0 || return
	ip link set br0 up
	for i in $(seq "$nodes"); do
		ip link add "to$i" mtu "$mtu" type veth peer name eth0 mtu "$mtu" netns "node$i" || return
		ip link set "to$i" master br0 up || return
	done
	# A bridge takes the smallest MTU of its ports at each change.
	ip link set br0 mtu "$mtu"
}

# Runs inside the node. No IPv6: its own chatter would be on the wire.
set_up_interface() {
	sysctl -q net.ipv6.conf.all.disable_ipv6=1 net.ipv6.conf.default.disable_ipv6=1
	ip link set lo up
	ip link set eth0 mtu "$mtu" || return
	ip address add "10.0.0.$1/24" dev eth0 || return
	ip link set eth0 up
}

# On the way out of each node, so both directions have it.
apply_netem() {
	[ -n "$netem" ] || return
	modprobe sch_netem || die "no netem"
	local i
	for i in $(seq "$nodes"); do
		# shellcheck disable=SC2086 # the specification is several words
		node "$i" tc qdisc add dev eth0 root netem $netem || die "netem: $netem"
	done
}

# The module in this kernel, bound to the eth0 of every node that is here.
load_module() {
	local i here
	insmod "$OMX_MODULE" ifnames=none || return
	here=$(seq "$nodes")
	[ "$machines" = no ] || here=$machine
	for i in $here; do
		node "$i" sh -c 'echo +eth0 >/sys/module/omx/parameters/ifnames' || return
	done
}

# Every node lists every other one; 10 s at most.
wait_for_peers() {
	local try i
	for try in $(seq 100); do
		for i in $(seq "$nodes"); do
			knows_all "$i" || { sleep 0.1; continue 2; }
		done
		return
	done
	for i in $(seq "$nodes"); do
		echo "lab: node$i lists these peers:"
		node "$i" omx_peers
	done
	return 1
}

knows_all() {
	local peers j
	peers=$(node "$1" omx_peers 2>/dev/null) || return
	for j in $(seq "$nodes"); do
		[ "$j" = "$1" ] || grep -qw "node$j:0" <<<"$peers" || return
	done
}
