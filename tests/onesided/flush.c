// SPDX-License-Identifier: BSD-2-Clause
/*
 * omx_flush and omx_flush_all: what was posted before is there when they return.
 * The client puts into windows of two endpoints of the server, forgets the requests,
 * flushes, and tells the server by a message, which would overtake long puts.  Then
 * one endpoint's pages come late: a flush of the other one does not wait for them,
 * one of this one times out, and so does one of all.
 *
 *	--count N	rounds
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "accesses.h"
#include "userfault.h"

#define TARGETS		2
#define SIZE		(2ul << 20)
#define PUTS		24
#define TIMEOUT		300		/* ms */
#define FLUSHED		1		/* match infos, of the first endpoint */
#define SUPPLY		2

static omx_endpoint_t ep;			/* the first one */
static omx_endpoint_addr_t peer;

/* Put i of a round is a part of its own of the memory; every sixth one is long. */
static size_t length_of(unsigned int i)
{
	return i % 6 == 5 ? 300000 : 1 + i * 700;
}

static size_t offset_of(unsigned int i)
{
	size_t offset = 0;

	while (i-- > 0)
		offset += length_of(i);
	return offset;
}

static uint64_t key_of(uint64_t round, unsigned int target, unsigned int i)
{
	return (round * TARGETS + target) * PUTS + i + 1;
}

/* ---- the target ----------------------------------------------------------------------- */

static void verify_round(uint8_t *const *memory, uint64_t round)
{
	unsigned int t, i;

	for (t = 0; t < TARGETS; t++)
		for (i = 0; i < PUTS; i++)
			verify(memory[t] + offset_of(i), length_of(i), key_of(round, t, i));
}

static void serve_late(omx_endpoint_t second)
{
	uint8_t *late = map_anonymous(NULL, PAGE);
	int faults = open_userfault(0);
	omx_window_t window;

	watch(faults, late, PAGE);
	window = export_memory(second, late, PAGE);
	send_key_of(second, window, ep, peer);
	receive(ep, NULL, 0, SUPPLY);
	supply_zeros(faults, late, PAGE);
	receive(ep, NULL, 0, FLUSHED);
	verify(late, 100, 1);
	MUST(omx_window_destroy(second, window));
	close(faults);
	munmap(late, PAGE);
}

static void run_server(void)
{
	uint8_t *memory[TARGETS];
	omx_window_t windows[TARGETS];
	omx_endpoint_t eps[TARGETS];
	uint32_t number;
	unsigned int t;
	uint64_t round;

	ep = meet(&peer);
	eps[0] = ep;
	eps[1] = open_any();
	number = number_of(eps[1]);
	send_sync(ep, peer, &number, sizeof(number), 3);
	for (t = 0; t < TARGETS; t++) {
		memory[t] = map_anonymous(NULL, SIZE);
		windows[t] = export_memory(eps[t], memory[t], SIZE);
		send_key_of(eps[t], windows[t], ep, peer);
	}
	for (round = 0; round < options.count; round++) {
		receive(ep, NULL, 0, FLUSHED);
		verify_round(memory, round);
		barrier(ep, peer);
	}
	serve_late(eps[1]);
	barrier(ep, peer);
	for (t = 0; t < TARGETS; t++)
		MUST(omx_window_destroy(eps[t], windows[t]));
	MUST(omx_close_endpoint(eps[1]));
	MUST(omx_close_endpoint(ep));
}

/* ---- the initiator ------------------------------------------------------------------------ */

static void flush_with(omx_endpoint_addr_t to, uint32_t timeout, uint32_t expected)
{
	uint32_t result = 2;

	MUST(omx_flush(ep, to, &result, timeout));
	EQUAL(result, expected);
}

static void flush_all_with(uint32_t timeout, uint32_t expected)
{
	uint32_t result = 2;

	MUST(omx_flush_all(ep, &result, timeout));
	EQUAL(result, expected);
}

