// SPDX-License-Identifier: BSD-2-Clause
#include "accesses.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEY_OF_WINDOW	(CONTROL + 200)

omx_window_t export_memory(omx_endpoint_t ep, void *memory, size_t length)
{
	omx_window_t window;

	MUST(omx_window_create(ep, memory, length, RIGHTS_ALL, NULL, &window));
	return window;
}

void send_key_of(omx_endpoint_t owner, omx_window_t window, omx_endpoint_t ep,
		 omx_endpoint_addr_t peer)
{
	omx_key_t key;

	MUST(omx_window_key(owner, window, &key));
	send_sync(ep, peer, &key, sizeof(key), KEY_OF_WINDOW);
}

void send_key(omx_endpoint_t ep, omx_endpoint_addr_t peer, omx_window_t window)
{
	send_key_of(ep, window, ep, peer);
}

struct remote receive_key(omx_endpoint_t ep, omx_endpoint_addr_t peer)
{
	struct remote remote = { .ep = ep, .addr = peer };

	EQUAL(receive(ep, &remote.key, sizeof(remote.key), KEY_OF_WINDOW).xfer_length,
	      sizeof(remote.key));
	return remote;
}

/* ---- accesses -------------------------------------------------------------- */

static omx_return_t end_of(const struct remote *remote, omx_request_t *request)
{
	omx_status_t status = finish(remote->ep, request);

	CHECK(same_address(status.addr, remote->addr));
	return status.code;
}

unsigned int finish_each(omx_endpoint_t ep, omx_request_t *requests, unsigned int count,
			omx_return_t other)
{
	unsigned int i, succeeded = 0;

	for (i = 0; i < count; i++) {
		omx_return_t code = finish(ep, &requests[i]).code;

		CHECK(code == OMX_SUCCESS || code == other, "%s", omx_strerror(code));
		succeeded += code == OMX_SUCCESS;
	}
	return succeeded;
}

omx_return_t try_put(const struct remote *to, uint64_t offset, const void *buffer, size_t length)
{
	omx_request_t request;
	omx_return_t posted = omx_iput(to->ep, buffer, length, to->addr, to->key, offset, NULL,
				       &request);

	return posted ? posted : end_of(to, &request);
}

omx_return_t try_get(const struct remote *from, uint64_t offset, void *buffer, size_t length)
{
	omx_request_t request;
	omx_return_t posted = omx_iget(from->ep, buffer, length, from->addr, from->key, offset,
				       NULL, &request);

	return posted ? posted : end_of(from, &request);
}

omx_return_t try_atomic(const struct remote *at, omx_atomic_t operation, uint32_t size,
			uint64_t offset, uint64_t operand, uint64_t compare, void *before)
{
	omx_request_t request;
	omx_return_t posted = omx_iatomic(at->ep, operation, size, at->addr, at->key, offset,
					  operand, compare, before, NULL, &request);

	return posted ? posted : end_of(at, &request);
}

void put_pattern(const struct remote *to, uint64_t offset, size_t length, uint64_t key)
{
	void *buffer = allocate(length);

	fill(buffer, length, key, 0);
	MUST(try_put(to, offset, buffer, length));
	free(buffer);
}

void get_pattern(const struct remote *from, uint64_t offset, size_t length, uint64_t key)
{
	void *buffer = allocate(length);

	memset(buffer, 0xa5, length);
	MUST(try_get(from, offset, buffer, length));
	verify(buffer, length, key);
	free(buffer);
}

/* ---- processes ------------------------------------------------------------- */

bool process_is_stopped(pid_t pid)
{
	char path[64], state = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	file = fopen(path, "r");
	CHECK(file && fscanf(file, "%*d (%*[^)]) %c", &state) == 1);
	fclose(file);
	return state == 'T';
}

void stop_process(pid_t pid)
{
	CHECK(!kill(pid, SIGSTOP));
	AWAIT(process_is_stopped(pid), 5 * slowness(), 1);
}

void check_gone(omx_return_t code)
{
	CHECK(code == OMX_REMOTE_RDMA_WINDOW_BAD_ID || code == OMX_MESSAGE_ABORTED ||
	      code == OMX_REMOTE_ENDPOINT_CLOSED || code == OMX_REMOTE_ENDPOINT_BAD_SESSION ||
	      code == OMX_REMOTE_ENDPOINT_UNREACHABLE, "%s", omx_strerror(code));
}

/* ---- counters -------------------------------------------------------------- */

uint64_t count_of(omx_endpoint_t ep, const char *text)
{
	static uint32_t values[1000];
	char label[200];
	uint64_t sum = 0;
	uint32_t i, n;
	bool found = false;

	MUST(omx_get_info(ep, OMX_INFO_COUNTER_MAX, NULL, 0, &n, sizeof(n)));
	CHECK(n <= 1000);
	MUST(omx_get_info(ep, OMX_INFO_COUNTER_VALUES, NULL, 0, values, n * sizeof(*values)));
	for (i = 0; i < n; i++) {
		MUST(omx_get_info(ep, OMX_INFO_COUNTER_LABEL, &i, sizeof(i), label,
				  sizeof(label)));
		if (!strstr(label, text))
			continue;
		found = true;
		sum += values[i];
	}
	CHECK(found, "there is no counter '%s'", text);
	return sum;
}
