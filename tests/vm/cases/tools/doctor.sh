# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash disable=SC2034 # settings of the tests
# For the tests of omx_info --doctor: it finds each of the faults that are planted, and no
# other one; the commands that it names are run as it prints them, and then it finds none any
# more.

fail() { echo "$*" && exit 1; }

# Which node asks about which host; what its shell does first, and by which command it asks;
# what has to be done, besides, when a fault has been mended.
me=1 host=node2 before=true as='' also=true
said=$LAB_OUT/said

ask() { # [COMMANDS]
	local status=0
	node $me sh -c "$before; ${1:-}
		$as omx_info --doctor $host" >"$said" 2>&1 || status=$?
	cat "$said"
	return $status
}

# "HOST TAB COMMAND" of each fault in what is said; the host is empty for the one that says so.
commands() {
	awk '/^[a-z]/ { fault = $1 == "fault" } fault' "$1" |
		sed -nE 's/^ +to mend it(, on ([^ ]+))?: (.*)/\2\t\3/p'
}

faults() { awk '$1 == "fault" { print $2 }' "$1" | xargs; }

# finds CHECK: that is the only fault.
finds() {
	local status=0
	echo "### node $me asks about $host, and shall find: $1"
	ask || status=$?
	[ $status = 2 ] || fail "the exit status is $status"
	[ "$(faults "$said")" = "$1" ] || fail "finds '$(faults "$said")' instead"
	[ -n "$(commands "$said")" ] || fail "names no command"
}

# run_there NODE COMMAND: if the doctor there is to be asked, it names the command.
run_there() {
	local there=$LAB_OUT/said.$1 name
	echo "node $1: $2"
	if [[ $2 != "omx_info --doctor "* ]]; then
		node "$1" sh -c "$2" || fail "the command fails"
		return
	fi
	! node "$1" sh -c "$2" >"$there" 2>&1 || fail "node $1 finds nothing"
	cat "$there"
	[ -n "$(commands "$there")" ] || fail "names no command"
	while IFS= read -r name <&4; do
		[ -z "${name%%$'\t'*}" ] || fail "sends us on"
		run_there "$1" "${name#*$'\t'}"
	done 4< <(commands "$there")
}

# cured: the commands are run, each where it belongs, those of this node in the shell that
# asks the doctor then.
cured() {
	local line name here=''
	while IFS= read -r line <&3; do
		name=${line%%$'\t'*} line=${line#*$'\t'}
		if [ -z "$name" ]; then
			here+="$line || exit 99; "
		else
			name=${name%:*}		# node2:0, or 10.0.0.2
			run_there "${name: -1}" "$line"
		fi
	done 3< <(commands "$said")
	echo "node $me: $here"
	ask "$here $also" || fail "it is not mended: '$(faults "$said")'"
}
