# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# Boots one guest, or two as machines, runs a command in it and finds out how
# that went. Success is never the absence of failure: each guest must write
# a word with this run's nonce, and its kernel log must be clean.

# shellcheck source=tests/vm/guest/splats.sh
. "$vm/guest/splats.sh"

# run_guest OUT DIRECTORY COMMAND...: OUT is a directory of the host that the
# guest sees as $LAB_OUT. Returns the command's status, exit_timeout or
# exit_lab.
run_guest() {
	choose_accelerator
	make_run_directory
	write_config
	write_command "${@:2}"
	start_guests "$1"
	guests_boot || restart_guests "$1"
	await_guests
	judge_guests
}

# What runs the guest's instructions.
choose_accelerator() {
	if [ "$opt_kernel" = "$uml_series" ]; then
		accelerator=uml
	elif [ "$opt_virtual_time" = yes ]; then
		accelerator=virtual
	elif kvm_works; then
		accelerator=kvm
	else
		accelerator=tcg
	fi
}

make_run_directory() {
	mkdir -p "$build/runs"
	find "$build/runs" -mindepth 1 -maxdepth 1 -mmin +600 -exec rm -rf {} +
	run=$(mktemp -d "$build/runs/$(date +%H%M%S).XXXX")
	chmod 755 "$run"
	mkdir "$run/bin"
	cp -r "$vm/guest" "$run/guest"
	cp "$build/lab/node" "$build/lab/kmsg" "$run/bin/"
	locked "$build/lock" snapshot_build
	nonce=$(od -An -N12 -tx1 /dev/urandom | tr -d ' \n')
	machine_list=1
	[ "$opt_machines" = no ] || machine_list='1 2'
	for machine in $machine_list; do
		echo "$nonce" >"$run/nonce.$machine"
	done
}

# Others may build while this guest runs. The driver is loaded for each test, and most of
# its file is what debuggers read.
snapshot_build() {
	[ ! -d "$build/root" ] || tar -C "$build/root" -cf "$run/root.tar" .
	[ "$opt_module" = no ] || strip --strip-debug -o "$run/omx.ko" "$driver_build/omx.ko"
	[ ! -d "$modules_build" ] || find "$modules_build" -name '*.ko' -exec cp -t "$run" {} +
}

write_config() {
	local processors=2
	[ "$opt_virtual_time" = no ] || processors=1
	cat >"$run/config" <<-END
		nodes=$opt_nodes
		mtu=$opt_mtu
		netem='$opt_netem'
		machines=$opt_machines
		nic='$opt_nic'
		nic_module=$nic_module
		udp=$opt_udp
		virtual_time=$opt_virtual_time
		speed=$opt_speed
		accelerator=$accelerator
		module=$opt_module
		debug=$opt_debug
		timeout=$opt_timeout
		all='${LAB_ALL:-no}'
		processors=$processors
		kernel_modules='$kernel/lib/modules/$kver'
		installed='$build/root'
	END
	mkdir -p "$build/root"
}

write_command() {
	printf 'directory=%q\ncommand=(' "$1" >"$run/command"
	printf '%q ' "${@:2}" >>"$run/command"
	echo ')' >>"$run/command"
}

start_guests() {
	local machine
	pids=()
	for machine in $machine_list; do
		start_guest "$machine" "$1"
	done
}

start_guest() {
	local m=$1 out=$2 args
	guest_arguments
	if [ "$m" = 1 ]; then
		mkfifo "$run/out.1" "$run/err.1"
		cat "$run/out.1" &
		pump_out=$!
		cat "$run/err.1" >&2 &
		pump_err=$!
	fi
	timeout -k 2 "$((opt_timeout + grace))" "${args[@]}" \
		</dev/null >"$run/host.$m" 2>&1 &
	pids[m]=$!
}

# The emulator rarely hangs a guest while its kernel boots, before it has anything of the
# project: it gets another chance, after LAB_BOOT_LIMIT seconds, which a test sets. One that has
# ended has its verdict, or will have none.
guests_boot() {
	local end=$((SECONDS + ${LAB_BOOT_LIMIT:-$grace}))
	[ "$accelerator" = tcg ] || return 0
	until guests_have_booted; do
		[ "$SECONDS" -lt "$end" ] || return
		sleep 0.2
	done
}

guests_have_booted() {
	local m
	for m in $machine_list; do
		! kill -0 "${pids[m]}" 2>/dev/null ||
			grep -q 'lab: boot finished' "$run/console.$m" 2>/dev/null || return
	done
}

