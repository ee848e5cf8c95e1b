# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# The guest's kernel: Debian's own image of the version whose headers are
# installed, an initramfs that reaches the host's root over 9p, and whether
# KVM can be trusted. All of it is cached; a version's directory appears in
# the cache complete or not at all.

# Enough for the initramfs to mount the real root and to report.
boot_modules=(virtio_pci virtio_console 9p 9pnet_virtio overlay)

# What scripts in a guest start all the time; see guest/initramfs-init.
frequent_commands=(awk bash basename cat chmod cp cut date dirname echo env ethtool
	expr find grep head hostname id insmod ip kill ln ls lsmod mawk mkdir mkfifo
	modprobe mktemp mount mv nproc nsenter printf ps pkill pgrep readlink rm rmdir
	rmmod sed seq sh sleep sort stat stdbuf sysctl tail tc tee test timeout touch
	tr true umount uname uniq unshare wc xargs)

# What starting them reads.
frequent_data=(/etc/{group,ld.so.cache,nsswitch.conf,passwd})

# kver: the release that linux-headers-amd64 stands for, e.g. 6.1.0-49-amd64.
find_kver() {
	kver=$(dpkg-query -W -f '${Depends}' linux-headers-amd64 |
		grep -o 'linux-headers-[^ ,]*' | head -n 1)
	kver=${kver#linux-headers-}
	headers=/lib/modules/$kver/build
	[ -n "$kver" ] && [ -d "$headers" ] ||
		die "linux-headers-amd64 is installed without its headers"
	kernel=$cache/$kver
}

# Sets kver, kernel (a directory of the cache), kernel_image for QEMU, headers,
# kernel_root, which is where these are if not on this machine, kernel_make, which is
# what a build of the driver is to say to them, and the directories where the driver
# and the tests' modules are built.
ensure_kernel() {
	kernel_make=() kernel_root=
	driver_build=$build/driver-
	case $opt_kernel.$opt_debug.$opt_sva in
	*.yes.no) ensure_debug && driver_build+=debug- ;;
	6.1.no.no) ensure_debian_kernel ;;
	6.1.no.yes) ensure_sva ;;
	7.2.no.no) ensure_uml ;;
	esac
	driver_build+=$kver
	[ "$opt_measure" = no ] || driver_build+=-measure kernel_make+=(OMX_MEASURE=1)
	modules_build=$build/modules-$kver
}

ensure_debian_kernel() {
	find_kver
	[ -e "$kernel/vmlinux" ] || locked "$cache/lock" fetch_kernel
	kernel_image=$kernel/vmlinux
	ensure_initramfs
}

ensure_initramfs() {
	name_initramfs
	[ -e "$initramfs" ] || locked "$cache/lock" make_initramfs
}

