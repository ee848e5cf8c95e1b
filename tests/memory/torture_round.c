// SPDX-License-Identifier: BSD-2-Clause
#include <string.h>

#include "torture.h"

#define SHORTEST	(64 * 1024 + 1)
#define FEW		64
#define BYSTANDER	150001

const char *const states[STATES] = { "idle", "declared", "source", "destination" };

omx_endpoint_t ep;
omx_endpoint_addr_t peer;
struct round the;
uint64_t match;

/* ---- what both sides draw --------------------------------------------------------- */

static uint64_t key_for(uint64_t a, uint64_t b)
{
	struct random random = { options.seed ^ a * 0x2545f4914f6cdd1dull };

	return random_next(&random) + b * 0x9e3779b97f4a7c15ull;
}

uint64_t sent_key(uint64_t match)
{
	return key_for(match, 1 << 20);
}

/* Draws a length of any magnitude, more often a short one. */
static size_t draw_length(struct random *random)
{
	uint64_t one = random_below(random, 7), other = random_below(random, 7);
	size_t length = SHORTEST << (one < other ? one : other);

	length = length / 2 + random_below(random, length);
	return length < SHORTEST ? SHORTEST : length > LONGEST ? LONGEST : length;
}

/* Draws at least a page; often one, often all. */
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

void draw(unsigned int act, enum state state, uint64_t number)
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

static uint8_t *bystander_out, *bystander_in;

void bystanders_post(struct bystanders *by)
{
	uint64_t out = match + 2 + options.server, in = match + 3 - options.server;

	memset(bystander_in, 0xa5, BYSTANDER);
	MUST(omx_irecv(ep, bystander_in, BYSTANDER, in, EXACT, NULL, &by->in));
	MUST(omx_isend(ep, bystander_out, BYSTANDER, peer, out, NULL, &by->out));
}

void bystanders_finish(struct bystanders *by)
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

void bystanders_make(void)
{
	bystander_in = allocate(BYSTANDER);
	bystander_out = allocate(BYSTANDER);
	fill(bystander_out, BYSTANDER, key_for(options.server, 1 << 22), 0);
}