static void put_round(const struct remote *remotes, uint64_t round, uint8_t *buffer)
{
	unsigned int t, i;

	for (t = 0; t < TARGETS; t++) {
		uint8_t *from = buffer + t * SIZE;

		for (i = 0; i < PUTS; i++) {
			fill(from + offset_of(i), length_of(i), key_of(round, t, i), 0);
			MUST(omx_iput(ep, from + offset_of(i), length_of(i), remotes[t].addr,
				      remotes[t].key, offset_of(i), NULL, NULL));
		}
	}
}

static void run_rounds(const struct remote *remotes)
{
	uint8_t *buffer = allocate(TARGETS * SIZE);
	uint64_t round;

	for (round = 0; round < options.count; round++) {
		put_round(remotes, round, buffer);
		if (round % 2) {
			flush_all_with(PATIENCE, 1);
		} else {
			flush_with(remotes[0].addr, PATIENCE, 1);
			flush_with(remotes[1].addr, PATIENCE, 1);
		}
		MUST(omx_isend(ep, NULL, 0, peer, FLUSHED, NULL, NULL));
		barrier(ep, peer);
	}
	/* Nothing is under way. */
	flush_all_with(0, 1);
	flush_with(remotes[1].addr, 0, 1);
	free(buffer);
}

static void access_late(const struct remote *remotes)
{
	struct remote late = receive_key(ep, peer);
	omx_request_t requests[2];
	omx_status_t status;
	uint8_t bytes[100], got[100];

	late.addr = remotes[1].addr;
	fill(bytes, sizeof(bytes), 1, 0);
	MUST(omx_iput(ep, bytes, sizeof(bytes), late.addr, late.key, 0, NULL, &requests[0]));
	MUST(omx_iget(ep, got, sizeof(got), late.addr, late.key, 0, NULL, &requests[1]));
	put_pattern(&remotes[0], 0, 100, 5);
	flush_with(remotes[0].addr, PATIENCE, 1);
	LASTS(TIMEOUT, flush_with(late.addr, TIMEOUT, 0));
	LASTS(TIMEOUT, flush_all_with(TIMEOUT, 0));
	flush_all_with(0, 0);
	CHECK(!is_done(ep, &requests[0], &status));
	MUST(omx_isend(ep, NULL, 0, peer, SUPPLY, NULL, NULL));
	flush_all_with(PATIENCE, 1);
	CHECK(is_done(ep, &requests[0], &status));
	EQUAL(status.code, OMX_SUCCESS);
	CHECK(is_done(ep, &requests[1], &status));
	EQUAL(status.code, OMX_SUCCESS);
	verify(got, sizeof(got), 1);
	MUST(omx_isend(ep, NULL, 0, peer, FLUSHED, NULL, NULL));
}

/* A flush does not hide that an access failed, and ends all the same. */
static void flush_failures(const struct remote *remotes)
{
	static uint8_t bytes[100000];
	omx_request_t requests[2];

	MUST(omx_iput(ep, bytes, 8, remotes[0].addr, remotes[0].key, SIZE, NULL, &requests[0]));
	MUST(omx_iput(ep, bytes, sizeof(bytes), remotes[0].addr, remotes[0].key, SIZE, NULL,
		      &requests[1]));
	flush_all_with(PATIENCE, 1);
	finish_with(ep, &requests[0], OMX_MESSAGE_ABORTED);
	finish_with(ep, &requests[1], OMX_MESSAGE_ABORTED);
}

static void run_client(void)
{
	struct remote remotes[TARGETS];
	uint32_t number;
	uint64_t nic;

	ep = meet(&peer);
	receive(ep, &number, sizeof(number), 3);
	remotes[0] = receive_key(ep, peer);
	remotes[1] = receive_key(ep, peer);
	MUST(omx_decompose_endpoint_addr(peer, &nic, &(uint32_t){ 0 }));
	remotes[1].addr = connect_to(ep, nic, number);
	run_rounds(remotes);
	access_late(remotes);
	flush_failures(remotes);
	part(ep, peer);
}

int main(int argc, char **argv)
{
	options.count = 10;
	return run_pair(argc, argv, run_server, run_client);
}
