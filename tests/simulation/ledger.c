// SPDX-License-Identifier: BSD-2-Clause
/*
 * What was sent and what has arrived.  A message names its stream, the generation of
 * that and its number in match_info; its bytes are a part of one large table, from a
 * place that follows from these.  So whatever is delivered twice, out of order, to the
 * wrong program or with other bytes is found when it is delivered, and what is not
 * delivered when the run is over.
 */
#include <stdio.h>

#include "channel/channel.h"
#include "omx_wire.h"
#include "program.h"

#define SOURCE		(SIM_LARGEST + (1u << 20))

void (*sim_on_delivered)(struct sim_stream *stream, u32 number, u32 length);

static u8 *source;

static u64 hash_of(u64 x)
{
	struct random random = { sim.seed ^ x * 0xd6e8feb86659fd93ull };

	return random_next(&random);
}

void sim_ledger_start(void)
{
	struct random random = { 4711 };
	u64 *word;
	u32 i;

	if (source)
		return;
	source = malloc(SOURCE);
	word = (u64 *)source;
	for (i = 0; i < SOURCE / sizeof(*word); i++)
		word[i] = random_next(&random);
}

void sim_ledger_end(void)
{
	u32 i;

	for (i = 0; i < sim.stream_count; i++) {
		SIM_REQUIRE(!sim.stream[i]->from);
		free(sim.stream[i]->generation);
		free(sim.stream[i]->sent_at);
		free(sim.stream[i]);
	}
	free(sim.stream);
	sim.stream = NULL;
	sim.stream_count = sim.stream_room = 0;
}

/* ---- messages ---- */

#define NUMBER_BITS	30
#define GENERATION_BITS	14

static u64 match_make(const struct sim_stream *stream, u32 generation, u32 number)
{
	SIM_REQUIRE(generation < 1u << GENERATION_BITS && number < 1u << NUMBER_BITS);
	return (u64)stream->id << (NUMBER_BITS + GENERATION_BITS) |
	       (u64)generation << NUMBER_BITS | number;
}

static u32 match_number(u64 match)
{
	return match & ((1u << NUMBER_BITS) - 1);
}

static u32 match_generation(u64 match)
{
	return match >> NUMBER_BITS & ((1u << GENERATION_BITS) - 1);
}

static struct sim_stream *match_stream(u64 match)
{
	u64 id = match >> (NUMBER_BITS + GENERATION_BITS);

	if (id >= sim.stream_count)
		SIM_FAIL("a message of stream %llu, which does not exist",
			 (unsigned long long)id);
	return sim.stream[id];
}

u64 sim_match_of(const struct sim_stream *stream)
{
	return match_make(stream, stream->generations - 1, stream->sent);
}

static enum sim_lengths lengths_of(const struct sim_stream *stream, u64 hash)
{
	static const u8 mix[16] = {
		SIM_TINY, SIM_TINY, SIM_TINY, SIM_TINY, SIM_TINY,
		SIM_SMALL, SIM_SMALL, SIM_SMALL, SIM_SMALL, SIM_MIDDLE, SIM_MIDDLE,
		SIM_MEDIUM, SIM_MEDIUM, SIM_LARGE, SIM_LARGE, SIM_LARGE,
	};

	return stream->lengths == SIM_MIXED ? mix[hash >> 60] : stream->lengths;
}

/* A quarter may be copied into the ring, and some are as long as they may be. */
static u32 middle_length(u64 hash)
{
	return min_t(u32, hash % (OMX_WIRE_LONG_BUNDLED_MAX + 1024), OMX_WIRE_LONG_BUNDLED_MAX);
}

u32 sim_length_of(const struct sim_stream *stream, u32 number)
{
	u64 hash = hash_of((u64)stream->id << 32 | number);

	switch (lengths_of(stream, hash)) {
	case SIM_TINY: return hash % (OMX_TINY_MAX + 1);
	case SIM_SMALL: return hash % (OMX_SMALL_MAX + 1);
	case SIM_MIDDLE: return middle_length(hash);
	case SIM_MEDIUM: return hash % (OMX_MEDIUM_MAX + 1);
	case SIM_LARGE: return hash % (1u << (14 + (hash >> 40) % 7));
	default: return stream->length;
	}
}

bool sim_is_large(const struct sim_stream *stream, u32 number)
{
	u64 hash = hash_of((u64)stream->id << 32 | number);

	return lengths_of(stream, hash) == SIM_LARGE ||
	       (stream->lengths == SIM_FIXED && stream->length > OMX_MEDIUM_MAX);
}

const void *sim_bytes_of(u64 match, u32 length)
{
	return source + hash_of(match) % (SOURCE - length);
}

