# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash disable=SC2154 # what run.sh defines
# For run.sh, in a guest with --sva: what receiving through an IOMMU costs, for each way
# in which an absent page is found.
#
#	software	mode unpinned: the driver's own table; the processor copies
#	domain		mode device: the driver's own table; the engine copies
#	sva		mode device: the engine asks the kernel for the page
#	reported	mode device and a module that does not look into its table: the
#			IOMMU blocks the engine, which reports that
#
# Of the last one only the fault is measured; it is how the driver learns of pages that
# vanish after a copy was started.

trace=/sys/kernel/tracing

# Events of the steps of a fault. Those of omx_bench are probes.
step_events=(omx/omx_rndv_send omx/omx_pull_start omx/omx_pull_lacks_pages
	omx/omx_page_in_begin omx/omx_page_in_end omx/omx_pull_request_sent
	omx/omx_pull_response_received omx/omx_engine_submit omx/omx_engine_land
	omx/omx_pull_done iommu/map intel_iommu/prq_report irq/irq_handler_entry
	omx_bench/fault_begin omx_bench/fault_end omx_bench/page_response)

# In virtual time the time stamp counter counts nanoseconds, and this trace clock is the
# only one that is not printed in microseconds.
set_up_trace() {
	echo 0 >"$trace/tracing_on"
	echo x86-tsc >"$trace/trace_clock"
	echo 8192 >"$trace/buffer_size_kb"
	cat >"$trace/kprobe_events" <<-END
		p:omx_bench/fault_begin handle_mm_fault
		r:omx_bench/fault_end handle_mm_fault
		p:omx_bench/page_response iopf_group_response
	END
	echo 'name ~ "dmar*" || name ~ "omx*"' >"$trace/events/irq/irq_handler_entry/filter"
}

trace_begin() {
	local event
	echo >"$trace/trace"
	for event in "${step_events[@]}"; do
		echo 1 >"$trace/events/$event/enable"
	done
	echo 1 >"$trace/tracing_on"
}

# trace_end WAY NAME
trace_end() {
	echo 0 >"$trace/tracing_on"
	echo 0 >"$trace/events/enable"
	sed -nE 's/^.*\[[0-9]+\] [^ ]+ +([0-9]+): ([a-z_]+): (.*)$/{"iommu": "event", "path": "'"$1"'", "name": "'"$2"'", "ns": \1, "event": "\2", "fields": "\3"}/p' \
		"$trace/trace" >>"$out"
}

# A disk whose pages take 40 ms to come: the driver has the engine wait for up to 50.
make_slow_disk() {
	modprobe null_blk nr_devices=1 gb=1 memory_backed=1 irqmode=2 completion_nsec=40000000 ||
		die "no null_blk"
}

engine_is_used() { node 2 omx_info | grep -q '^Copy engine.*used with'; }

# load_module KIND [MODULE]: domain or sva.
load_module() {
	local try
	lab-module unload
	OMX_MODULE=${2:-$OMX_MODULE} OMX_MODULE_OPTIONS=device_kind=$1 lab-module load
	for ((try = 0; try < 50; try++)); do
		! engine_is_used || return 0
		sleep 0.1
	done
	die "the engine is not used as $1: $(node 2 omx_info | grep '^Copy engine')"
}

# run_iommu WAY OPTION...: also notes the counters of the receiver, whose engine has to
# copy in mode device only.
run_iommu() {
	local mode=device used=unpinned counters
	[ "$1" != software ] || mode=unpinned
	node 2 omx_counters --clear
	run_peers iommu batch --path "$1" --mode "$mode" "${@:2}" || die "$1 failed: ${*:2}"
	counters=$(node 2 omx_counters --json | tr -d '\n')
	[[ "$counters" != *'"piece of a frame copied by the device"'* ]] || used=device
	[ "$used" = "$mode" ] || die "$1, ${*:2}: copied like mode $used"
	printf '{"iommu": "counters", "path": "%s", "name": "%s", "boards": %s}\n' "$1" "${*:2}" \
		"$counters" >>"$out"
}

# measure_fault WAY: by step.
measure_fault() {
	local name option
	echo "bench: IOMMU, $1, one fault" >&2
	for name in resident absent; do
		option=()
		[ "$name" = resident ] || option=(--absent)
		trace_begin
		run_iommu "$1" --one-way "$name traced" --size 4096 "${option[@]}"
		trace_end "$1" "$name"
	done
}

# measure_policies WAY POLICY...: into pages that are absent, and some that are not.
measure_policies() {
	local policy
	echo "bench: IOMMU, $1, all pages absent" >&2
	run_iommu "$1" --one-way resident
	run_iommu "$1" --one-way touch --absent --touch
	for policy in "${@:2}"; do
		echo "$policy" >/sys/module/omx/parameters/fault_policy
		run_iommu "$1" --one-way "$policy" --absent
	done
}

# measure_way WAY POLICY...: the last policy is the default.
measure_way() {
	local n
	measure_policies "$@"
	measure_fault "$1"
	echo "bench: IOMMU, $1, hits beside misses" >&2
	for n in 0 1 4 7 16; do
		run_iommu "$1" --hits-beside "$n"
	done
	echo "bench: IOMMU, $1, work" >&2
	for n in 262144 1048576 4194304; do
		run_iommu "$1" --work "$n"
	done
}

# measure_reported UNCHECKED-MODULE
measure_reported() {
	load_module domain "$1"
	run_iommu reported --one-way resident --size 4096
	run_iommu reported --one-way adaptive --absent --size 4096
	measure_fault reported
}

# measure_iommu UNCHECKED-MODULE. The kernel serves page requests one by one, whatever
# fault_policy says.
measure_iommu() {
	local round
	set_mtu 9000
	set_offloads off
	printf '{"begin": {"group": "iommu"}}\n' >>"$out"
	make_slow_disk
	set_up_trace
	for ((round = 0; round < rounds; round++)); do
		load_module domain
		measure_way software pio pi4 pia adaptive
		measure_way domain pio pi4 pia adaptive
		load_module sva
		measure_way sva adaptive
		measure_reported "$1"
	done
}
