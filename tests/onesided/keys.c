// SPDX-License-Identifier: BSD-2-Clause
/*
 * Accesses that a target must refuse: wrong, revoked and other peers' keys, ranges
 * that are not in the window, missing rights, words that are not aligned.  The
 * initiator hears of each one, the target counts it under its reason and its memory
 * stays as it was.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "accesses.h"

#define SIZE		(512 * 1024)
#define LENGTH		(SIZE - 2 * PAGE)	/* of the windows */
#define INITIAL		1			/* contents */
#define LONGEST		300000

enum { ANY, GET, PUT, ATOMIC, OTHERS, MINE, REVOKED, FIRST_PAGE, ODD, WINDOWS };

static const uint32_t rights[WINDOWS] = {
	[ANY] = RIGHTS_ALL,
	[GET] = OMX_WINDOW_RIGHT_GET,
	[PUT] = OMX_WINDOW_RIGHT_PUT,
	[ATOMIC] = OMX_WINDOW_RIGHT_ATOMIC,
	[OTHERS] = RIGHTS_ALL,
	[MINE] = RIGHTS_ALL,
	[REVOKED] = RIGHTS_ALL,
	[FIRST_PAGE] = RIGHTS_ALL,
	[ODD] = RIGHTS_ALL,
};

static const size_t lengths[] = { 0, 8, 5000, LONGEST };

#define LENGTHS		(sizeof(lengths) / sizeof(lengths[0]))

static omx_endpoint_t ep;
static omx_endpoint_addr_t peer;

/* ---- the target -------------------------------------------------------------------- */

struct refusals {
	uint64_t key, right, range;
};

static struct refusals count_refusals(void)
{
	return (struct refusals){
		.key = count_of(ep, "access refused, no such window"),
		.right = count_of(ep, "access refused, no right"),
		.range = count_of(ep, "access refused, outside the window"),
	};
}

static void check_refusals(const struct refusals *before, const struct refusals *expected)
{
	struct refusals now = count_refusals();

	EQUAL(now.key - before->key, expected->key);
	EQUAL(now.right - before->right, expected->right);
	EQUAL(now.range - before->range, expected->range);
}

static void make_windows(uint8_t *memory, omx_window_t *windows)
{
	omx_endpoint_addr_t self = connect_self(ep);
	int i;

	for (i = 0; i < WINDOWS; i++)
		MUST(omx_window_create(ep, memory + PAGE + (i == ODD ? 2 : 0),
				       i == FIRST_PAGE ? PAGE : LENGTH, rights[i],
				       i == OTHERS ? &self : i == MINE ? &peer : NULL,
				       &windows[i]));
}

static void check_arguments(uint8_t *memory)
{
	omx_window_t window;
	omx_key_t key;

	RETURNS(omx_window_create(ep, memory, SIZE, 0, NULL, &window),
		OMX_ENDPOINT_PARAM_BAD_VALUE);
	RETURNS(omx_window_create(ep, memory, SIZE, 8, NULL, &window),
		OMX_ENDPOINT_PARAM_BAD_VALUE);
	RETURNS(omx_window_create(NULL, memory, SIZE, RIGHTS_ALL, NULL, &window),
		OMX_BAD_ENDPOINT);
	RETURNS(omx_window_create(ep, memory, -(size_t)memory + PAGE, RIGHTS_ALL, NULL, &window),
		OMX_SEGMENTS_BAD_COUNT);
	window = export_memory(ep, memory, SIZE);
	MUST(omx_window_key(ep, window, &key));
	MUST(omx_window_destroy(ep, window));
}

static void run_server(void)
{
	uint8_t *memory = map_anonymous(NULL, SIZE);
	omx_window_t windows[WINDOWS];
	struct refusals before, expected;
	int i;

	ep = meet(&peer);
	fill(memory, SIZE, INITIAL, 0);
	check_arguments(memory);
	make_windows(memory, windows);
	for (i = 0; i < WINDOWS; i++)
		send_key(ep, peer, windows[i]);
	MUST(omx_window_destroy(ep, windows[REVOKED]));
	before = count_refusals();
	barrier(ep, peer);
	receive(ep, &expected, sizeof(expected), 1);
	CHECK(differs_at(memory, SIZE, INITIAL, 0) == SIZE, "memory was changed at %zu",
	      differs_at(memory, SIZE, INITIAL, 0));
	check_refusals(&before, &expected);
	for (i = 0; i < WINDOWS; i++)
		if (i != REVOKED)
			MUST(omx_window_destroy(ep, windows[i]));
	part(ep, peer);
}

/* ---- the initiator ----------------------------------------------------------------------- */

static struct refusals expected;

