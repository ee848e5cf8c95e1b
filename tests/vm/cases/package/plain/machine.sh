# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash disable=SC2034,SC2054,SC2154 # for cycle, commas for QEMU, of cycle
# For cycle: boots the plain machines node1 and node2. Nothing of the lab is in them but a
# service that takes orders from the directory $share (inside/start).

share=$out/share
pids=() progress=

stop_machines() {
	[ -z "${pids[*]}$progress" ] || kill "${pids[@]}" $progress 2>/dev/null || true
}

# Both have the same disk, and are different by the network card and the name.
furnish_machines() {
	mkdir -p "$share/boot"
	cp --sparse=always "$plain/disk" "$out/node1.disk"
	cp "$plain/vmlinuz" "$plain/initrd.img" "$share/boot/"
}

# boot LIMIT MACHINES STAGE...: node1 does the STAGEs one after the other, within LIMIT
# seconds. If there are 2 MACHINES, node2 is there with what node1 has on its disk now.
boot() {
	local limit=$1 machines=$2 m began=$SECONDS
	rm -f "$share"/{log,status,dmesg}.*
	echo "$nonce ${*:3}" >"$share/order"
	[ "$machines" = 1 ] || cp --sparse=always "$out/node1.disk" "$out/node2.disk"
	for ((m = 1; m <= machines; m++)); do
		machine_arguments "$m"
		timeout -k 5 "$limit" "${arguments[@]}" </dev/null >"$out/qemu.$m" 2>&1 &
		pids+=($!)
	done
	: >"$share/log.node1"
	tail -n +1 -F "$share/log.node1" 2>/dev/null &
	progress=$!
	await_machines
	sleep 1
	kill "$progress" && progress=
	echo "($((SECONDS - began)) s)"
	judge_machines "${*:3}"
}

# node2 ends when node1 has said how its stages went.
await_machines() {
	wait "${pids[0]}" || true
	[ -n "$(status_of_stages)" ] || stop_machines
	wait "${pids[@]}" || true
	pids=()
}

status_of_stages() {
	[ ! -e "$share/status.node1" ] || sed -n "s/^$nonce \([0-9][0-9]*\)\$/\1/p" "$share/status.node1"
}

# What a kernel complained of counts in any case.
judge_machines() {
	local log status
	status=$(status_of_stages)
	for log in "$share"/dmesg.*; do
		[ ! -e "$log" ] || ! grep -v Spectre "$log" | find_splat || fail "$1: a kernel complained"
	done
	[ -n "$status" ] || { tail -n 40 "$out"/{console,qemu}.* && fail "$1: node1 hung or went away"; }
	[ "$status" = 0 ] || fail "$1: it failed"
}

# Sets arguments. What the machine boots is what a boot loader would find on its disk.
machine_arguments() {
	local m=$1 append
	append="root=/dev/vda rw console=ttyS0 loglevel=4 panic=-1 oops=panic random.trust_cpu=on"
	append+=" nowatchdog rcupdate.rcu_cpu_stall_timeout=120 systemd.default_timeout_start_sec=900"
	append+=" net.ifnames=0 cryptomgr.notests tsc=reliable nokaslr norandmaps mitigations=off"
	arguments=(qemu-system-x86_64 -M q35 -nodefaults -no-user-config -display none
		-no-reboot -m 2G -smp 2 -device virtio-rng-pci
		-kernel "$share/boot/vmlinuz" -initrd "$share/boot/initrd.img"
		-chardev "file,id=console,path=$out/console.$m" -serial chardev:console)
	arguments+=(-drive "file=$out/node$m.disk,format=raw,if=virtio,cache=unsafe"
		-virtfs "local,path=$share,mount_tag=lab,security_model=none"
		-netdev "dgram,id=cable,local.type=unix,local.path=$out/cable.$m,remote.type=unix,remote.path=$out/cable.$((3 - m))"
		-device "virtio-net-pci,netdev=cable,mac=52:54:00:00:00:0$m,romfile=")
	rm -f "$out/cable.$m" "$out/console.$m"
	if kvm_is_known_to_work; then
		arguments+=(-accel kvm -cpu host)
	else
		find_clock_arguments
		append+=" $clock_arguments"
		arguments+=(-accel tcg,thread=multi -cpu max,-erms,-la57)
	fi
	arguments+=(-append "$append systemd.hostname=node$m")
}

# Some other guest has tried.
kvm_is_known_to_work() {
	[ "$(cat "$cache/kvm-$(cat /proc/sys/kernel/random/boot_id)" 2>/dev/null)" = yes ]
}
