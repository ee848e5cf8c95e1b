// SPDX-License-Identifier: BSD-2-Clause
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include "torture.h"

/* ---- posting -------------------------------------------------------------- */

static struct arena arena;
static omx_region_t region;
static omx_seg_t segs[PIECES_MAX];

static void declare_region(void)
{
	if (the.region && !region)
		MUST(omx_region_declare(ep, segs, the.layout.count,
					OMX_REGION_SEND | OMX_REGION_RECV, mode, &region));
}

static void release_region(void)
{
	if (region)
		MUST(omx_region_release(ep, region));
	region = NULL;
}

static omx_return_t post_send(omx_request_t *request)
{
	if (region)
		return omx_region_isend(ep, region, the.layout.length, peer, match, NULL, request);
	if (the.layout.count == 1)
		return omx_isend(ep, segs[0].ptr, segs[0].len, peer, match, NULL, request);
	return omx_isendv(ep, segs, the.layout.count, peer, match, NULL, request);
}

static omx_return_t post_receive(omx_request_t *request)
{
	if (region)
		return omx_region_irecv(ep, region, the.layout.length, match, EXACT, NULL, request);
	if (the.layout.count == 1)
		return omx_irecv(ep, segs[0].ptr, segs[0].len, match, EXACT, NULL, request);
	return omx_irecvv(ep, segs, the.layout.count, match, EXACT, NULL, request);
}

/* ---- the act beside a transfer ----------------------------------------------- */

static double rate = 50e6;		/* bytes per second, as measured */
static atomic_int go, over;
unsigned int in_flight, failures, refusals;

/*
 * Lets the thread of the act run at once. Otherwise the transfer would be
 * over before, since two polling programs occupy both processors.
 */
static void allow_preemption(void)
{
	const struct sched_param lowest = { .sched_priority = 1 };

	sched_setscheduler(0, SCHED_RR | SCHED_RESET_ON_FORK, &lowest);
}

static void *act_beside(void *unused)
{
	double delay = the.delay * the.layout.length / rate;

	allow_preemption();
	ahead_begin(ep, &the.ahead, &arena);
	while (!atomic_load(&go))
		usleep(20);
	if (delay > 50e-6)
		usleep(delay * 1e6);
	in_flight += !atomic_load(&over);
	the.act->act(&arena);
	ahead_end(&the.ahead);
	return unused;
}

/* ---- a transfer ---------------------------------------------------------------- */

static struct result transfer_one(bool source, bool beside)
{
	struct result result = { .code = OMX_SUCCESS };
	struct bystanders by;
	omx_request_t request;
	pthread_t thread;
	double start;

	if (beside) {
		atomic_store(&over, 0);
		atomic_store(&go, the.early);
		CHECK(!pthread_create(&thread, NULL, act_beside, NULL));
		bystanders_post(&by);
	}
	declare_region();
	receive(ep, NULL, 0, READY + match);
	start = now();
	/*
	 * Before the post, since much of the transfer may happen inside that
	 * call.
	 */
	atomic_store(&go, 1);
	result.code = source ? post_send(&request) : post_receive(&request);
	result.refused = result.code != OMX_SUCCESS;
	if (!result.refused)
		result.code = finish(ep, &request).code;
	atomic_store(&over, 1);
	if (beside) {
		CHECK(!pthread_join(thread, NULL));
		bystanders_finish(&by);
	} else if (result.code == OMX_SUCCESS) {
		rate = 0.8 * rate + 0.2 * the.layout.length / (now() - start);
	}
	return result;
}

static void count_result(const struct result *result)
{
	if (result->code != OMX_SUCCESS) {
		CHECK(result->code == OMX_MESSAGE_ABORTED, "%s (" WHERE ")",
		      omx_strerror(result->code), WHERE_VALUES);
		failures++;
		refusals += result->refused;
	}
	send_sync(ep, peer, (void *)result, sizeof(*result), match + 1);
	match += 4;
}

static void must_succeed(const struct result *result, const char *what)
{
	CHECK(result->code == OMX_SUCCESS, "%s: %s (" WHERE ")", what,
	      omx_strerror(result->code), WHERE_VALUES);
}

