# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# What runs in the guest: the user part built out of tree in build/user and
# installed in build/root, the driver in a copy in build/driver-VERSION, the
# lab's own two programs in build/lab. Only what changed is built again.

jobs=$(nproc)

build_all() {
	locked "$build/lock" build_parts
}

build_parts() {
	build_lab_programs
	[ "$opt_module" = yes ] || return 0
	build_driver
	build_user
}

build_lab_programs() {
	local name
	mkdir -p "$build/lab"
	for name in node kmsg; do
		[ "$build/lab/$name" -nt "$vm/guest/$name.c" ] ||
			gcc -O2 -Wall -Wextra -Werror -static -o "$build/lab/$name" "$vm/guest/$name.c" ||
			die "cannot build the lab's own $name"
	done
}

# The headers' tree is read-only to us and Kbuild writes where the sources
# are, hence a copy; make's time stamps survive in it.
build_driver() {
	copy_sources "$top/driver" "$driver_build"
	say "building the driver for $kver"
	make -C "$headers" M="$driver_build" -j"$jobs" -s modules >&2 || die "the driver does not build"
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
	say "building the library, tools and tests"
	[ -e "$top/configure" ] || autoreconf_tree
	mkdir -p "$build/user"
	[ -e "$build/user/Makefile" ] || configure_user
	make_user || die "the user part does not build"
}

autoreconf_tree() {
	(cd "$top" && autoreconf -fi) >&2 || die "autoreconf failed"
}

configure_user() {
	[ ! -e "$top/config.status" ] || die "configured in the source tree: run make distclean first"
	(cd "$build/user" && ../../configure --quiet --prefix="$build/root") >&2 || die "configure failed"
}

make_user() {
	make -C "$build/user" -s -j"$jobs" >&2 &&
		make -C "$build/user" -s install >&2 &&
		make -C "$build/user" -s install-tests >&2
}
