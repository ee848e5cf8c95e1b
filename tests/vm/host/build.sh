# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# What runs in the guest: the user part built out of tree in build/user and
# installed in build/root, the driver in a copy in build/driver-VERSION and a
# module of the tests likewise, the lab's own two programs in build/lab. Only
# what changed is built again.

jobs=$(nproc)

# compiled CMD...: its compilations are taken from the cache, which serves all
# checkouts. So debug information may name another one's directory.
compiled() {
	CCACHE_DIR=$cache/ccache CCACHE_MAXSIZE=1G CCACHE_BASEDIR=${compiled_in:-$top} CCACHE_NOHASHDIR=y \
		CCACHE_SLOPPINESS=time_macros,include_file_mtime,include_file_ctime \
		PATH=/usr/lib/ccache:$PATH "$@"
}

# Kbuild names files by their absolute paths, which the cache compares.
place=/run/omx-lab-build

# kbuild DIRECTORY ARGUMENT...: makes a module in a directory of $build. Where a mount
# namespace can be had, $build is at one place in it, the same for every checkout, and the
# drivers at one place in that, so that the cache finds what two of them have in common.
kbuild() {
	local directory=${1#"$build/"} make=(make -C "$headers" -j"$jobs" "${@:2}")
	local seen=$directory
	if [ "$seen" = "${seen%/*}" ]; then
		seen=driver
		mkdir -p "$build/driver"
	fi
	if [ -n "$kernel_root" ]; then
		kbuild_in_root "$kernel_root" "$directory" "$seen" "${make[@]}" M="$place/$seen"
	elif mkdir -p "$place" && unshare --mount true 2>/dev/null; then
		# shellcheck disable=SC2016 # its own arguments
		compiled_in=$place compiled unshare --mount sh -c '
			mount --bind "$1" "$2" && mount --bind "$1/$3" "$2/$4" || exit
			shift 4
			exec "$@"' sh "$build" "$place" "$directory" "$seen" "${make[@]}" M="$place/$seen"
	else
		compiled "${make[@]}" M="$1"
	fi
}

# $LAB_BUILT is a driver's directory: a check that runs the lab many times says
# that it has built all parts already.
build_all() {
	[ "${LAB_BUILT:-}" != "$driver_build" ] || return 0
	locked "$build/lock" build_parts
}

build_parts() {
	build_lab_programs
	[ "$opt_speed" = 1 ] || build_module lab/fast
	[ "$opt_module" = yes ] || return 0
	build_user &
	pids+=($!)
	build_driver
	build_modules
	wait "${pids[-1]}" || exit
	unset 'pids[-1]'
}

build_lab_programs() {
	local name
	mkdir -p "$build/lab"
	for name in node kmsg; do
		[ "$build/lab/$name" -nt "$vm/guest/$name.c" ] ||
			gcc -O2 -Wall -Wextra -Werror -static -o "$build/lab/$name" "$vm/guest/$name.c" ||
			die "cannot build the lab's own $name"
	done
	build_engine
}

# For QEMU, see tests/engine. A guest may be using the old one.
build_engine() {
	local so=$build/lab/omx-engine.so
	[ -z "$(find "$top/tests/engine" "$top/contract/omx_engine.h" -newer "$so" 2>&1)" ] ||
		{ gcc -O2 -Wall -Wextra -Werror -shared -fPIC -fvisibility=hidden \
			-I "$top/contract" -o "$so.new" "$top"/tests/engine/*.c && mv "$so.new" "$so"; } ||
		die "cannot build the engine"
}

# loudly WHAT CMD...: its output to a log, of which compilers' lines and
# complaints are shown; all of it if CMD fails.
loudly() {
	local what=$1
	local log=$build/${what//[^a-zA-Z0-9.]/-}.log
	say "building $what"
	if ! "${@:2}" </dev/null 2>&1 | tee "$log" |
		{ grep --line-buffered -E '^ +[A-Z]+ |warning:|error:' || true; } >&2; then
		tail -n 50 "$log" >&2
		die "cannot build $what"
	fi
}

# The headers' tree is read-only to us and Kbuild writes where the sources
# are, hence a copy; make's time stamps survive in it.
build_driver() {
	copy_sources "$top/contract" "$build/contract"
	copy_sources "$top/driver" "$driver_build"
	loudly "the driver for $kver" kbuild "$driver_build" "${kernel_make[@]}" modules
}

# build_unchecked DIRECTORY: for the test of what the IOMMU alone protects, and for the
# benchmark of what the IOMMU finds.
build_unchecked() {
	copy_sources "$top/contract" "$build/contract"
	copy_sources "$top/driver" "$1"
	loudly "the driver without checks" kbuild "$1" \
		"${kernel_make[@]}" OMX_UNCHECKED=1 modules
}

# Modules of the tests' own, which a guest finds in /run/lab/run; a kernel
# that cannot have one (no dmaengine) builds nothing there.
build_modules() {
	local module modules=(memory/engine memory/page_lock iommu/driver iommu/poke lab/fast)
	[ "$opt_sva" = no ] || modules=(iommu/driver iommu/poke iommu/sva)
	[ "$opt_debug" = no ] || modules+=(lab/bugs)
	for module in "${modules[@]}"; do
		build_module "$module"
	done
}

build_module() {
	copy_sources "$vm/cases/$1" "$modules_build/$1"
	loudly "the tests' $1" kbuild "$modules_build/$1" "${kernel_make[@]}" modules
}

# copy_sources FROM TO: newer files only, and nothing that FROM has no more.
copy_sources() {
	local name
	[ -d "$1" ] || die "there is no $1"
	mkdir -p "$2"
	cp -ru --preserve=timestamps "$1/." "$2/"
	(cd "$2" && find . -name '*.[ch]' ! -name '*.mod.c') | while read -r name; do
		[ -e "$1/$name" ] || rm "$2/$name"
	done
}

build_user() {
	[ ! -e "$top/config.status" ] || die "configured in the source tree: run make distclean first"
	loudly "the library, tools and tests" make_user
}

make_user() {
	[ -e "$top/configure" ] || (cd "$top" && autoreconf -fi) || return
	forget_other_place
	mkdir -p "$build/user"
	configured || compiled configure_user || return
	compiled make -C "$build/user" -j"$jobs" && install_user
}

# Installing takes longer than finding out that nothing is new.
install_user() {
	local stamp=$build/user/installed new=$build/user/installed.new
	[ ! -e "$stamp" ] || [ ! -d "$build/root" ] || [ -n "$(newer_than "$stamp")" ] || return 0
	touch "$new" &&
		make -C "$build/user" -s install &&
		make -C "$build/user" -s install-tests &&
		mv "$new" "$stamp"
}

# newer_than STAMP: a file that may have to be installed, built or not.
newer_than() {
	find "$build/user" "$top"/{contract,libomx,mpi-glue,tools,examples,docs,tests} \
		\( -path "$top/tests/vm" -o -path "$build/user/installed*" \) -prune -o \
		-type f ! -name '*.log' ! -name '*.trs' -newer "$1" -print -quit
}

# Libtool and make write down where the checkout is: one that was copied or
# moved is built again.
forget_other_place() {
	[ "$(cat "$build/user/place" 2>/dev/null)" = "$top" ] || rm -rf "$build/user" "$build/root"
}

# Once more when Open MPI, which adds parts, has come or gone.
configured() {
	[ -e "$build/user/Makefile" ] && [ "$(cat "$build/user/mpi" 2>/dev/null)" = "$(mpi_here)" ]
}

configure_user() {
	(cd "$build/user" && ../../configure --quiet --prefix="$build/root") &&
		mpi_here >"$build/user/mpi" && echo "$top" >"$build/user/place"
}

mpi_here() {
	if command -v mpicc >/dev/null; then
		echo yes
	else
		echo no
	fi
}
