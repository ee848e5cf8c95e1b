// SPDX-License-Identifier: BSD-2-Clause
/*
 * Messages of every class in every number of segments; invalid arguments and
 * lengths above 32 bits; truncated, cancelled and forgotten messages.
 */
#include "mx.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "open-mx.h"

static const uint32_t lengths[] = { 0, 1, 32, 33, 128, 4096, 4097, 65536, 65537, 300000 };
#define LENGTHS		(sizeof(lengths) / sizeof(lengths[0]))
#define LARGE		300000

/* ---- segments ------------------------------------------------------------------- */

/* Parts of about the same length with gaps between them, the last one first in memory. */
struct pieces {
	char *memory;
	uint32_t count;
	mx_segment_t segs[MX_MAX_SEGMENTS];
};

#define GAP	3
#define GUARD	0xa5

static size_t room_for(uint32_t length, uint32_t count)
{
	return length + (size_t)GAP * (count + 1);
}

static void cut_pieces(struct pieces *pieces, uint32_t length, uint32_t count)
{
	char *at;
	uint32_t i;

	pieces->count = count;
	pieces->memory = allocate(room_for(length, count));
	memset(pieces->memory, GUARD, room_for(length, count));
	at = pieces->memory + room_for(length, count);
	for (i = 0; i < count; i++) {
		uint32_t part = length / (count - i);

		at -= GAP + part;
		pieces->segs[i] = (mx_segment_t){ at, part };
		length -= part;
	}
	CHECK(at == pieces->memory + GAP || !count);
}

static void fill_pieces(struct pieces *pieces, uint64_t key)
{
	size_t offset = 0;
	uint32_t i;

	for (i = 0; i < pieces->count; i++) {
		fill(pieces->segs[i].segment_ptr, pieces->segs[i].segment_length, key, offset);
		offset += pieces->segs[i].segment_length;
	}
}

/* The first `length` bytes are the key's, and nothing else was written. */
static void verify_pieces(struct pieces *pieces, size_t length, uint64_t key, size_t room)
{
	size_t offset = 0, i;

	for (i = 0; i < pieces->count; i++) {
		size_t part = pieces->segs[i].segment_length;

		if (part > length - offset)
			part = length - offset;
		CHECK(differs_at(pieces->segs[i].segment_ptr, part, key, offset) == part,
		      " message %#llx", (unsigned long long)key);
		memset(pieces->segs[i].segment_ptr, GUARD, part);
		offset += part;
	}
	for (i = 0; i < room; i++)
		CHECK((uint8_t)pieces->memory[i] == GUARD, " written beside at %zu", i);
}

static const uint32_t counts[] = { 1, 2, 7, MX_MAX_SEGMENTS };

static void send_in_pieces(mx_endpoint_t ep, mx_endpoint_addr_t peer)
{
	mx_request_t request;
	struct pieces pieces;
	mx_status_t status;
	uint64_t match;
	int context;

	for (match = 0; match < 4 * LENGTHS; match++) {
		uint32_t length = lengths[match / 4];

		cut_pieces(&pieces, length, counts[match % 4]);
		fill_pieces(&pieces, match);
		FINE((match & 1 ? mx_isend : mx_issend)(ep, pieces.segs, pieces.count, peer,
							match, &context, &request));
		memset(pieces.segs, 0xff, sizeof(pieces.segs));
		status = mx_finish(ep, &request, MX_STATUS_SUCCESS);
		CHECK(status.context == &context && mx_same(status.source, peer));
		EQUAL(status.match_info, match);
		EQUAL(status.msg_length, length);
		EQUAL(status.xfer_length, length);
		free(pieces.memory);
	}
}

