#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# In a guest with two nodes: omx beside TCP over the same cable, at each MTU: latency,
# bandwidth and how many short messages a second (the latter also of MPI programs);
# what memory costs omx; what one-sided accesses cost beside messages and rxe; and what
# MPI programs get by omx, by Open MPI's own TCP and by libfabric's. In a guest with
# --sva: what receiving through an IOMMU costs (iommu.sh).
#
# Where the guest has emulated NICs, both use all the offloads that these have:
# a NIC segments and checksums for TCP, and the kernel merges what it receives.
# Over veth they are measured with offloads on, where veth passes 64 KiB over in
# one piece, which no cable does, and off, which takes more from TCP than a NIC
# does; at MTU 9000 also with scatter-gather alone ("sg"), which every NIC has. Memory is
# measured over veth without offloads, in virtual time also at a rate: see
# measure_memory_at_rate.
# Writes $LAB_OUT/bench.jsonl, which report.py makes tables of.
#
# Both peers share one processor here. A stock scheduler may let the one that
# is woken interrupt the one that wakes it, which then finds its answer without
# having slept: 2 us less, in some runs and not in others. On two machines that
# cannot be, so the peers run as batch processes, which interrupt nobody; the
# stock policy is measured beside it at MTU 9000.
#
# Virtual time repeats itself. By the clock on the wall the host has its say, so
# there are several rounds, each of them one of every transport, and the report
# takes medians.
#
# usage: run.sh [--transports 'omx tcp'] [--mtus 'N...'] [--offloads 'off sg on']
#               [--policies 'batch stock'] [--rate RATE] [--link RATE] [--moderated] [--rounds N]
#               [latency] [bandwidth] [rate] [memory] [onesided] [mpi] [iommu --unchecked MODULE]
#
# --link is of everything that is measured, --rate of the second part of memory only.
# --moderated says how the guest's NICs interrupt, which cannot be seen from here.

set -eu

tests=${OMX_TESTS:-$(dirname "$0")}
mpi_rate=no memory=no onesided=no mpi=no iommu=no unchecked='' transports='tcp omx' mtus='9000 1500' rounds=1
offloads='off sg on' memory_offload=off policies='batch stock' nic=${LAB_NIC:-}
[ -z "$nic" ] || offloads=nic memory_offload=nic policies=batch
rate=4gbit link=''
out=$LAB_OUT/bench.jsonl
pipe=$(mktemp -u)

usage() {
	sed -n 's/^# \(usage: .*\)/\1/p; s/^# \(  *\[--pol.*\)/\1/p; s/^# \(  *\[latency.*\)/\1/p' "$0" >&2
	exit 2
}

die() {
	echo "bench: $*" >&2
	exit 1
}

both() {
	node 1 "$@" && node 2 "$@"
}

set_offloads() {
	local state=$1 scatter=$1
	case $1 in
	nic) state=on scatter=on ;;
	sg) state=off scatter=on ;;
	esac
	# Some depend on others and are "requested on" or "fixed": said, not fatal.
	both ethtool -K eth0 tso "$state" gso "$state" gro "$state" tx "$state" rx "$state" \
		sg "$scatter" >/dev/null 2>&1
}

# Peers learn of it from the next hello.
set_mtu() {
	both ip link set eth0 mtu "$1"
	sleep 3
}

# Frames arrive when they are sent unless this has been said.
limit_links() {
	modprobe sch_netem || die "no netem"
	both tc qdisc replace dev eth0 root netem rate "$1" limit 10000 || die "no links of $1"
	link=$1
}

free_links() {
	both tc qdisc del dev eth0 root
	link=''
}

# begin TRANSPORT MTU OFFLOAD POLICY. The order of begin and end is the file's only
# structure.
begin() {
	printf '{"begin": {"transport": "%s", "mtu": %d, "offload": "%s", "policy": "%s", "nic": "%s", "rate": "%s"}}\n' \
		"${@:1:4}" "$nic" "$link" >>"$out"
}

end() {
	local i
	[ "$1" = omx ] || return 0
	for i in 1 2; do
		echo "{\"counters\": $(node "$i" omx_counters --verbose --json | tr -d '\n'), \"node\": $i}"
	done >>"$out"
}

# run_peers PROGRAM POLICY [OPTION...]: both get the options. The client starts
# when the server says that it is there: the client's own patience is seconds of
# the guest, and in virtual time these are over before the host has read a file
# for the server.
run_peers() {
	local program=$tests/$1_peer server status=0 policy=() ready
	[ "$2" = stock ] || policy=(chrt -b 0)
	"${policy[@]}" node 2 "$program" --serve "${@:3}" >"$pipe" &
	server=$!
	read -r ready <"$pipe" && [ "$ready" = ready ] || status=1
	[ "$status" != 0 ] ||
		"${policy[@]}" node 1 "$program" "${@:3}" node2 >>"$out" || status=$?
	[ "$status" = 0 ] || kill "$server" 2>/dev/null || true
	wait "$server" || status=$?
	return "$status"
}

