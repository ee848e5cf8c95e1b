// SPDX-License-Identifier: BSD-2-Clause
/*
 * The server is a user who may have little memory.  Logs that it has destroyed count as long
 * as they are mapped.  When its logs take what it may have for requests, one transfer that
 * a peer begins is under way at most, others end with NO_SYSTEM_RESOURCES, and so do
 * conditional accesses and keys.
 *
 *	--count N	logs of 4 MiB that certainly are too many
 */
#include <errno.h>
#include <stdlib.h>

#include "raw_log.h"

#define LARGE		(1u << 16)	/* slots of a log: 4 MiB */
#define SMALL		(1u << 13)	/* 512 KiB */
#define TRANSFERS	16
#define LENGTH		200000
#define SIZE		(TRANSFERS * (size_t)LENGTH)
#define INITIAL		1

static omx_endpoint_t ep;
static omx_endpoint_addr_t peer;

/* ---- the user ------------------------------------------------------------------------- */

static unsigned int make_large_logs(struct raw_log *logs)
{
	unsigned int i;

	for (i = 0; i < options.count && !raw_log_create(&logs[i], ep, LARGE); i++) {
		raw_log_map(&logs[i]);
		raw_log_destroy(&logs[i]);
	}
	return i;
}

static void check_mapped(void)
{
	struct raw_log *logs = allocate(options.count * sizeof(*logs));
	unsigned int count = make_large_logs(logs), i;

	CHECK(count && count < options.count, "%u logs of 4 MiB are mapped", count);
	EQUAL(raw_log_create(&logs[count], ep, LARGE), EDQUOT);
	for (i = 0; i < count; i++)
		raw_log_unmap(&logs[i]);
	for (i = 0; i < 2 * count; i++) {
		EQUAL(raw_log_create(&logs[0], ep, LARGE), 0);
		raw_log_map(&logs[0]);
		raw_log_unmap(&logs[0]);
		raw_log_destroy(&logs[0]);
	}
	free(logs);
}

static void check_conditional(uint8_t *memory)
{
	omx_request_t first, second;
	uint32_t result;

	MUST(omx_iput_when(ep, memory, 8, peer, 1, OMX_TIMEOUT_INFINITE, NULL, &first));
	RETURNS(omx_iput_when(ep, memory, 8, peer, 1, OMX_TIMEOUT_INFINITE, NULL, &second),
		OMX_NO_SYSTEM_RESOURCES);
	MUST(omx_cancel(ep, &first, &result));
	EQUAL(result, 1);
}

static void run_server(void)
{
	struct raw_log logs[OMX_LOGS_MAX];
	uint8_t *memory = map_anonymous(NULL, SIZE);
	unsigned int count = 0;
	omx_window_t window;

	ep = meet(&peer);
	check_mapped();
	fill(memory, SIZE, INITIAL, 0);
	window = export_memory(ep, memory, SIZE);
	while (!raw_log_create(&logs[count], ep, SMALL))
		count++;
	printf("one_user_memory: %u logs of 512 KiB\n", count);
	send_key(ep, peer, window);
	check_conditional(memory);
	barrier(ep, peer);
	while (count--)
		raw_log_destroy(&logs[count]);
	barrier(ep, peer);
	barrier(ep, peer);
	MUST(omx_window_destroy(ep, window));
	part(ep, peer);
}

/* ---- its peer ------------------------------------------------------------------------- */

static omx_return_t post_transfer(bool put, const struct remote *remote, uint8_t *memory,
				  uint64_t offset, omx_request_t *request)
{
	if (put)
		return omx_iput(ep, memory + offset, LENGTH, peer, remote->key, offset, NULL,
				request);
	return omx_iget(ep, memory + offset, LENGTH, peer, remote->key, offset, NULL, request);
}

static unsigned int count_refused(bool put, const struct remote *remote, uint8_t *memory)
{
	omx_request_t requests[TRANSFERS];
	unsigned int i;

	for (i = 0; i < TRANSFERS; i++)
		MUST(post_transfer(put, remote, memory, i * LENGTH, &requests[i]));
	return TRANSFERS - finish_each(ep, requests, TRANSFERS, OMX_NO_SYSTEM_RESOURCES);
}

static void post_key(omx_window_t window, omx_return_t code)
{
	omx_request_t request;

	MUST(omx_post_key(ep, peer, 2, window, 0, 8, NULL, &request));
	finish_with(ep, &request, code);
}

static void run_client(void)
{
	uint8_t *memory = map_anonymous(NULL, SIZE);
	unsigned int puts, gets;
	struct remote remote;
	omx_window_t own;

	ep = meet(&peer);
	own = export_memory(ep, memory, SIZE);
	fill(memory, SIZE, INITIAL, 0);
	remote = receive_key(ep, peer);
	puts = count_refused(true, &remote, memory);
	gets = count_refused(false, &remote, memory);
	printf("one_user_memory: %u puts and %u gets of %u are refused\n", puts, gets, TRANSFERS);
	/* The server's message of the barrier may be the one that a get would have been. */
	CHECK(puts && puts < TRANSFERS && gets);
	post_key(own, OMX_NO_SYSTEM_RESOURCES);
	/* What needs no memory of the server is not refused. */
	get_pattern(&remote, 0, 1000, INITIAL);
	barrier(ep, peer);
	barrier(ep, peer);
	EQUAL(count_refused(true, &remote, memory), 0);
	EQUAL(count_refused(false, &remote, memory), 0);
	post_key(own, OMX_SUCCESS);
	CHECK(differs_at(memory, SIZE, INITIAL, 0) == SIZE);
	barrier(ep, peer);
	MUST(omx_window_destroy(ep, own));
	part(ep, peer);
}

int main(int argc, char **argv)
{
	options.count = 16;
	return run_pair(argc, argv, run_server, run_client);
}