restart_guests() {
	say "machine $machine_list: did not boot, once more"
	stop_guests
	wait "${pids[@]}" "$pump_out" "$pump_err" || true
	rm "$run/out.1" "$run/err.1"
	start_guests "$1"
}

# Sets args; reads m and out of the caller.
guest_arguments() {
	case $accelerator in
	uml) uml_arguments ;;
	*) qemu_arguments ;;
	esac
}

qemu_arguments() {
	clock_arguments=
	[ "$accelerator" != tcg ] || find_clock_arguments
	iommu_arguments
	args=("${emulator[@]}" -M q35 -nodefaults -no-user-config -display none
		-no-reboot -m "$opt_memory"
		-kernel "$kernel_image" -initrd "$initramfs"
		-append "$(kernel_arguments) $clock_arguments lab.machine=$m"
		-chardev "file,id=console,path=$run/console.$m" -serial chardev:console
		"${iommu[@]}" -device virtio-rng-pci)
	# shellcheck disable=SC2054 # commas are QEMU's
	args+=(-virtfs local,path=/,mount_tag=host,security_model=none,readonly=on,multidevs=remap
		-virtfs "local,path=$run,mount_tag=run,security_model=none"
		-virtfs "local,path=$out,mount_tag=out,security_model=none"
		-device virtio-serial-pci)
	local nr=0 port
	for port in out err kmsg verdict; do
		nr=$((nr + 1))
		args+=(-chardev "file,id=$port,path=$run/$port.$m"
			-device "virtserialport,chardev=$port,nr=$nr,name=lab.$port")
	done
	accelerator_arguments
	if [ "$opt_machines" = yes ]; then
		nic_arguments
	elif [ -n "$opt_nic" ]; then
		nic_pair_arguments
	fi
}

# Sets emulator, iommu and iommu_boot. The engine and emulated NICs are behind the
# IOMMU, virtio's devices are not.
iommu_arguments() {
	local scalable=''
	emulator=(qemu-system-x86_64) iommu=() iommu_boot=
	[ "$opt_iommu" = yes ] || return 0
	emulator=(env LD_PRELOAD="$build/lab/omx-engine.so" "${emulator[@]}")
	iommu_boot=' intel_iommu=on'
	if [ "$opt_sva" = yes ]; then
		sva_emulator
		scalable=,scalable-mode=on,svm=on,fsts=on,pasid-bits=16,device-iotlb=on
		scalable+=,caching-mode=on	# see tests/engine/README.md, limits
		iommu_boot+=,sm_on
	fi
	# shellcheck disable=SC2054 # commas are QEMU's
	iommu=(-device "intel-iommu,intremap=off,aw-bits=48$scalable"
		-device pcie-root-port,id=engine-port,chassis=1,slot=1
		-device omx-engine,bus=engine-port)
}

# User-mode Linux ends where it would start again: noreboot. Both processors
# need seccomp. Serial lines are the ports, see uml-start and guest/uml-init.
uml_arguments() {
	args=(unshare --mount --pid --fork --kill-child --mount-proc
		"$parts/uml-start" "$run" "$out" "$m" "$kernel/linux"
		"mem=$opt_memory" ncpus=2 seccomp=on noreboot uml_dir=/dev/shm/memory
		root=/dev/root rootfstype=hostfs rootflags=/ ro init=/dev/shm/run/guest/uml-init
		con=null con0=null,fd:7 ssl=null
		ssl0=null,fd:3 ssl1=null,fd:4 ssl2=null,fd:5 ssl3=null,fd:6
		loglevel=5 panic=-1 panic_on_warn=1 oops=panic norandmaps "lab.machine=$m"
		${opt_boot:+"$opt_boot"})
}

# tsc=reliable: else the clock is the HPET, 2 us per reading. norandmaps: the
# emulator keeps its translations of a program that is at the same addresses.
# Pages migrate by themselves only where a test wants them to. An emulated processor
# does not speculate, and what is done against that takes time.
kernel_arguments() {
	local mitigations=
	[ "$accelerator" != tcg ] || mitigations=' mitigations=off'
	echo "console=ttyS0 loglevel=5 tsc=reliable nokaslr panic=-1 panic_on_warn=1" \
		"oops=panic numa_balancing=disable brd.rd_size=131072 cryptomgr.notests random.trust_cpu=on net.ifnames=0 norandmaps$mitigations$iommu_boot $opt_boot"
}

