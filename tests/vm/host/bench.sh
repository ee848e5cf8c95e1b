# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# ./lab bench: runs tests/bench/run.sh in a guest and shows its report.

usage_bench() {
	cat <<END
usage: ./lab bench [--wall] [--rounds N] [--against FILE] [--json FILE] [GROUP...]
       ./lab bench --nic [--model M] [--moderated] [--link RATE] [--policy P]
                   [--markdown] [--rounds N] [--against FILE] [--json FILE] [GROUP...]
       ./lab bench [--rounds N] [--against FILE] [--json FILE] iommu
       ./lab bench [--nodes N] [--mtu N] [--pattern P] [--size N] [--transport T]
                   [--rate RATE] [--queue N] [--duration MS] [--speed N]
                   [--against FILE] [--json FILE] congestion

Measures omx beside TCP in virtual time, where one instruction takes one
nanosecond: figures repeat to a fraction of a percent whatever this machine
is doing; how many messages of 8 B and 1 KiB a second pass with 64 of them
under way, also between MPI programs; what memory costs omx, also over a link
of 4 Gb/s; and how fast the messages of MPI programs are, carried by omx, by
Open MPI's own TCP and by libfabric's; and what puts, gets and atomics cost
beside messages and beside RDMA over Ethernet in software (rxe, in virtual time
only).
Groups: latency, bandwidth, rate, memory, onesided, mpi. If none is named, all
are measured, but with --nic only the first three.
iommu is a group of its own, in a guest with --sva: what receiving through an IOMMU
costs when pages are absent, by the driver's own table, by page requests and by the
reports of the engine, and what work the engine saves the processor.
congestion is a group of its own, too, in guests with 64 nodes: what traffic that
congests links does to omx, and to TCP with cubic and with dctcp.

  --nic            over a pair of emulated NICs with an interrupt for each frame, TCP
                   with all the offloads that these have: latency, bandwidth, rate,
                   memory, mpi. If none is named, the first three, and also over
                   veth, with offloads, at MTU 9000
  --model M        of --nic: e1000 (if nothing is said) or vmxnet3
  --moderated      of --nic, e1000: not an interrupt for each frame, but one for all
                   frames of up to 128 us
  --link RATE      of --nic: what each NIC sends at, as tc has it, such as 10gbit;
                   without it frames take no time. Not over veth
  --policy P       of --nic, of latency, bandwidth and rate: how programs are scheduled:
                   batch (if nothing is said), where none interrupts another, as on
                   two machines, or stock, which programs have. Not over veth
  --markdown       of --nic: print nothing but the table of docs/results/network.md
  --rounds N       measure everything N times; shown and compared are medians.
                   Some figures have two values, since in virtual time one
                   processor plays both hosts. N is $virtual_rounds, with --wall $wall_rounds
  --json FILE      keep the results
  --against FILE   say what changed by more than 2 % (--wall: 10 %) since those
                   results (mpi: ping-pong of 1 MiB and more by 10 %, patterns by
                   20 %); the status is 1 if something became worse, 2 if FILE has
                   nothing to compare with
  --wall           by the clock on the wall, with two processors: the stock
                   kernel where KVM works, else user-mode Linux $uml_series, which
                   is built at first; leave this machine alone meanwhile. mpi
                   then also says how much of an exchange is hidden while a
                   process computes, as it does with --link

$(usage_congestion)
END
}

virtual_rounds=1
wall_rounds=5
bench_script=$top/tests/bench/run.sh
bench_report=$top/tests/bench/report.py

cmd_bench() {
	local wall=no nic=no markdown=no iommu=no congestion=no measure=no rounds='' against=''
	local model='' moderated=no link='' policy='' veth=no
	local report=() groups=() traffic=() traffic_option=''
	while [ $# -gt 0 ]; do
		case $1 in
		--help | -h) usage_bench && return ;;
		--wall) wall=yes ;;
		--nic) nic=yes ;;
		--moderated) moderated=yes ;;
		--model | --link | --policy)
			take_nic_value "$1" "${2:-}"
			shift
			;;
		--markdown) markdown=yes && report+=(--markdown) ;;
		--rounds)
			rounds=$(number --rounds "${2:-}" 1 100)
			shift
			;;
		--against | --json)
			[ $# -ge 2 ] || usage_error "$1 needs a file"
			report+=("$1" "$(realpath -m "$2")")
			[ "$1" = --json ] || against=${report[-1]}
			shift
			;;
		--nodes | --mtu | --pattern | --size | --transport | --rate | --queue | --duration | --speed)
			[ $# -ge 2 ] || usage_error "$1 needs a value"
			take_traffic "$1" "$2"
			shift
			;;
		-*) usage_error "unknown option $1" ;;
		latency | bandwidth | rate | memory | onesided | mpi) groups+=("$1") ;;
		iommu) iommu=yes ;;
		congestion) congestion=yes ;;
		*) usage_error "there is no group $1" ;;
		esac
		shift
	done
	check_bench_options
	[ "$nic" = no ] || choose_nic_groups
	[[ "$iommu$congestion ${groups[*]:-memory}" != nono*memory* ]] || measure=yes
	ensure_packages "${packages[@]}" "${packages_bench[@]}" "${packages_mpi[@]}"
	[[ "$iommu$wall$congestion ${groups[*]:-onesided}" != nonono*onesided* ]] ||
		ensure_packages "${packages_rxe[@]}"
	choose_clock
	[ -z "$against" ] ||
		python3 "$bench_report" --against "$against" --accelerator "$accelerator" || return
	prepare_guest
	choose_out
	if [ "$nic" = yes ]; then
		measure_nic || return
	elif [ "$iommu" = yes ]; then
		measure_iommu || return
	elif [ "$congestion" = yes ]; then
		measure_congestion || return
	else
		measure --rounds "$rounds" "${groups[@]}" || return
	fi
	python3 "$bench_report" "${report[@]}" "$out/bench.jsonl"
}

