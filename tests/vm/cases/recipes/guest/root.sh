# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# For scripts in guests that use packages which are not installed.

# add_files DIRECTORY: to the root of this guest; the host's stays as it is.
add_files() {
	tar -C "$1" -cf - . | tar -C / --keep-directory-symlink --no-overwrite-dir -xf -
	ldconfig
}

# within SECONDS COMMAND...
within() {
	local try
	for ((try = 0; try < 5 * $1; try++)); do
		! "${@:2}" || return 0
		sleep 0.2
	done
	echo "not within $1 s: ${*:2}"
	return 1
}
