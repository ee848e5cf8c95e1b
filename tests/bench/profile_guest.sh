#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The guest's half of profile.sh: keeps two peers busy while the host counts.
#
# usage: profile_guest.sh TRANSPORT OFFLOAD POLICY PEER-OPTION...

set -eu

tests=${OMX_TESTS:-$(dirname "$0")}
transport=$1 offload=$2
as=()
[ "$3" = stock ] || as=(chrt -b 0)
shift 3

scatter_gather=$offload
[ "$offload" != sg ] || offload=off scatter_gather=on
for i in 1 2; do
	node "$i" ethtool -K eth0 tso "$offload" gso "$offload" gro "$offload" \
		tx "$offload" rx "$offload" sg "$scatter_gather" >/dev/null 2>&1
done
# Of the servers only this one has to know what is measured.
server_options=()
[ "$transport" != onesided ] || server_options=("$@")
"${as[@]}" node 2 "$tests/${transport}_peer" "${server_options[@]}" --serve >/dev/null &
server=$!
"${as[@]}" node 1 "$tests/${transport}_peer" "$@" node2 >/dev/null &
client=$!

# Built in, because a process of its own would be in the profile.
mkfifo /tmp/never
exec 9<>/tmp/never
pause() { read -r -t "$1" -u 9 || true; }

pause 0.5
kill -0 "$server" "$client"
cat /proc/kallsyms >"$LAB_OUT/kallsyms"
cat "/proc/$client/maps" >"$LAB_OUT/maps"
pause 0.1
: >"$LAB_OUT/ready"
until [ -e "$LAB_OUT/done" ]; do
	pause 0.5
done
kill -KILL "$client" "$server"
wait || true
