/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the components mtl/omx and btl/omx have in common: whether to offer
 * omx, the library, and an endpoint.  Each component has an endpoint of its own
 * and a copy of this code.  Called while MPI is initialized and finalized.
 *
 *   glue.c	the library and the endpoint, and why they cannot be had
 *   select.c	shall omx be used when nobody has asked for it?
 */
#ifndef OMX_GLUE_H
#define OMX_GLUE_H

#include <stdbool.h>
#include <stdint.h>

#include <omx.h>

#include "opal/mca/base/mca_base_framework.h"

/* A component. */
struct omx_glue {
	const char *name;		/* "mtl/omx" */
	const mca_base_framework_t *framework;
};

/* Has the user named this component? */
bool omx_glue_requested(const struct omx_glue *glue);

/* Is every host of the job a peer?  All its processes say the same. */
bool omx_glue_everywhere(const struct omx_glue *glue);

/* False: there is no driver, and nothing was initialized. */
bool omx_glue_start(const struct omx_glue *glue);

/*
 * After a component has declined.  A component that has opened an endpoint closes
 * that and nothing else, because the library closes the endpoint of the other
 * component when it is finalized.
 */
void omx_glue_stop(void);

/* Opens an endpoint on the board, or on the first one if that is negative. */
bool omx_glue_open(const struct omx_glue *glue, int board, omx_endpoint_param_t *param,
		   uint32_t key, omx_endpoint_t *endpoint);

/* A connection key for this process, which one of another job does not have. */
uint32_t omx_glue_key(void);

#endif
