#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# RDMA over Ethernet in software (rdma_rxe, perftest) over a veth of its own, MTU 9000
# and no offloads, as the others are measured: lines of JSON. Status 77: this guest
# has no rxe.
#
# rxe works in the first network namespace only, so both ends of the cable are there,
# and rules send over it what the kernel would keep to itself.
#
# ib_write_lat polls memory, without yielding. Where there is one processor the other
# side would get it at the next tick, so a library yields whenever a completion is
# polled for, and the scheduler is round robin, which always gives way to the other.
# What else polls waits for work that is done within its own system calls.
#
# usage: rxe.sh YIELDING-LIBRARY

set -eu

yielding=$1

skip() {
	echo "bench: $*: without rxe" >&2
	exit 77
}

address() { echo "10.77.0.$1"; }

# end NUMBER: one end of the cable, which reaches the other one over the cable only.
end() {
	local here=$1 there=$((3 - $1))
	ip rule add pref "10$here" iif lo from "$(address "$here")" to "$(address "$there")" \
		lookup "10$here"
	ip route add "$(address "$there")" dev "rxe$here" table "10$here"
	ip neigh replace "$(address "$there")" dev "rxe$here" nud permanent \
		lladdr "$(cat "/sys/class/net/rxe$there/address")"
	rdma link add "roce$here" type rxe netdev "rxe$here"
}

set_up() {
	local i
	ip link add rxe1 mtu 9000 type veth peer name rxe2 mtu 9000
	sysctl -q net.ipv4.conf.all.rp_filter=0
	for i in 1 2; do
		ip address add "$(address "$i")/24" dev "rxe$i"
		ip link set "rxe$i" up
		sysctl -q "net.ipv4.conf.rxe$i.accept_local=1" "net.ipv4.conf.rxe$i.rp_filter=0"
		ethtool -K "rxe$i" tso off gso off gro off tx off rx off sg off >/dev/null 2>&1
	done
	ip link set lo up
	ip rule add pref 32000 lookup local
	ip rule del pref 0
	end 1
	end 2
	sleep 1
}

# listens PID: waits until it does; false if it ends before. Without a timeout: in
# virtual time seconds are over before the host has read a file for the server.
listens() {
	until ss -Hltn 'sport = :18515' | grep -q .; do
		kill -0 "$1" 2>/dev/null || return 1
		sleep 0.1
	done
}

# run PROGRAM [OPTION...]: sets line, the row of its table. Fails if there is none.
run() {
	local server
	: >"$work/client"
	"${policy[@]}" "$@" -F -d roce2 >"$work/server" 2>&1 &
	server=$!
	if listens "$server"; then
		"${policy[@]}" "$@" -F -d roce1 localhost >"$work/client" 2>&1 ||
			kill "$server" 2>/dev/null
	fi
	wait "$server"
	line=$(sed -n '/#bytes/{n;p;}' "$work/client")
	[ -z "$line" ] || return 0
	echo "bench: $* failed: $(tail -n 3 "$work/client" "$work/server")" >&2
	return 1
}

# report KIND SIZE UNIT FACTOR COLUMN: a figure of the row, times the factor.
report() {
	awk -v kind="$1" -v size="$2" -v unit="$3" -v factor="$4" -v column="$5" \
		'{ printf "{\"transport\": \"rxe\", \"kind\": \"%s\", \"size\": %d, \"%s\": %.1f}\n",
			kind, size, unit, $column * factor }' <<<"$line"
}

# The column with the median, in us.
latency() { report "$1" "$2" ns 1000 5; }

measure_latency() {
	local size
	policy=(chrt -r 1)
	for size in 8 4096; do
		LD_PRELOAD=$yielding run ib_write_lat -s "$size" -n 200 &&
			latency "put one way" "$size"
	done
	policy=(chrt -b 0)
	for size in 8 4096 65536; do
		run ib_read_lat -s "$size" -n 200 && latency get "$size"
		# One outstanding: 1e6 of them in a second take a microsecond each.
		run ib_write_bw -t 1 -s "$size" -n 200 || continue
		line=$(awk '{ print 1 / $5 }' <<<"$line")
		report put "$size" ns 1000 1
	done
	run ib_atomic_lat -A FETCH_AND_ADD -n 200 && latency add 8
}

# Of MiB/s, the average.
measure_streams() {
	local of size count
	policy=(chrt -b 0)
	for of in 65536:200 4194304:10; do
		size=${of%:*} count=${of#*:}
		run ib_write_bw -s "$size" -n "$count" &&
			report "put stream" "$size" bytes_per_s 1048576 4
		run ib_read_bw -s "$size" -n "$count" &&
			report "get stream" "$size" bytes_per_s 1048576 4
	done
}

command -v ib_write_lat >/dev/null || skip "there is no perftest"
command -v rdma >/dev/null || skip "there is no command rdma"
modprobe -a crc32_pclmul crc32_generic 2>/dev/null || true
modprobe -a rdma_rxe ib_uverbs 2>/dev/null || skip "this kernel has no rdma_rxe"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
set_up
# What fails is said and left out.
set +e
measure_latency
measure_streams
exit 0
