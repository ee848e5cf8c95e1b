# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# For the cases: MPI jobs over omx, and what they prove.

fail() {
	echo "$*" >&2
	exit 1
}

# Does the check run every test in its long form?
is_long() { [ "${LAB_ALL:-no}" = yes ]; }

# job HOSTS N WORD...: N processes by mpirun; "2x2" is two slots on two nodes.
job() {
	local slots=${1#*x} nodes=${1%x*} count=$2 hosts i
	shift 2
	for ((i = 1; i <= nodes; i++)); do
		hosts+=${hosts:+,}node$i:$slots
	done
	mpirun -np "$count" --host "$hosts" "$@"
}

# The same over omx, or not at all.
omx_job() {
	job "$1" "$2" --mca pml cm --mca mtl omx "${@:3}"
}

# omx over UDP is IP, too, and known by its port. Guests are shared: it may be counted already.
count_udp() {
	local i
	for ((i = 1; i <= LAB_NODES; i++)); do
		node "$i" nft list table inet omx_tests >/dev/null 2>&1 || node "$i" nft '
			table inet omx_tests {
				chain in { type filter hook input priority 0; udp dport 8687 counter; }
			}'
	done
}
[ -z "${LAB_UDP:-}" ] || count_udp

# udp_bytes NODE: that it has received of omx.
udp_bytes() {
	if [ -n "${LAB_UDP:-}" ]; then
		node "$1" nft list table inet omx_tests | sed -n 's/.* bytes \([0-9]*\).*/\1/p'
	else
		echo 0
	fi
}

# Bytes that the IP of all nodes has received so far for others than omx.
ip_bytes() {
	local i total=0
	for ((i = 1; i <= LAB_NODES; i++)); do
		total=$((total - $(udp_bytes "$i") + $(node "$i" awk '
			$1 == "IpExt:" && !n { for (i = 1; i <= NF; i++) if ($i == "InOctets") n = i; next }
			$1 == "IpExt:" { print $n }' /proc/net/netstat)))
	done
	echo "$total"
}

# Bytes that eth0 of all nodes, or the interface that is named, has received so
# far, whatever they were.
wire_bytes() {
	local i total=0 interface=${1:-eth0}
	for ((i = 1; i <= LAB_NODES; i++)); do
		total=$((total + $(node "$i" cat "/sys/class/net/$interface/statistics/rx_bytes")))
	done
	echo "$total"
}

# carried_by_omx [--on INTERFACE] BYTES WORD...: a job that sends at least so many
# bytes from node to node. All of them go by omx, and IP is left with the launching.
launching=2000000
carried_by_omx() {
	local interface=eth0 bytes ip loop wire
	[ "$1" != --on ] || { interface=$2 && shift 2; }
	bytes=$1
	shift
	ip=$(ip_bytes)
	loop=$(wire_bytes lo)
	wire=$(wire_bytes "$interface")
	"$@" || fail "the job failed"
	ip=$(($(ip_bytes) - ip))
	loop=$(($(wire_bytes lo) - loop))
	wire=$(($(wire_bytes "$interface") - wire))
	echo "$bytes bytes of messages: $wire on $interface, $ip by IP"
	[ "$ip" -lt "$launching" ] || fail "IP carried messages"
	[ $((wire - (ip - loop))) -ge "$bytes" ] || fail "omx did not carry them"
}

# The same with another one of Open MPI's ways.
carried_by_ip() {
	local bytes=$1 ip
	shift
	ip=$(ip_bytes)
	"$@" || fail "the job failed"
	ip=$(($(ip_bytes) - ip))
	echo "$bytes bytes of messages: $ip by IP"
	[ "$ip" -ge "$bytes" ] || fail "IP did not carry them"
}

# No node has anything of a job left: processes, endpoints, pinned pages. The
# module would not go if there were an endpoint.
nothing_left() {
	local try left
	for ((try = 0; try < 100; try++)); do
		left=$(pgrep -a '^(mpi|orte|prt)' || true)
		[ -n "$left" ] || break
		sleep 0.1
	done
	[ -z "$left" ] || fail "processes are left: $left"
	lab-module unload || fail "an endpoint is left"
	echo 1 >/proc/sys/vm/stat_refresh	# each processor counts by itself for a while
	awk '$1 ~ /^nr_foll_pin_/ { n[$1] = $2 }
		END { exit n["nr_foll_pin_acquired"] != n["nr_foll_pin_released"] }' /proc/vmstat ||
		fail "pinned pages are left"
	lab-module load
	echo "no process, endpoint or pinned page is left"
}