/* What a get must not bring: it is not in the windows, or not for us. */
static void attempt_get(const struct remote *remote, uint64_t offset, size_t length,
			omx_return_t code, uint64_t *counted)
{
	void *buffer = allocate(length);

	RETURNS(try_get(remote, offset, buffer, length), code);
	++*counted;
	free(buffer);
}

static void attempt_put(const struct remote *remote, uint64_t offset, size_t length,
			omx_return_t code, uint64_t *counted)
{
	void *buffer = allocate(length);

	memset(buffer, 0xee, length);
	RETURNS(try_put(remote, offset, buffer, length), code);
	++*counted;
	free(buffer);
}

static void attempt_atomic(const struct remote *remote, uint64_t offset, uint32_t size,
			   omx_return_t code, uint64_t *counted)
{
	uint64_t before = 0;

	RETURNS(try_atomic(remote, OMX_ATOMIC_SWAP, size, offset, 0xeeeeeeeeeeeeeeee, 0,
			   &before), code);
	CHECK(code == OMX_SUCCESS || !before, "the word is told although %s", omx_strerror(code));
	++*counted;
}

/* In all ways, at all lengths. */
static void attempt_all(const struct remote *remote, omx_return_t code, uint64_t *counted)
{
	unsigned int i;

	for (i = 0; i < LENGTHS; i++) {
		attempt_put(remote, 64, lengths[i], code, counted);
		attempt_get(remote, 64, lengths[i], code, counted);
	}
	attempt_atomic(remote, 64, 4, code, counted);
	attempt_atomic(remote, 64, 8, code, counted);
}

static void use_wrong_keys(const struct remote *remotes)
{
	struct remote wrong;
	unsigned int bit;

	attempt_all(&remotes[REVOKED], OMX_REMOTE_RDMA_WINDOW_BAD_ID, &expected.key);
	attempt_all(&remotes[OTHERS], OMX_REMOTE_RDMA_WINDOW_BAD_ID, &expected.key);
	for (bit = 0; bit < 128; bit++) {
		wrong = remotes[ANY];
		wrong.key.opaque[bit / 64] ^= 1ull << bit % 64;
		attempt_put(&wrong, 0, 8, OMX_REMOTE_RDMA_WINDOW_BAD_ID, &expected.key);
		attempt_atomic(&wrong, 0, 8, OMX_REMOTE_RDMA_WINDOW_BAD_ID, &expected.key);
	}
	memset(&wrong.key, 0, sizeof(wrong.key));
	attempt_all(&wrong, OMX_REMOTE_RDMA_WINDOW_BAD_ID, &expected.key);
	memset(&wrong.key, 0xff, sizeof(wrong.key));
	attempt_all(&wrong, OMX_REMOTE_RDMA_WINDOW_BAD_ID, &expected.key);
}

static void exceed_rights(const struct remote *remotes)
{
	unsigned int i;

	for (i = 0; i < LENGTHS; i++) {
		attempt_put(&remotes[GET], 64, lengths[i], OMX_MESSAGE_ABORTED, &expected.right);
		attempt_put(&remotes[ATOMIC], 64, lengths[i], OMX_MESSAGE_ABORTED,
			    &expected.right);
		attempt_get(&remotes[PUT], 64, lengths[i], OMX_MESSAGE_ABORTED, &expected.right);
		attempt_get(&remotes[ATOMIC], 64, lengths[i], OMX_MESSAGE_ABORTED,
			    &expected.right);
	}
	attempt_atomic(&remotes[GET], 64, 8, OMX_MESSAGE_ABORTED, &expected.right);
	attempt_atomic(&remotes[PUT], 64, 8, OMX_MESSAGE_ABORTED, &expected.right);
}

/* This side can tell by itself that these are wrong: the target does not hear of them. */
static void wrap_around(const struct remote *any)
{
	static const uint64_t offsets[] = { -LONGEST + 1ull, -8ull, -7ull, -1ull };
	uint8_t *buffer = allocate(LONGEST);
	unsigned int i, j;

	memset(buffer, 0xee, LONGEST);
	for (i = 0; i < sizeof(offsets) / sizeof(offsets[0]); i++) {
		for (j = 0; j < LENGTHS; j++) {
			if (offsets[i] + lengths[j] >= offsets[i])
				continue;
			RETURNS(try_put(any, offsets[i], buffer, lengths[j]),
				OMX_MESSAGE_ABORTED);
			RETURNS(try_get(any, offsets[i], buffer, lengths[j]),
				OMX_MESSAGE_ABORTED);
		}
	}
	free(buffer);
}

