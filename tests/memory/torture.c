// SPDX-License-Identifier: BSD-2-Clause
/*
 * Something is done to the memory of a message: before the message, or while
 * it is being sent or received.  Afterwards the network must see what the
 * program sees.
 *
 *	--mode M	pin, overlap, unpinned, permanent, auto
 *	--act A		only this one
 *	--state S	only this one: idle, declared, source, destination
 *	--count N	rounds of each act in each state
 *	--seed S	of all that is left to chance
 *
 * The client's memory is the one that suffers.  A round:
 *
 *	idle		a transfer, the act
 *	declared	memory is declared, never used, the act
 *	source		the act while a message is sent
 *	destination	the act while a message is received
 *
 * and then a transfer of whatever the act has left, which must fail on both
 * sides if the program itself could not access it and else carry what the
 * program sees; then everything is mapped again and filled anew, sent, and
 * received into.  The one transfer during which the act happens may carry the
 * bytes before it or those after it, or fail if the act takes the right to
 * access them; no others, and on both sides alike.  Two messages of other
 * memory travel at the same time and have to arrive.  In some rounds memory is
 * prefetched, at any of these times.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include "acts.h"
#include "ahead.h"

#define SHORTEST	(64 * 1024 + 1)
#define LONGEST		(4 << 20)
#define FEW		64
#define BYSTANDER	150001
#define ENOUGH		10		/* rounds for chance to do everything */
#define READY		(1ull << 40)	/* the server has posted */
#define WHERE		"%s, %s, round %llu"
#define WHERE_VALUES	the.act->name, states[the.state], (unsigned long long)the.number

enum state { IDLE, DECLARED, SOURCE, DESTINATION, STATES };

static const char *const states[STATES] = { "idle", "declared", "source", "destination" };

/* What both sides know of a round. */
struct round {
	const struct act *act;
	enum state state;
	uint64_t number;
	struct layout layout;
	size_t from, to;
	uint64_t key[PURPOSES];
	bool region;			/* declared, else the library's matter */
	bool early;			/* the act may begin before memory is declared */
	bool idle_source;		/* what the first transfer of "idle" is */
	bool after_source;		/* and the first one after the act */
	double delay;			/* of the act, in durations of the transfer */
	struct ahead ahead;
	uint64_t chance;
};

/* How it was for the client, told after each transfer. */
struct result {
	int32_t code;
	bool refused;			/* not even posted: the server heard nothing of it */
	bool loose;			/* an act took bytes away meanwhile */
	bool hashed;
	uint64_t hash;			/* of what the client sees in its memory */
};

static omx_endpoint_t ep;
static omx_endpoint_addr_t peer;
static struct round the;
static uint64_t match;			/* counts up by 4 for each transfer */
static uint8_t *box;			/* the server's memory */
static uint8_t *bystander_out, *bystander_in;

/* ---- what both sides draw --------------------------------------------------------- */

static uint64_t key_for(uint64_t a, uint64_t b)
{
	struct random random = { options.seed ^ a * 0x2545f4914f6cdd1dull };

	return random_next(&random) + b * 0x9e3779b97f4a7c15ull;
}

/* What the server sends in a transfer. */
static uint64_t sent_key(uint64_t match)
{
	return key_for(match, 1 << 20);
}

/* Of any magnitude, more often a short one. */
static size_t draw_length(struct random *random)
{
	uint64_t one = random_below(random, 7), other = random_below(random, 7);
	size_t length = SHORTEST << (one < other ? one : other);

	length = length / 2 + random_below(random, length);
	return length < SHORTEST ? SHORTEST : length > LONGEST ? LONGEST : length;
}

/* At least a page; often one, often all. */
static void draw_range(struct random *random)
{
	size_t pages = the.layout.size / PAGE, from = 0, to = pages;

	switch (random_below(random, 4)) {
	case 0:
		break;
	case 1:
		from = random_below(random, pages);
		to = from + 1;
		break;
	default:
		from = random_below(random, pages);
		to = from + 1 + random_below(random, pages - from);
	}
	the.from = from * PAGE;
	if (the.act->few && to > from + FEW)
		to = from + FEW;
	the.to = (the.act->rear ? pages : to) * PAGE;
}