check_bench_options() {
	[ "$nic$wall" != yesyes ] || usage_error "--nic is measured in virtual time"
	[ "$markdown$nic" != yesno ] || usage_error "--markdown is of --nic"
	[ "$markdown" = no ] || [ -z "$against" ] ||
		usage_error "--markdown prints one table only, without --against"
	[ "$markdown" = no ] || [ -z "$link$policy${groups[*]}" ] ||
		usage_error "--markdown prints one table only, without --link, --policy and groups"
	[ "$nic" = yes ] || [ -z "$model" ] || usage_error "--model is of --nic"
	[ "$nic" = yes ] || [ -z "$link" ] || usage_error "--link is of --nic"
	[ "$nic" = yes ] || [ -z "$policy" ] || usage_error "--policy is of --nic"
	[ -z "$policy" ] || [[ " ${groups[*]} " != *\ m* ]] ||
		usage_error "--policy is of latency, bandwidth and rate"
	[ "$moderated" = no ] || [[ "$nic$model" =~ ^yes(e1000)?$ ]] ||
		usage_error "--moderated is of --nic with the model e1000"
	[[ "$nic ${groups[*]}" != yes*onesided* ]] || usage_error "onesided is not measured over emulated NICs"
	[ "$iommu" = no ] || [ ${#groups[@]} = 0 ] || usage_error "iommu is measured alone"
	[ "$iommu$nic" != yesyes ] || usage_error "iommu is not measured over emulated NICs"
	[ "$iommu$wall" != yesyes ] || usage_error "iommu is measured in virtual time"
	check_congestion_options
}

measure() { run_guest "$out" "$top" "$bench_script" "$@"; }

# take_nic_value OPTION VALUE
take_nic_value() {
	case $1=$2 in
	--model=e1000 | --model=vmxnet3) model=$2 ;;
	--model=*) usage_error "--model is e1000 or vmxnet3" ;;
	--policy=batch | --policy=stock) policy=$2 ;;
	--policy=*) usage_error "--policy is batch or stock" ;;
	--link=*)
		[[ $2 =~ ^[0-9]+(\.[0-9]+)?([kmgt]i?)?(bit|bps)$ ]] ||
			usage_error "--link is a rate as tc has it, such as 10gbit"
		link=$2
		;;
	esac
}

choose_nic_groups() {
	[ ${#groups[@]} = 0 ] || return 0
	groups=(latency bandwidth rate)
	[ -n "$link$policy" ] || veth=yes
}

# A guest with NICs, and perhaps one with veth; their results become one file.
measure_nic() {
	local words=()
	if [ "$veth" = yes ]; then
		measure --rounds "$rounds" --mtus 9000 --offloads on --policies batch "${groups[@]}" || return
		mv "$out/bench.jsonl" "$out/veth.jsonl"
	fi
	opt_nic=${model:-e1000} opt_moderated=$moderated
	check_options
	[ "$moderated" = no ] || words+=(--moderated)
	[ -z "$link" ] || words+=(--link "$link")
	[ -z "$policy" ] || words+=(--policies "$policy")
	measure --rounds "$rounds" "${words[@]}" "${groups[@]}" || return
	[ "$veth" = no ] || cat "$out/veth.jsonl" >>"$out/bench.jsonl"
}

# The module that does not look whether a page is there is built for this guest's kernel.
measure_iommu() {
	local unchecked=$build/unchecked-driver-$kver
	locked "$build/unchecked.lock" build_unchecked "$unchecked"
	measure --rounds "$rounds" --unchecked "$unchecked/omx.ko" iommu
}

# Sets the options of the guest, and rounds if the user did not.
choose_clock() {
	default_options
	opt_measure=$measure opt_iommu=$iommu opt_sva=$iommu
	if [ "$wall" = no ]; then
		opt_virtual_time=yes rounds=${rounds:-$virtual_rounds}
		say "measuring in virtual time; this takes minutes"
	else
		ensure_kernel
		kvm_works || opt_kernel=$uml_series
		rounds=${rounds:-$wall_rounds}
		say "measuring by the clock on the wall; what else runs here is measured too:" \
			"the load is $(cut -d ' ' -f 1 /proc/loadavg)"
	fi
	opt_timeout=$((3600 * rounds))
	[ "$congestion" = no ] || congestion_guest
	check_options
	choose_accelerator
}
