# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# What the stages share.
export DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 PATH=/usr/sbin:/sbin:$PATH

fail() {
	echo "$*"
	exit 1
}

is_running() { [ -d /run/systemd/system ]; }

# within SECONDS CMD...
within() {
	local until=$((SECONDS + $1))
	while ! "${@:2}"; do
		[ "$SECONDS" -lt "$until" ] || return
		sleep 1
	done
}

apt() { apt-get -q -y -o Dpkg::Use-Pty=0 "$@"; }

# Without what is only for a while, what lists and logs what there is, and a user's own.
list_files() {
	find / -xdev \( -path /proc -o -path /sys -o -path /dev -o -path /run -o -path /tmp \
		-o -path /lab -o -path /home -o -path /root -o -path /var/log -o -path /var/tmp \
		-o -path /var/cache -o -path /var/lib/apt -o -path /var/lib/dpkg \
		-o -path /var/lib/systemd \) -prune -o -print | sort
}

list_packages() { dpkg-query -W -f '${binary:Package} ${db:Status-Abbrev}\n' | sort; }

# check_module KERNEL: DKMS has built and signed it.
check_module() {
	modinfo -k "$1" omx | grep -E '^(filename|version|vermagic|signer):' ||
		fail "there is no module for $1"
	[[ $(modinfo -k "$1" -F filename omx) == */updates/dkms/omx.ko* ]] || fail "it is not DKMS's"
	[ -n "$(modinfo -k "$1" -F signer omx)" ] || fail "it is not signed"
}

# check_loaded: the module, with eth0 as a board, and everybody may use it.
check_loaded() {
	within 30 test -c /dev/omx || fail "the module is not loaded"
	[ "$(modinfo -F srcversion omx)" = "$(cat /sys/module/omx/srcversion)" ] ||
		fail "another module is loaded"
	within 30 systemctl -q is-active omx || { systemctl status omx && fail "omx.service has failed"; }
	[ "$(stat -c %a /dev/omx)" = 666 ] || fail "not everybody may communicate"
	[ "$(cat /sys/module/omx/parameters/ifnames)" = eth0 ] ||
		fail "boards: $(cat /sys/module/omx/parameters/ifnames)"
	echo "$(hostname): omx $(cat /sys/module/omx/version) is loaded, eth0 is a board"
}

# ---- jobs between node1 and node2 ----

# Bytes that the IP of this machine has received so far.
ip_bytes() {
	awk '$1 == "IpExt:" && !n { for (i = 1; i <= NF; i++) if ($i == "InOctets") n = i; next }
		$1 == "IpExt:" { print $n }' /proc/net/netstat
}

wire_bytes() { cat /sys/class/net/eth0/statistics/rx_bytes; }

# Messages of a million bytes, each way.
messages=20
job() { runuser -l user -c "mpirun -np 2 --host node1,node2 ./volume --count $messages --timeout 600"; }

# run_job: sets ip and wire, the bytes that have come here by each.
run_job() {
	ip=$(ip_bytes)
	wire=$(wire_bytes)
	job || fail "the job failed"
	ip=$(($(ip_bytes) - ip))
	wire=$(($(wire_bytes) - wire))
	echo "$((messages * 1000000)) bytes have come here in messages: $wire by eth0, of these $ip by IP"
}
