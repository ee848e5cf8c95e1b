#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Where the instructions go, exactly: while two peers are at work in a
# virtual-time guest, the emulator steps one instruction at a time and tells
# where each one is; profile.py counts them by function.
#
# usage: profile.sh [--transport omx|tcp] [--pingpong|--stream] [--size N]
#                   [--absent-source|--absent-destination]
#                   [--polled-put|--polled-message]  (of 8 bytes)
#                   [--offloads on|off|sg] [--nic MODEL] [--mtu M] [--policy batch|stock]
#                   [--instructions N] [--lines N]
#                   [--env NAME=VALUE]...  (of the peers: OMX_MEMORY, OMX_RCACHE)

set -euo pipefail

here=$(dirname "$(readlink -f "$0")")
top=$(readlink -f "$here/../..")
transport=omx kind=--pingpong size=1 offloads=on mtu=9000 policy=stock instructions='' lines=60 env=()
nic=()
declare -A message=([omx]=omx_isend [tcp]=tcp_sendmsg [memory]=omx_issend
	[put]=omx_iput [message]=omx_isend)

usage() {
	sed -n 's/^# \(usage: .*\)/\1/p; s/^# \(  *\[--[oeapl][fnboi].*\)/\1/p' "$0" >&2
	exit 2
}

while [ $# -gt 0 ]; do
	case $1 in
	--pingpong | --stream) kind=$1 && shift && continue ;;
	--absent-*) kind=$1 transport=memory && shift && continue ;;
	--polled-put | --polled-message) kind=$1 transport=onesided && shift && continue ;;
	esac
	[ $# -ge 2 ] || usage
	case $1 in
	--transport) transport=$2 ;;
	--size) size=$2 ;;
	--offloads) offloads=$2 ;;
	--nic) nic=(--nic "$2") ;;
	--mtu) mtu=$2 ;;
	--policy)
		[[ $2 =~ ^(batch|stock)$ ]] || usage
		policy=$2
		;;
	--instructions) instructions=$2 ;;
	--lines) lines=$2 ;;
	--env) env+=("$2") ;;
	*) usage ;;
	esac
	shift 2
done

counted=$transport peer_options=("$kind" --sizes "$size" --count 1000000)
if [ "$transport" = onesided ]; then
	counted=${kind#--polled-} size=8
	peer_options=(--repeat "$counted")
fi

# Some tens of messages: a large one is a million instructions.
[ -n "$instructions" ] || instructions=$((2000000 + 10 * size))

work=$(mktemp -d "${TMPDIR:-/tmp}/omx-profile.XXXXXX")
lab=
clean_up() {
	[ -z "$lab" ] || kill "$lab" 2>/dev/null || true
	wait
	rm -rf "$work"
}
trap clean_up EXIT

# In front of the emulator that the lab finds: the same with a monitor.
emulator=$(command -v qemu-system-x86_64)
mkdir "$work/bin" "$work/out"
chmod 755 "$work" "$work/out"
cat >"$work/bin/qemu-system-x86_64" <<END
#!/bin/sh
exec $emulator "\$@" -qmp unix:$work/monitor,server=on,wait=off
END
chmod +x "$work/bin/qemu-system-x86_64"
mkfifo "$work/trace"

PATH=$work/bin:$PATH LAB_OUT=$work/out "$top/lab" run --virtual-time "${nic[@]}" --mtu "$mtu" \
	env "${env[@]}" "$here/profile_guest.sh" "$transport" "$offloads" "$policy" \
	"${peer_options[@]}" \
	>"$work/lab.log" 2>&1 &
lab=$!
until [ -e "$work/out/ready" ]; do
	if ! kill -0 "$lab" 2>/dev/null; then
		cat "$work/lab.log" >&2
		exit 1
	fi
	sleep 0.2
done
echo "$transport ${kind#--}, $size bytes, MTU $mtu, offloads $offloads, policy $policy${nic:+, ${nic[1]}}"
"$here/profile.py" --instructions "$instructions" --lines "$lines" \
	--message "${message[$counted]}" \
	"$work/monitor" "$work/trace" "$work/out"
: >"$work/out/done"
