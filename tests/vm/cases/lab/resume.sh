#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A check that was interrupted, and then one that failed, is resumed: what passed is not
# run again but counted, everything else is run. Other files are another check.
# lab: --host
# timeout: 300
set -u

export LAB_CASES=$LAB_OUT.cases LAB_WORKERS=1 NOTES=$LAB_OUT.notes
mkdir -p "$LAB_CASES/some" "$NOTES"

# a_test NAME TIMEOUT: reads what it does; the one with the longest timeout runs first.
a_test() {
	{
		printf '#!/bin/bash\n# lab: --host\n# timeout: %s\n' "$2"
		printf 'echo run >>"$NOTES/%s"\n' "$1"
		cat
	} >"$LAB_CASES/some/$1"
	chmod +x "$LAB_CASES/some/$1"
}

a_test passes 30 </dev/null
a_test fails-once 20 <<'END'
[ "$(wc -l <"$NOTES/fails-once")" != 1 ]
END
a_test interrupted 10 <<'END'
[ "$(wc -l <"$NOTES/interrupted")" != 1 ] || kill "$(cat "$NOTES/pid")" && sleep 1
END

fail() {
	echo "$1" && cat "$LAB_OUT.out"
	exit 1
}

# check STATUS LAST-LINE OPTION...
check() {
	local status=0
	sh -c 'echo $$ >"$NOTES/pid" && exec "$LAB" check "$@" some' sh "${@:3}" \
		>"$LAB_OUT.out" 2>&1 || status=$?
	[ "$status" = "$1" ] || fail "status $status, not $1"
	[ -z "$2" ] || [ "$(tail -n 1 "$LAB_OUT.out")" = "$2" ] || fail "the last line is not '$2'"
}

# ran TIMES NAME...
ran() {
	local name
	for name in "${@:2}"; do
		[ "$(wc -l <"$NOTES/$name")" = "$1" ] || fail "$name did not run $1 times"
	done
}

check 2 '' --resume
grep -q 'none to resume' "$LAB_OUT.out" || fail "it did not say that there is nothing to resume"

check 143 ''
ran 1 passes fails-once interrupted

rm "$NOTES/fails-once"
check 1 '2 passed, 1 failed, 0 skipped' --resume
ran 1 passes fails-once
ran 2 interrupted

check 0 '3 passed, 0 failed, 0 skipped' --resume
ran 1 passes
ran 2 fails-once interrupted

echo '# another file' >>"$LAB_CASES/some/passes"
check 2 '' --resume
