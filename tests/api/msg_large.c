// SPDX-License-Identifier: BSD-2-Clause
/*
 * One message that 32 bits do not count.  The sender's buffer is a small file
 * mapped over and over; the receiver's is real memory, every byte of which is
 * checked.
 *
 *	--length N	of the message
 */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "endpoints.h"

#define MESSAGE	1
#define VERIFIED	2
#define PAGE	4096
/*
 * The file is whole pages, and its length is a prime number of them: a page
 * that is missing, doubled or exchanged shows, and so does an offset that lost
 * its upper bits, as no power of two is a multiple of the length.
 */
#define FILE_LENGTH	(16381ul * PAGE)

static size_t part_at(size_t offset)
{
	size_t left = options.length - offset;

	return left < FILE_LENGTH ? left : FILE_LENGTH;
}

static void *reserve_memory(void)
{
	void *p = mmap(NULL, options.length, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	CHECK(p != MAP_FAILED, "%llu bytes", (unsigned long long)options.length);
	return p;
}

static void *map_repeatedly(void)
{
	int file = memfd_create("message", 0);
	char *buffer = reserve_memory();
	size_t offset;

	CHECK(file >= 0);
	CHECK(!ftruncate(file, FILE_LENGTH));
	for (offset = 0; offset < options.length; offset += FILE_LENGTH)
		CHECK(mmap(buffer + offset, part_at(offset), PROT_READ | PROT_WRITE,
			   MAP_SHARED | MAP_FIXED, file, 0) == buffer + offset);
	fill(buffer, part_at(0), MESSAGE, 0);
	close(file);
	return buffer;
}

/* Waits longer than PATIENCE. */
static omx_status_t wait_long(omx_endpoint_t ep, omx_request_t *request)
{
	omx_status_t status;
	uint32_t done;

	MUST(omx_wait(ep, request, &status, &done, OMX_TIMEOUT_INFINITE));
	CHECK(done == 1);
	CHECK(status.code == OMX_SUCCESS, "%s", omx_strerror(status.code));
	return status;
}

static void run_client(void)
{
	void *buffer = map_repeatedly();
	omx_request_t message, verified;
	omx_endpoint_addr_t peer;
	omx_endpoint_t ep = meet(&peer);

	MUST(omx_irecv(ep, NULL, 0, VERIFIED, EXACT, NULL, &verified));
	MUST(omx_isend(ep, buffer, options.length, peer, MESSAGE, NULL, &message));
	EQUAL(wait_long(ep, &message).msg_length, options.length);
	wait_long(ep, &verified);
	part(ep, peer);
}

static void verify_all(const char *buffer)
{
	size_t offset, at;

	for (offset = 0; offset < options.length; offset += FILE_LENGTH) {
		at = differs_at(buffer + offset, part_at(offset), MESSAGE, 0);
		CHECK(at == part_at(offset), "damaged at %zu", offset + at);
	}
}

static void run_server(void)
{
	char *buffer = reserve_memory();
	omx_endpoint_addr_t peer;
	omx_endpoint_t ep = meet(&peer);
	omx_request_t request;
	omx_status_t status;
	double start = now();

	MUST(omx_irecv(ep, buffer, options.length, MESSAGE, EXACT, NULL, &request));
	status = wait_long(ep, &request);
	EQUAL(status.msg_length, options.length);
	EQUAL(status.xfer_length, options.length);
	printf("msg_large: %llu bytes in %.1f s\n", (unsigned long long)options.length,
	       now() - start);
	verify_all(buffer);
	printf("msg_large: verified after %.1f s\n", now() - start);
	send_sync(ep, peer, NULL, 0, VERIFIED);
	part(ep, peer);
}

int main(int argc, char **argv)
{
	options.length = 6ull << 30;
	options.timeout = 600;
	return run_pair(argc, argv, run_server, run_client);
}