/* ---- what is in the arena -------------------------------------------------------- */

/* Where it can be read now: what was from ... to may be elsewhere, or nowhere. */
static const uint8_t *readable_at(size_t offset, size_t *length)
{
	bool inside = offset >= arena.from && offset < arena.to;
	size_t end = inside ? arena.to : offset < arena.from ? arena.from : arena.size;

	if (*length > end - offset)
		*length = end - offset;
	if (inside && arena.moved)
		return AWAY + (offset - arena.from);
	return inside && arena.access == NONE ? NULL : ARENA + offset;
}

/* Verifies `length` bytes of the arena; which ones they may be if `inside` the act's. */
static void verify_part(size_t offset, size_t length, const struct contents *outside,
			const struct contents *inside)
{
	size_t at, part, found;

	for (at = 0; at < length; at += part) {
		struct contents may = offset + at >= arena.from && offset + at < arena.to ?
				      *inside : *outside;
		const uint8_t *p;
		unsigned int i;

		part = length - at;
		p = readable_at(offset + at, &part);
		if (!p)
			continue;
		for (i = 0; i < may.count; i++)
			may.of[i].offset += at;
		found = unlike_at(p, part, &may);
		CHECK(found == part,
		      "received: byte %zu of the arena is wrong, %zu ... %zu were acted on ("
		      WHERE ")", offset + at + found, arena.from, arena.to, WHERE_VALUES);
	}
}

/*
 * The act has happened during the transfer: in what was not acted on there is
 * the message if it has arrived; in the rest also what the act may leave.
 */
static void verify_received_beside(bool arrived)
{
	struct contents outside, inside;
	const struct piece *piece;
	size_t end = 0;
	uint32_t i;

	for (i = 0; i <= the.layout.count; i++) {
		piece = &the.layout.piece[i];
		outside = (struct contents){ 0 };
		may_be(&outside, arena.key[OLD], end);
		inside = outside;
		inside.zero = arena.loose;
		if (arena.loose)
			may_be(&inside, arena.key[NEW], end);
		verify_part(end, (i < the.layout.count ? piece->offset : arena.size) - end,
			    &outside, &inside);
		if (i == the.layout.count)
			break;
		outside = inside = (struct contents){ 0 };
		may_be(&outside, sent_key(match), piece->position);
		if (!arrived)
			may_be(&outside, arena.key[OLD], piece->offset);
		inside = outside;
		if (arena.loose) {
			inside.zero = true;
			may_be(&inside, arena.key[NEW], piece->offset);
			if (arrived)
				may_be(&inside, arena.key[OLD], piece->offset);
		}
		verify_part(piece->offset, piece->length, &outside, &inside);
		end = piece->offset + piece->length;
	}
}

/* What was received, after which the kernel has tried to take the pages at times. */
static void verify_received(void)
{
	struct random random = { match };
	uint32_t i;

	if (arena.unsteady || random_chance(&random, 25))
		madvise(ARENA, arena.size, MADV_PAGEOUT);
	for (i = 0; i < the.layout.count; i++) {
		const struct piece *piece = &the.layout.piece[i];
		size_t at = differs_at(ARENA + piece->offset, piece->length, sent_key(match),
				       piece->position);

		CHECK(at == piece->length,
		      "received: byte %zu of the arena is wrong, %zu ... %zu were acted on ("
		      WHERE ")",
		      piece->offset + at, arena.from, arena.to, WHERE_VALUES);
	}
}

/* Verifies the bytes between the pieces. */
static void verify_gaps(uint64_t key)
{
	size_t end = 0, next, at;
	uint32_t i;

	for (i = 0; i <= the.layout.count; i++) {
		next = i < the.layout.count ? the.layout.piece[i].offset : arena.size;
		at = differs_at(ARENA + end, next - end, key, end);
		CHECK(at == next - end,
		      "byte %zu of the arena was written, which is not of the message ("
		      WHERE ")", end + at, WHERE_VALUES);
		if (i < the.layout.count)
			end = next + the.layout.piece[i].length;
	}
}

