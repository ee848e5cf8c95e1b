/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <open-mx.h>

static void check(const char *what, omx_return_t ret)
{
	if (ret == OMX_SUCCESS)
		return;
	fprintf(stderr, "%s: %s\n", what, omx_strerror(ret));
	exit(1);
}

int main(void)
{
	char buffer[100] = "";
	omx_request_t request;
	omx_status_t status;
	omx_endpoint_t ep;
	uint32_t done;

	check("init", omx_init());
	check("open", omx_open_endpoint(0, 0, 0x1234, NULL, 0, &ep));
	check("receive", omx_irecv(ep, buffer, sizeof(buffer) - 1, 0, 0, NULL, &request));
	check("wait", omx_wait(ep, &request, &status, &done, OMX_TIMEOUT_INFINITE));
	check("message", status.code);
	printf("%s\n", buffer);
	check("close", omx_close_endpoint(ep));
	check("finalize", omx_finalize());
	return 0;
}
