// SPDX-License-Identifier: BSD-2-Clause
/* omx_get_endpoint_fd: poll() says when there is something to do. */
#include "endpoints.h"

#include <poll.h>
#include <string.h>

#include "omx.h"

static int is_readable(int fd, int timeout)
{
	struct pollfd pollfd = { .fd = fd, .events = POLLIN };
	int ready = poll(&pollfd, 1, timeout);

	CHECK(ready >= 0);
	return ready && pollfd.revents & POLLIN;
}

static void run_client(void)
{
	omx_endpoint_addr_t peer;
	omx_endpoint_t ep = meet(&peer);
	omx_request_t request;
	omx_status_t status;
	char buffer[64];
	int fd;

	CHECK(*omx_version());
	MUST(omx_get_endpoint_fd(ep, &fd));
	MUST(omx_irecv(ep, buffer, sizeof(buffer), 1, EXACT, NULL, &request));
	barrier(ep, peer);
	/* Handles the events that the barrier left in the ring. */
	while (is_readable(fd, 100) && !is_done(ep, &request, &status))
		MUST(omx_progress(ep));
	if (request) {
		CHECK(is_readable(fd, 20000));
		finish_with(ep, &request, OMX_SUCCESS);
	}
	verify(buffer, sizeof(buffer), 1);
	part(ep, peer);
	RETURNS(omx_get_endpoint_fd(ep, &fd), OMX_BAD_ENDPOINT);
}

static void run_server(void)
{
	omx_endpoint_addr_t peer;
	omx_endpoint_t ep = meet(&peer);

	barrier(ep, peer);
	sleep_ms(800);
	send_pattern(ep, peer, 64, 1);
	part(ep, peer);
}

int main(int argc, char **argv)
{
	return run_pair(argc, argv, run_server, run_client);
}