void sim_ledger_check_beginning(u64 match, u32 length, const void *bytes, u32 n)
{
	if (n && memcmp(bytes, sim_bytes_of(match, length), n))
		SIM_FAIL("message %u of stream %u has other bytes", match_number(match),
			 match_stream(match)->id);
}

void sim_ledger_check_bytes(u64 match, const void *bytes, u32 length)
{
	sim_ledger_check_beginning(match, length, bytes, length);
}

/* ---- what happens to them ---- */

void sim_ledger_connected(struct sim_stream *stream, u32 session)
{
	if (stream->generations == stream->generation_room) {
		stream->generation_room = 2 * stream->generation_room + 4;
		stream->generation = realloc(stream->generation, stream->generation_room *
					     sizeof(*stream->generation));
	}
	stream->generation[stream->generations++] = (struct sim_generation){
		.session = session, .first = stream->sent, .expected = stream->sent,
	};
	stream->progress++;
}

void sim_ledger_sent(struct sim_stream *stream)
{
	u64 match = sim_match_of(stream);
	struct sim_large *large;

	if (stream->sent_at)
		stream->sent_at[stream->sent % SIM_TIMES] = sim_now;
	if (sim_is_large(stream, stream->sent)) {
		large = calloc(1, sizeof(*large));
		large->match = match;
		large->length = sim_length_of(stream, stream->sent);
		list_add_tail(&large->in_stream, &stream->larges);
		stream->large_count++;
	}
	stream->sent++;
}

static void stream_goes_on(struct sim_stream *stream, u32 number)
{
	u32 length = sim_length_of(stream, number);

	stream->progress++;
	stream->delivered++;
	stream->delivered_bytes += length;
	if (sim_on_delivered)
		sim_on_delivered(stream, number, length);
}

void sim_ledger_delivered(const struct sim_program *to, u64 match, u64 length)
{
	u32 g = match_generation(match), number = match_number(match);
	struct sim_stream *stream = match_stream(match);
	struct sim_generation *generation;

	SIM_TRACE("stream %u: message %u of generation %u delivered to program %u",
		  stream->id, number, g, to->id);
	if (g >= stream->generations)
		SIM_FAIL("stream %u has no generation %u", stream->id, g);
	generation = &stream->generation[g];
	if (stream->to != to->node || generation->session != to->ep->session)
		SIM_FAIL("message %u of stream %u delivered to program %u", number, stream->id,
			 to->id);
	if (g < stream->delivered_generation &&
	    stream->generation[stream->delivered_generation].session == generation->session)
		SIM_FAIL("message %u of stream %u, generation %u, delivered after generation %u",
			 number, stream->id, g, stream->delivered_generation);
	stream->delivered_generation = max(stream->delivered_generation, g);
	if (number != generation->expected)
		SIM_FAIL("message %u of stream %u delivered %s, %u was expected", number,
			 stream->id, number < generation->expected ? "again" : "too early",
			 generation->expected);
	if (length != sim_length_of(stream, number))
		SIM_FAIL("message %u of stream %u has %llu bytes, not %u", number, stream->id,
			 (unsigned long long)length, sim_length_of(stream, number));
	generation->expected++;
	stream->progress++;
	if (!sim_is_large(stream, number))
		stream_goes_on(stream, number);
}

static struct sim_large *large_find(struct sim_stream *stream, u64 match)
{
	struct sim_large *large;

	list_for_each_entry(large, &stream->larges, in_stream)
		if (large->match == match)
			return large;
	return NULL;
}

static void large_free(struct sim_stream *stream, struct sim_large *large)
{
	list_del(&large->in_stream);
	stream->large_count--;
	free(large);
}

void sim_ledger_pulled(u64 match, u8 status)
{
	struct sim_stream *stream = match_stream(match);
	struct sim_large *large = large_find(stream, match);

	SIM_TRACE("stream %u: message %u pulled, status %u", stream->id, match_number(match),
		  status);
	if (large && status)
		SIM_REQUIRE(!large->sent);
	stream->progress++;
	if (status)
		return;
	if (large) {
		SIM_REQUIRE(!large->pulled);
		large->pulled = true;
		if (large->sent)
			large_free(stream, large);
	}
	stream_goes_on(stream, match_number(match));
}