# Without ERMS: the emulator is slow at rep movsb, which the kernel would use. The
# emulator of guests with SVA also has FSRM, with which newer kernels use it; and its
# IOMMU cannot read page tables of five levels, which LA57 is. Without the fifth level
# any emulator walks them faster.
accelerator_arguments() {
	local processor=max,-erms
	[ "$accelerator" != kvm ] || processor=host
	[ "$opt_sva" = no ] || processor+=,-fsrm,-la57
	case $accelerator in
	virtual)
		args+=(-accel tcg,thread=single -smp 1 -icount shift=0,sleep=off
			-cpu "$processor" -rtc clock=vm)
		;;
	kvm)
		args+=(-accel kvm -cpu "$processor")
		memory_nodes
		;;
	tcg)
		args+=(-accel tcg,thread=multi -cpu "$processor,-la57")
		memory_nodes
		;;
	esac
}

# Two processors, each with half of the memory near to it: pages have where to
# migrate to.
memory_nodes() {
	local half node
	half=$(($(numfmt --from=iec "$opt_memory") / 2097152))M
	args+=(-smp 2,sockets=2)
	# shellcheck disable=SC2054 # commas are QEMU's
	for node in 0 1; do
		args+=(-object "memory-backend-ram,id=memory$node,size=$half"
			-numa "node,nodeid=$node,cpus=$node,memdev=memory$node")
	done
}

# The cable between the machines, and beside it the lab's own.
nic_arguments() {
	local peer=$((3 - m)) nic
	for nic in 0:cable 1:lab; do
		args+=(-netdev "dgram,id=${nic#*:},local.type=unix,local.path=$run/${nic#*:}.$m,remote.type=unix,remote.path=$run/${nic#*:}.$peer")
	done
	args+=(-device "$nic_device,netdev=cable,mac=52:54:00:00:00:0$m,romfile="
		-device "virtio-net-pci,netdev=lab,mac=52:54:00:00:01:0$m,romfile=")
}

# Both ends of one cable in one guest.
nic_pair_arguments() {
	local nr
	for nr in 1 2; do
		args+=(-netdev "hubport,id=cable$nr,hubid=1"
			-device "$nic_device,netdev=cable$nr,mac=52:54:00:00:00:0$nr,romfile=")
	done
}

# A guest that ends without its verdict takes the other one with it.
await_guests() {
	local pid m
	for _ in $machine_list; do
		wait -n -p pid "${pids[@]}" || true
		for m in $machine_list; do
			[ "${pids[m]:-}" != "$pid" ] || unset "pids[m]"
			has_verdict "$m" || [ -n "${pids[m]:-}" ] || stop_guests
		done
	done
	wait "$pump_out" "$pump_err" || true
}

stop_guests() {
	[ "${#pids[@]}" = 0 ] || kill "${pids[@]}" 2>/dev/null || true
}

has_verdict() { [ -n "$(verdict_of "$1")" ]; }

verdict_of() {
	sed -n "s/^lab-verdict $nonce $1 \([0-9][0-9]*\)\$/\1/p" "$run/verdict.$1"
}

# The worst of: splat, missing verdict, machine 2's, the script's.
judge_guests() {
	local m verdict status=0
	for m in $machine_list; do
		verdict=$(verdict_of "$m")
		if splats "$m" >"$run/splats.$m"; then
			complain "$m" "the kernel complained" "$run/splats.$m"
			status=$exit_lab
		elif [ -z "$verdict" ]; then
			complain "$m" "the guest ended or hung without a verdict" "$run/console.$m"
			[ "$status" != 0 ] || status=$(status_of_silence)
		elif [ "$status" = 0 ]; then
			status=$verdict
		fi
	done
	rm -rf "$run/root.tar" "$run/guest" "$run/bin" "$run/omx.ko"
	return "$status"
}

status_of_silence() {
	if grep -q 'terminating on signal' "$run"/host.*; then
		echo "$exit_timeout"
	else
		echo "$exit_lab"
	fi
}

# From the first complaint on, in the log and, after a panic, on the console.
# What stands before the mark is the boot's own ("Spectre: WARNING ...").
splats() {
	local log found=1
	for log in "$run/kmsg.$1" "$run/console.$1"; do
		sed -n '/lab: boot finished/,$p' "$log" | tr -d '\r' |
			find_splat && found=0
	done
	return "$found"
}

complain() {
	say "machine $1: $2; its last words:"
	tail -n 60 "$3" | tr -d '\r' | sed 's/^/    /' >&2
	[ ! -s "$run/host.$1" ] || sed 's/^/    host: /' "$run/host.$1" >&2
	say "logs are in $run"
}