static void draw(unsigned int act, enum state state, uint64_t number)
{
	uint64_t name = ((uint64_t)act * STATES + state) << 32 | number;
	struct random random = { key_for(name, 1 << 21) };
	unsigned int i;

	the.act = acts[act];
	the.state = state;
	the.number = number;
	layout_make(&the.layout, &random, draw_length(&random));
	draw_range(&random);
	for (i = 0; i < PURPOSES; i++)
		the.key[i] = key_for(name, i + 1);
	the.region = state == IDLE || state == DECLARED || random_chance(&random, 50);
	the.early = random_chance(&random, 20);
	the.idle_source = random_chance(&random, 50);
	the.after_source = random_chance(&random, 50);
	the.delay = random_below(&random, 1000) / 1200.;
	/* What is received is on its way by then. */
	if (state == DESTINATION)
		the.delay /= 3;
	ahead_draw(&the.ahead, &random);
	the.chance = random_next(&random);
}

/* ---- bystanders --------------------------------------------------------------------- */

struct bystanders {
	omx_request_t out, in;
};

static void bystanders_post(struct bystanders *by)
{
	uint64_t out = match + 2 + options.server, in = match + 3 - options.server;

	memset(bystander_in, 0xa5, BYSTANDER);
	MUST(omx_irecv(ep, bystander_in, BYSTANDER, in, EXACT, NULL, &by->in));
	MUST(omx_isend(ep, bystander_out, BYSTANDER, peer, out, NULL, &by->out));
}

static void bystanders_finish(struct bystanders *by)
{
	omx_status_t status = finish(ep, &by->in);
	size_t at;

	CHECK(status.code == OMX_SUCCESS, "another message: %s (" WHERE ")",
	      omx_strerror(status.code), WHERE_VALUES);
	at = differs_at(bystander_in, BYSTANDER, key_for(!options.server, 1 << 22), 0);
	CHECK(at == BYSTANDER, "another message is damaged at %zu (" WHERE ")", at, WHERE_VALUES);
	status = finish(ep, &by->out);
	CHECK(status.code == OMX_SUCCESS, "another message: %s (" WHERE ")",
	      omx_strerror(status.code), WHERE_VALUES);
}

static void bystanders_make(void)
{
	bystander_in = allocate(BYSTANDER);
	bystander_out = allocate(BYSTANDER);
	fill(bystander_out, BYSTANDER, key_for(options.server, 1 << 22), 0);
}

/* ---- the client: posting -------------------------------------------------------------- */

static struct arena arena;
static omx_region_t region;
static omx_seg_t segs[PIECES_MAX];

static void declare(void)
{
	if (the.region && !region)
		MUST(omx_region_declare(ep, segs, the.layout.count,
					OMX_REGION_SEND | OMX_REGION_RECV, mode, &region));
}

static void release(void)
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

/* ---- the client: the act beside a transfer ----------------------------------------------- */

static double rate = 50e6;		/* bytes per second, as measured */
static atomic_int go, over;
static unsigned int in_flight, failures, refusals;

/*
 * Runs at once, or the transfer would be over before: two programs that poll
 * have both processors.
 */
static void preempt(void)
{
	const struct sched_param lowest = { .sched_priority = 1 };

	sched_setscheduler(0, SCHED_RR | SCHED_RESET_ON_FORK, &lowest);
}

static void *act_beside(void *unused)
{
	double delay = the.delay * the.layout.length / rate;

	preempt();
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

/* ---- the client: a transfer ---------------------------------------------------------------- */

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
	declare();
	receive(ep, NULL, 0, READY + match);
	start = now();
	/* Before, as much of the transfer may happen inside the call. */
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

static void tell(const struct result *result)
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

/* ---- the client: what is in the arena -------------------------------------------------------- */

/* Where it can be read now: what was from ... to may be elsewhere, or nowhere. */
static const uint8_t *readable(size_t offset, size_t *length)
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
		p = readable(offset + at, &part);
		if (!p)
			continue;
		for (i = 0; i < may.count; i++)
			may.of[i].offset += at;
		found = unlike_at(p, part, &may);
		CHECK(found == part, "received: byte %zu of the arena is wrong, %zu ... %zu were acted on ("
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
		      "received: byte %zu of the arena is wrong, %zu ... %zu were acted on (" WHERE ")",
		      piece->offset + at, arena.from, arena.to, WHERE_VALUES);
	}
}

/* Between the pieces. */
static void verify_gaps(uint64_t key)
{
	size_t end = 0, next, at;
	uint32_t i;

	for (i = 0; i <= the.layout.count; i++) {
		next = i < the.layout.count ? the.layout.piece[i].offset : arena.size;
		at = differs_at(ARENA + end, next - end, key, end);
		CHECK(at == next - end, "byte %zu of the arena was written, which is not of the message ("
		      WHERE ")", end + at, WHERE_VALUES);
		if (i < the.layout.count)
			end = next + the.layout.piece[i].length;
	}
}

/* Reads the message as the program would, but survives. */
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

