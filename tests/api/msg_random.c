// SPDX-License-Identifier: BSD-2-Clause
/*
 * Messages of every class, both ways at once: random lengths, alignments,
 * lists of segments, kinds of sends, orders of receives, truncation, many
 * outstanding.  Both sides draw what they do from the same seed.
 *
 *	--count N	messages each way
 *	--length N	of the longest ones
 *	--window N	how many each side has outstanding each way
 *	--mode M	all, tiny, small, medium, large
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scatter.h"

/* The properties of a message, which both sides draw from the seed. */
struct plan {
	size_t length;
	size_t room;		/* at the receiver */
	bool synchronous;
	uint64_t match;
	uint64_t key;
	struct random send, recv;	/* for the layouts */
};

struct slot {
	bool busy;
	bool sends;
	struct plan plan;
	struct scatter scatter;
	omx_request_t request;
};

static omx_endpoint_t ep;
static omx_endpoint_addr_t peer;

/* ---- the plan ---------------------------------------------------------------- */

static size_t log_uniform(struct random *random, size_t low, size_t high)
{
	size_t length = low;

	while (length < high && random_chance(random, 80))
		length += 1 + random_below(random, length + 1);
	return length < high ? length : high;
}

static size_t draw_length(struct random *random)
{
	static const char *const names[] = { "zero", "tiny", "small", "medium", "large" };
	static const unsigned int shares[] = { 5, 25, 30, 25, 15 };
	unsigned int class, chance = random_below(random, 100);

	for (class = 0; class < 4 && chance >= shares[class]; class++)
		chance -= shares[class];
	if (options.mode && strcmp(options.mode, "all"))
		for (class = 0; class < 4 && strcmp(options.mode, names[class]); class++)
			;
	switch (class) {
	case 0: return 0;
	case 1: return 1 + random_below(random, 32);
	case 2: return 33 + random_below(random, 4096 - 32);
	case 3: return 4097 + random_below(random, 65536 - 4096);
	default: return log_uniform(random, 65537, options.length);
	}
}

static size_t draw_room(struct random *random, size_t length)
{
	switch (random_below(random, 10)) {
	case 0: return random_below(random, length + 1);
	case 1: return length + random_below(random, 5000);
	default: return length;
	}
}

static struct plan plan_of(bool from_server, uint64_t i)
{
	struct random random = { options.seed ^ (i << 1 | from_server) * 0x2545f4914f6cdd1dull };
	struct plan plan;

	plan.length = draw_length(&random);
	plan.room = draw_room(&random, plan.length);
	plan.synchronous = random_chance(&random, 15);
	plan.match = (uint64_t)from_server << 40 | i;
	plan.key = random_next(&random);
	plan.send.state = random_next(&random);
	plan.recv.state = random_next(&random);
	return plan;
}

/* ---- posting ------------------------------------------------------------------- */

static void post_send(struct slot *slot, const struct plan *plan)
{
	struct scatter *scatter = &slot->scatter;
	struct random random = plan->send;
	omx_return_t ret;

	scatter_make(scatter, &random, plan->length);
	scatter_fill(scatter, plan->key);
	if (scatter->count)
		ret = (plan->synchronous ? omx_issendv : omx_isendv)(ep, scatter->segs,
			scatter->count, peer, plan->match, slot, &slot->request);
	else
		ret = (plan->synchronous ? omx_issend : omx_isend)(ep, scatter->segs[0].ptr,
			plan->length, peer, plan->match, slot, &slot->request);
	MUST(ret);
}

static void post_receive(struct slot *slot, const struct plan *plan)
{
	struct scatter *scatter = &slot->scatter;
	struct random random = plan->recv;

	scatter_make(scatter, &random, plan->room);
	scatter_clear(scatter);
	if (scatter->count)
		MUST(omx_irecvv(ep, scatter->segs, scatter->count, plan->match, EXACT, slot,
				&slot->request));
	else
		MUST(omx_irecv(ep, scatter->segs[0].ptr, plan->room, plan->match, EXACT, slot,
			       &slot->request));
}

static void post_message(struct slot *slot, bool sends, uint64_t i)
{
	slot->busy = true;
	slot->sends = sends;
	slot->plan = plan_of(sends == options.server, i);
	if (sends)
		post_send(slot, &slot->plan);
	else
		post_receive(slot, &slot->plan);
}

/* ---- completion ------------------------------------------------------------------ */

