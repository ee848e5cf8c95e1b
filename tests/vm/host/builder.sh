# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# What builds the driver for the kernel of another release of Debian: its headers, its
# compiler, and what a build calls. They are in a root of their own in the cache and are
# not installed on this machine.

# With all that they depend on; the last ones are what a build of a module calls.
builder_packages=(linux-headers-amd64
	bash ccache coreutils dash findutils gawk grep make sed)

# Needed for an installation only.
builder_left_out='^(debconf|libsystemd-shared|linux-base|linux-image-.*|systemd)$'

# ensure_builder SUITE: for kbuild.
ensure_builder() {
	name_built "builder-$1" <(printf '%s\n' "${builder_packages[@]}")
	is_built release "the headers of $1" || locked "$cache/builder.lock" fetch_builder "$1"
	use_built
	use_builder_root
}

# Sets what kbuild asks for.
use_builder_root() {
	kernel_root=$kernel/root
	headers=/usr/lib/modules/$kver/build
	kernel_make=(DEB_BUILD_ARCH=amd64 DEBIAN_KERNEL_USE_CCACHE=y)
}

fetch_builder() {
	[ ! -e "$kernel/release" ] || return 0
	local new
	start_built "builder-$1-*"
	unpack_builder "$1" "$new" "${builder_packages[@]}"
	finish_built
}

# unpack_builder SUITE NEW PACKAGE...: into NEW/root; NEW/release is the kernel's.
unpack_builder() {
	local suite=$1 root=$2/root names release
	mkdir -p "$root"
	names=$(closure_in_suite "$suite" "$root" "${@:3}") || die "cannot list ${*:3} of $suite"
	release=$(sed -n 's/^linux-headers-\([0-9].*-amd64\)$/\1/p' <<<"$names")
	[ -n "$release" ] || die "linux-headers-amd64 of $suite has no headers"
	mapfile -t names < <(grep -vE "$builder_left_out" <<<"$names")
	unpack_from_suite "$suite" "$root" "${names[@]}"
	complete_root "$root"
	echo "$release" >"$2/release"
}

# unpack_from_suite SUITE ROOT PACKAGE...
unpack_from_suite() {
	local package
	fetch_from_suite "$@"
	say "unpacking them"
	for package in "$2"/*.deb; do
		dpkg -x "$package" "$2" && rm "$package" || die "cannot unpack $package"
	done
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

# kbuild_in_root ROOT DIRECTORY SEEN CMD...: as kbuild does it, in that root.
kbuild_in_root() {
	local user=()
	[ "$(id -u)" = 0 ] || user=(--map-root-user)
	# shellcheck disable=SC2016 # its own arguments
	compiled_in=$place compiled unshare "${user[@]}" --mount sh -c '
		root=$1 place=$2
		mount --bind "$3" "$root$place" && mount --bind "$3/$5" "$root$place/$6" &&
			mount --bind "$4" "$root$place-ccache" &&
			mount --rbind /dev "$root/dev" && mount --rbind /proc "$root/proc" || exit
		shift 6
		CCACHE_DIR=$place-ccache exec chroot "$root" "$@"' sh \
		"$1" "$place" "$build" "$cache/ccache" "${@:2}"
}
