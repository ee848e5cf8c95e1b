# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# Another kernel, as an ordinary process: user-mode Linux of a series that
# this Debian does not have, built from the sources of Debian's next release
# and cached. It runs at this machine's speed where KVM does not work.

uml_series=7.2
uml_config=$parts/uml.config

# Of the sources nothing is unpacked that allnoconfig and uml.config leave out
# and that is large; Kconfig and Makefiles are read all the same.
uml_left_out=(Documentation sound samples rust tools/perf tools/testing
	drivers/{accel,gpu,iio,infiniband,media,mfd,mtd,net/ethernet,net/wireless,nvme}
	drivers/{phy,pinctrl,scsi,staging,usb,video}
	fs/{bcachefs,btrfs,ceph,ext4,f2fs,gfs2,nfs,nfsd,ocfs2,smb,xfs}
	arch/{alpha,arc,arm,arm64,csky,hexagon,loongarch,m68k,microblaze,mips,nios2}
	arch/{openrisc,parisc,powerpc,riscv,s390,sh,sparc,xtensa})

# What the driver's build reads when the kernel is built.
uml_kept=(.config Makefile Kbuild Module.symvers arch/um arch/x86 include scripts)

ensure_uml() {
	local name
	name=$(sha256sum "$uml_config")
	kernel=$cache/uml-$uml_series-${name:0:16}
	if [ ! -e "$kernel/linux" ]; then
		uml_may_be_built || exit 77
		ensure_packages "${packages_uml[@]}"
		locked "$cache/lock" build_uml
	fi
	touch "$kernel"
	kver=$(<"$kernel/release")
	headers=$kernel/tree
	kernel_make=(ARCH=um)
}

# For tests that are not worth the minutes.
uml_may_be_built() {
	[ -z "${LAB_CACHED_KERNELS:-}" ] ||
		{ say "user-mode Linux $uml_series is not in the cache: ./lab run --kernel $uml_series builds it" && false; }
}

build_uml() {
	[ ! -e "$kernel/linux" ] || return 0
	local new begin=$SECONDS
	find "$cache" -maxdepth 1 -name 'uml-*' -mtime +30 -exec rm -rf {} +
	new=$(mktemp -d "$cache/new.XXXXXX")
	say "building user-mode Linux $uml_series, once; this takes minutes"
	fetch_uml "$new"
	configure_uml "$new/source"
	mkdir -p "$build"
	loudly "user-mode Linux" nice make -C "$new/source" ARCH=um -j"$jobs" all
	trim_uml "$new" || die "cannot take what is needed out of the kernel's tree"
	rm -rf "$kernel"
	mv "$new" "$kernel"
	say "user-mode Linux took $((SECONDS - begin)) s"
}

# Read from a private list of packages, so that this machine's stay its own.
# The snapshot that a mirror serves may be past its date.
fetch_uml() {
	local lists=$1/apt source=linux-source-$uml_series pattern
	say "fetching $source"
	mkdir -p "$lists/lists/partial" "$lists/cache/archives/partial" "$1/source"
	uml_package_source >"$lists/sources.list"
	cat >"$lists/apt.conf" <<-END
		Dir::State::Lists "$lists/lists";
		Dir::Etc::sourcelist "$lists/sources.list";
		Dir::Etc::sourceparts "-";
		Dir::Cache "$lists/cache";
		Acquire::Check-Valid-Until "false";
		Acquire::Languages "none";
		APT::Sandbox::User "root";
	END
	(cd "$1" && export APT_CONFIG=$lists/apt.conf && apt-get update -q >&2 &&
		apt-get download -q "$source" >&2) || die "cannot download $source"
	say "unpacking it"
	for pattern in "${uml_left_out[@]}"; do
		printf '%s\n' "$source/$pattern/*."{c,h,S,rst,json,dts,dtsi,rs}
	done >"$1/left-out"
	dpkg --fsys-tarfile "$1"/*.deb | tar -xO "./usr/src/$source.tar.xz" |
		xz -dc -T"$jobs" | tar -x -C "$1/source" --strip-components=1 --wildcards \
		-X "$1/left-out" || die "cannot unpack $source"
	rm -rf "$1"/*.deb "$1/left-out" "$lists"
}

# The mirror that serves this machine, another suite.
uml_package_source() {
	local mirror
	mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Identifier: Packages' 'Component: main' |
		grep -v -e security -e ports | head -n 1)
	echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] ${mirror:-http://deb.debian.org/debian/} sid main"
}

# Kconfig drops in silence what does not fit. Some options are there for those
# that select them only, none of which are built here: they get a prompt.
configure_uml() {
	local lost
	sed -i -E '/^config (MMU_NOTIFIER|HMM_MIRROR)$/,/^\s+bool$/s/^(\s+bool)$/\1 "for modules"/' \
		"$1/mm/Kconfig"
	make -C "$1" ARCH=um KCONFIG_ALLCONFIG="$uml_config" allnoconfig >"$1/config.log" 2>&1 ||
		{ tail -n 20 "$1/config.log" >&2 && die "cannot configure user-mode Linux"; }
	lost=$(grep '^CONFIG_' "$uml_config" | grep -vxF -f "$1/.config") || return 0
	die "this kernel does not take" $lost
}

trim_uml() {
	local tree=$1/tree source=$1/source
	mkdir -p "$tree"
	make -C "$source" -s ARCH=um INSTALL_MOD_PATH="$1" modules_install || return
	rm -f "$1"/lib/modules/*/{build,source}
	cp "$source/include/config/kernel.release" "$1/release" &&
		cp --reflink=auto "$source/vmlinux" "$1/linux" && strip --strip-debug "$1/linux" &&
		tar -C "$source" -c --exclude='arch/*.[coS]' "${uml_kept[@]}" | tar -C "$tree" -x &&
		rm -rf "$source"
}
