# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# Group "build" of ./lab check: what compilers and checkers say.

# What checkpatch says of version checks in compat.h, of tables by macro and of
# the self-tests' CHECK.
style_exceptions=LINUX_VERSION_CODE,CONSTANT_COMPARISON,COMPLEX_MACRO,BRACKET_SPACE
style_exceptions+=,MACRO_WITH_FLOW_CONTROL

static_checks=(driver-warnings driver-options driver-style wire-table shell-scripts check-source)
# By check --all.
more_static_checks=(driver-next-kernels)

check_static() { on_host "build/$1" at_leisure "${1//-/_}"; }

# What computes leaves the processors to guests, whose clocks go on.
at_leisure() {
	renice -n 10 -p "$BASHPID" >/dev/null
	"$@"
}

# ---- what passed is not done again for the same files, except by check --all ----

# sum_of TOOL FILE...: of what is in these files and directories, what looks at it, and how.
# Other checkouts have the same files elsewhere.
sum_of() {
	{
		"$1" --version
		find "${@:2}" "$parts/static.sh" -type f \
			! -name '*.o' ! -name '*.ko' ! -name '*.mod*' ! -name '*.cmd' \
			-exec sha256sum {} + | sed "s|$top/||" | sort
	} | sha256sum | cut -c 1-16
}

# has_passed NAME SUM
has_passed() {
	[ "$check_everything" = no ] && [ -e "$cache/passed/$1-$2" ] &&
		echo "it has passed with the same files"
}

note_passed() {
	mkdir -p "$cache/passed"
	find "$cache/passed" -type f -mtime +30 -delete
	: >"$cache/passed/$1-$2"
}

# sparse on every file; silence is success, so warnings are errors. The result is also what
# lab/self-tests loads, and either may come first.
driver_warnings() { locked "$build/check-driver.lock" build_checked_driver; }

build_checked_driver() {
	local sum checker=(C=2 CF=-D__CHECK_ENDIAN__)
	sum=$(sum_of sparse "$top"/{driver,contract} "$headers/Module.symvers")
	! has_passed sparse "$sum" || checker=()
	# The debug build: all that the other one has, and more.
	build_silently check-driver "${checker[@]}" OMX_DEBUG=1 || return
	note_passed sparse "$sum"
}

# The build options that no other test builds with.
driver_options() {
	local sum
	sum=$(sum_of gcc "$top"/{driver,contract} "$headers/Module.symvers")
	! has_passed driver-options "$sum" || return 0
	build_silently check-options OMX_DMA=n OMX_MEASURE=1 || return
	build_without NETFILTER_INGRESS NET_UDP_TUNNEL || return
	note_passed driver-options "$sum"
}

# build_without OPTION...: as for a kernel that was configured without them.
build_without() {
	local option without=$build/without.h kernel=()
	for option; do
		printf '#undef CONFIG_%s\n' "$option" "${option}_MODULE"
		kernel+=("CONFIG_$option=")
	done >"$without"
	build_silently check-without KCFLAGS="-include $without" "${kernel[@]}"
}

# build_silently NAME ARGUMENT...: the driver, in that directory of $build.
build_silently() {
	local copy=$build/$1 said
	copy_sources "$top/contract" "$build/contract"
	copy_sources "$top/driver" "$copy"
	said=$(kbuild "$copy" -s "${@:2}" modules 2>&1) || { echo "$said" && return 1; }
	said=$(grep -vF "Skipping BTF generation" <<<"$said" || true)
	echo "$said"
	[ -z "$said" ]
}

# The kernels of Debian's next release and of the one after it, warnings are errors. Guests
# with the latter build the driver as well, but show warnings only.
driver_next_kernels() {
	(ensure_builder trixie && ensure_sva) || { echo "they cannot be fetched" && return 77; }
	(ensure_builder trixie && build_for_builder) || return
	(ensure_sva && build_for_builder)
}

build_for_builder() {
	local copy=$build/check-$kver said
	copy_sources "$top/contract" "$build/contract"
	copy_sources "$top/driver" "$copy"
	said=$(kbuild "$copy" "${kernel_make[@]}" -s OMX_DEBUG=1 KCFLAGS=-Werror modules 2>&1) ||
		{ echo "$said" && return 1; }
	said=$(grep -vF "Skipping BTF generation" <<<"$said" || true)
	echo "$kver: ${said:-no warning}"
	[ -z "$said" ]
}

# The kernel's own checkpatch, which is in no package but the sources'. What it found
# nothing in is kept in the cache by its checksum: it takes half a minute.
driver_style() {
	local checkpatch=$cache/checkpatch-$kver passed files
	[ -e "$checkpatch/checkpatch.pl" ] || locked "$cache/lock" fetch_checkpatch "$checkpatch"
	passed=$checkpatch/passed-$(cksum <<<"$style_exceptions" | cut -d ' ' -f 1)
	touch "$passed"
	files=$(find "$top/driver" "$top/contract" -name '*.[ch]' -exec sha256sum {} + |
		grep -vF -f "$passed") || return 0
	# shellcheck disable=SC2046 # no name has a space
	"$checkpatch/checkpatch.pl" --no-tree --no-summary --terse --quiet --show-types \
		--max-line-length=100 \
		--ignore "$style_exceptions" \
		-f $(cut -d ' ' -f 3 <<<"$files") || return
	cut -d ' ' -f 1 <<<"$files" >>"$passed"
}

fetch_checkpatch() {
	local new name series source
	[ ! -e "$1/checkpatch.pl" ] || return 0
	series=$(cut -d . -f 1,2 <<<"$kver")
	source=linux-source-$series
	new=$(mktemp -d "$cache/new.XXXXXX")
	(cd "$new" && download_package "$source") || exit
	for name in checkpatch.pl spelling.txt const_structs.checkpatch; do
		echo "$source/scripts/$name"
	done >"$new/names"
	# The last tar ends after the third of them, and the others complain.
	dpkg --fsys-tarfile "$new"/*.deb 2>/dev/null | tar -xO "./usr/src/$source.tar.xz" |
		tar -xJ -C "$new" --strip-components=2 -T "$new/names" --occurrence=1 || true
	[ -s "$new/const_structs.checkpatch" ] && [ -s "$new/checkpatch.pl" ] || exit
	rm "$new"/*.deb
	rm -rf "$1"
	mv "$new" "$1"
}

# Whether the table of packets describes contract/omx_wire.h: an assertion for each line.
wire_table() {
	"$top/tests/source/wire_assertions" | gcc -std=gnu11 -fsyntax-only -Wall -Wextra -Werror \
		-I "$top/tests/harness" -I "$top/contract" -x c -
}

shell_scripts() {
	local sum
	sum=$(sum_of shellcheck "$top"/{lab,.ci,boot,debian,tests/vm,tests/bench,tests/api/pair.sh})
	! has_passed shell-scripts "$sum" || return 0
	check_shell_scripts || return
	note_passed shell-scripts "$sum"
}

check_shell_scripts() {
	(cd "$top" && shellcheck -x lab .ci/run boot/omx_boot \
		debian/*.{postinst,prerm} debian/hooks/* tests/vm/host/uml-start) || return
	find "$vm" "$top/tests/bench" -type f ! -path '*/host/*' | while read -r file; do
		if head -n 3 "$file" | grep -aqE '^#!.*(bash|sh)$|shellcheck shell='; then
			echo "$file"
		fi
	done | xargs shellcheck --severity=warning
}

# Documents, names and commit messages: "tests/source/check_source --help".
check_source() { "$top/tests/source/check_source" --verbose; }