measure() {
	echo "bench: $1, MTU $2, offloads $3, $4 scheduling" >&2
	[ "$1" != omx ] || both omx_counters --clear
	begin "$@"
	run_peers "$1" "$4" "${measurements[@]}" || die "$1 failed at MTU $2, offloads $3"
	end "$1"
}

# Scatter-gather alone, and the stock policy beside another one, each at MTU 9000 only, and not
# together.
is_measured() {
	case $2,$3 in
	sg,stock) false ;;
	sg,*) [ "$1" = 9000 ] ;;
	*,stock) [ "$1" = 9000 ] || [ "$policies" = stock ] ;;
	esac
}

measure_everywhere() {
	local mtu offload policy transport round
	for mtu in $mtus; do
		set_mtu "$mtu"
		for offload in $offloads; do
			set_offloads "$offload"
			for policy in $policies; do
				is_measured "$mtu" "$offload" "$policy" || continue
				for ((round = 0; round < rounds; round++)); do
					for transport in $transports; do
						measure "$transport" "$mtu" "$offload" "$policy"
					done
				done
			done
		done
	done
}

# How the library remembers regions is a matter of a program's whole life.
measure_memory() {
	local round
	set_mtu 9000
	set_offloads "$memory_offload"
	if [ -n "$link" ]; then
		measure_memory_at_rate
		return
	fi
	for ((round = 0; round < rounds; round++)); do
		echo "bench: memory" >&2
		begin memory 9000 "$memory_offload" batch
		run_peers memory batch || die "memory failed"
		echo "bench: memory, regions not kept" >&2
		run_peers memory batch --uncached || die "memory failed, regions not kept"
	done
	[ "${LAB_VIRTUAL_TIME:-no}" = yes ] || return 0
	limit_links "$rate"
	measure_memory_at_rate
	free_links
}

# In virtual time a frame arrives when it is sent, and all work is a sum. With a
# rate the only processor is idle while frames travel, so that paging in and
# pinning beside the transfer become visible. By the clock on the wall two
# processors show that.
measure_memory_at_rate() {
	echo "bench: memory, $link" >&2
	begin memory 9000 "$memory_offload" batch
	run_peers memory batch --overlap || die "memory failed at $link"
	echo "bench: memory, $link, regions not kept" >&2
	run_peers memory batch --overlap --uncached || die "memory failed at $link, regions not kept"
}

# Long messages beside conditional writes of the same bytes.
measure_rendezvous() {
	local mtu
	for mtu in 1500 9000; do
		echo "bench: one-sided, rendezvous, MTU $mtu" >&2
		set_mtu "$mtu"
		run_peers when_rendezvous batch --mtu "$mtu" || die "rendezvous failed at MTU $mtu"
	done
}

# Messages of omx and TCP, accesses of omx, and what rxe does: at one place, so that
# one can be divided by the other.
measure_onesided() {
	local round transport status
	set_mtu 9000
	set_offloads off
	for ((round = 0; round < rounds; round++)); do
		printf '{"begin": {"group": "onesided"}}\n' >>"$out"
		for transport in tcp omx; do
			echo "bench: one-sided, messages of $transport" >&2
			run_peers "$transport" batch --sizes 8,4096,65536,1048576,4194304 ||
				die "messages of $transport failed"
		done
		echo "bench: one-sided, omx" >&2
		run_peers onesided batch || die "one-sided failed"
		echo "bench: one-sided, conditional writes" >&2
		run_peers when batch || die "conditional writes failed"
		measure_rendezvous
		measure_windows
		[ "${LAB_VIRTUAL_TIME:-no}" = yes ] && [ "$round" = 0 ] || continue
		echo "bench: one-sided, rxe" >&2
		status=0
		"$tests/rxe.sh" "$tests/yielding.so" >>"$out" || status=$?
		[ "$status" = 0 ] || [ "$status" = 77 ] || die "rxe failed"
	done
}

# run_example NAME SERVER-ARGUMENTS CLIENT-ARGUMENTS SCRIPT: node 2 serves; sed's SCRIPT
# makes JSON of what the client prints.
run_example() {
	local server status=0 ready said arguments
	read -ra arguments <<<"$2"
	chrt -b 0 node 2 "$tests/$1" "${arguments[@]}" >"$pipe" &
	server=$!
	exec 8<"$pipe"
	read -r -u 8 ready && [ "$ready" = ready ] || status=1
	read -ra arguments <<<"$3"
	[ "$status" != 0 ] ||
		said=$(chrt -b 0 node 1 "$tests/$1" "${arguments[@]}") || status=$?
	[ "$status" = 0 ] || kill "$server" 2>/dev/null || true
	wait "$server" || status=$?
	exec 8<&-
	[ "$status" = 0 ] || die "$1 failed"
	sed -nE "$4" <<<"$said" >>"$out"
}

