# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# Packages of another release of Debian than this machine's.

# fetch_from_suite SUITE DIRECTORY PACKAGE...: their .deb files. Read from a
# private list of packages, so that this machine's stay its own. The snapshot
# that a mirror serves may be past its date.
fetch_from_suite() {
	local suite=$1 lists=$2/apt
	say "fetching ${*:3} of $suite"
	mkdir -p "$lists/lists/partial" "$lists/cache/archives/partial"
	suite_source "$suite" >"$lists/sources.list"
	cat >"$lists/apt.conf" <<-END
		Dir::State::Lists "$lists/lists";
		Dir::Etc::sourcelist "$lists/sources.list";
		Dir::Etc::sourceparts "-";
		Dir::Cache "$lists/cache";
		Acquire::Check-Valid-Until "false";
		Acquire::Languages "none";
		APT::Sandbox::User "root";
	END
	(cd "$2" && export APT_CONFIG=$lists/apt.conf && apt-get update -q >&2 &&
		apt-get download -q "${@:3}" >&2) || die "cannot download ${*:3}"
	rm -rf "$lists"
}

# The mirror that serves this machine, another suite.
suite_source() {
	local mirror
	mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Identifier: Packages' 'Component: main' |
		grep -v -e security -e ports | head -n 1)
	echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] ${mirror:-http://deb.debian.org/debian/} $1 main"
}
