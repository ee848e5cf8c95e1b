#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The guest's clock advances as the host's does, within 1 % over 4 seconds, and
# its kernel did not find at boot that its clocks contradict each other. The
# host's time is that of a file which the guest creates in a directory of the
# host.
# lab:
# timeout: 60
set -u

# Sets guest and host, in ns. Of several tries it takes the one that leaves the
# least doubt about the guest's time when the file was created.
read_clocks() {
	local try before after least=''
	for try in 1 2 3 4 5 6 7 8; do
		before=${EPOCHREALTIME/./}
		: >"$LAB_OUT/clock.$1.$try"
		after=${EPOCHREALTIME/./}
		[ -z "$least" ] || [ $((after - before)) -lt "$least" ] || continue
		least=$((after - before)) guest=$((before + least / 2))
		host=$(date -r "$LAB_OUT/clock.$1.$try" +%s%6N)
	done
}

read_clocks begin
guest_begin=$guest host_begin=$host
sleep 4
read_clocks end
guest=$((guest - guest_begin)) host=$((host - host_begin))
echo "the guest's clock advanced by $guest us, the host's by $host us"
off=$((guest - host))
[ "${off#-}" -lt $((host / 100)) ] || exit 1

dmesg | grep -i 'tsc'
! dmesg | grep -E 'calibration deviates|Marking TSC unstable'
