# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# The frequency of the clock in an emulated guest.
#
# A guest kernel measures its time stamp counter against a timer chip at boot.
# In an emulator on a busy machine the two readings are so far from each other
# in time that the result may be ten times wrong; timeouts and soft lockups
# follow. QEMU's emulator hands out this machine's own counter, so the lab
# tells the guest its frequency.

# Sets tsc_argument, for the guest's kernel; empty where this machine's counter
# is not constant. The measurement holds until this machine reboots.
find_tsc_argument() {
	local result
	tsc_argument=
	grep -qw constant_tsc /proc/cpuinfo || return 0
	result=$cache/tsc-khz-$(cat /proc/sys/kernel/random/boot_id)
	[ -e "$result" ] || locked "$cache/lock" measure_tsc "$result"
	tsc_argument=tsc_early_khz=$(cat "$result")
}

measure_tsc() {
	local result=$1 program
	[ ! -e "$result" ] || return 0
	rm -f "$cache"/tsc-khz-*
	program=$(mktemp "$cache/tsc.XXXXXX")
	gcc -O2 -Wall -Wextra -Werror -o "$program" "$parts/tsc_khz.c" ||
		die "cannot build the lab's own tsc_khz"
	"$program" >"$result.new" || die "cannot measure this machine's time stamp counter"
	mv "$result.new" "$result"
	rm "$program"
}