static void leave_range(const struct remote *remotes)
{
	static const uint64_t offsets[] = {
		LENGTH + 4, SIZE, 1ull << 32, 1ull << 63, -(1ull << 32), -(1ull << 20),
	};
	const struct remote *any = &remotes[ANY];
	unsigned int i, j;

	for (j = 1; j < LENGTHS; j++) {
		attempt_put(any, LENGTH - lengths[j] + 1, lengths[j], OMX_MESSAGE_ABORTED,
			    &expected.range);
		attempt_get(any, LENGTH - lengths[j] + 1, lengths[j], OMX_MESSAGE_ABORTED,
			    &expected.range);
	}
	for (i = 0; i < sizeof(offsets) / sizeof(offsets[0]); i++) {
		for (j = 0; j < LENGTHS; j++) {
			attempt_put(any, offsets[i], lengths[j], OMX_MESSAGE_ABORTED,
				    &expected.range);
			attempt_get(any, offsets[i], lengths[j], OMX_MESSAGE_ABORTED,
				    &expected.range);
		}
		attempt_atomic(any, offsets[i], 4, OMX_MESSAGE_ABORTED, &expected.range);
	}
	/* The rest of the memory belongs to other windows, but not to this one. */
	attempt_put(&remotes[FIRST_PAGE], PAGE - 4, 8, OMX_MESSAGE_ABORTED, &expected.range);
	attempt_get(&remotes[FIRST_PAGE], 0, LONGEST, OMX_MESSAGE_ABORTED, &expected.range);
	attempt_atomic(&remotes[FIRST_PAGE], PAGE, 8, OMX_MESSAGE_ABORTED, &expected.range);
	for (i = 1; i < 8; i++)
		attempt_atomic(any, 64 + i, i % 4 ? 4 : 8, OMX_MESSAGE_ABORTED, &expected.range);
	/* A multiple of the size in the window, but not in memory. */
	attempt_atomic(&remotes[ODD], 64, 4, OMX_MESSAGE_ABORTED, &expected.range);
	attempt_atomic(&remotes[ODD], 64, 8, OMX_MESSAGE_ABORTED, &expected.range);
}

static void use_bad_arguments(const struct remote *remotes)
{
	const struct remote *any = &remotes[ANY];
	omx_request_t request;

	RETURNS(omx_iatomic(ep, OMX_ATOMIC_COMPARE_SWAP + 1, 8, peer, any->key, 0, 0, 0, NULL,
			    NULL, &request), OMX_ENDPOINT_PARAM_BAD_VALUE);
	RETURNS(omx_iatomic(ep, OMX_ATOMIC_ADD, 2, peer, any->key, 0, 0, 0, NULL, NULL, &request),
		OMX_ENDPOINT_PARAM_BAD_VALUE);
	RETURNS(omx_iput(NULL, &request, 1, peer, any->key, 0, NULL, &request), OMX_BAD_ENDPOINT);
	RETURNS(omx_iget(NULL, &request, 1, peer, any->key, 0, NULL, &request), OMX_BAD_ENDPOINT);
}

/* What is permitted is permitted: otherwise the refusals above would prove nothing. */
static void use_good_keys(const struct remote *remotes)
{
	uint8_t initial[64];
	uint64_t before, word;

	fill(initial, sizeof(initial), INITIAL, PAGE);
	memcpy(&word, initial, sizeof(word));
	MUST(try_put(&remotes[ANY], 0, initial, sizeof(initial)));
	MUST(try_put(&remotes[MINE], 0, initial, sizeof(initial)));
	MUST(try_put(&remotes[PUT], 0, initial, sizeof(initial)));
	MUST(try_get(&remotes[GET], 0, initial, sizeof(initial)));
	MUST(try_atomic(&remotes[ATOMIC], OMX_ATOMIC_ADD, 8, 0, 0, 0, &before));
	EQUAL(before, word);
	MUST(try_put(&remotes[ANY], LENGTH, NULL, 0));
	MUST(try_get(&remotes[ANY], LENGTH, NULL, 0));
	CHECK(differs_at(initial, sizeof(initial), INITIAL, PAGE) == sizeof(initial));
}

static void run_client(void)
{
	struct remote remotes[WINDOWS];
	int i;

	ep = meet(&peer);
	for (i = 0; i < WINDOWS; i++)
		remotes[i] = receive_key(ep, peer);
	barrier(ep, peer);
	use_good_keys(remotes);
	use_wrong_keys(remotes);
	exceed_rights(remotes);
	leave_range(remotes);
	wrap_around(&remotes[ANY]);
	use_bad_arguments(remotes);
	use_good_keys(remotes);
	send_sync(ep, peer, &expected, sizeof(expected), 1);
	printf("one_keys: refused: %llu keys, %llu rights, %llu ranges\n",
	       (unsigned long long)expected.key, (unsigned long long)expected.right,
	       (unsigned long long)expected.range);
	part(ep, peer);
}

int main(int argc, char **argv)
{
	return run_pair(argc, argv, run_server, run_client);
}
