# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash disable=SC2154 # the settings come from the host
# What makes mpirun work between the nodes as it does between machines.

mpi_commands=(mpirun mpiexec orterun)

# Components of Open MPI that the build installed are found beside its own.
# (Not USER_DEFAULT: the list ends at a directory that is not there.)
set_mpi_environment() {
	export OMPI_MCA_plm_rsh_agent=/run/lab/bin/lab-ssh
	export OMPI_MCA_mca_base_component_path=SYSTEM_DEFAULT:$installed/lib/openmpi
	export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
	# hwloc's plugins look for graphics cards, by libraries of 60 MB.
	export HWLOC_PLUGINS_PATH=/run/lab/none
	# Nodes share the guest's processors, so nobody may keep one for himself.
	export OMPI_MCA_hwloc_base_binding_policy=none OMPI_MCA_mpi_yield_when_idle=1
	# Not over lab0, which is the lab's own.
	[ "$machines" = no ] ||
		export OMPI_MCA_oob_tcp_if_include=eth0 OMPI_MCA_btl_tcp_if_include=eth0
}

name_mpi_commands() {
	local name
	for name in "${mpi_commands[@]}"; do
		ln -s lab-mpirun "/run/lab/bin/$name"
	done
}
