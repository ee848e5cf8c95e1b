# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# Packages of another release of Debian than this machine's.

# fetch_from_suite SUITE DIRECTORY PACKAGE...: their .deb files.
fetch_from_suite() {
	say "fetching ${*:3} of $1"
	(use_suite "$1" "$2/apt" && cd "$2" && apt-get download -q "${@:3}") >&2 ||
		die "cannot download ${*:3}"
	rm -rf "$2/apt"
}

# closure_in_suite SUITE DIRECTORY PACKAGE...: their names and those of all that
# they depend on.
closure_in_suite() {
	(
		set -o pipefail
		use_suite "$1" "$2/apt" >&2 &&
			apt-get install -s -q "${@:3}" | awk '$1 == "Inst" { print $2 }'
	)
}

# use_suite SUITE LISTS: for this shell. Read from a private list of packages, so
# that this machine's stay its own. The snapshot that a mirror serves may be past
# its date.
use_suite() {
	mkdir -p "$2/lists/partial" "$2/cache/archives/partial"
	suite_source "$1" >"$2/sources.list"
	: >"$2/status"
	cat >"$2/apt.conf" <<-END
		Dir::State::Lists "$2/lists";
		Dir::State::status "$2/status";
		Dir::Etc::sourcelist "$2/sources.list";
		Dir::Etc::sourceparts "-";
		Dir::Cache "$2/cache";
		Acquire::Check-Valid-Until "false";
		Acquire::Languages "none";
		APT::Install-Recommends "false";
		APT::Sandbox::User "root";
	END
	export APT_CONFIG=$2/apt.conf
	apt-get update -q -o APT::Update::Error-Mode=any
}

# The mirror that serves this machine, another suite.
suite_source() {
	local mirror
	mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Identifier: Packages' 'Component: main' |
		grep -v -e security -e ports | head -n 1)
	echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] ${mirror:-http://deb.debian.org/debian/} $1 main"
}
