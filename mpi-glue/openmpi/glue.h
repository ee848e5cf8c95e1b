/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the components mtl/omx and btl/omx have in common: whether to offer
 * omx, the library, and an endpoint.  Each component has an endpoint of its own
 * and a copy of this code.  Called while MPI is initialized and finalized.
 *
 *   glue.c	the library and the endpoint, and why they cannot be had
 *   locate.c	where the endpoint of each process is
 *   select.c	shall omx be used when nobody has asked for it?
 */
#ifndef OMX_GLUE_H
#define OMX_GLUE_H

#include <stdbool.h>
#include <stdint.h>

#include <omx.h>

#include "opal/mca/base/base.h"

/* A component. */
struct omx_glue {
	const char *name;		/* "mtl/omx" */
	const mca_base_framework_t *framework;
	const mca_base_component_t *component;
};

/* A parameter of the component: its default is in the storage. */
void omx_glue_parameter(const struct omx_glue *glue, const char *name, const char *help,
			mca_base_var_type_t type, void *storage);

/* Has the user named this component? */
bool omx_glue_requested(const struct omx_glue *glue);

/* Is every host of the job a peer?  All its processes say the same. */
bool omx_glue_everywhere(const struct omx_glue *glue);

/*
 * Initializes the library if omx is to be used, because it is requested or because
 * every host is a peer.  False: nothing is left behind.  A component for which it was
 * true closes its endpoint and nothing else, because the library closes the endpoint
 * of the other component when it is finalized.
 */
bool omx_glue_start(const struct omx_glue *glue, bool requested);

/*
 * Opens an endpoint on the board, or on the first one if that is negative, and tells
 * the other processes where it is.
 */
bool omx_glue_open(const struct omx_glue *glue, int board, omx_endpoint_param_t *param,
		   omx_endpoint_t *endpoint);

/* Where an endpoint is.  All hosts of a job have the same byte order. */
struct omx_glue_location {
	uint64_t nic_id;
	uint32_t endpoint;
	uint32_t key;		/* of connections: another job does not have it */
};

/* OPAL_SUCCESS or an error. */
int omx_glue_publish(const struct omx_glue *glue, omx_endpoint_t endpoint, uint32_t key);
/* False: that process has not published where its endpoint is. */
bool omx_glue_locate(const struct omx_glue *glue, const opal_process_name_t *process,
		     struct omx_glue_location *location);

#endif
