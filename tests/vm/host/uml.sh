# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# Another kernel, as an ordinary process: user-mode Linux of a series that
# this Debian does not have, built from the sources of Debian's next release
# and cached. It runs at this machine's speed where KVM does not work.

uml_series=7.2
uml_config=$parts/uml.config

ensure_uml() {
	name_built "uml-$uml_series" "$uml_config"
	if ! is_built linux "--kernel $uml_series"; then
		ensure_packages "${packages_uml[@]}"
		locked "$cache/uml.lock" build_uml
	fi
	use_built
	kernel_make=(ARCH=um)
}

build_uml() {
	[ ! -e "$kernel/linux" ] || return 0
	local new begin=$SECONDS
	start_built 'uml-*'
	say "building user-mode Linux $uml_series, once; this takes minutes"
	fetch_uml "$new"
	offer_options "$new/source"
	configure_source "$new/source" "$uml_config" ARCH=um
	mkdir -p "$build"
	loudly "user-mode Linux" nice make -C "$new/source" ARCH=um -j"$jobs" all
	trim_source "$new" vmlinux linux "arch/um arch/x86" ARCH=um && strip --strip-debug "$new/linux" ||
		die "cannot take what is needed out of the kernel's tree"
	finish_built
	say "user-mode Linux took $((SECONDS - begin)) s"
}

fetch_uml() {
	local source=linux-source-$uml_series
	fetch_from_suite sid "$1" "$source"
	unpack_source "$1" "$source" drivers/net/ethernet
}

# Options that are there for those that select them only, none of which are
# built here, get a prompt.
offer_options() {
	sed -i -E '/^config (MMU_NOTIFIER|HMM_MIRROR)$/,/^\s+bool$/s/^(\s+bool)$/\1 "for modules"/' \
		"$1/mm/Kconfig"
}
