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

int main(int argc, char **argv)
{
	char text[] = "hello";
	omx_endpoint_addr_t to;
	omx_request_t request;
	omx_status_t status;
	omx_endpoint_t ep;
	uint32_t done;
	uint64_t nic;

	if (argc != 2) {
		fprintf(stderr, "usage: %s BOARD, for instance node1:0\n", argv[0]);
		return 2;
	}
	check("init", omx_init());
	check("open", omx_open_endpoint(0, OMX_ANY_ENDPOINT, 0x1234, NULL, 0, &ep));
	check(argv[1], omx_hostname_to_nic_id(argv[1], &nic));
	check("connect", omx_connect(ep, nic, 0, 0x1234, 5000, &to));
	check("send", omx_issend(ep, text, sizeof(text), to, 42, NULL, &request));
	check("wait", omx_wait(ep, &request, &status, &done, OMX_TIMEOUT_INFINITE));
	check("message", status.code);
	check("close", omx_close_endpoint(ep));
	check("finalize", omx_finalize());
	return 0;
}
