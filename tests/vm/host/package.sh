# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# ./lab package: the Debian packages of omx, built in a copy of the tree.

usage_package() {
	cat <<'END'
usage: ./lab package

Builds the Debian packages of omx for this machine's release, in build/packages, checks
them with lintian, and prints their names. To install them: apt install ./*.deb
END
}

cmd_package() {
	case ${1:-} in
	'') ;;
	-h | --help) usage_package && return ;;
	*) usage_error "package takes no argument, not $1" ;;
	esac
	make_build_directory
	ensure_packages "${packages_package[@]}"
	locked "$build/package.lock" make_packages
	check_packages
	printf '%s\n' "$build/packages"/*.deb
}

# The .deb files appear together, in the place of the former ones.
make_packages() {
	local new=$build/package version
	version=$(sed -n '/OMX_VERSION/s/.*"\(.*\)".*/\1/p' "$top/contract/omx_version.h")
	[ "$(dpkg-parsechangelog -l "$top/debian/changelog" -S Version)" = "$version" ] ||
		die "debian/changelog does not begin with version $version"
	rm -rf "$new"
	mkdir -p "$new/omx" "$new/packages"
	list_tree | tar -C "$top" -c -T - | tar -x -C "$new/omx"
	loudly "Debian packages" build_packages "$new/omx"
	mv "$new"/*.{deb,changes,buildinfo} "$new/packages/"
	rm -rf "$build/packages" && mv "$new/packages" "$build/packages" && rm -rf "$new"
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
	cd "$1" && DEB_BUILD_OPTIONS="noautodbgsym" compiled_in=$1 compiled \
		dpkg-buildpackage -us -uc -b
}

check_packages() {
	lintian --allow-root --fail-on error,warning "$build/packages"/*.changes >&2 ||
		die "lintian complains"
}
