# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash disable=SC2154 # $OMX_TESTS comes from the guest
# For the cases with users who send over a slow link, from node 2 to node 1.

# Messages of any length in frames of their own unless they are to be pulled.
export OMX_RNDV_THRESHOLD=65536

# slow_link RATE: and a queue that loses nothing.
slow_link() {
	modprobe sch_tbf
	node 2 tc qdisc replace dev eth0 root tbf rate "$1" burst 20k limit 64m
}

fast_link() { node 2 tc qdisc del dev eth0 root 2>/dev/null || true; }

# as_user NODE ID COMMAND... &: the process that signals go to.
as_user() {
	exec node "$1" setpriv --reuid "$2" --regid "$2" --clear-groups --bounding-set=-all \
		"${@:3}"
}

# user ID ENDPOINT OPTION...: its server and its client, which sends when this returns.
declare -A server client
user() {
	local id=$1 endpoint=$2
	shift 2
	as_user 1 "$id" "$OMX_TESTS/life_shares" --server --endpoint "$endpoint" "$@" \
		>"/tmp/server.$id" 2>&1 &
	server[$id]=$!
	as_user 2 "$id" "$OMX_TESTS/life_shares" --client node1:0 --endpoint "$endpoint" "$@" \
		>"/tmp/client.$id" 2>&1 &
	client[$id]=$!
	says sending "/tmp/client.$id" "${client[$id]}"
}

# count_for ENDPOINT: from now on, the bytes of frames for this endpoint of node 1.
count_for() {
	modprobe -a sch_ingress cls_u32 act_gact
	node 1 tc qdisc add dev eth0 clsact 2>/dev/null || true
	# Bytes 4 and 5 are the endpoint.
	node 1 tc filter add dev eth0 ingress prio "$1" protocol 0x86df \
		u32 match u16 "$1" 0xffff at 4 action ok
}

count_no_more() { node 1 tc qdisc del dev eth0 clsact 2>/dev/null || true; }

# received ENDPOINT: how many these are so far.
received() {
	node 1 tc -s filter show dev eth0 ingress prio "$1" |
		awk '$1 == "Sent" { print $2; exit }'
}

# end_user ID: all that it has sent must have arrived.
end_user() {
	local sent
	kill -USR1 "${client[$1]}"
	if ! wait "${client[$1]}" || ! wait "${server[$1]}"; then
		cat "/tmp/client.$1" "/tmp/server.$1"
		fail "user $1 fails"
	fi
	sent=$(awk '/were sent/ { print $1 }' "/tmp/client.$1")
	grep -qx "$sent messages were received" "/tmp/server.$1" ||
		fail "user $1 has sent $sent messages, and not as many have arrived"
	unset "server[$1]" "client[$1]"
}

stop_users() {
	kill -KILL "${server[@]}" "${client[@]}" 2>/dev/null || true
}

# queued: bytes that wait in the queue of node 2's device.
queued() {
	node 2 tc -s qdisc show dev eth0 root | awk '
		/backlog/ {
			n = $2
			if (sub(/Kb$/, "", n)) n *= 1024
			else if (sub(/Mb$/, "", n)) n *= 1024 * 1024
			else sub(/b$/, "", n)
			print int(n)
			exit
		}'
}
