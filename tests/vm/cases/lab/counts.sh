#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# ./lab check counts what happened: each kind of failure is one, and does not
# take the tests behind it along. Without --all, of the kinds that take the guest
# along there is one.
# lab: --host
# timeout: 400
set -u

fixtures=$(dirname "$0")/fixtures lines=() summary='3 passed, 5 failed, 1 skipped'
if [ "${LAB_ALL:-}" = yes ]; then
	lines=('FAIL counted/d-hang ' 'FAIL counted/e-panic ' 'FAIL counted/g-endpoint ')
else
	mkdir -p "$LAB_OUT.cases/counted" && cd "$LAB_OUT.cases/counted" || exit
	cp "$fixtures"/counted/[abcfhi]-* . || exit
	fixtures=$LAB_OUT.cases summary='3 passed, 2 failed, 1 skipped'
fi

# One worker, so that a guest sees what the test before left there.
LAB_WORKERS=1 LAB_CASES=$fixtures "$LAB" check counted >"$LAB_OUT.out"
status=$?
cat "$LAB_OUT.out"
[ "$status" = 1 ] || exit 1
for line in 'PASS counted/a-pass ' 'FAIL counted/b-fail ' 'SKIP counted/c-skip ' \
	'FAIL counted/f-splat ' '    the reason stands here' '    --- kernel log' \
	'chatter 89' 'PASS counted/h-leftover ' 'PASS counted/i-pass ' "${lines[@]}"; do
	grep -qF "$line" "$LAB_OUT.out" || { echo "no: $line" && exit 1; }
done
grep -A1 '^Failed:$' "$LAB_OUT.out" | grep -q '^    counted/b-fail' || exit 1
[ "$(tail -n 1 "$LAB_OUT.out")" = "$summary" ]
