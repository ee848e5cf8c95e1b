/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Life of the library, and what Myricom's environment variables mean here.
 */
#include <stdlib.h>

#include "error.h"

#define API_MAJOR(api)	((api) >> 8)

/*
 * MX_RCACHE=0 turns the cache of regions off; it has no other modes here.
 * MX_DISABLE_SELF and MX_DISABLE_SHMEM: messages within a host take one copy
 * and no other way is left to them.  MX_PIPELINE_LOG: transfers set their
 * pace by what they measure.
 */
static void read_environment(void)
{
	const char *rcache = getenv("MX_RCACHE");

	if (rcache && !strcmp(rcache, "0"))
		setenv("OMX_RCACHE", "0", 0);
}

mx_return_t mx__init_api(int api)
{
	if (API_MAJOR(api) != API_MAJOR(MX_API))
		return mx__error_report(NULL, MX_BAD_LIB_VERSION, "mx_init");
	read_environment();
	return mx__return(NULL, omx_init(), "mx_init");
}

mx_return_t mx_finalize(void)
{
	return mx__return(NULL, omx_finalize(), __func__);
}
