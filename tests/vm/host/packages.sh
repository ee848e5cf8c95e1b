# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# The Debian packages that the lab needs; installs those that are absent.

packages=(
	# a driver and a library
	autoconf automake ccache gcc libc6-dev libcmocka-dev libjson-c-dev libtool make
	pkg-config
	linux-headers-amd64
	# a guest
	busybox-static cpio ethtool iproute2 kmod mount nftables procps
	qemu-system-x86 util-linux xz-utils
)

# MPI: what builds a component and tests, and what runs them; demo does without
packages_mpi=(libopenmpi-dev openmpi-bin)

# check's own: static checkers, what unpacks checkpatch, unit tests, and tshark for that of
# the dissector
packages_check=(perl python3 python3-yaml shellcheck sparse tshark)

# check's own: programs that others wrote for MPI
packages_mpi_check=(hpcc netpipe-openmpi python3-mpi4py)

# what builds user-mode Linux
packages_uml=(bc bison flex)

# what builds a kernel for --debug
packages_debug=(bc bison flex libelf-dev)

# package: what builds Debian packages of omx, and what checks them
packages_package=(autoconf automake build-essential ccache debhelper dh-dkms dpkg-dev
	libjson-c-dev libopenmpi-dev libtool lintian pkg-config)

# bench's own: tables
packages_bench=(python3)

# bench onesided: RDMA over Ethernet in software, to compare with
packages_rxe=(perftest rdma-core)

missing_packages() {
	local installed
	# dpkg-query fails when one is unknown, and still lists the others.
	installed=$(dpkg-query -W -f '${Package} ${db:Status-Status}\n' "$@" 2>/dev/null |
		awk '$2 == "installed" { print $1 }') || true
	printf '%s\n' "$@" | grep -vxF -f <(printf '%s\n' "$installed") || true
}

refresh_lists() {
	say "refreshing the package lists"
	as_root apt-get update -q >&2 || true
}

# Lists may be absent, or so old that what they name is gone.
install_packages() {
	export DEBIAN_FRONTEND=noninteractive
	apt-cache show "$@" >/dev/null 2>&1 || refresh_lists
	apt_install "$@" && return
	refresh_lists
	apt_install "$@"
}

apt_install() { as_root apt-get install -y -q --no-install-recommends "$@" >&2; }

# Into the current directory, which apt's own user may not enter.
download_package() {
	apt-get download -q -o APT::Sandbox::User=root "$1" >&2 && return
	refresh_lists
	apt-get download -q -o APT::Sandbox::User=root "$1" >&2
}

ensure_packages() {
	local missing
	mapfile -t missing < <(missing_packages "$@")
	[ "${#missing[@]}" = 0 ] && return
	say "installing Debian packages: ${missing[*]}"
	install_packages "${missing[@]}" || die "could not install: ${missing[*]}"
}
