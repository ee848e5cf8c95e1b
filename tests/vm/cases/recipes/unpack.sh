# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash disable=SC2154 # cache: common.sh's
# Debian packages that a recipe needs and this machine does not have. They are not
# installed here: a guest copies their files into its own root.
here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
top=$(readlink -f "$here/../../../..")
# shellcheck source=tests/vm/host/common.sh
. "$top/tests/vm/host/common.sh"
# shellcheck source=tests/vm/host/packages.sh
. "$top/tests/vm/host/packages.sh"

# unpacked NAME PACKAGE...: sets unpacked_root to a directory with the files of these
# packages and of all that they depend on and this machine lacks, kept from one day to
# the next; an old one is better than none. Ends the test if there is none.
unpacked() {
	unpacked_root=$cache/recipe-$1
	mkdir -p "$cache" && exec 9>"$unpacked_root.lock" && flock 9
	if [ -z "$(find "$unpacked_root" -maxdepth 0 -mtime -30 2>/dev/null)" ]; then
		renew "${@:2}" || [ -e "$unpacked_root" ] ||
			{ echo "cannot fetch ${*:2}" && exit 77; }
	fi
	flock -s 9
}

renew() {
	local new status=0
	new=$(mktemp -d "$unpacked_root.XXXXXX")
	(fetch_and_unpack "$new" "$@") || status=$?
	[ "$status" = 0 ] || { rm -rf "$new" && return "$status"; }
	chmod 755 "$new"
	# That of the root is in the packages, too.
	touch "$new"
	rm -rf "$unpacked_root" && mv -T "$new" "$unpacked_root"
}

fetch_and_unpack() {
	local directory=$1 names package
	shift
	apt-cache show "$@" >/dev/null 2>&1 || refresh_lists
	names=$(set -o pipefail
		apt-get install -s -q --no-install-recommends "$@" | awk '$1 == "Inst" { print $2 }') || return
	cd "$directory" || return
	for package in $names; do
		download_package "$package" && dpkg -x ./*.deb . && rm ./*.deb || return
	done
}
