# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# Shared virtual addressing: a device that walks the page tables of processes and
# asks for pages that are absent. It takes a newer QEMU and a newer kernel than this
# machine's. Both are Debian's own of its development release, and so is what builds
# modules for that kernel; see builder.sh.

# With all that they depend on.
sva_packages=(qemu-system-x86 "${builder_packages[@]}")

ensure_sva() {
	name_built sva <(printf '%s\n' "${sva_packages[@]}")
	is_built vmlinuz --sva || locked "$cache/sva.lock" fetch_sva
	use_built
	use_builder_root
	kernel_image=$kernel/vmlinuz
	ensure_initramfs
}

# 250 MB, of which half are modules.
fetch_sva() {
	[ ! -e "$kernel/vmlinuz" ] || return 0
	local new begin=$SECONDS
	start_built 'sva-*'
	unpack_builder sid "$new" "${sva_packages[@]}"
	unpack_from_suite sid "$new/root" linux-{base,binary,modules}-"$(<"$new/release")"
	take_kernel_out_of_root
	finish_built
	say "QEMU and the kernel for --sva took $((SECONDS - begin)) s"
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

# Sets emulator: that root's QEMU, by its own loader and with its own libraries.
sva_emulator() {
	local libraries=$kernel_root/usr/lib/x86_64-linux-gnu
	emulator=("$libraries/ld-linux-x86-64.so.2" --library-path "$libraries"
		--preload "$build/lab/omx-engine.so"
		"$kernel_root/usr/bin/qemu-system-x86_64"
		-L "$kernel_root/usr/share/qemu" -L "$kernel_root/usr/share/seabios")
}
