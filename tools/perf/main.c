/* SPDX-License-Identifier: BSD-2-Clause */
/* omx_perf(1): latency and throughput between two nodes. */
#include <err.h>
#include <stdlib.h>

#include "link.h"
#include "perf.h"
#include "settings.h"

static int initialize(void)
{
	omx_return_t ret = omx_init();

	if (ret == OMX_SUCCESS)
		return 0;
	warnx("cannot start: %s%s", omx_strerror(ret),
	      ret == OMX_NO_DEVICE_FILE || ret == OMX_NO_DRIVER ?
	      ": is the module loaded? try: modprobe omx" : "");
	return -1;
}

static int run(const struct settings *settings)
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
	ret = initialize();
	if (!ret) {
		ret = run(&settings);
		omx_finalize();
	}
	settings_free(&settings);
	return ret ? EXIT_FAILURE : EXIT_SUCCESS;
}
