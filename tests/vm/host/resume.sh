# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# ./lab check --resume: a check goes on where the last one stopped. What passed there
# counts as passed; what failed, was skipped or never ran is run.

# The last check of these files by these options.
last_check() { readlink -f "$build/runs/last-$(subject)" || true; }

remember_check() { ln -sfn "$(basename "$logs")" "$build/runs/last-$(subject)"; }

# What is checked, and how: other files or options are another subject.
subject() {
	{
		list_tree | sort | (cd "$top" && xargs -d '\n' sha256sum)
		find "$cases" -type f -exec sha256sum {} + | sort
		echo "$check_everything $default_debug $default_udp"
	} | sha256sum | cut -c 1-16
}

# earlier_results LOGS: what passed there, as lines of $logs/results behind the
# name by which it is claimed.
earlier_results() {
	awk -F '\t' -v OFS='\t' '
		FILENAME ~ /results$/ { if ($1 == 0) passed[$3] = $0; next }
		{ print_passed($1, shown($1, $5, $4)) }
		END { for (name in passed) if (name ~ /^build\//) print "static " substr(name, 7), passed[name] }

		function shown(name, options, netem) {
			sub(/\..*/, "", name)
			if (options == "--host")
				return name
			if (netem != "-")
				options = options (options == "" ? "" : " ") "--netem \047" netem "\047"
			return name (options == "" ? "" : " [" options "]")
		}
		function print_passed(claimed, name) { if (name in passed) print claimed, passed[name] }
	' "$1/results" "$logs/runs"
}

# After list_jobs(), before any worker: nobody runs what is claimed.
resume() {
	local name line number=0
	while IFS=$'\t' read -r name line; do
		claim "$name" || continue
		: >"$logs/claimed/${name//\//-}/settled"
		echo "$line" >>"$logs/results"
		number=$((number + 1))
	done < <(earlier_results "$1")
	say "$number tests passed in the check that this one resumes"
}
