/* SPDX-License-Identifier: BSD-2-Clause */
/* Each process publishes where its endpoint is (Open MPI's modex), see glue.h. */
#include "compat.h"

#include "glue.h"

#include <stdlib.h>

int omx_glue_publish(const struct omx_glue *glue, omx_endpoint_t endpoint, uint32_t key)
{
	struct omx_glue_location location = { .key = key };
	omx_endpoint_addr_t own;
	int ret;

	if (omx_get_endpoint_addr(endpoint, &own) ||
	    omx_decompose_endpoint_addr(own, &location.nic_id, &location.endpoint))
		return OPAL_ERROR;
	OPAL_MODEX_SEND(ret, PMIX_GLOBAL, glue->component, &location, sizeof(location));
	return ret;
}

bool omx_glue_locate(const struct omx_glue *glue, const opal_process_name_t *process,
		     struct omx_glue_location *location)
{
	struct omx_glue_location *published = NULL;
	size_t size = 0;
	bool found;
	int ret;

	OPAL_MODEX_RECV(ret, glue->component, process, (void **)&published, &size);
	found = ret == OPAL_SUCCESS && size == sizeof(*published);
	if (found)
		*location = *published;
	free(published);
	return found;
}
