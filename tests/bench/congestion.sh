#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# In a guest with many nodes: patterns of traffic that congest links, by omx and beside
# it by TCP with cubic and with dctcp. Writes $LAB_OUT/bench.jsonl, which report.py makes
# tables of.
#
# A link is a wire of --rate in each direction with a queue of --queue frames in front,
# both at the node and at the port of the switch (the bridge) to it:
#
#	node   tbf, which sends at the rate of the wire, over a pfifo; it keeps frames as
#	       a real interface does, so that whoever limits what he has in there can
#	port   netem, which takes 10 us (the switch and the cable) and severs a frame from
#	       the socket that sent it, as leaving the host does; tbf over a pfifo; for
#	       dctcp over a codel, which is a queue of the same length that marks frames
#	       when they had to wait for as long as 20 frames of full size take, and drops
#	       none before it is full
#
# The rate is that of the wire: tbf adds the 24 bytes of each frame that the kernel does
# not see (preamble, checksum, gap). Its burst is two frames, so that a timer that comes
# late does not cost bandwidth.
#
# A frame is a frame of the wire: nodes do not hand over longer ones (TSO and GSO are
# off). Checksums and merging at the receiver (GRO) are on.
#
# usage: congestion.sh [--pattern 'incast outcast all-to-all'] [--size 'N...']
#                      [--transport 'omx cubic dctcp'] [--rate RATE|none] [--queue N]
#                      [--warmup MS] [--duration MS]

set -eu

tests=${OMX_TESTS:-$(dirname "$0")}
# While a program polls for 50 us, this guest executes 50 million instructions.
export OMX_POLL_US=0
patterns='incast outcast all-to-all' sizes='8 4096 65536 1048576'
transports='omx cubic dctcp' rate=1gbit queue=100 warmup='' duration=''
delay=10us mark_frames=20 frame_extra=38	# Ethernet's header and what tbf adds
out=$LAB_OUT/bench.jsonl

usage() {
	sed -n 's/^# \(usage: .*\)/\1/p; s/^# \(  *\[--.*\)/\1/p' "$0" >&2
	exit 2
}

die() {
	echo "congestion: $*" >&2
	exit 1
}

# ---- links ----

# Commands of tc, for one start of it.
rate_command() {
	echo "qdisc add dev $1 $2 handle $3: tbf rate $rate overhead 24" \
		"burst $((2 * (LAB_MTU + frame_extra))) limit 100000000"
}

# As long as mark_frames full ones take.
mark_after() {
	echo "$((mark_frames * (LAB_MTU + frame_extra) * 8 * 1000000 / $(rate_in_bits)))us"
}

rate_in_bits() {
	local number=${rate%%[a-z]*}
	case $rate in
	*gbit) echo $((number * 1000000000)) ;;
	*mbit) echo $((number * 1000000)) ;;
	*) die "the rate is a number and gbit or mbit" ;;
	esac
}

port_queue() {
	case $1 in
	dctcp) echo "codel limit $queue target 10s interval 20s ecn ce_threshold $(mark_after)" ;;
	*) echo "pfifo limit $queue" ;;
	esac
}

remove_link() {
	tc -n "node$1" qdisc del dev eth0 root 2>/dev/null || true
	tc qdisc del dev "to$1" root 2>/dev/null || true
}

node_end() {
	rate_command eth0 root 1
	echo "qdisc add dev eth0 parent 1:1 handle 2: pfifo limit $queue"
}

# port_end I TRANSPORT
port_end() {
	echo "qdisc add dev to$1 root handle 1: netem delay $delay limit 100000"
	rate_command "to$1" "parent 1:1" 2
	echo "qdisc add dev to$1 parent 2:1 handle 3: $(port_queue "$2")"
}

set_links() {
	local i
	for ((i = 1; i <= LAB_NODES; i++)); do
		remove_link "$i"
		[ "$rate" != none ] || continue
		node_end | tc -n "node$i" -batch - || die "no queue at node $i"
		port_end "$i" "$1" | tc -batch - || die "no queue at the port to node $i"
	done
}

