# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# For the tests of this group: builds the program of tests/simulation. They may run at
# the same time.

top=$(dirname "$LAB")
built=$top/build/simulation${sanitize:+-sanitized}

simulation() { nice "$built/simulation" "$@"; }

mkdir -p "$built"
flock "$built/lock" nice make -s -j2 -C "$top/tests/simulation" O="$built" \
	SANITIZE="${sanitize:-}"
