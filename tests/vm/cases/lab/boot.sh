#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A guest that does not boot in time is started once more, and its script runs once. So are
# two guests with a cable between them.
# lab: --host
set -u
said=$LAB_OUT.said
export LAB_BOOT_LIMIT=1
"$LAB" run --no-module sh -c 'echo here; echo ran >>"$LAB_OUT/ran"' \
	>"$said" 2>"$said.errors" || exit 1
cat "$said.errors"
grep 'did not boot, once more' "$said.errors" && grep -x here "$said" || exit 1
[ "$(cat "$LAB_OUT/ran")" = ran ] || exit 1
"$LAB" run --machines --no-module node 2 true
