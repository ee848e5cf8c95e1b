# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash disable=SC2154 # the settings come from the host
# What a kernel of --debug tells only when it is asked.

kmemleak=/sys/kernel/debug/kmemleak
module_symbols=/run/lab/symbols

# While the module is there: later its functions are mere addresses.
keep_symbols() {
	[ "$debug" = no ] || grep '\[omx\]$' /proc/kallsyms >>"$module_symbols"
}

# Checks that find too much to do switch themselves off.
check_checkers() {
	grep -q 'debug_locks: *1$' /proc/lockdep_stats || problem "lockdep is off"
}

# Memory to which nothing points. Kmemleak believes what two scans find
# unchanged and 5 s old; what is on its way from hand to hand is gone by the third.
check_leaks() {
	local leaks
	sleep 6
	scan_memory && scan_memory || return
	[ -n "$(head -c 1 "$kmemleak")" ] || return 0
	sleep 2
	scan_memory || return
	leaks=$(name_functions <"$kmemleak" | head -n 200)
	[ -z "$leaks" ] || problem "memory leaks:"$'\n'"$leaks"
}

scan_memory() {
	echo scan >"$kmemleak" || { problem "kmemleak does not work" && return 1; }
}

name_functions() {
	sort -u "$module_symbols" >"$module_symbols.sorted" 2>/dev/null
	awk -v symbols="$module_symbols.sorted" '
		FILENAME == symbols { address[++n] = $1 ""; name[n] = $3; next }
		$1 ~ /^\[</ && $2 ~ /^0x/ {
			at = substr($2, 3) ""
			for (i = n; i > 0 && address[i] > at; i--)
				;
			print "    " (i ? name[i] " [omx]" : $2)
			next
		}
		{ print }' "$module_symbols.sorted" -
}
