#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A script's status, output, errors, arguments and files come back; what it
# writes elsewhere does not.
# lab: --host
set -u
script=$LAB_OUT.script
export LAB_OUT=$LAB_OUT.files
cat >"$script" <<'END'
echo "args: $#: $2"
echo "an error" >&2
echo data >"$LAB_OUT/file"
touch /tmp/from-a-guest "$(dirname "$0")/from-a-guest"
sleep 1000 &
exit 3
END
"$LAB" run --no-module "$script" one 'two  words' >"$script.out" 2>"$script.err"
status=$?
cat "$script.out" "$script.err"
[ "$status" = 3 ] &&
	grep -qx 'args: 2: two  words' "$script.out" &&
	grep -qx 'an error' "$script.err" &&
	[ "$(cat "$LAB_OUT/file")" = data ] &&
	[ ! -e /tmp/from-a-guest ] && [ ! -e "$(dirname "$script")/from-a-guest" ]
