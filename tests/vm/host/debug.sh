# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# The stock kernel's version with checks that no distribution's kernel has,
# for QEMU as that is: built from the sources that Debian ships with it, with
# debug.config, and cached.

debug_config=$parts/debug.config

# Not vmlinux: with KASAN it does not start by PVH.
debug_image=arch/x86/boot/bzImage

# How much longer everything takes there.
debug_slowness=10
debug_grace=900

# Vendors whose name begins with i, for Intel's is one, are small but for that.
debug_left_out=('drivers/net/ethernet/[!i]*' 'drivers/net/ethernet/intel/i*')

ensure_debug() {
	find_kver
	name_built "debug-$kver" "$debug_config"
	if ! is_built bzImage --debug; then
		ensure_packages "${packages_debug[@]}"
		locked "$cache/debug.lock" build_debug
	fi
	use_built
	kernel_image=$kernel/bzImage
	kernel_make=(OMX_DEBUG=1)
	ensure_initramfs
}

build_debug() {
	[ ! -e "$kernel/bzImage" ] || return 0
	local new begin=$SECONDS source
	source=linux-source-$(cut -d . -f 1,2 <<<"$kver")
	start_built 'debug-*'
	say "building a kernel that checks itself, once; this takes ten to twenty minutes"
	say "fetching $source"
	(cd "$new" && download_package "$source") || die "cannot download $source"
	unpack_source "$new" "$source" "${debug_left_out[@]}"
	configure_source "$new/source" "$debug_config"
	mkdir -p "$build"
	loudly "Linux with checks" nice make -C "$new/source" -j"$jobs" bzImage modules
	trim_source "$new" "$debug_image" bzImage "arch/x86 tools/objtool/objtool" ||
		die "cannot take what is needed out of the kernel's tree"
	ln -s "$kernel/tree" "$(echo "$new"/lib/modules/*)/build"
	finish_built
	say "the kernel took $((SECONDS - begin)) s"
}
