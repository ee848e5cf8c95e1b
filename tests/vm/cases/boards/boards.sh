# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# For the tests of this group: both nodes use another interface as board 0
# instead of eth0.

ifnames=/sys/module/omx/parameters/ifnames

# The largest messages: every byte is compared, by an emulated processor.
large=1M
[ "${LAB_ALL:-no}" != yes ] || large=3M

# The name of node I's interface that is board 0.
board[1]=eth0
board[2]=eth0

# use_board I INTERFACE: in place of the one in use.
use_board() {
	node "$1" sh -c "grep -qw ${board[$1]} $ifnames && echo --${board[$1]} >$ifnames; echo +$2 >$ifnames"
	board[$1]=$2
}

use_eth0() {
	local i
	for i in 1 2; do
		use_board $i eth0
	done
}

# within SECONDS COMMAND...
within() {
	local limit=$1 try
	shift
	for ((try = 0; try < 10 * limit; try++)); do
		! "$@" || return 0
		sleep 0.1
	done
	echo "not within $limit s: $*"
	node 1 omx_peers
	node 2 omx_peers
	return 1
}

knows() { node "$1" omx_peers | grep -q "$2"; }
forgot() { ! knows "$@"; }

await_peers() { within 5 knows 1 node2:0 && within 5 knows 2 node1:0; }

# Messages of every class, their bytes compared on both sides.
peer=node2:0
verify() {
	local server status=0
	node 2 omx_perf -s --timeout 15 >"$LAB_OUT/server" 2>&1 &
	server=$!
	node 1 omx_perf -d "$peer" --verify --timeout 15 "$@" || status=$?
	[ "$status" = 0 ] || cat "$LAB_OUT/server"
	kill $server 2>/dev/null || true
	wait $server || true
	return $status
}

# ---- traffic while the interface's members change ----

# A second cable beside eth0; no protocol but ours speaks on either of them.
add_eth1() {
	local i
	ip link add eth1 mtu "$LAB_MTU" netns node1 type veth peer name eth1 mtu "$LAB_MTU" netns node2
	for i in 1 2; do
		node $i sysctl -q net.ipv6.conf.{all,default}.disable_ipv6=1
		node $i ip link set eth1 up
	done
}

server='' client=''

# One run after the other, so that every class of messages meets the change.
start_traffic() {
	: >"$LAB_OUT/runs"
	node 2 omx_perf -s --timeout 20 >"$LAB_OUT/server" 2>&1 &
	server=$!
	while node 1 omx_perf -d node2:0 --verify --timeout 20 \
		--sizes "1,1000,30000,300k,$large" -W 1 -N 3 >"$LAB_OUT/client" 2>&1; do
		echo run >>"$LAB_OUT/runs"
	done &
	client=$!
}

runs() { wc -l <"$LAB_OUT/runs"; }
ran() { [ "$(runs)" -ge "$1" ] || ! kill -0 "$client" 2>/dev/null; }

# goes_on WHAT: the run that saw the change ends well, and so does the next one.
goes_on() {
	local begin=$EPOCHREALTIME now
	within 15 ran $(($(runs) + 2)) || { cat "$LAB_OUT/client" "$LAB_OUT/server" && return 1; }
	kill -0 "$client" 2>/dev/null || { cat "$LAB_OUT/client" && echo "$1: traffic ended" && return 1; }
	now=$EPOCHREALTIME
	awk -v w="$1" -v a="$begin" -v b="$now" 'BEGIN { printf "%s: goes on after %.1f s\n", w, b - a }'
}

end_traffic() {
	kill "$client" "$server" 2>/dev/null || true
	wait "$client" "$server" 2>/dev/null || true
	pkill -f '^omx_perf -d node2:0' || true
}
