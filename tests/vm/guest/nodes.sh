# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash disable=SC2154 # the settings come from the host
# The nodes of a guest.
#
#	2 nodes:  node1 [eth0]--veth--[eth0] node2; or, if a NIC is named,
#	          an emulated one at each end
#	more:     node1 [eth0]--veth--(br0)--veth--[eth0] node2, node3, ...
#	          with br0 in the guest's own namespace
#	udp:      node1 [eth0]--veth--[to1] router [to2]--veth--[eth0] node2, ...
#	          the router is the guest's own namespace, every node a network
#	machines: node1 = machine 1, node2 = machine 2, no namespaces; eth0 is
#	          the emulated NIC, lab0 a second one for the command `node`
#
# A node is three namespaces, kept alive by files: network in /run/netns,
# host name and mounts in /run/lab/ns. See node.c.

address() { echo "10.0.0.$1"; }
address6() { echo "fd00::$1"; }

# The router's, on the interface to every node.
router=10.255.0.254
router6=fd00:ffff::fe

name_nodes() {
	local i
	for ((i = 1; i <= nodes; i++)); do
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

# The carrier is known a moment after both ends are up.
await_links() {
	local i try
	for i in $(nodes_here); do
		for ((try = 0; try < 100; try++)); do
			[ "$(node "$i" cat /sys/class/net/eth0/operstate)" != up ] || continue 2
			sleep 0.1
		done
		die "eth0 of node $i does not come up"
	done
}

nodes_here() {
	local i
	if [ "$machines" = yes ]; then
		echo "$machine"
	else
		for ((i = 1; i <= nodes; i++)); do
			echo "$i"
		done
	fi
}

set_up_machine() {
	modprobe -a "$nic_module" virtio_net || die "no driver for the NIC"
	hostname "node$machine"
	rename_nic 52:54:00:00:00:0"$machine" eth0
	rename_nic 52:54:00:00:01:0"$machine" lab0
	# a kernel may be without IPv6
	[ ! -d /proc/sys/net/ipv6 ] ||
		sysctl -q net.ipv6.conf.all.disable_ipv6=1 net.ipv6.conf.default.disable_ipv6=1
	ip address add "169.254.77.$machine/24" dev lab0
	ip link set lab0 up
	interface_commands "$machine" | ip -batch - || die "cannot set up eth0"
}

rename_nic() {
	ip link set "$(nic_with_address "$1")" name "$2" || die "no NIC with address $1"
}

nic_with_address() {
	local path
	path=$(grep -lx "$1" /sys/class/net/*/address)
	path=${path%/address}
	echo "${path##*/}"
}

set_up_namespaces() {
	local i
	# shellcheck disable=SC2086 # none, or one
	modprobe -a veth bridge $nic_module || die "no driver for the interfaces"
	node --make 1 "$nodes" || die "cannot make the nodes"
	cable_commands | ip -batch - || die "cannot connect the nodes"
	[ -z "$udp" ] || allow_ipv6
	for ((i = 1; i <= nodes; i++)); do
		interface_commands "$i" | ip -n "node$i" -batch - || die "cannot set up node $i"
	done
	[ -z "$udp" ] || set_up_routes
}

allow_ipv6() {
	local i
	for ((i = 1; i <= nodes; i++)); do
		node "$i" sysctl -q net.ipv6.conf.all.disable_ipv6=0 \
			net.ipv6.conf.default.disable_ipv6=0 || die "there is no IPv6"
	done
}

set_up_routes() {
	local i
	sysctl -q net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1
	router_commands | ip -batch - || die "cannot set up the router"
	for ((i = 1; i <= nodes; i++)); do
		route_commands | ip -n "node$i" -batch - || die "cannot set up the routes of node $i"
	done
}

router_commands() {
	local i
	for ((i = 1; i <= nodes; i++)); do
		echo "link set to$i up"
		echo "address add $router/32 dev to$i"
		echo "address add $router6/128 dev to$i nodad"
		echo "route add $(address "$i")/32 dev to$i"
		echo "route add $(address6 "$i")/128 dev to$i"
	done
}

route_commands() {
	echo "route add $router dev eth0"
	echo "route add default via $router"
	echo "route add $router6 dev eth0"
	echo "route add default via $router6"
}

cable_commands() {
	local i
	if [ -n "$udp" ]; then
		for ((i = 1; i <= nodes; i++)); do
			echo "link add to$i mtu $mtu type veth peer name eth0 mtu $mtu netns node$i"
		done
		return
	elif [ -n "$nic" ]; then
		for i in 1 2; do
			echo "link set $(nic_with_address 52:54:00:00:00:0$i) netns node$i name eth0"
		done
		return
	elif [ "$nodes" = 2 ]; then
		echo "link add eth0 mtu $mtu netns node1 type veth peer name eth0 mtu $mtu netns node2"
		return
	fi
	echo "link add br0 mtu $mtu type bridge stp_state 0 forward_delay 0 mcast_snooping 0"
	echo "link set br0 up"
	for ((i = 1; i <= nodes; i++)); do
		echo "link add to$i mtu $mtu type veth peer name eth0 mtu $mtu netns node$i"
		echo "link set to$i master br0 up"
	done
	# A bridge takes the smallest MTU of its ports unless it is told its own.
	echo "link set br0 mtu $mtu"
}

interface_commands() {
	echo "link set lo up"
	echo "link set eth0 mtu $mtu"
	if [ -n "$udp" ]; then
		echo "address add $(address "$1")/32 dev eth0"
		echo "address add $(address6 "$1")/128 dev eth0 nodad"
	else
		echo "address add $(address "$1")/24 dev eth0"
	fi
	echo "link set eth0 up"
}

# On the way out of each node, so both directions have it.
apply_netem() {
	[ -n "$netem" ] || return
	modprobe sch_netem || die "no netem"
	local i
	for ((i = 1; i <= nodes; i++)); do
		# shellcheck disable=SC2086 # the specification is several words
		node "$i" tc qdisc add dev eth0 root netem $netem || die "netem: $netem"
	done
}

remove_netem() {
	local i
	for ((i = 1; i <= nodes; i++)); do
		node "$i" tc qdisc del dev eth0 root || return
	done
}

# The module in this kernel, with further parameters of the caller's, bound to the eth0
# of every node that is here.
load_module() {
	local i parameters
	read -ra parameters <<<"${OMX_MODULE_OPTIONS:-}"
	# unless they are built in
	[ -d /sys/module/ip6_udp_tunnel ] || modprobe -aq udp_tunnel ip6_udp_tunnel || true
	# Endpoints' beginnings and ends are debug messages; the ledger needs them.
	insmod "$OMX_MODULE" ifnames=none dyndbg='"format endpoint +p"' "${parameters[@]}" || return
	keep_symbols
	for i in $(nodes_here); do
		node "$i" sh -c 'echo +eth0 >/sys/module/omx/parameters/ifnames' || return
	done
	[ -z "$udp" ] || add_udp_peers
}

add_udp_peers() {
	local i j list=/run/lab/udp-peers
	for ((i = 1; i <= nodes; i++)); do
		for ((j = 1; j <= nodes; j++)); do
			[ "$i" = "$j" ] || udp_address "$j"
		done >"$list"
		node "$i" omx_peers load "$list" || return
	done
}

udp_address() {
	if [ "$udp" = 6 ]; then
		address6 "$1"
	else
		address "$1"
	fi
}

# As lab-module, which takes a second to start.
load() {
	if [ "$machines" = yes ]; then
		lab-module load
	else
		module_loaded || load_module && wait_for_peers
	fi
}

unload() {
	if [ "$machines" = yes ]; then
		lab-module unload
	else
		remove_module
	fi
}

# Every node lists every other one; 10 s at most.
wait_for_peers() {
	local try i
	for ((try = 0; try < 100; try++)); do
		for ((i = 1; i <= nodes; i++)); do
			knows_all "$i" || { sleep 0.1; continue 2; }
		done
		return
	done
	for ((i = 1; i <= nodes; i++)); do
		echo "lab: node$i lists these peers:"
		node "$i" omx_peers
	done
	return 1
}

knows_all() {
	local peers j
	peers=$(node "$1" omx_peers 2>/dev/null) || return
	for ((j = 1; j <= nodes; j++)); do
		[ "$j" = "$1" ] || [[ $peers == *"node$j:0"* ]] || return
	done
}
