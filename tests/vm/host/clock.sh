# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# The frequency of the clock in an emulated guest.
#
# A guest kernel measures its time stamp counter against a timer chip at boot.
# In an emulator on a busy machine the two readings are so far from each other
# in time that the result may be ten times wrong; timeouts and soft lockups
# follow. QEMU's emulator hands out this machine's own counter, so the lab
# tells the guest its frequency. The kernel also counts the timer's interrupts
# for a moment at boot, and panics if it sees too few of them, which the
# emulator then has not got round to raising: no_timer_check.

# Sets clock_arguments, for the guest's kernel, without the frequency where this
# machine's counter is not constant. The measurement holds until this machine
# reboots.
find_clock_arguments() {
	local result
	clock_arguments=no_timer_check
	grep -qw constant_tsc /proc/cpuinfo || return 0
	result=$cache/tsc-khz-$(cat /proc/sys/kernel/random/boot_id)
	[ -e "$result" ] || locked "$cache/lock" measure_tsc "$result"
	clock_arguments+=" tsc_early_khz=$(cat "$result")"
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