fetch_kernel() {
	[ ! -e "$kernel/vmlinux" ] || return 0
	local new
	new=$(mktemp -d "$cache/new.XXXXXX")
	say "fetching the kernel image linux-image-$kver"
	(cd "$new" && download_package "linux-image-$kver") || die "cannot download linux-image-$kver"
	say "unpacking it"
	dpkg -x "$new"/*.deb "$new/image"
	mkdir -p "$new/lib"
	mv "$new/image/lib/modules" "$new/lib/"
	unpack_vmlinux "$new/image/boot/vmlinuz-$kver" "$new/vmlinux"
	rm -rf "$new/image" "$new"/*.deb
	depmod -b "$new" "$kver"
	rm -rf "$kernel"
	mv "$new" "$kernel"
}

# The uncompressed kernel boots by PVH in a third of the time: the emulator
# is slow at decompressing it.
unpack_vmlinux() {
	local at
	at=$(LC_ALL=C grep -aobP -m 1 '\xfd7zXZ(?=\x00)' "$1" | head -n 1 | cut -d : -f 1)
	[ -n "$at" ] || die "$1: not compressed by xz"
	tail -c +$((at + 1)) "$1" | xz -dcq --single-stream >"$2" || true
	[ "$(head -c 4 "$2" | tail -c 3)" = ELF ] || die "$1: no kernel found in it"
}

# By what it is made of: trees of several versions share the cache. The frequent
# commands are those of the packages that are installed.
name_initramfs() {
	initramfs=$(cat "$vm/guest/"{initramfs-init,root.sh} "$parts/kernel.sh" "$(command -v busybox)" \
		/var/lib/dpkg/status "${frequent_data[@]}" | sha256sum)
	initramfs=$kernel/initramfs-${initramfs:0:16}
}

make_initramfs() {
	local root file
	[ ! -e "$initramfs" ] || return 0
	find "$kernel" -maxdepth 1 -name 'initramfs-*' -mtime +7 -delete
	root=$(mktemp -d "$cache/initramfs.XXXXXX")
	mkdir -p "$root"/{bin,dev,host,mnt,modules,new,proc}
	cp "$(command -v busybox)" "$root/bin/busybox"
	cp "$vm/guest/initramfs-init" "$root/init"
	cp "$vm/guest/root.sh" "$root/"
	chmod 755 "$root/init"
	: >"$root/modules/order"
	boot_module_files | while read -r file; do
		case $file in
		*.xz) xz -dc "$file" >"$root/modules/$(basename "$file" .xz)" ;;
		*) cp "$file" "$root/modules/" ;;
		esac
		basename "$file" .xz >>"$root/modules/order"
	done
	frequent_files | tar -C / -c --no-recursion --owner=0 --group=0 -T - >"$root/frequent.tar"
	(cd "$root" && find . | LC_ALL=C sort | cpio -o -H newc --quiet) >"$root.cpio"
	mv "$root.cpio" "$initramfs"
	rm -rf "$root"
}

boot_module_files() {
	local name
	for name in "${boot_modules[@]}"; do
		modprobe -d "$kernel" -S "$kver" --show-depends "$name"
	done | awk '$1 == "insmod" && !seen[$2]++ { print $2 }'
}

# With the libraries, and with the links on the way to each of them.
frequent_files() {
	local name files
	files=$(for name in "${frequent_commands[@]}"; do type -P "$name" || true; done)
	# shellcheck disable=SC2086 # paths without spaces
	{
		printf '%s\n' /bin /sbin /lib /lib64 "${frequent_data[@]}" $files
		ldd $files 2>/dev/null | grep -o '/[^ )]*[^ :)]'
	} | while read -r name; do
		links_of "$name"
	done | sort -u | sed 's|^/||'
}

links_of() {
	local path=$1 directory
	while :; do
		directory=$(realpath "$(dirname "$path")")
		path=${directory%/}/$(basename "$path")
		echo "$path"
		[ -L "$path" ] || break
		path=$(cd "$directory" && realpath -ms "$(readlink "$path")")
	done
}

# On some machines /dev/kvm exists and a guest hangs at once: believe only a
# guest that reported. The verdict holds until the host reboots.
kvm_works() {
	local verdict
	verdict=$cache/kvm-$(cat /proc/sys/kernel/random/boot_id)
	[ -e "$verdict" ] || locked "$cache/lock" probe_kvm "$verdict"
	[ "$(cat "$verdict")" = yes ]
}

probe_kvm() {
	local verdict=$1 answer=no
	[ ! -e "$verdict" ] || return 0
	rm -f "$cache"/kvm-*
	if [ -r /dev/kvm ] && [ -w /dev/kvm ]; then
		say "trying KVM"
		timeout -k 1 15 qemu-system-x86_64 -M q35 -nodefaults -no-user-config \
			-display none -accel kvm -cpu host -smp 2 -m 512 -no-reboot \
			-kernel "$kernel_image" -initrd "$initramfs" \
			-append "console=ttyS0 quiet panic=-1 lab.probe" -serial stdio \
			</dev/null 2>/dev/null | grep -q '^lab-probe 2' && answer=yes
	fi
	say "KVM usable: $answer"
	echo "$answer" >"$verdict"
}
