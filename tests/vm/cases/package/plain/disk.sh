# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash disable=SC2034,SC2154 # for cycle, and of cycle
# For cycle: a disk with a plain Debian, which is kept for a month.

# What a node of a cluster has on which MPI programs are compiled and run, as the packages
# leave it. furnish says what is added.
plain_packages=(gcc initramfs-tools iproute2 kmod libopenmpi-dev linux-image-amd64 openmpi-bin
	openssh-client openssh-server passwd procps systemd-sysv udev)

# Sets plain, a directory with the disk and, as a boot loader would find them on it, vmlinuz
# and initrd.img; backports has the release of the kernel in backports.
ensure_plain() {
	local sum
	sum=$(cat "$here"/{disk.sh,furnish} | sha256sum)
	plain=$cache/plain-$1-${sum:0:16}
	locked "$cache/plain.lock" make_plain "$1"
}

make_plain() {
	local new
	find "$cache" -maxdepth 1 -name "plain-$1-*" -mtime +30 -exec rm -rf {} +
	[ ! -e "$plain" ] || return 0
	new=$(mktemp -d "$cache/new.XXXXXX")
	say "making a plain Debian, $1"
	root_hooks=(--skip=cleanup/apt
		--essential-hook="'$here/furnish' before \"\$1\" $1 '$kernels'"
		--customize-hook="'$here/furnish' after \"\$1\" $1 '$kernels'")
	plain_root "$1" "$new/root" "${plain_packages[@]}" >&2 ||
		skip "a plain Debian, $1, cannot be had"
	mv "$new/root/lab/backports" "$new/"
	cp -L "$new/root/vmlinuz" "$new/root/initrd.img" "$new/"
	# Without one systemd would take the first boot for an installation.
	od -An -N16 -tx1 /dev/urandom | tr -d ' ' >"$new/root/etc/machine-id"
	truncate -s 8G "$new/disk"
	mke2fs -q -t ext4 -d "$new/root" "$new/disk"
	rm -rf "$new/root"
	mv "$new" "$plain"
}

# ---- what is on a machine's disk, while the machine is off ----

can_mount_disks() { (unshare --mount sh -c 'mount -o loop,ro "$1" /mnt' sh "$plain/disk") 2>/dev/null; }

# in_disk DISK CMD...: with this machine's processors, which compile ten times faster than
# an emulated one.
in_disk() {
	mkdir -p "$out/root"
	# shellcheck disable=SC2016 # its own arguments
	unshare --mount sh -c '
		root=$1
		mount -o loop "$2" "$root" && mount --bind "$3" "$root/lab" &&
			mount -t proc proc "$root/proc" && mount -t tmpfs dev "$root/dev" || exit
		for device in full:7 null:3 random:8 urandom:9 zero:5; do
			mknod -m 666 "$root/dev/${device%:*}" c 1 "${device#*:}" || exit
		done
		ln -s /proc/self/fd "$root/dev/fd"
		shift 3
		status=0
		# Daemons that it leaves, such as an agent of gpg, end with its namespace.
		unshare --pid --fork \
			env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 \
			chroot "$root" "$@" </dev/null || status=$?
		umount -R "$root" || status=1
		exit "$status"' sh "$out/root" "$1" "$share" "${@:2}"
}
