# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash disable=SC2034 # address and ipv are for the tests
# For the tests of this group, whose nodes are in networks of their own behind a router:
# the guest's own namespace, with an interface to1, to2, ... to each node.
# shellcheck source=tests/api/pair.sh
. "$OMX_TESTS/pair.sh"

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

# Of the version of IP that the nodes use.
if node 1 omx_peers | grep -q fd00::2; then
	address=fd00::
	ipv=-6
else
	address=10.0.0.
	ipv=-4
fi

lists() { node "$1" omx_peers | grep -q -- "$2"; }
knows() { lists "$1" "node$2:0  *[0-9].*$address$2"; }
await_peers() { within 10 knows 1 2 && within 10 knows 2 1; }

forget() { node "$1" omx_peers remove --all; }
add() { node "$1" omx_peers add "$address$2"; }

# Messages of every class, their bytes compared on both sides.
verify() {
	local server status=0
	node 2 omx_perf -s --timeout 20 >"$LAB_OUT/server" 2>&1 &
	server=$!
	node 1 omx_perf -d node2:0 --verify --timeout 20 "$@" || status=$?
	[ "$status" = 0 ] || cat "$LAB_OUT/server"
	kill $server 2>/dev/null || true
	wait $server || true
	return $status
}

# counted I LABEL COUNT: the counter has grown so far since the node's were cleared.
counted() {
	local n
	n=$(counter "$1" "$2")
	[ "$n" -ge "$3" ] || { echo "node $1: $2: $n, not $3" && return 1; }
}
