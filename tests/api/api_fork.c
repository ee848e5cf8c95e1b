// SPDX-License-Identifier: BSD-2-Clause
/* A child made by fork has no endpoints until it opens its own. */
#include "endpoints.h"

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void in_the_child(omx_endpoint_t ep, omx_endpoint_addr_t self, omx_request_t request)
{
	omx_endpoint_t own;
	omx_status_t status;
	omx_return_t ret;
	uint32_t result;

	ret = omx_isend(ep, NULL, 0, self, 1, NULL, NULL);
	CHECK(ret == OMX_BAD_ENDPOINT || ret == OMX_NOT_INITIALIZED, " %s", omx_strerror(ret));
	ret = omx_test(ep, &request, &status, &result);
	CHECK(ret == OMX_BAD_ENDPOINT || ret == OMX_NOT_INITIALIZED, " %s", omx_strerror(ret));
	ret = omx_close_endpoint(ep);
	CHECK(ret == OMX_BAD_ENDPOINT || ret == OMX_NOT_INITIALIZED, " %s", omx_strerror(ret));
	RETURNS(omx_open_endpoint(0, OMX_ANY_ENDPOINT, KEY, NULL, 0, &own), OMX_NOT_INITIALIZED);

	MUST(omx_init());
	own = open_any();
	self = connect_self(own);
	send_pattern(own, self, 4000, 2);
	receive_pattern(own, 4000, 2);
	MUST(omx_close_endpoint(own));
	MUST(omx_finalize());
}

static void run_test(void)
{
	omx_endpoint_addr_t self;
	omx_request_t request;
	omx_endpoint_t ep;
	int status;
	pid_t pid;

	MUST(omx_init());
	ep = open_any();
	self = connect_self(ep);
	MUST(omx_irecv(ep, NULL, 0, 1, EXACT, NULL, &request));
	pid = fork();
	CHECK(pid >= 0);
	if (!pid) {
		alarm(30);
		in_the_child(ep, self, request);
		_exit(0);
	}
	CHECK(waitpid(pid, &status, 0) == pid);
	CHECK(WIFEXITED(status) && !WEXITSTATUS(status));
	/* The endpoint of the parent still works. */
	send_sync(ep, self, NULL, 0, 1);
	finish_with(ep, &request, OMX_SUCCESS);
	send_pattern(ep, self, 4000, 3);
	receive_pattern(ep, 4000, 3);
	MUST(omx_close_endpoint(ep));
	MUST(omx_finalize());
}

int main(int argc, char **argv)
{
	return run_alone(argc, argv, run_test);
}
