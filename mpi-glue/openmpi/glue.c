/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The library and the endpoint of a component, see glue.h.  If they cannot be
 * had, a component that the user has named says why.
 */
#include "compat.h"

#include "glue.h"

#include <string.h>

#include "opal/util/output.h"

bool omx_glue_requested(const struct omx_glue *glue)
{
	const char *chosen = glue->framework->framework_selection;

	return chosen && chosen[0] != '^' && strstr(chosen, "omx");
}

/* What to do about it, on the host that is named before. */
static const char *glue_hint(omx_return_t reason)
{
	switch (reason) {
	case OMX_NO_DEVICE_FILE:
	case OMX_NO_DRIVER:
		return "; there, try: modprobe omx";
	case OMX_ACCESS_DENIED:
		return "; there, see: ls -l /dev/omx";
	case OMX_BOARD_NOT_FOUND:
		return "; there, see: omx_info";
	case OMX_BAD_KERNEL_ABI:
		return "; their releases are too far apart, see /sys/module/omx/version there";
	case OMX_NO_SYSTEM_RESOURCES:
		return "; there, see: omx_endpoints, and user_endpoints and user_memory_mb in "
		       "/sys/module/omx/parameters";
	default:
		return "";
	}
}

/* Aloud if the user wants it, else Open MPI finds another way by itself. */
static void glue_cannot(const struct omx_glue *glue, const char *what, omx_return_t reason)
{
	if (omx_glue_requested(glue))
		opal_output(0, "%s: cannot %s on %s: %s%s", glue->name, what,
			    ompi_process_info.nodename, omx_strerror(reason), glue_hint(reason));
	else
		opal_output_verbose(5, glue->framework->framework_output,
				    "%s: cannot %s: %s", glue->name, what, omx_strerror(reason));
}

void omx_glue_parameter(const struct omx_glue *glue, const char *name, const char *help,
			mca_base_var_type_t type, void *storage)
{
	mca_base_component_var_register(glue->component, name, help, type, NULL, 0, 0,
					OPAL_INFO_LVL_5, MCA_BASE_VAR_SCOPE_READONLY, storage);
}

bool omx_glue_start(const struct omx_glue *glue, bool requested)
{
	omx_return_t ret = omx_init();

	if (ret && ret != OMX_ALREADY_INITIALIZED) {
		glue_cannot(glue, "use the driver", ret);
		return false;
	}
	if (requested || omx_glue_everywhere(glue))
		return true;
	if (ret == OMX_SUCCESS)		/* it was us who initialized it */
		omx_finalize();
	return false;
}

/* Processes of a job have to be on one network: any board will not do. */
static omx_return_t open_first_board(omx_endpoint_param_t *param, uint32_t key,
				     omx_endpoint_t *endpoint)
{
	omx_return_t ret = OMX_BOARD_NOT_FOUND;
	uint32_t board, count;

	if (omx_get_info(NULL, OMX_INFO_BOARD_MAX, NULL, 0, &count, sizeof(count)))
		return ret;
	for (board = 0; board < count && ret == OMX_BOARD_NOT_FOUND; board++)
		ret = omx_open_endpoint(board, OMX_ANY_ENDPOINT, key, param, param ? 1 : 0,
					endpoint);
	return ret;
}

/* For connections to this process: one of another job has another key. */
static uint32_t glue_key(void)
{
	return OMPI_PROC_MY_NAME->jobid * 0x9e3779b1u ^ OMPI_PROC_MY_NAME->vpid;
}

bool omx_glue_open(const struct omx_glue *glue, int board, omx_endpoint_param_t *param,
		   omx_endpoint_t *endpoint)
{
	uint32_t key = glue_key();
	omx_return_t ret = board < 0 ? open_first_board(param, key, endpoint) :
		omx_open_endpoint((uint32_t)board, OMX_ANY_ENDPOINT, key, param, param ? 1 : 0,
				  endpoint);

	if (ret) {
		glue_cannot(glue, "open an endpoint", ret);
		return false;
	}
	if (omx_glue_publish(glue, *endpoint, key) == OPAL_SUCCESS)
		return true;
	omx_close_endpoint(*endpoint);
	return false;
}
