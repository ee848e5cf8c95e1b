# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# ./lab run

usage_run() {
	cat <<'END'
usage: ./lab run [OPTION...] SCRIPT [ARG...]

Runs SCRIPT (a file, or a command of the host) as root in a guest where the
module is loaded and the nodes know each other. In it:
  node I CMD...       runs CMD on node I, whose host name is nodeI and whose
                      address is 10.0.0.I on eth0; the script itself is on no
                      node, and has no board
  $LAB_OUT            files written there come back: to the same variable's
                      directory if the caller has set it, else to build/out
  lab-module unload, lab-module load
                      take the module away, bring it back
  mpirun --host node1:2,node2:2 ...
                      Open MPI between the nodes, started on node 1
The host's file system is there; what is written to it stays in the guest.
The script's exit status comes back; 124 is a hang, 125 a kernel splat, a
leak, or a guest that did not come up.

  --nodes N           how many nodes (2)
  --mtu M             of every eth0 (9000)
  --netem 'SPEC'      what tc's netem does to every packet, e.g. 'loss 5%'
  --machines          two guests and an emulated NIC instead of namespaces
  --udp 4|6           each node is in a network of its own; they reach each other
                      through a router, the guest's own namespace, and by UDP over
                      IPv4 or IPv6
  --nic MODEL         an emulated NIC: e1000, e1000e (what --machines has by
                      default), virtio or vmxnet3; without --machines two of
                      them join the two nodes of one guest instead of veth
  --moderated         with --nic e1000: not an interrupt for each frame, but one for
                      all frames of up to 128 us
  --iommu             an IOMMU that the kernel uses, and the copy engine of
                      tests/engine behind it
  --sva               the same, but the engine reads the page tables of processes
                      and asks for absent pages; with the QEMU and the stock
                      kernel (7.x) of Debian's development release, fetched at
                      first
  --virtual-time      one instruction is one nanosecond: repeatable figures
  --speed N           with --virtual-time: a processor that executes N instructions
                      in a nanosecond, for many nodes with real links
  --memory SIZE       of a guest, in M or G (2G)
  --boot 'WORD...'    more arguments of the guest's kernel, e.g. iommu=off
  --timeout S         for the script (600)
  --no-module         only the nodes
  --kernel V          6.1, the stock one, or 7.2: user-mode Linux, built at first;
                      without --machines, --nic, --iommu and --virtual-time
  --debug             a kernel that checks itself (KASAN, lockdep, kmemleak and
                      more), built at first; several times slower
END
}

cmd_run() {
	default_options
	while [ $# -gt 0 ]; do
		case $1 in
		--help | -h) usage_run && return ;;
		--) shift && break ;;
		-*)
			take_option "$@"
			shift "$taken"
			;;
		*) break ;;
		esac
	done
	[ $# -gt 0 ] || usage_error "run what?"
	check_options
	choose_out
	local command=("$@")
	find_script "$1"
	ensure_packages "${packages_mpi[@]}"
	prepare_guest
	run_guest "$out" "$PWD" "${command[@]}"
}

prepare_guest() {
	make_build_directory
	ensure_packages "${packages[@]}"
	ensure_kernel
	build_all
}

choose_out() {
	out=${LAB_OUT:-}
	if [ -z "$out" ]; then
		make_build_directory
		out=$(mktemp -d "$build/runs/out.XXXXXX")
		chmod 755 "$out"
		ln -sfn "${out#"$build/"}" "$build/out"
	fi
	mkdir -p "$out"
	out=$(realpath "$out")
}

# Makes command[0] something that the guest can start.
find_script() {
	if [ -e "$1" ] && [ ! -d "$1" ]; then
		command[0]=$(realpath "$1")
		[ -x "$1" ] || command=(bash "${command[@]}")
	else
		command -v -- "$1" >/dev/null || usage_error "there is no script $1"
	fi
}
