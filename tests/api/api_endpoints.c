// SPDX-License-Identifier: BSD-2-Clause
/*
 * Several endpoints in one process: messages between all of them arrive at
 * the right one.
 */
#include "endpoints.h"

#include <stdlib.h>

#define COUNT	6
#define LENGTH(i, j)	(((i) * COUNT + (j)) * 3000)
#define MATCH(i, j)	(1000 + (i) * COUNT + (j))

static omx_endpoint_t ep[COUNT];
static omx_endpoint_addr_t addr[COUNT][COUNT];

static void exchange_between(int i, int j)
{
	size_t length = LENGTH(i, j);
	char *from = allocate(length), *to = allocate(length);
	omx_request_t send, recv;
	omx_status_t status;

	fill(from, length, MATCH(i, j), 0);
	MUST(omx_isend(ep[i], from, length, addr[i][j], MATCH(i, j), NULL, &send));
	MUST(omx_irecv(ep[j], to, length, MATCH(i, j), EXACT, NULL, &recv));
	/*
	 * Each endpoint must make progress although the program only waits on
	 * the other one.
	 */
	status = finish_with(ep[j], &recv, OMX_SUCCESS);
	EQUAL(status.xfer_length, length);
	CHECK(same_address(status.addr, addr[j][i]));
	verify(to, length, MATCH(i, j));
	finish_with(ep[i], &send, OMX_SUCCESS);
	free(from);
	free(to);
}

static void requests_are_of_one_endpoint(void)
{
	omx_request_t request;
	omx_status_t status;
	uint32_t result;

	MUST(omx_irecv(ep[0], NULL, 0, 1, EXACT, NULL, &request));
	RETURNS(omx_test(ep[1], &request, &status, &result), OMX_BAD_REQUEST);
	RETURNS(omx_wait(ep[1], &request, &status, &result, 10), OMX_BAD_REQUEST);
	RETURNS(omx_cancel(ep[1], &request, &result), OMX_BAD_REQUEST);
	RETURNS(omx_forget(ep[1], &request), OMX_BAD_REQUEST);
	MUST(omx_cancel(ep[0], &request, &result));
	EQUAL(result, 1);
}

static void run_test(void)
{
	uint64_t nic;
	int i, j;

	MUST(omx_init());
	for (i = 0; i < COUNT; i++)
		ep[i] = open_any();
	nic = nic_of(ep[0]);
	for (i = 0; i < COUNT; i++)
		for (j = 0; j < COUNT; j++)
			addr[i][j] = connect_to(ep[i], nic, number_of(ep[j]));
	for (i = 0; i < COUNT; i++)
		for (j = 0; j < COUNT; j++)
			exchange_between(i, j);
	requests_are_of_one_endpoint();
	/* Closing one endpoint does not affect the others. */
	MUST(omx_close_endpoint(ep[0]));
	exchange_between(1, 2);
	exchange_between(5, 1);
	MUST(omx_finalize());
}

int main(int argc, char **argv)
{
	return run_alone(argc, argv, run_test);
}
