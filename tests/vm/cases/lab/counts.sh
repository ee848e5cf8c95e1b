#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# ./lab check counts what happened: each kind of failure is one, and does not
# take the tests behind it along.
# lab: --host
# timeout: 400
set -u
# One worker, so that a guest sees what the test before left there.
LAB_WORKERS=1 LAB_CASES=$(dirname "$0")/fixtures "$LAB" check counted >"$LAB_OUT.out"
status=$?
cat "$LAB_OUT.out"
[ "$status" = 1 ] || exit 1
for line in 'PASS counted/a-pass ' 'FAIL counted/b-fail ' 'SKIP counted/c-skip ' \
	'FAIL counted/d-hang ' 'FAIL counted/e-panic ' 'FAIL counted/f-splat ' \
	'    the reason stands here' '    --- kernel log' 'chatter 89' \
	'FAIL counted/g-endpoint ' 'PASS counted/h-leftover ' 'PASS counted/i-pass '; do
	grep -qF "$line" "$LAB_OUT.out" || { echo "no: $line" && exit 1; }
done
[ "$(tail -n 1 "$LAB_OUT.out")" = '3 passed, 5 failed, 1 skipped' ]