/*
 * Reads the message as the program would, but a fault is reported instead of
 * ending it.
 */
static bool hash_own(uint64_t *hashed)
{
	uint8_t *copy = allocate(LONGEST);
	uint64_t h = 0;
	uint32_t i;

	for (i = 0; i < the.layout.count; i++) {
		struct iovec to = { copy, segs[i].len }, from = { segs[i].ptr, segs[i].len };

		if (process_vm_readv(getpid(), &to, 1, &from, 1, 0) != (ssize_t)segs[i].len)
			break;
		h = hash(h, copy, segs[i].len);
	}
	free(copy);
	*hashed = h;
	return i == the.layout.count;
}

/* ---- a round ---------------------------------------------------------------------- */

static bool is_touched(void)
{
	uint32_t i;

	for (i = 0; i < the.layout.count; i++) {
		const struct piece *piece = &the.layout.piece[i];

		if (piece->offset < arena.to && piece->offset + piece->length > arena.from)
			return true;
	}
	return false;
}

/* A transfer of accessible memory without an act. */
static void transfer_in_peace(bool source)
{
	struct result result = transfer_one(source, false);

	must_succeed(&result, source ? "send" : "receive");
	if (!source)
		verify_received();
	count_result(&result);
}

static void transfer_beside_act(bool source)
{
	struct result result = transfer_one(source, true);

	if (source ? !arena.may_fail_source : !arena.may_fail_destination)
		must_succeed(&result, source ? "send" : "receive");
	result.loose = arena.loose;
	if (!source)
		verify_received_beside(result.code == OMX_SUCCESS);
	count_result(&result);
}

/* The network must see the same memory as the program. */
static void transfer_after_act(bool source)
{
	bool denied = is_touched() && (arena.access == NONE ||
				       (!source && arena.access == READ_ONLY));
	struct result result = transfer_one(source, false);

	CHECK(denied == (result.code != OMX_SUCCESS) || (!denied && arena.may_fail_after),
	      "%s memory that is %s: %s (" WHERE ")",
	      source ? "sent from" : "received into", denied ? "not accessible" : "there",
	      omx_strerror(result.code), WHERE_VALUES);
	result.loose = arena.loose;
	if (source && result.code == OMX_SUCCESS && !arena.unsteady) {
		CHECK(hash_own(&result.hash));
		result.hashed = true;
	}
	if (!source && result.code == OMX_SUCCESS)
		verify_received();
	count_result(&result);
}

static void make_arena(void)
{
	memset(&arena, 0, sizeof(arena));
	arena.size = the.layout.size;
	arena.from = the.from;
	arena.to = the.to;
	arena.random.state = the.chance;
	memcpy(arena.key, the.key, sizeof(arena.key));
	layout_segments(&the.layout, ARENA, segs);
	arena_map(&arena, the.act->file);
	arena_fill(&arena, arena.key[OLD]);
	if (the.act->prepare)
		the.act->prepare(&arena);
}

static void act_alone(void)
{
	ahead_begin(ep, &the.ahead, &arena);
	the.act->act(&arena);
	ahead_end(&the.ahead);
}

void client_round(void)
{
	make_arena();
	ahead_once(ep, &the.ahead, &arena, BEFORE_ACT);
	switch (the.state) {
	case IDLE:
		transfer_in_peace(the.idle_source);
		act_alone();
		break;
	case DECLARED:
		declare_region();
		act_alone();
		break;
	default:
		transfer_beside_act(the.state == SOURCE);
	}
	ahead_once(ep, &the.ahead, &arena, AFTER_ACT);
	transfer_after_act(the.after_source);
	if (the.act->restore)
		the.act->restore(&arena);
	arena_fill(&arena, arena.key[REFILLED]);
	transfer_in_peace(true);
	transfer_in_peace(false);
	verify_gaps(arena.key[REFILLED]);
	hostage_free(&arena);
	if (the.act->check)
		the.act->check(&arena);
	/* Sometimes the memory is unmapped before the region is released. */
	if (random_chance(&arena.random, 50))
		release_region();
	arena_unmap(&arena);
	release_region();
}
