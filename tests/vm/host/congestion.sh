# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash disable=SC2154 # variables of cmd_bench
# ./lab bench congestion: its options and its guests, in which tests/bench/congestion.sh
# runs. Called by bench.sh.

congestion_script=$top/tests/bench/congestion.sh
congestion_nodes=64 congestion_mtus=1500,9000 congestion_speed=1000

usage_congestion() {
	cat <<END
Of congestion; a value can be a list, separated by commas:
  --nodes N        how many nodes; not a list ($congestion_nodes)
  --mtu N          ($congestion_mtus)
  --pattern P      incast: all others to node 1; outcast: node 1 to all others;
                   all-to-all (all three)
  --size N         of a message, in bytes (8,4096,65536,1048576)
  --transport T    (omx,cubic,dctcp)
  --rate RATE      of each link in each direction, or none; not a list (1gbit)
  --queue N        frames in the queue of each node and of each port of the
                   switch; not a list (100)
  --duration MS    that are measured; not a list (depends on pattern and size)
  --speed N        instructions in a nanosecond of the guest; not a list ($congestion_speed).
                   All nodes share a processor, which should not be what limits them
END
}

check_congestion_options() {
	[ "$congestion" = yes ] || [ -z "$traffic_option" ] ||
		usage_error "$traffic_option is of congestion"
	[ "$congestion" = no ] || [ "$iommu$nic$wall${groups[*]}" = nonono ] ||
		usage_error "congestion is measured alone, in virtual time"
	[ "$congestion" = no ] || [ -z "$rounds" ] || usage_error "--rounds is not of congestion"
}

# What describes the guests is kept here, the rest is for the script.
take_traffic() {
	traffic_option=$1
	case $1 in
	--nodes) congestion_nodes=$(number "$1" "$2" 3 250) ;;
	--speed) congestion_speed=$(number "$1" "$2" 1 4000) ;;
	--mtu) congestion_mtus=$2 ;;
	*) traffic+=("$1" "${2//,/ }") ;;
	esac
}

# Thousands of connections and their buffers take memory.
congestion_guest() {
	opt_nodes=$congestion_nodes opt_speed=$congestion_speed opt_memory=6G
	opt_timeout=36000
}

# A guest for each MTU; their results become one file.
measure_congestion() {
	local mtu all=$out/all.jsonl
	: >"$all"
	for mtu in ${congestion_mtus//,/ }; do
		opt_mtu=$(number --mtu "$mtu" 576 9000)
		run_guest "$out" "$top" "$congestion_script" "${traffic[@]}" || return
		cat "$out/bench.jsonl" >>"$all"
	done
	mv "$all" "$out/bench.jsonl"
}