/* It may be known before the receiving program has looked at its ring. */
void sim_ledger_send_done(struct sim_stream *stream, const struct omx_event *event)
{
	struct sim_large *large = large_find(stream, event->cookie);
	struct sim_generation *generation = &stream->generation[match_generation(event->cookie)];

	SIM_TRACE("stream %u: message %u sent, status %u", stream->id,
		  match_number(event->cookie), event->status);
	if (!large || large->sent)
		SIM_FAIL("message %u of stream %u was sent twice", match_number(event->cookie),
			 stream->id);
	stream->progress++;
	large->sent = true;
	if (event->status == OMX_STATUS_OK) {
		SIM_REQUIRE(event->length == large->length);
		if (!large->pulled && !generation->ended)
			return;
	}
	large_free(stream, large);
}

static u32 large_session(const struct sim_stream *stream, const struct sim_large *large)
{
	return stream->generation[match_generation(large->match)].session;
}

void sim_ledger_receiver_ends(const struct sim_program *program)
{
	struct sim_large *large, *next;
	u32 i, g;

	for (i = 0; i < sim.stream_count; i++) {
		struct sim_stream *stream = sim.stream[i];

		if (stream->to != program->node || stream->to_slot != program->slot)
			continue;
		for (g = 0; g < stream->generations; g++)
			if (stream->generation[g].session == program->ep->session)
				stream->generation[g].ended = true;
		list_for_each_entry_safe(large, next, &stream->larges, in_stream)
			if (large->sent && large_session(stream, large) == program->ep->session)
				large_free(stream, large);
	}
}

void sim_ledger_forget_larges(struct sim_stream *stream)
{
	while (!list_empty(&stream->larges))
		large_free(stream, list_first_entry(&stream->larges, struct sim_large,
						    in_stream));
}

/* ---- is everything there? ---- */

bool sim_stream_is_done(const struct sim_stream *stream)
{
	const struct sim_generation *last;

	if (!stream->from)
		return true;
	if (stream->sent < stream->total || stream->large_count)
		return false;
	/* What the last channel had not delivered when it ended is lost. */
	if (!stream->generations || stream->state < SIM_OPEN)
		return true;
	last = &stream->generation[stream->generations - 1];
	/* So is what a program had not read when it ended; its peer may learn that late. */
	return last->expected == stream->sent || last->ended;
}

bool sim_ledger_is_done(void)
{
	u32 i;

	for (i = 0; i < sim.stream_count; i++)
		if (!sim_stream_is_done(sim.stream[i]))
			return false;
	return true;
}

void sim_ledger_print(const struct sim_stream *stream)
{
	static const char *const states[] = { "idle", "connecting", "open", "blocked" };
	const struct sim_generation *last = stream->generations ?
				&stream->generation[stream->generations - 1] : NULL;

	fprintf(stderr, "stream %u from program %u (node %u) to node %u:%u, %s: %u of %u sent, "
		"%u expected, %u large, generation %u, channel %u\n", stream->id,
		stream->from ? stream->from->id : 0, stream->from ? stream->from->node->index : 0,
		stream->to->index, stream->to_slot, states[stream->state], stream->sent,
		stream->total, last ? last->expected : 0, stream->large_count,
		stream->generations, stream->channel);
}

void sim_ledger_fail(const char *why)
{
	u32 i;

	for (i = 0; i < sim.stream_count; i++)
		if (!sim_stream_is_done(sim.stream[i]))
			sim_ledger_print(sim.stream[i]);
	SIM_FAIL("%s", why);
}

/* A pull has no events of its own before it ends. */
static u64 bytes_pulled(const struct sim_stream *stream)
{
	return sim_node_counter(stream->to, OMX_COUNTER_RX_PULL_RESPONSE) -
	       sim_node_counter(stream->to, OMX_COUNTER_DROP_PULL_DUPLICATE) -
	       sim_node_counter(stream->to, OMX_COUNTER_DROP_PULL_HANDLE);
}

static u32 packets_acked(const struct sim_stream *stream)
{
	struct omx_channel *ch = stream->from && stream->state >= SIM_OPEN ?
				 omx_channel_get(stream->from->ep, stream->channel) : NULL;
	u32 acked = ch ? ch->tx.acked : 0;

	if (ch)
		omx_channel_put(ch);
	return acked;
}

void sim_ledger_check_progress(bool first)
{
	u32 i;

	for (i = 0; i < sim.stream_count; i++) {
		struct sim_stream *stream = sim.stream[i];
		/* A new channel begins at 0: the sum could be the same by chance. */
		u64 progress = (stream->progress << 32 | packets_acked(stream)) +
			       ((stream->large_count ? bytes_pulled(stream) : 0) << 16);

		if (!first && !sim_stream_is_done(stream) && progress == stream->checked) {
			sim_ledger_print(stream);
			SIM_FAIL("stream %u made no progress for a second", stream->id);
		}
		stream->checked = progress;
	}
}