set_offloads() {
	local i
	for ((i = 1; i <= LAB_NODES; i++)); do
		# Some depend on others and are "requested on" or "fixed": said, not fatal.
		node "$i" ethtool -K eth0 tso off gso off gro on tx on rx on sg on >/dev/null 2>&1 ||
			true
	done
}

# The queues of the links are to be the only ones that drop: not the one between the
# nodes' interfaces, nor a table of neighbors that all nodes share in one kernel.
raise_limits() {
	sysctl -q net.core.netdev_max_backlog=1000000 net.ipv4.neigh.default.gc_thresh1=65536 \
		net.ipv4.neigh.default.gc_thresh2=65536 net.ipv4.neigh.default.gc_thresh3=65536
}

# Frames that the queues have dropped: at the nodes, at the ports.
print_drops() {
	local i
	for ((i = 1; i <= LAB_NODES; i++)); do
		tc -n "node$i" -s qdisc show dev eth0 | sed 's/^ Sent/ node/'
		tc -s qdisc show dev "to$i" | sed 's/^ Sent/ port/'
	done | awk '
		/^qdisc/ { leaf = $2 == "pfifo" || $2 == "codel" }
		leaf && ($1 == "node" || $1 == "port") {
			for (i = 1; i < NF; i++)
				if ($i == "(dropped")
					n[$1] += $(i + 1)
		}
		leaf && $1 == "maxpacket" {
			for (i = 1; i < NF; i++)
				if ($i == "ce_mark")
					n["marks"] += $(i + 1)
		}
		END { printf "\"dropped_node\": %d, \"dropped_port\": %d, \"marked\": %d", n["node"], n["port"], n["marks"] }'
}

# ---- transports ----

# Sets times: the warm-up and what counts, in ms.
choose_times() {
	case $1.$2 in
	all-to-all.8) times=(20 50) ;;
	all-to-all.1048576) times=(500 2000) ;;
	all-to-all.*) times=(200 500) ;;
	*.8) times=(200 500) ;;
	*.1048576) times=(1500 4000) ;;
	*) times=(500 2000) ;;
	esac
	times=("${warmup:-${times[0]}}" "${duration:-${times[1]}}")
}

begin() {
	printf '{"begin": {"group": "congestion", "transport": "%s", "mtu": %d, "nodes": %d, "rate": "%s", "queue": %d, "delay": "%s", "speed": %d}}\n' \
		"$1" "$LAB_MTU" "$LAB_NODES" "$rate" "$queue" "$delay" "$LAB_SPEED" >>"$out"
}

# measure TRANSPORT PATTERN SIZE
measure() {
	local program=("$tests/tcp_crowd" --control "$1") times said
	[ "$1" != omx ] || program=("$tests/omx_crowd")
	choose_times "$2" "$3"
	echo "congestion: $2, messages of $3 bytes, $1, MTU $LAB_MTU, $LAB_NODES nodes," \
		"$rate, queues of $queue frames" >&2
	set_links "$1"
	begin "$1"
	said=$("${program[@]}" --nodes "$LAB_NODES" --pattern "$2" --size "$3" \
		--warmup "${times[0]}" --duration "${times[1]}") || die "$1 failed"
	echo "${said%\}}, $(print_drops)}" >>"$out"
}

take_arguments() {
	while [ $# -gt 0 ]; do
		case $1 in
		--pattern) patterns=${2:?} ;;
		--size) sizes=${2:?} ;;
		--transport) transports=${2:?} ;;
		--rate) rate=${2:?} ;;
		--queue) queue=${2:?} ;;
		--warmup) warmup=${2:?} ;;
		--duration) duration=${2:?} ;;
		*) usage ;;
		esac
		shift 2
	done
}

take_arguments "$@"
: >"$out"
printf '{"guest": {"kernel": "%s", "processors": %d, "virtual_time": "%s", "accelerator": "%s"}}\n' \
	"$(uname -r)" "$(nproc)" "${LAB_VIRTUAL_TIME:-no}" "${LAB_ACCELERATOR:-}" >>"$out"
modprobe -a sch_netem sch_tbf sch_codel || die "no queues"
modprobe tcp_dctcp || die "no dctcp"
set_offloads
raise_limits
for transport in $transports; do
	for pattern in $patterns; do
		for size in $sizes; do
			measure "$transport" "$pattern" "$size"
		done
	done
done
