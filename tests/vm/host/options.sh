# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# The options that describe a guest; the same on the command line of run and
# in the "# lab:" line of a test.

# What opt_debug and opt_udp are where nothing is said.
default_debug=no
default_udp=

default_options() {
	opt_nodes=2 opt_mtu=9000 opt_netem='' opt_machines=no opt_nic='' opt_moderated=no
	opt_virtual_time=no opt_memory=2G opt_timeout=600 opt_module=yes opt_kernel=6.1
	opt_debug=$default_debug opt_udp=$default_udp opt_measure=no opt_iommu=no opt_sva=no opt_boot='' opt_speed=1
}

# Takes one option from the arguments; $taken is how many words it had.
take_option() {
	taken=1
	case $1 in
	--machines) opt_machines=yes ;;
	--moderated) opt_moderated=yes ;;
	--virtual-time) opt_virtual_time=yes ;;
	--no-module) opt_module=no ;;
	--iommu) opt_iommu=yes ;;
	--sva) opt_iommu=yes opt_sva=yes ;;
	--debug) opt_debug=yes ;;
	--nodes | --mtu | --netem | --kernel | --memory | --timeout | --nic | --boot | --speed | --udp)
		[ $# -ge 2 ] || usage_error "$1 needs a value"
		taken=2
		take_value "$1" "$2"
		;;
	*) usage_error "unknown option $1" ;;
	esac
}

take_value() {
	case $1 in
	--nodes) opt_nodes=$(number "$1" "$2" 1 250) ;;
	--mtu) opt_mtu=$(number "$1" "$2" 68 65535) ;;
	--netem) opt_netem=$2 ;;
	--memory) take_memory "$2" ;;
	--timeout) opt_timeout=$(number "$1" "$2" 1 100000) ;;
	--nic) opt_nic=$2 ;;
	--boot) opt_boot=$2 ;;
	--speed) opt_speed=$(number "$1" "$2" 1 4000) ;;
	--udp) opt_udp=$(ip_version "$1" "$2") ;;
	--kernel) take_kernel "$2" ;;
	esac
}

take_memory() {
	[[ $1 =~ ^[1-9][0-9]{0,5}[MG]$ ]] || usage_error "--memory is a number and M or G, such as 2G"
	opt_memory=$1
}

take_kernel() {
	case $1 in
	6.1 | 7.2) opt_kernel=$1 ;;
	*) usage_error "--kernel is 6.1 or 7.2" ;;
	esac
}

ip_version() {
	[[ $2 =~ ^[46]$ ]] || usage_error "$1 is 4 or 6, the version of IP"
	echo "$2"
}

number() {
	[[ $2 =~ ^[0-9]{1,9}$ ]] && [ "$2" -ge "$3" ] && [ "$2" -le "$4" ] ||
		usage_error "$1 is a number from $3 to $4"
	echo "$2"
}

check_options() {
	[ "$opt_machines" = no ] || opt_nodes=2 opt_nic=${opt_nic:-e1000e}
	choose_nic
	[ -z "$opt_udp" ] || check_udp_options
	[ "$opt_kernel" = 6.1 ] || check_uml_options
	[ "$opt_speed" = 1 ] || check_speed
	[ "$opt_sva$opt_debug" != yesyes ] || usage_error "--debug is a 6.1 kernel, which has no --sva"
	[ "$opt_debug" = no ] || grace=$debug_grace
}

# The e1000 interrupts for every frame: with its moderation a frame waits up to
# 128 us, as it may with a real NIC. The e1000e cannot be told to do without.
choose_nic() {
	local mitigation=off
	nic_module='' nic_device=''
	if [ "$opt_moderated" = yes ]; then
		mitigation=on
		[ "$opt_nic" = e1000 ] || usage_error "--moderated is of --nic e1000"
	fi
	case $opt_nic in
	'') return ;;
	e1000) nic_module=e1000 nic_device=e1000,mitigation=$mitigation ;;
	e1000e) nic_module=e1000e nic_device=e1000e ;;
	virtio) nic_module=virtio_net nic_device=virtio-net-pci ;;
	vmxnet3) nic_module=vmxnet3 nic_device=vmxnet3 ;;
	*) usage_error "--nic is e1000, e1000e, virtio or vmxnet3" ;;
	esac
	[ "$opt_nodes" = 2 ] || usage_error "--nic joins two nodes"
}

check_speed() {
	[ "$opt_virtual_time" = yes ] || usage_error "--speed needs --virtual-time"
	[ "$opt_debug$opt_sva" = nono ] || usage_error "--speed is without --debug and --sva"
}

check_udp_options() {
	[ "$opt_machines$nic_module" = no ] || usage_error "--udp joins the nodes of one guest by veth"
	[ "$opt_kernel" = 6.1 ] || usage_error "--kernel $opt_kernel has no UDP tunnels, which --udp needs"
}

check_uml_options() {
	[ "$opt_debug" = no ] || usage_error "--debug is a 6.1 kernel"
	[ "$opt_iommu" = no ] ||
		usage_error "--kernel $opt_kernel is user-mode Linux, which has no --iommu and no --sva"
	[ -z "$opt_nic" ] ||
		usage_error "--kernel $opt_kernel is user-mode Linux, which has no emulated NIC for --machines or --nic"
	[ "$opt_virtual_time" = no ] ||
		usage_error "--kernel $opt_kernel is user-mode Linux, which runs by the clock on the wall only"
	[ "$(id -u)" = 0 ] || die "--kernel $opt_kernel is user-mode Linux, which here only root can run"
}
