# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=dash
# The root of a guest, however that was started: the host's, read-only, below
# a tmpfs. For the first program of a guest, which has /proc and /dev, and
# functions `share NAME DIRECTORY`, which mounts what the host shares, and `die`.

# mount_memory AT: where what a guest writes goes.
mount_memory() {
	mount -t tmpfs -o size=75% tmpfs "$1"
	mkdir "$1/upper" "$1/work"
}

# make_root NEW HOST MEMORY: HOST is the host's root, MEMORY that tmpfs.
make_root() {
	local new=$1
	mount -t overlay -o "lowerdir=$2,upperdir=$3/upper,workdir=$3/work" root "$new" ||
		die "cannot mount the overlay"
	mount -t tmpfs -o mode=755 tmpfs "$new/run"
	mkdir -p "$new/run/lab/run" "$new/run/lab/out"
	share run "$new/run/lab/run"
	share out "$new/run/lab/out"
	mount --move /dev "$new/dev"
	mount --move /proc "$new/proc"
	furnish_dev "$new/dev"
	mount -t sysfs sys "$new/sys"
}

furnish_dev() {
	mkdir -p "$1/pts" "$1/shm"
	mount -t devpts -o ptmxmode=666 devpts "$1/pts"
	mount -t tmpfs -o mode=1777 shm "$1/shm"
	ln -s /proc/self/fd "$1/fd"
	ln -s /proc/self/fd/0 "$1/stdin"
	ln -s /proc/self/fd/1 "$1/stdout"
	ln -s /proc/self/fd/2 "$1/stderr"
}
