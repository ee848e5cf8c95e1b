# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# Shared virtual addressing: a device that walks the page tables of processes and
# asks for pages that are absent. It takes a newer QEMU and a newer kernel than this
# machine's. Both are Debian's own of its development release, and so are the
# compiler and the headers for that kernel; all of them are in a root of their own
# in the cache and are not installed on this machine.

# With all that they depend on; the last ones are what a build of a module calls.
sva_packages=(qemu-system-x86 linux-headers-amd64
	bash ccache coreutils dash findutils gawk grep make sed)

# Needed for an installation only.
sva_left_out='^(debconf|libsystemd-shared|linux-base|systemd)$'

ensure_sva() {
	name_built sva <(printf '%s\n' "${sva_packages[@]}")
	is_built vmlinuz --sva || locked "$cache/sva.lock" fetch_sva
	use_built
	kernel_image=$kernel/vmlinuz
	kernel_root=$kernel/root
	headers=/usr/lib/modules/$kver/build
	kernel_make=(DEB_BUILD_ARCH=amd64 DEBIAN_KERNEL_USE_CCACHE=y)
	ensure_initramfs
}

fetch_sva() {
	[ ! -e "$kernel/vmlinuz" ] || return 0
	local new begin=$SECONDS
	start_built 'sva-*'
	unpack_sva "$new/root"
	take_kernel_out_of_root
	finish_built
	say "QEMU and the kernel for --sva took $((SECONDS - begin)) s"
}

# unpack_sva ROOT: 250 MB, of which half are modules.
unpack_sva() {
	local root=$1 names release package
	mkdir -p "$root"
	names=$(closure_in_suite sid "$root" "${sva_packages[@]}") || die "cannot list ${sva_packages[*]} of sid"
	release=$(sed -n 's/^linux-headers-\([0-9].*-amd64\)$/\1/p' <<<"$names")
	[ -n "$release" ] || die "linux-headers-amd64 of sid has no headers"
	mapfile -t names < <(grep -vE "$sva_left_out" <<<"$names")
	fetch_from_suite sid "$root" "${names[@]}" linux-{base,binary,modules}-"$release"
	say "unpacking them"
	for package in "$root"/*.deb; do
		dpkg -x "$package" "$root" && rm "$package" || die "cannot unpack $package"
	done
	complete_root "$root"
	echo "$release" >"$root/../release"
}

# What installations do in their own ways.
complete_root() {
	local name
	for name in bin lib lib64 sbin; do
		[ -e "$1/$name" ] || ln -s "usr/$name" "$1/$name"
	done
	[ -e "$1/usr/bin/awk" ] || ln -s gawk "$1/usr/bin/awk"
	mkdir -p "$1"/{dev,proc,tmp} "$1$place" "$1$place-ccache"
}

# A guest has the modules, but not what they are built with.
take_kernel_out_of_root() {
	local release modules
	release=$(<"$new/release")
	modules=$new/root/usr/lib/modules/$release
	mkdir -p "$new/lib/modules/$release"
	mv "$modules/vmlinuz" "$new/"
	mv "$modules/kernel" "$modules"/modules.* "$new/lib/modules/$release/"
	depmod -b "$new" "$release"
}

# kbuild_in_root ROOT CMD...: as kbuild does it, in that root.
kbuild_in_root() {
	local user=()
	[ "$(id -u)" = 0 ] || user=(--map-root-user)
	# shellcheck disable=SC2016 # its own arguments
	CCACHE_BASEDIR=$place compiled unshare "${user[@]}" --mount sh -c '
		root=$1 place=$2
		mount --bind "$3" "$root$place" && mount --bind "$4" "$root$place-ccache" &&
			mount --rbind /dev "$root/dev" && mount --rbind /proc "$root/proc" || exit
		shift 4
		CCACHE_DIR=$place-ccache exec chroot "$root" "$@"' sh \
		"$1" "$place" "$build" "$cache/ccache" "${@:2}"
}

# Sets emulator: that root's QEMU, by its own loader and with its own libraries.
sva_emulator() {
	local libraries=$kernel_root/usr/lib/x86_64-linux-gnu
	emulator=("$libraries/ld-linux-x86-64.so.2" --library-path "$libraries"
		--preload "$build/lab/omx-engine.so"
		"$kernel_root/usr/bin/qemu-system-x86_64"
		-L "$kernel_root/usr/share/qemu" -L "$kernel_root/usr/share/seabios")
}