# hash_tables DELAY: us, on the cable.
hash_tables() {
	local percent version
	for percent in 0 5 25 50; do
		for version in active rma message; do
			run_example hash_table "serve $version 1" "node2:0 $version $percent 4000" \
				's|^([a-z]+), ([0-9]+) % collisions: ([0-9]+) inserts/s|{"example": "hash_table", "version": "\1", "percent": \2, "delay_us": '"$1"', "per_s": \3}|p'
		done
	done
}

# What active access is for, by the programs in examples/. In virtual time a frame arrives
# when it is sent. So the versions of the hash table are also compared over a cable that
# takes as long as a switch and two NICs do: some of them wait for answers.
measure_active() {
	local round
	set_mtu 9000
	set_offloads off
	modprobe sch_netem || die "no netem"
	printf '{"begin": {"group": "active"}}\n' >>"$out"
	for ((round = 0; round < rounds; round++)); do
		echo "bench: active access" >&2
		hash_tables 0
		both tc qdisc replace dev eth0 root netem delay 10us limit 10000
		hash_tables 10
		both tc qdisc del dev eth0 root
		run_example get_log "serve 1" "node2:0 $(mktemp) 20000" \
			's|^([0-9]+) gets/s, ([0-9]+) with logging.*|{"example": "get_log", "plain": \1, "logged": \2}|p'
		run_example logged_sort "500000 1 node1:0 node2:0" "500000 0 node1:0 node2:0" \
			's|^(.*): ([0-9.]+) ms, ([0-9.]+) ms of it.*|{"example": "logged_sort", "way": "\1", "ms": \2, "exchange_ms": \3}|p'
	done
}

# mpi_words WAY: sets words, which tell mpirun what carries the messages.
mpi_words() {
	case $1 in
	tcp) words=(--mca pml ob1 --mca btl "tcp,self") ;;
	ofi) words=(--mca pml cm --mca mtl ofi --mca mtl_ofi_provider_include tcp) ;;
	*) words=(--mca pml cm --mca mtl omx) ;;
	esac
	case $1 in
	pin) words+=(-x OMX_MEMORY=pin -x OMX_RCACHE=0) ;;
	overlap) words+=(-x OMX_MEMORY=overlap -x OMX_RCACHE=0) ;;
	cache) words+=(-x OMX_MEMORY=pin -x OMX_RCACHE=1) ;;
	unpinned) words+=(-x OMX_MEMORY=unpinned) ;;
	esac
}

# measure_mpi WAY MTU OFFLOAD MODE [MPIRUN OPTION...]. Without ofi there are still tables.
# MPI processes poll, so where there is one processor they get it only when nobody
# else wants it: ksoftirqd, which would have a third of it beside two of them, and
# workers. With two each node has one of its own, or the scheduler might let both
# processes share one for a while; and the stock policy, so that what waits for a
# message interrupts what computes.
measure_mpi() {
	local words mode=$4 policy=idle scheduled=(chrt --idle 0) placed=()
	if [ "$processors" -gt 1 ]; then
		policy=stock scheduled=()
		# shellcheck disable=SC2016 # each process's own rank
		placed=(sh -c 'exec taskset -c "$OMPI_COMM_WORLD_RANK" "$@"' sh)
	fi
	echo "bench: MPI by $1, MTU $2, offloads $3, $4" >&2
	[ "$1-$4" != ofi-pingpong ] || [ "$processors" != 1 ] || mode=isend
	begin "$1" "$2" "$3" "$policy"
	mpi_words "$1"
	"${scheduled[@]}" mpirun -np 2 --host node1:1,node2:1 "${words[@]}" \
		"${@:5}" "${placed[@]}" "$tests/mpi_bench" --mode "$mode" >>"$out" && return
	[ "$1" = ofi ] || die "MPI by $1 failed at MTU $2, offloads $3"
	echo "bench: without it" >&2
}

# MPI's windows. The only ones that TCP has between hosts are those of osc/pt2pt, which
# Debian's configuration excludes.
measure_windows() {
	local way words scheduled=()
	[ "$(nproc)" -gt 1 ] || scheduled=(chrt --idle 0)
	for way in omx tcp; do
		echo "bench: one-sided, MPI by $way" >&2
		printf '{"begin": {"group": "onesided", "transport": "%s"}}\n' "$way" >>"$out"
		mpi_words "$way"
		[ "$way" = omx ] || words+=(--mca osc pt2pt)
		"${scheduled[@]}" mpirun -np 2 --host node1:1,node2:1 "${words[@]}" \
			"$tests/mpi_bench" --mode windows >>"$out" || die "windows by $way failed"
	done
	printf '{"begin": {"group": "onesided"}}\n' >>"$out"
}