static void check_sent(const struct plan *plan, const omx_status_t *status)
{
	bool cut = plan->room < plan->length;

	/*
	 * Long and synchronous sends report whether the message was
	 * truncated.
	 */
	CHECK(status->code == OMX_SUCCESS || (cut && status->code == OMX_MESSAGE_TRUNCATED),
	      " send %#llx: %s", (unsigned long long)plan->match, omx_strerror(status->code));
	EQUAL(status->msg_length, plan->length);
	EQUAL(status->match_info, plan->match);
}

static void check_received(const struct slot *slot, const omx_status_t *status)
{
	const struct plan *plan = &slot->plan;
	bool cut = plan->room < plan->length;
	size_t length = cut ? plan->room : plan->length;

	CHECK(status->code == (cut ? OMX_MESSAGE_TRUNCATED : OMX_SUCCESS),
	      " receive %#llx of %zu into %zu: %s", (unsigned long long)plan->match,
	      plan->length, plan->room, omx_strerror(status->code));
	EQUAL(status->match_info, plan->match);
	EQUAL(status->msg_length, plan->length);
	EQUAL(status->xfer_length, length);
	CHECK(same_address(status->addr, peer));
	scatter_verify(&slot->scatter, length, plan->key);
}

/* Returns whether it was a send. */
static bool complete_one(void)
{
	omx_status_t status;
	struct slot *slot;
	uint32_t result;

	MUST(omx_wait_any(ep, 0, 0, &status, &result, PATIENCE));
	CHECK(result, " nothing ends any more");
	slot = status.context;
	CHECK(slot && slot->busy);
	if (slot->sends)
		check_sent(&slot->plan, &status);
	else
		check_received(slot, &status);
	scatter_free(&slot->scatter);
	slot->busy = false;
	return slot->sends;
}

/* ---- the loop --------------------------------------------------------------------- */

struct lane {
	uint64_t *order;		/* in which they are posted */
	uint64_t posted;
	unsigned int outstanding;
};

/*
 * Receives are posted in another order than the messages are sent. They are
 * displaced by less than a window, or the receive that all wait for might
 * never be posted.
 */
static void make_order(struct lane *lane, bool shuffled)
{
	struct random random = { options.seed + options.server };
	uint64_t i, j, other;

	lane->posted = lane->outstanding = 0;
	lane->order = allocate(options.count * sizeof(*lane->order));
	for (i = 0; i < options.count; i++)
		lane->order[i] = i;
	for (i = 0; shuffled && i < options.count; i++) {
		j = i / 4 * 4 + random_below(&random, 4);
		if (j >= options.count)
			continue;
		other = lane->order[i];
		lane->order[i] = lane->order[j];
		lane->order[j] = other;
	}
}

static struct slot *free_slot(struct slot *slots)
{
	while (slots->busy)
		slots++;
	return slots;
}

static bool fill_lane(struct lane *lane, struct slot *slots, bool sends)
{
	while (lane->posted < options.count && lane->outstanding < options.window) {
		post_message(free_slot(slots), sends, lane->order[lane->posted++]);
		lane->outstanding++;
	}
	return lane->outstanding;
}

static void exchange_messages(void)
{
	struct slot *slots = calloc(2 * options.window, sizeof(*slots));
	struct lane send, recv;
	bool busy;

	CHECK(slots);
	make_order(&send, false);
	make_order(&recv, true);
	for (;;) {
		/* Sends and receives take turns in being posted first. */
		busy = fill_lane(&recv, slots, false);
		busy |= fill_lane(&send, slots, true);
		if (!busy)
			break;
		if (complete_one())
			send.outstanding--;
		else
			recv.outstanding--;
	}
	free(send.order);
	free(recv.order);
	free(slots);
}

/* Both sides use the seed of the client. */
static void agree_on_seed(void)
{
	if (options.server) {
		receive(ep, &options.seed, sizeof(options.seed), 1);
	} else {
		printf("msg_random: seed %llu, %llu messages each way\n",
		       (unsigned long long)options.seed, (unsigned long long)options.count);
		send_sync(ep, peer, &options.seed, sizeof(options.seed), 1);
	}
}

static void run_side(void)
{
	double start;

	ep = meet(&peer);
	agree_on_seed();
	start = now();
	exchange_messages();
	if (!options.server)
		printf("msg_random: done in %.1f s\n", now() - start);
	part(ep, peer);
}

int main(int argc, char **argv)
{
	options.count = 1000;
	options.length = 3 << 20;
	options.window = 16;
	return run_pair(argc, argv, run_side, run_side);
}