static void receive_in_pieces(mx_endpoint_t ep, mx_endpoint_addr_t peer)
{
	mx_segment_t segs[MX_MAX_SEGMENTS];
	mx_request_t request;
	struct pieces pieces;
	mx_status_t status;
	uint64_t match;
	int context;

	for (match = 0; match < 4 * LENGTHS; match++) {
		uint32_t length = lengths[match / 4], count = counts[match / 2 % 4];

		cut_pieces(&pieces, length, count);
		memcpy(segs, pieces.segs, sizeof(segs));
		FINE(mx_irecv(ep, segs, count, match, MX_MATCH_MASK_NONE, &context, &request));
		memset(segs, 0xff, sizeof(segs));
		status = mx_finish(ep, &request, MX_STATUS_SUCCESS);
		CHECK(status.context == &context && mx_same(status.source, peer));
		EQUAL(status.match_info, match);
		EQUAL(status.msg_length, length);
		EQUAL(status.xfer_length, length);
		verify_pieces(&pieces, length, match, room_for(length, count));
		free(pieces.memory);
	}
}

static void refused_segments(mx_endpoint_t ep, mx_endpoint_addr_t peer)
{
	static char memory[16];
	static mx_segment_t segs[MX_MAX_SEGMENTS + 1];
	mx_segment_t whole = { memory, UINT32_MAX };
	mx_request_t request = NULL;
	uint32_t i;

#define REFUSED(segs, count, code) \
	do { \
		GIVES(mx_isend(ep, segs, count, peer, 1, NULL, &request), code); \
		GIVES(mx_issend(ep, segs, count, peer, 1, NULL, &request), code); \
		GIVES(mx_irecv(ep, segs, count, 1, MX_MATCH_MASK_NONE, NULL, &request), code); \
	} while (0)

	for (i = 0; i <= MX_MAX_SEGMENTS; i++)
		segs[i] = (mx_segment_t){ memory, 1 };
	REFUSED(segs, MX_MAX_SEGMENTS + 1, MX_BAD_SEG_CNT);
	REFUSED(segs, UINT32_MAX, MX_BAD_SEG_CNT);
	REFUSED(NULL, 1, MX_BAD_SEG_LIST);
	REFUSED(SEG(NULL, 1), 1, MX_BAD_SEG_MEM);
	/* 4 GiB do not fit into 32 bits and must not be taken for 0 bytes. */
	segs[0] = whole;
	REFUSED(segs, 2, MX_BAD_SEG_LIST);
	CHECK(!request);
	/* One byte less is a buffer like any other. */
	FINE(mx_irecv(ep, segs, 1, 0x99, MX_MATCH_MASK_NONE, NULL, &request));
	FINE(mx_cancel(ep, &request, &i));
	EQUAL(i, 1);
	GIVES(mx_irecv(ep, NULL, 0, 2, 1, NULL, &request), MX_BAD_MATCH_MASK);
}

/* ---- truncated ------------------------------------------------------------------- */

#define SHORT	1000

static void send_too_long(mx_endpoint_t ep, mx_endpoint_addr_t peer)
{
	static char memory[LARGE];
	mx_request_t request;
	mx_status_t status;
	uint32_t result;

	fill(memory, LARGE, 0x51, 0);
	FINE(mx_isend(ep, SEG(memory, 4000), 1, peer, 0x51, NULL, &request));
	FINE(mx_wait(ep, &request, MX_INFINITE, &status, &result));
	EQUAL(result, 1);
	FINE(mx_issend(ep, SEG(memory, LARGE), 1, peer, 0x51, NULL, &request));
	status = mx_finish(ep, &request, MX_STATUS_TRUNCATED);
	EQUAL(status.msg_length, LARGE);
	EQUAL(status.xfer_length, SHORT);
}

static void receive_too_long(mx_endpoint_t ep, uint32_t length)
{
	char memory[SHORT + 1];
	mx_request_t request;
	mx_status_t status;

	memory[SHORT] = 'x';
	FINE(mx_irecv(ep, SEG(memory, SHORT), 1, 0x51, MX_MATCH_MASK_NONE, NULL, &request));
	status = mx_finish(ep, &request, MX_STATUS_TRUNCATED);
	EQUAL(status.msg_length, length);
	EQUAL(status.xfer_length, SHORT);
	verify(memory, SHORT, 0x51);
	CHECK(memory[SHORT] == 'x');
}

/* ---- 5 GiB, from one who uses omx.h ------------------------------------------------ */