# steer MASK: whatever arrives is worked on by these processors; 0: by the one
# that sent it, for veth has no interrupts.
steer() {
	local i
	for i in 1 2; do
		node "$i" sh -c "echo $1 >/sys/class/net/eth0/queues/rx-0/rps_cpus" ||
			die "node $i: this kernel cannot steer packets (CONFIG_RPS)"
	done
}

# The first processor only computes, as a node's does whose interrupts go to
# another. Who waits on that one yields to them, as everybody does in the lab.
measure_steered() {
	local way
	steer 2
	for way in omx tcp ofi; do
		measure_mpi "$way" "$1" "$2" steered
	done
	steer 0
}

# Of a message that is not eager mtl/ofi's blocking send polls for the end and
# never yields: if the receiver needs the same processor, that lasts until the
# scheduler takes it away. Where there is only one, the ping-pong uses
# MPI_Isend for these, and collectives, which have no such choice, go without ofi.
mpi_jobs() {
	local way
	for way in omx tcp ofi; do
		measure_mpi "$way" "$1" "$2" pingpong
	done
	[ "$1" = 9000 ] || return 0
	for way in omx tcp; do
		measure_mpi "$way" "$1" "$2" queues
	done
	local ways=(pin overlap cache unpinned tcp)
	[ "$processors" = 1 ] || ways+=(ofi)
	for way in "${ways[@]}"; do
		measure_mpi "$way" "$1" "$2" patterns
	done
	measure_overlap "$1" "$2"
}

# How much of an exchange computing hides: not where frames take no time and one processor
# does all the work.
measure_overlap() {
	local way
	[ "$processors" -gt 1 ] || [ -n "$link" ] || return 0
	for way in omx tcp; do
		measure_mpi "$way" "$1" "$2" overlap
	done
	[ "$processors" -gt 1 ] || return 0
	measure_mpi ofi "$1" "$2" overlap
	measure_steered "$1" "$2"
}

measure_mpi_rate() {
	local way
	for way in omx tcp; do
		measure_mpi "$way" "$1" "$2" rate
	done
}

measure_mpi_everywhere() {
	local mtu offload round processors
	processors=$(nproc)
	for mtu in $mtus; do
		set_mtu "$mtu"
		for offload in ${offloads/sg/}; do
			set_offloads "$offload"
			for ((round = 0; round < rounds; round++)); do
				[ "$mpi" = no ] || mpi_jobs "$mtu" "$offload"
				[ "$mpi_rate" = no ] || measure_mpi_rate "$mtu" "$offload"
			done
		done
	done
}

take_arguments() {
	measurements=()
	while [ $# -gt 0 ]; do
		case $1 in
		--transports) transports=${2:?} && shift ;;
		--mtus) mtus=${2:?} && shift ;;
		--offloads) offloads=${2:?} && shift ;;
		--policies) policies=${2:?} && shift ;;
		--rate) rate=${2:?} && shift ;;
		--link) link=${2:?} && shift ;;
		--moderated) nic+=' with moderated interrupts' ;;
		--rounds) rounds=${2:?} && shift ;;
		latency) measurements+=(--pingpong) ;;
		bandwidth) measurements+=(--stream) ;;
		rate) measurements+=(--rate) mpi_rate=yes ;;
		memory) memory=yes ;;
		onesided) onesided=yes ;;
		mpi) mpi=yes ;;
		iommu) iommu=yes ;;
		--unchecked) unchecked=${2:?} && shift ;;
		*) usage ;;
		esac
		shift
	done
	[ ${#measurements[@]} -gt 0 ] || [ "$memory$onesided$mpi$iommu" != nononono ] || {
		measurements=(--pingpong --stream --rate)
		mpi_rate=yes memory=yes onesided=yes mpi=yes
	}
}

# shellcheck source=tests/bench/iommu.sh
. "$tests/iommu.sh"
take_arguments "$@"
mkfifo "$pipe"
: >"$out"
printf '{"guest": {"kernel": "%s", "processors": %d, "virtual_time": "%s", "accelerator": "%s"}}\n' \
	"$(uname -r)" "$(nproc)" "${LAB_VIRTUAL_TIME:-no}" "${LAB_ACCELERATOR:-}" >>"$out"
[ -z "$link" ] || limit_links "$link"
[ ${#measurements[@]} -eq 0 ] || measure_everywhere
[ "$memory" = no ] || measure_memory
[ "$onesided" = no ] || measure_onesided
[ "$onesided" = no ] || measure_active
[ "$mpi$mpi_rate" = nono ] || measure_mpi_everywhere
[ "$iommu" = no ] || measure_iommu "$unchecked"
