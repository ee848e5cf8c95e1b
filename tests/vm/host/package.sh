# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# ./lab package: the Debian packages of omx, built in a copy of the tree.

usage_package() {
	cat <<'END'
usage: ./lab package [--release NAME]

Builds the Debian packages of omx for this machine's release, in build/packages, checks
them with lintian, and prints their names. To install them: apt install ./*.deb

  --release NAME      for another release of Debian, such as trixie, in
                      build/packages-NAME, without lintian; that release's compilers
                      are in a root of their own, made the first time, by root only
END
}

cmd_package() {
	local release=
	while [ $# -gt 0 ]; do
		case $1 in
		--release)
			release=${2:-}
			[[ $release =~ ^[a-z]+$ ]] || usage_error "--release takes a name, such as trixie"
			shift
			;;
		-h | --help) usage_package && return ;;
		*) usage_error "package takes no argument, not $1" ;;
		esac
		shift
	done
	make_build_directory
	ensure_packages "${packages_package[@]}"
	[ -z "$release" ] || ensure_package_root "$release"
	packages_made=$build/packages${release:+-$release}
	locked "$build/package.lock" make_packages "$release"
	[ -n "$release" ] || check_packages
	printf '%s\n' "$packages_made"/*.deb
}

# make_packages RELEASE: the .deb files appear together, in the place of the former ones.
make_packages() {
	local new=$build/package version
	version=$(sed -n '/OMX_VERSION/s/.*"\(.*\)".*/\1/p' "$top/contract/omx_version.h")
	[ "$(dpkg-parsechangelog -l "$top/debian/changelog" -S Version)" = "$version" ] ||
		die "debian/changelog does not begin with version $version"
	rm -rf "$new"
	mkdir -p "$new/omx" "$new/packages"
	list_tree | tar -C "$top" -c -T - | tar -x -C "$new/omx"
	loudly "Debian packages${1:+ of $1}" "build_packages${1:+_in_root}" "$new"
	mv "$new"/*.{deb,changes,buildinfo} "$new/packages/"
	rm -rf "$packages_made" && mv "$new/packages" "$packages_made" && rm -rf "$new"
}

# What git has or would have, or what a release has.
list_tree() {
	if [ -e "$top/.git" ]; then
		git -C "$top" ls-files --cached --others --exclude-standard | while read -r file; do
			[ ! -e "$top/$file" ] || echo "$file"
		done
	else
		(cd "$top" && find . -path ./build -prune -o -type f -print)
	fi
}

build_packages() {
	cd "$1/omx" && DEB_BUILD_OPTIONS="noautodbgsym" compiled_in=$1/omx compiled \
		dpkg-buildpackage -us -uc -b
}

# Other releases have other rules.
check_packages() {
	lintian --allow-root --fail-on error,warning "$build/packages"/*.changes >&2 ||
		die "lintian complains"
}

# ---- for another release ----

# More arguments of mmdebstrap, for plain_root().
root_hooks=()

# Without lintian and what it needs.
package_root_packages() { printf '%s\n' "${packages_package[@]}" | grep -vx lintian; }

# Sets package_root, which is kept for a month, or until other packages are needed.
ensure_package_root() {
	local sum
	[ "$(id -u)" = 0 ] || die "only root can build packages in a root of their own"
	ensure_packages mmdebstrap
	sum=$(package_root_packages | sha256sum)
	package_root=$cache/package-$1-${sum:0:16}
	locked "$cache/package-root.lock" make_package_root "$1"
}

make_package_root() {
	local new names
	find "$cache" -maxdepth 1 -name "package-$1-*" -mtime +30 -exec rm -rf {} +
	[ ! -e "$package_root" ] || return 0
	mapfile -t names < <(package_root_packages)
	new=$(mktemp -d "$cache/new.XXXXXX")
	say "making a root with the compilers of $1"
	plain_root "$1" "$new/root" "${names[@]}" >&2 ||
		die "a root of $1 cannot be made"
	mkdir -p "$new/root/build" "$new/root/ccache"
	mv "$new" "$package_root"
}

# plain_root RELEASE DIRECTORY PACKAGE...: that Debian with these and what they depend on.
plain_root() {
	mmdebstrap --quiet --mode=root --variant=apt \
		--aptopt='Acquire::Check-Valid-Until "false"' \
		--include="$(IFS=, && echo "${*:3}")" "${root_hooks[@]}" \
		"$1" "$2" "$(suite_source "$1")"
}

build_packages_in_root() {
	# shellcheck disable=SC2016 # its own arguments
	unshare --mount sh -c '
		mount --bind "$2" "$1/build" && mount --bind "$3" "$1/ccache" &&
			mount --rbind /dev "$1/dev" && mount -t proc proc "$1/proc" || exit
		exec env -i HOME=/build PATH=/usr/lib/ccache:/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 \
			CCACHE_DIR=/ccache CCACHE_MAXSIZE=1G DEB_BUILD_OPTIONS=noautodbgsym \
			chroot "$1" sh -c "cd /build/omx && exec dpkg-buildpackage -us -uc -b"' sh \
		"$package_root/root" "$1" "$cache/ccache"
}