#define HUGE	(5ull << 30)

static void send_huge(mx_endpoint_t ep, mx_endpoint_addr_t peer)
{
	char *memory = mmap(NULL, HUGE, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	omx_endpoint_addr_t to;
	mx_request_t request;
	mx_status_t status;

	CHECK(memory != MAP_FAILED);
	fill(memory, SHORT, 0x51, 0);
	memcpy(&to, &peer, sizeof(to));
	MUST(omx_isend(ep, memory, HUGE, to, 0x51, NULL, &request));
	status = mx_finish(ep, &request, MX_STATUS_TRUNCATED);
	EQUAL(status.msg_length, UINT32_MAX);
	EQUAL(status.xfer_length, SHORT);
	munmap(memory, HUGE);
}

static void receive_huge(mx_endpoint_t ep)
{
	mx_status_t status;
	uint32_t result;

	FINE(mx_probe(ep, MX_INFINITE, 0x51, MX_MATCH_MASK_NONE, &status, &result));
	EQUAL(result, 1);
	EQUAL(status.msg_length, UINT32_MAX);
	receive_too_long(ep, UINT32_MAX);
}

/* ---- buffered, cancelled, forgotten ------------------------------------------------ */

static void buffered_sends(mx_endpoint_t ep, mx_endpoint_addr_t peer)
{
	static char memory[LARGE];
	mx_request_t request, other = NULL;
	uint32_t result = 5;
	double start = now();

	FINE(mx_isend(ep, SEG(memory, 10), 1, peer, 0x61, NULL, &request));
	FINE(mx_buffered(ep, &request, MX_INFINITE, &result));
	EQUAL(result, 1);
	FINE(mx_ibuffered(ep, &request, &result));
	EQUAL(result, 1);
	mx_finish(ep, &request, MX_STATUS_SUCCESS);

	fill(memory, LARGE, 0x62, 0);
	FINE(mx_isend(ep, SEG(memory, LARGE), 1, peer, 0x62, NULL, &request));
	FINE(mx_ibuffered(ep, &request, &result));
	EQUAL(result, 0);
	FINE(mx_buffered(ep, &request, 150, &result));
	EQUAL(result, 0);
	CHECK(now() - start >= 0.13);
	mx_barrier(ep, peer);
	FINE(mx_buffered(ep, &request, MX_INFINITE, &result));
	EQUAL(result, 1);
	memset(memory, 0, LARGE);
	CHECK(request);
	mx_finish(ep, &request, MX_STATUS_SUCCESS);

	FINE(mx_irecv(ep, NULL, 0, 0x63, MX_MATCH_MASK_NONE, NULL, &request));
	GIVES(mx_ibuffered(ep, &request, &result), MX_BAD_REQUEST);
	GIVES(mx_buffered(ep, &request, 10, &result), MX_BAD_REQUEST);
	GIVES(mx_buffered(ep, &other, 10, &result), MX_BAD_REQUEST);
	FINE(mx_cancel(ep, &request, &result));
}

static void take_buffered(mx_endpoint_t ep, mx_endpoint_addr_t peer)
{
	char ten[10];

	mx_receive(ep, ten, sizeof(ten), 0x61);
	mx_barrier(ep, peer);
	mx_receive_pattern(ep, LARGE, 0x62);
}

static void cancelled_requests(mx_endpoint_t ep, mx_endpoint_addr_t peer)
{
	static char memory[LARGE];
	mx_request_t request, copy, nothing = NULL;
	void *context = NULL;
	uint32_t result;

	FINE(mx_irecv(ep, SEG(memory, 10), 1, 0x71, MX_MATCH_MASK_NONE, &copy, &request));
	FINE(mx_context(&request, &context));
	CHECK(context == &copy);
	copy = request;
	FINE(mx_cancel(ep, &request, &result));
	EQUAL(result, 1);
	CHECK(!request);
	GIVES(mx_cancel(ep, &copy, &result), MX_BAD_REQUEST);
	GIVES(mx_cancel(ep, &nothing, &result), MX_BAD_REQUEST);
	GIVES(mx_context(&nothing, &context), MX_BAD_REQUEST);
	GIVES(mx_forget(ep, &nothing), MX_BAD_REQUEST);

	/* The request is complete, so that it cannot be cancelled. */
	FINE(mx_irecv(ep, SEG(memory, 10), 1, 0x72, MX_MATCH_MASK_NONE, NULL, &request));
	mx_barrier(ep, peer);
	mx_barrier(ep, peer);
	FINE(mx_cancel(ep, &request, &result));
	EQUAL(result, 0);
	mx_finish(ep, &request, MX_STATUS_SUCCESS);

	FINE(mx_isend(ep, SEG(memory, LARGE), 1, peer, 0x73, NULL, &request));
	GIVES(mx_cancel(ep, &request, &result), MX_CANCEL_NOT_SUPPORTED);
	mx_barrier(ep, peer);
	mx_finish(ep, &request, MX_STATUS_SUCCESS);
	FINE(mx_isend(ep, SEG(memory, 10), 1, peer, 0x74, NULL, &request));
	GIVES(mx_cancel(ep, &request, &result), MX_CANCEL_NOT_SUPPORTED);
	mx_finish(ep, &request, MX_STATUS_SUCCESS);
}

static void serve_cancelled(mx_endpoint_t ep, mx_endpoint_addr_t peer)
{
	static char memory[LARGE];

	mx_barrier(ep, peer);
	mx_send_sync(ep, peer, NULL, 0, 0x72);
	mx_barrier(ep, peer);
	mx_barrier(ep, peer);
	mx_receive(ep, memory, LARGE, 0x73);
	mx_receive(ep, memory, 10, 0x74);
}

/* Forgotten requests have no completion, but their messages are transferred. */
static void forgotten_requests(mx_endpoint_t ep, mx_endpoint_addr_t peer)
{
	static char memory[LARGE];
	mx_request_t request;
	uint32_t result;

	fill(memory, LARGE, 0x81, 0);
	FINE(mx_isend(ep, SEG(memory, LARGE), 1, peer, 0x81, NULL, &request));
	FINE(mx_forget(ep, &request));
	CHECK(!request);
	FINE(mx_isend(ep, SEG(memory, LARGE), 1, peer, 0x81, NULL, NULL));
	FINE(mx_irecv(ep, NULL, 0, 0x82, MX_MATCH_MASK_NONE, NULL, NULL));
	mx_barrier(ep, peer);
	mx_barrier(ep, peer);
	FINE(mx_test_any(ep, 0, 0, NULL, &result));
	EQUAL(result, 0);
	FINE(mx_ipeek(ep, &request, &result));
	EQUAL(result, 0);
}

static void serve_forgotten(mx_endpoint_t ep, mx_endpoint_addr_t peer)
{
	mx_barrier(ep, peer);
	mx_receive_pattern(ep, LARGE, 0x81);
	mx_receive_pattern(ep, LARGE, 0x81);
	mx_send_sync(ep, peer, NULL, 0, 0x82);
	mx_barrier(ep, peer);
}

static void run_client(void)
{
	mx_endpoint_addr_t peer;
	mx_endpoint_t ep = mx_meet(&peer);

	send_in_pieces(ep, peer);
	refused_segments(ep, peer);
	send_too_long(ep, peer);
	send_huge(ep, peer);
	buffered_sends(ep, peer);
	cancelled_requests(ep, peer);
	forgotten_requests(ep, peer);
	mx_part(ep, peer);
}

static void run_server(void)
{
	mx_endpoint_addr_t peer;
	mx_endpoint_t ep = mx_meet(&peer);

	receive_in_pieces(ep, peer);
	receive_too_long(ep, 4000);
	receive_too_long(ep, LARGE);
	receive_huge(ep);
	take_buffered(ep, peer);
	serve_cancelled(ep, peer);
	serve_forgotten(ep, peer);
	mx_part(ep, peer);
}

int main(int argc, char **argv)
{
	return mx_run_pair(argc, argv, run_server, run_client);
}
