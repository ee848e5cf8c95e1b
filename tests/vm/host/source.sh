# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# Kernels that are built from a package of Debian's with the sources: what
# uml.sh and debug.sh have in common.

# Large, and left out of these kernels; Kconfig and Makefiles are read all the same.
source_left_out=(Documentation sound samples rust tools/perf tools/testing
	drivers/{accel,gpu,iio,infiniband,media,mfd,mtd,net/wireless,nvme}
	drivers/{phy,pinctrl,scsi,staging,usb,video}
	fs/{bcachefs,btrfs,ceph,ext4,f2fs,gfs2,nfs,nfsd,ocfs2,smb,xfs}
	arch/{alpha,arc,arm,arm64,csky,hexagon,loongarch,m68k,microblaze,mips,nios2}
	arch/{openrisc,parisc,powerpc,riscv,s390,sh,sparc,xtensa})

# unpack_source DIRECTORY NAME [PATTERN...]: the package NAME that is in
# DIRECTORY, into DIRECTORY/source, without what PATTERN matches.
unpack_source() {
	local new=$1 name=$2 pattern
	say "unpacking $name"
	mkdir -p "$new/source"
	for pattern in "${source_left_out[@]}" "${@:3}"; do
		printf '%s\n' "$name/$pattern/*."{c,h,S,rst,json,dts,dtsi,rs}
	done >"$new/left-out"
	dpkg --fsys-tarfile "$new"/*.deb | tar -xO "./usr/src/$name.tar.xz" |
		xz -dc -T"$jobs" | tar -x -C "$new/source" --strip-components=1 --wildcards \
		-X "$new/left-out" || die "cannot unpack $name"
	rm -rf "$new"/*.deb "$new/left-out"
}

# configure_source SOURCE CONFIG [ARGUMENT...]: of make. Kconfig drops in
# silence what does not fit.
configure_source() {
	local source=$1 config=$2 lost
	make -C "$source" "${@:3}" KCONFIG_ALLCONFIG="$config" allnoconfig >"$source/../config.log" 2>&1 ||
		{ tail -n 20 "$source/../config.log" >&2 && die "cannot configure the kernel"; }
	lost=$(grep '^CONFIG_' "$config" | grep -vxF -f "$source/.config") || return 0
	die "this kernel does not take" $lost
}

# trim_source NEW IMAGE NAME KEPT [ARGUMENT...]: of a kernel built in NEW/source
# keep the file IMAGE as NAME, the release, modules and, as NEW/tree, what a
# build of the driver reads: KEPT, which are words, and more.
trim_source() {
	local new=$1 image=$2 name=$3 tree=$1/tree source=$1/source kept
	read -ra kept <<<"$4"
	mkdir -p "$tree"
	make -C "$source" -s "${@:5}" INSTALL_MOD_PATH="$new" modules_install || return
	rm -f "$new"/lib/modules/*/{build,source}
	cp "$source/include/config/kernel.release" "$new/release" &&
		cp --reflink=auto "$source/$image" "$new/$name" &&
		tar -C "$source" -c --exclude='arch/*.[coS]' .config Makefile Kbuild Module.symvers \
			include scripts "${kept[@]}" | tar -C "$tree" -x &&
		rm -rf "$source"
}

# ---- their place in the cache ----

# name_built NAME CONFIG: sets kernel; another CONFIG is another directory.
name_built() {
	local sum
	sum=$(sha256sum "$2")
	kernel=$cache/$1-${sum:0:16}
}

# is_built IMAGE OPTIONS: the kernel that is used with OPTIONS. If it is not,
# tests that are not worth the minutes end here.
is_built() {
	[ ! -e "$kernel/$1" ] || return 0
	[ -z "${LAB_CACHED_KERNELS:-}" ] && return 1
	say "the kernel of $2 is not in the cache: ./lab run $2 true builds it"
	exit 77
}

# The cache forgets what has not been used for long.
use_built() {
	touch "$kernel"
	kver=$(<"$kernel/release")
	headers=$kernel/tree
}

# start_built PATTERN: sets new, where the kernel is built; PATTERN is what the
# cache may forget.
start_built() {
	find "$cache" -maxdepth 1 -name "$1" -mtime +30 -exec rm -rf {} +
	new=$(mktemp -d "$cache/new.XXXXXX")
}

finish_built() {
	rm -rf "$kernel"
	mv "$new" "$kernel"
}