/* ---- the client: a round ---------------------------------------------------------------------- */

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

/* All of it is there, and nothing happens. */
static void transfer_in_peace(bool source)
{
	struct result result = transfer_one(source, false);

	must_succeed(&result, source ? "send" : "receive");
	if (!source)
		verify_received();
	tell(&result);
}

static void transfer_beside_act(bool source)
{
	struct result result = transfer_one(source, true);

	if (source ? !arena.may_fail_source : !arena.may_fail_destination)
		must_succeed(&result, source ? "send" : "receive");
	result.loose = arena.loose;
	if (!source)
		verify_received_beside(result.code == OMX_SUCCESS);
	tell(&result);
}

/* The network sees what the program sees. */
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
	tell(&result);
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

static void client_round(void)
{
	make_arena();
	ahead_once(ep, &the.ahead, &arena, BEFORE_ACT);
	switch (the.state) {
	case IDLE:
		transfer_in_peace(the.idle_source);
		act_alone();
		break;
	case DECLARED:
		declare();
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
	/* At times the memory goes first. */
	if (random_chance(&arena.random, 50))
		release();
	arena_unmap(&arena);
	release();
}

/* ---- the server --------------------------------------------------------------------------------- */

static void explain(const struct piece *piece, size_t at, const uint8_t *p)
{
	static const char *const names[PURPOSES] = {
		[OLD] = "the old one", [NEW] = "the act's", [SECRET] = "of other memory",
		[FOREIGN] = "of another process", [REFILLED] = "from after the act",
	};
	size_t offset = piece->offset + at, length = piece->length - at;
	unsigned int i;

	if (length > 16)
		length = 16;
	for (i = 0; i < PURPOSES; i++)
		if (differs_at(p, length, the.key[i], offset) == length)
			fprintf(stderr, "that byte is %s\n", names[i]);
	fprintf(stderr, "it is %02x %02x %02x %02x ...\n", p[0], p[1], p[2], p[3]);
}

/* Bytes of a piece that are either all acted on or all not. */
static size_t part_of(size_t offset, size_t length, bool *inside)
{
	size_t end = length + offset;

	*inside = offset >= the.from && offset < the.to;
	if (*inside && end > the.to)
		end = the.to;
	if (offset < the.from && end > the.from)
		end = the.from;
	return end - offset;
}

static void verify_sent(uint64_t key, bool loose)
{
	size_t at, part, found;
	bool inside;
	uint32_t i;

	for (i = 0; i < the.layout.count; i++) {
		const struct piece *piece = &the.layout.piece[i];

		for (at = 0; at < piece->length; at += part) {
			const uint8_t *p = box + piece->position + at;
			struct contents may = { 0 };

			part = part_of(piece->offset + at, piece->length - at, &inside);
			may_be(&may, key, piece->offset + at);
			if (inside && loose) {
				may.zero = true;
				may_be(&may, the.key[NEW], piece->offset + at);
			}
			found = unlike_at(p, part, &may);
			if (found == part)
				continue;
			explain(piece, at + found, p + found);
			CHECK(found == part, "sent: byte %zu of the arena is wrong, %zu ... %zu were acted on ("
			      WHERE ")", piece->offset + at + found, the.from, the.to, WHERE_VALUES);
		}
	}
}

static uint64_t hash_box(void)
{
	uint64_t h = 0;
	size_t at = 0;
	uint32_t i;

	for (i = 0; i < the.layout.count; i++) {
		size_t length = the.layout.piece[the.layout.order[i]].length;

		h = hash(h, box + at, length);
		at += length;
	}
	return h;
}

static void post_other_end(bool source, omx_request_t *request)
{
	if (source) {
		memset(box, 0xa5, the.layout.length);
		MUST(omx_irecv(ep, box, the.layout.length, match, EXACT, NULL, request));
	} else {
		fill(box, the.layout.length, sent_key(match), 0);
		MUST(omx_isend(ep, box, the.layout.length, peer, match, NULL, request));
	}
}

/* Ended as it did for the client. */
static void finish_other_end(bool source, omx_request_t *request, const struct result *result)
{
	omx_status_t status;
	uint32_t cancelled;

	if (result->refused) {
		MUST(omx_cancel(ep, request, &cancelled));
		CHECK(cancelled);
		return;
	}
	status = finish(ep, request);
	CHECK((status.code == OMX_SUCCESS) == (result->code == OMX_SUCCESS),
	      "%s: \"%s\" here, \"%s\" there (" WHERE ")", source ? "receive" : "send",
	      omx_strerror(status.code), omx_strerror(result->code), WHERE_VALUES);
	CHECK(status.code == OMX_SUCCESS || status.code == OMX_MESSAGE_ABORTED, "%s (" WHERE ")",
	      omx_strerror(status.code), WHERE_VALUES);
}

/*
 * The other end of a transfer.  `key`: what the client sends, 0 where it
 * depends on what was received there before.
 */
static void serve_one(bool source, bool beside, uint64_t key)
{
	struct bystanders by;
	omx_request_t request;
	struct result result;

	if (beside)
		bystanders_post(&by);
	post_other_end(source, &request);
	send_sync(ep, peer, NULL, 0, READY + match);
	if (beside)
		bystanders_finish(&by);
	receive(ep, &result, sizeof(result), match + 1);
	finish_other_end(source, &request, &result);
	if (source && result.code == OMX_SUCCESS) {
		if (key)
			verify_sent(key, result.loose);
		CHECK(!result.hashed || hash_box() == result.hash,
		      "sent: not what is in that memory now (" WHERE ")", WHERE_VALUES);
	}
	match += 4;
}

static void server_round(void)
{
	bool received = false;

	if (the.state == IDLE) {
		serve_one(the.idle_source, false, the.key[OLD]);
		received = !the.idle_source;
	} else if (the.state != DECLARED) {
		serve_one(the.state == SOURCE, true, the.key[OLD]);
		received = the.state == DESTINATION;
	}
	serve_one(the.after_source, false, received ? 0 : the.key[OLD]);
	serve_one(true, false, the.key[REFILLED]);
	serve_one(false, false, 0);
}

/* ---- all of it ------------------------------------------------------------------------------------- */

static void run_state(unsigned int act, enum state state)
{
	uint64_t number;

	in_flight = failures = refusals = 0;
	for (number = 0; number < options.count; number++) {
		draw(act, state, number);
		if (options.server)
			server_round();
		else
			client_round();
	}
	if (options.server)
		return;
	printf("%-12s %-12s %llu rounds", acts[act]->name, states[state],
	       (unsigned long long)options.count);
	if (state == SOURCE || state == DESTINATION)
		printf(", %u in flight", in_flight);
	printf(", %u transfers failed as they may", failures);
	if (refusals)
		printf(", %u of them at once", refusals);
	printf("\n");
}

/* The server does what the client can. */
static bool possible(const struct act *act)
{
	const char *missing = NULL;
	uint32_t is = 1;

	if (options.server) {
		receive(ep, &is, sizeof(is), match);
	} else {
		if (act->missing)
			missing = act->missing();
		is = !missing;
		if (missing)
			printf("%-12s left out: %s\n", act->name, missing);
		send_sync(ep, peer, &is, sizeof(is), match);
	}
	match += 4;
	return is;
}

static uint64_t vmstat_of(const struct act *act)
{
	return act->vmstat ? vmstat(act->vmstat) : 0;
}

/* The kernel did what the act is about, not only the act. */
static void it_happened(const struct act *act, uint64_t before)
{
	uint64_t times = vmstat_of(act) - before;

	if (!act->vmstat)
		return;
	printf("%-12s %s: %llu\n", act->name, act->vmstat, (unsigned long long)times);
	CHECK(times || options.count < ENOUGH);
}

static void run_all(void)
{
	unsigned int act, state;
	uint64_t before;

	for (act = 0; act < acts_count; act++) {
		if (options.act && strcmp(options.act, acts[act]->name))
			continue;
		if (!possible(acts[act]))
			continue;
		before = vmstat_of(acts[act]);
		for (state = 0; state < STATES; state++)
			if (!options.state || !strcmp(options.state, states[state]))
				run_state(act, state);
		if (!options.server)
			it_happened(acts[act], before);
	}
}

static void agree_on_seed(void)
{
	if (options.server) {
		receive(ep, &options.seed, sizeof(options.seed), 1);
	} else {
		printf("mem_torture: seed %llu, mode %s\n", (unsigned long long)options.seed,
		       options.mode ? options.mode : "as it is");
		send_sync(ep, peer, &options.seed, sizeof(options.seed), 1);
	}
	match = 4;
}

static void server(void)
{
	ep = meet(&peer);
	check_mode(ep);
	agree_on_seed();
	bystanders_make();
	box = allocate(LONGEST);
	run_all();
	part(ep, peer);
}

static void client(void)
{
	canary_start();
	ep = meet(&peer);
	check_mode(ep);
	agree_on_seed();
	bystanders_make();
	run_all();
	part(ep, peer);
	canary_stop();
}

int main(int argc, char **argv)
{
	options.count = 3;
	memory_mode(argc, argv);
	return run_pair(argc, argv, server, client);
}
