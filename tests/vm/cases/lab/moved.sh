#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A built checkout that was copied elsewhere, and one that was moved then, work
# as the one that was built first.
# lab: --host
# check: all
# timeout: 600
set -eu
top=$(dirname "$(readlink -f "$LAB")")
mkdir -p "$LAB_OUT"
trap 'rm -rf "$LAB_OUT"' EXIT

runs_in() { "$1/lab" run --timeout 60 node 1 omx_info; }

tar -C "$top" --exclude=./build/runs --exclude=./.git -c . | (mkdir "$LAB_OUT/copied" && tar -C "$LAB_OUT/copied" -x)
runs_in "$LAB_OUT/copied"
mv "$LAB_OUT/copied" "$LAB_OUT/moved"
runs_in "$LAB_OUT/moved"
# Nothing of it may be found where it was built first. But what the compiler's cache
# has compiled in one place serves others as well, and its debug information names it.
find "$LAB_OUT/moved/build/root" -type f -exec strip --strip-debug {} + 2>/dev/null || true
! grep -rlaF "$LAB_OUT/copied" "$LAB_OUT/moved/build/root" || exit 1
