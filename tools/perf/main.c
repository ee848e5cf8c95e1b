/* SPDX-License-Identifier: BSD-2-Clause */
/* omx_perf(1) measures latency and throughput between two nodes. */
#include <stdlib.h>

#include "../complain.h"
#include "link.h"
#include "perf.h"
#include "settings.h"

static int perf_initialize(void)
{
	omx_return_t ret = omx_init();

	return ret == OMX_SUCCESS ? 0 : link_fail("start", ret);
}

static int perf_run(const struct settings *settings)
{
	struct link link;
	int ret;

	if (link_open(&link, settings) < 0)
		return -1;
	if (settings->host)
		ret = client_run(&link, settings);
	else
		ret = server_run(&link, settings);
	link_close(&link);
	return ret;
}

int main(int argc, char **argv)
{
	struct settings settings;
	int ret;

	settings_parse(&settings, argc, argv);
	ret = perf_initialize();
	if (!ret) {
		ret = perf_run(&settings);
		omx_finalize();
	}
	settings_free(&settings);
	if (!ret)
		ret = complain_unless_written();
	return ret ? EXIT_FAILURE : EXIT_SUCCESS;
}
