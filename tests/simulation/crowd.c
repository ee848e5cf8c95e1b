// SPDX-License-Identifier: BSD-2-Clause
/*
 * Many nodes at once: incast, outcast, all to all, incast of programs that come and go,
 * and incast beside hosts that vanish or are slow, a program that does not read, a host that
 * keeps to no window (flood.c), or channels that cannot go on (stuck.c).  And two users of
 * one host, of whom one has more channels.  Prints how much of the link was used, how long
 * messages took, what was sent in vain, and what a node keeps.
 */
#include <stdio.h>

#include "crowd.h"
#include "flood.h"
#include "omx_wire.h"
#include "program.h"
#include "stuck.h"

#define PATIENCE	(60 * SIM_S)
#define SECOND_USER	(SIM_ENDPOINTS - 1)	/* its endpoint; all others are the first's */

static struct {
	const struct sim_crowd *crowd;
	u64 first, last;		/* ns: sent, delivered */
	u64 bytes, wire_bytes;		/* delivered, and what that takes on the link */
	u64 *times;			/* ns: of each message */
	u64 count, room;
	u64 kills;
	bool several_users;
	u64 user_bytes[2];		/* of those with many channels, and with one */
	double share;			/* of the first, when the second have all; 0: not yet */
	struct sim_event churn;
	struct sim_event *vanishing;	/* by node */
} run;

/* ---- what is measured ---- */

static u64 wire_bytes_of(u32 length)
{
	bool large = length > OMX_MEDIUM_MAX;
	u32 header = ETH_HLEN + (large ? OMX_PULL_RESPONSE_HEADER : 48);
	u32 payload = large ? round_down(run.crowd->mtu - OMX_PULL_RESPONSE_HEADER, 8) :
			      round_down(run.crowd->mtu - 48, 16);
	u64 frames = length ? DIV_ROUND_UP(length, payload) : 1;
	u64 bytes = length + frames * (header + 24);

	return frames == 1 ? max_t(u64, bytes, 84) : bytes;
}

static bool is_of_second_user(const struct sim_stream *stream);

static void crowd_count_user(const struct sim_stream *stream, u32 number, u32 length)
{
	u32 user = is_of_second_user(stream);

	run.user_bytes[user] += length;
	if (user && number == stream->total - 1 && !run.share)
		run.share = (double)run.user_bytes[0] / run.user_bytes[1];
}

/* What is for other programs than the first one of a host is trouble, except for `users`. */
static bool is_awaited(const struct sim_stream *stream)
{
	return !stream->to_slot || run.several_users;
}

static void crowd_delivered(struct sim_stream *stream, u32 number, u32 length)
{
	u64 sent = stream->sent_at ? stream->sent_at[number % SIM_TIMES] : sim_now;

	if (!is_awaited(stream))
		return;
	if (run.count == run.room) {
		run.room = 2 * run.room + 1024;
		run.times = realloc(run.times, run.room * sizeof(*run.times));
	}
	run.times[run.count++] = sim_now - sent;
	run.bytes += length;
	crowd_count_user(stream, number, length);
	run.wire_bytes += wire_bytes_of(length);
	run.last = sim_now;
	if (!run.first || sent < run.first)
		run.first = sent;
}

static int compare(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return x < y ? -1 : x > y;
}

/* us; per mille of the messages took no longer. */
static double percentile(u32 per_mille)
{
	return run.count ? run.times[(run.count - 1) * per_mille / 1000] / 1e3 : 0;
}

/* ---- who sends to whom ---- */

struct sim_stream *sim_crowd_stream(u32 from, u32 from_slot, u32 to, u32 to_slot)
{
	const struct sim_crowd *crowd = run.crowd;
	struct sim_stream *stream = sim_stream_make(sim.node[from].program[from_slot],
						    &sim.node[to], to_slot, SIM_FIXED,
						    crowd->messages);

	stream->length = crowd->length;
	stream->burst = 16;
	stream->sent_at = calloc(SIM_TIMES, sizeof(*stream->sent_at));
	stream->next_at = sim_below(SIM_MS);
	return stream;
}

static void crowd_incast(void)
{
	u32 i;

	for (i = 1; i < sim.node_count; i++)
		sim_crowd_stream(i, 0, 0, 0);
}

static void crowd_outcast(void)
{
	u32 i;

	for (i = 1; i < sim.node_count; i++)
		sim_crowd_stream(0, 0, i, 0);
}

static void crowd_all(void)
{
	u32 i, k;

	for (i = 0; i < sim.node_count; i++)
		for (k = 1; k <= run.crowd->peers && k < sim.node_count; k++)
			sim_crowd_stream(i, 0, (i + k) % sim.node_count, 0);
}

/* A program is killed, and another one sends as much as was left. */
static void churn_again(struct sim_program *program)
{
	u32 from = program->node->index;

	sim_crowd_stream(from, 0, 0, 0);
}

static void churn_act(struct sim_event *event)
{
	struct sim_program *program = sim.node[1 + sim_below(sim.node_count - 1)].program[0];

	if (program && program->ep && !program->closing && !list_empty(&program->streams) &&
	    run.kills < sim.node_count) {
		run.kills++;
		program->reopen = true;
		program->reopen_after = SIM_MS;
		sim_program_end(program, sim_chance(50));
	}
	if (run.kills < sim.node_count)
		sim_event_at(event, sim_now + sim_below(SIM_MS));
}

static void crowd_churn(void)
{
	crowd_incast();
	sim_on_reopen = churn_again;
	run.churn = (struct sim_event){ .run = churn_act };
	sim_event_at(&run.churn, 5 * SIM_MS);
}

/* The power of every other host fails, at some moment of the first 30 ms. */
static void host_vanishes(struct sim_event *event)
{
	struct sim_node *node = event->node;

	node->mute = true;
	node->deaf = true;
	sim_program_end(node->program[0], true);
}

static void crowd_vanish(void)
{
	u32 i;

	crowd_incast();
	run.vanishing = calloc(sim.node_count, sizeof(*run.vanishing));
	for (i = 2; i < sim.node_count; i += 2) {
		run.vanishing[i] = (struct sim_event){
			.run = host_vanishes, .node = &sim.node[i],
		};
		sim_event_at(&run.vanishing[i], sim_now + sim_below(30 * SIM_MS));
	}
}

/* Every other node sends to a program that does not look at its ring. */
static void crowd_unread(void)
{
	struct sim_program *program = sim_program_start(&sim.node[0], 1);
	u32 i;

	sim_run(sim_now + 2 * SIM_MS, NULL);
	program->awake_at = U64_MAX;
	for (i = 1; i < sim.node_count; i++)
		sim_crowd_stream(i, 0, 0, i % 2);
}

/* All but two of the senders have slow links; those two must not wait for them. */
static void crowd_slow(void)
{
	u32 i;

	sim_program_start(&sim.node[0], 1);
	sim_run(sim_now + 2 * SIM_MS, NULL);
	for (i = 1; i < sim.node_count; i++) {
		sim_crowd_stream(i, 0, 0, i > 2);
		if (i > 2)
			sim.node[i].out.rate = run.crowd->slow_kbits * 1000ull;
	}
}

/* The frames of one host need half of the link, whatever windows it is told. */
static void crowd_flood(void)
{
	u32 i;

	for (i = 2; i < sim.node_count; i++)
		sim_crowd_stream(i, 0, 0, 0);
	sim_node_detach(&sim.node[1]);
	sim_program_end(sim.node[1].program[0], true);
	sim_flood_start(&sim.node[1], sim.node[0].program[0]);
}

/* Of each host two users send to programs of their own. */
static bool is_of_second_user(const struct sim_stream *stream)
{
	return stream->to_slot == SECOND_USER;
}

static void crowd_users(void)
{
	u32 i, from, to;

	run.several_users = true;
	for (i = 0; i < sim.node_count; i++) {
		for (from = 1; from < SECOND_USER; from++)
			sim_program_start(&sim.node[i], from);
		sim_program_start(&sim.node[i], SECOND_USER)->task.uid += sim.node_count;
	}
	for (i = 1; i < sim.node_count; i++) {
		for (from = 0; from < SECOND_USER; from++)
			for (to = 0; to < SECOND_USER; to++)
				sim_crowd_stream(i, from, 0, to);
		sim_crowd_stream(i, SECOND_USER, 0, SECOND_USER);
	}
}

static const struct {
	const char *name;
	void (*make)(void);
	u32 busy;			/* links that are the bottleneck; 0: all */
	void (*finish)(void);		/* or NULL; what is not measured */
} kinds[] = {
	{ "incast", crowd_incast, 1 },
	{ "outcast", crowd_outcast, 1 },
	{ "all-to-all", crowd_all, 0 },
	{ "churn", crowd_churn, 1 },
	{ "vanish", crowd_vanish, 1 },
	{ "unread", crowd_unread, 1 },
	{ "slow", crowd_slow, 1 },
	{ "flood", crowd_flood, 1 },
	{ "refused", sim_stuck_refused, 1, sim_stuck_resume },
	{ "cut", sim_stuck_cut, 1, sim_stuck_end },
	{ "narrow", sim_stuck_narrow, 1, sim_stuck_end },
	{ "users", crowd_users, 1 },
};

/* ---- the run ---- */

static int kind_of(const char *name)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(kinds); i++)
		if (!strcmp(kinds[i].name, name))
			return i;
	return -1;
}

static void crowd_make_nodes(void)
{
	const struct sim_crowd *crowd = run.crowd;
	u32 i;

	sim_nodes_make(crowd->nodes);
	sim.delay = crowd->delay_us * SIM_US;
	for (i = 0; i < sim.node_count; i++) {
		struct sim_node *node = &sim.node[i];

		sim_port_init(&node->out, crowd->mbits * 1000000ull, 1000);
		sim_port_init(&node->in, crowd->mbits * 1000000ull, crowd->queue);
		node->dev.mtu = crowd->mtu;
		sim_node_attach(node);
		sim_program_start(node, 0)->latency = 10 * SIM_US;
	}
}

static bool crowd_is_done(void)
{
	static u64 looked_at;
	u32 i;

	/* Looking at all streams after each event would take longer than all else. */
	if (sim_now - looked_at < SIM_MS / 2 && sim_now >= looked_at)
		return false;
	looked_at = sim_now;
	for (i = 0; i < sim.stream_count; i++)
		if (is_awaited(sim.stream[i]) && !sim_stream_is_done(sim.stream[i]))
			return false;
	return true;
}

static void crowd_require(const char *what, double is, bool ok)
{
	if (!ok)
		SIM_FAIL("%s: %.1f", what, is);
}

/* In percent and KiB. */
static void crowd_check(double link, double again, double kib)
{
	const struct sim_crowd *crowd = run.crowd;
	double ratio = percentile(500) ? percentile(1000) / percentile(500) : 0;

	crowd_require("too little of the link is used", link, link >= crowd->least_link);
	crowd_require("too much is sent again", again,
		      !crowd->most_again || again <= crowd->most_again);
	crowd_require("the slowest message takes too many times the median", ratio,
		      !crowd->most_ratio || ratio <= crowd->most_ratio);
	crowd_require("users have unequal shares", run.share,
		      !crowd->most_share || (100 * run.share <= crowd->most_share &&
					     run.share * crowd->most_share >= 100));
	crowd_require("a node has allocated too many KiB", kib,
		      !crowd->most_kib || kib <= crowd->most_kib);
}

static void crowd_report(int kind)
{
	static const enum omx_counter sent[] = {
		OMX_COUNTER_TX_EAGER, OMX_COUNTER_TX_RNDV, OMX_COUNTER_TX_NOTIFY,
		OMX_COUNTER_TX_PULL_RESPONSE, OMX_COUNTER_RETRANSMIT_TIMEOUT,
		OMX_COUNTER_RETRANSMIT_SACK, OMX_COUNTER_PULL_FRAMES_AGAIN,
	};
	u64 sum[ARRAY_SIZE(sent)], all, channels = 0, peak = 0, total = 0;
	double seconds = (run.last - run.first) / 1e9, link, again;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(sent); i++)
		sum[i] = sim_counter(sent[i]);
	all = sum[0] + sum[1] + sum[2] + sum[3];
	again = all ? 100.0 * (sum[4] + sum[5] + sum[6]) / all : 0;
	for (i = 0; i < sim.node_count; i++) {
		struct sim_program *program = sim.node[i].program[0];

		channels += program && program->ep ? program->ep->channels.count : 0;
		peak = max(peak, (u64)sim.node[i].peak);
		total += sim.node[i].peak;
	}
	link = 100.0 * run.wire_bytes * 8 / seconds / (run.crowd->mbits * 1e6) /
		(kinds[kind].busy ?: sim.node_count);
	qsort(run.times, run.count, sizeof(*run.times), compare);
	printf("%-10s %5u %8u %7.1f %7.1f %9.0f %9.0f %9.0f %7.2f %8.1f %9.1f %9.1f\n",
	       kinds[kind].name, sim.node_count, run.crowd->length, link,
	       run.bytes * 8 / seconds / 1e6, percentile(500), percentile(990),
	       percentile(1000), again,
	       channels / (double)sim.node_count, total / 1024.0 / sim.node_count,
	       peak / 1024.0);
	if (run.share)
		printf("users with %u channels have %.2f times as much as those with one\n",
		       SECOND_USER * SECOND_USER, run.share);
	fflush(stdout);
	crowd_check(link, again, peak / 1024.0);
}

/* What waits in front of slow links has to be gone when all memory is looked at. */
static void crowd_drain(void)
{
	u64 until = sim_now;
	u32 i;

	for (i = 0; i < sim.node_count; i++) {
		until = max(until, sim.node[i].out.free_at);
		sim.node[i].out.rate = run.crowd->mbits * 1000000ull;
	}
	sim_run(until, NULL);
}

static void crowd_end(void)
{
	u32 i;

	sim.fail_atomic = sim.fail_kernel = 0;
	sim_event_cancel(&run.churn);
	for (i = 0; run.vanishing && i < sim.node_count; i++)
		sim_event_cancel(&run.vanishing[i]);
	free(run.vanishing);
	run.vanishing = NULL;
	sim_flood_stop();
	crowd_drain();
	sim_end();
}

void sim_crowd_print_head(void)
{
	printf("%-10s %5s %8s %7s %7s %9s %9s %9s %7s %8s %9s %9s\n", "", "nodes", "bytes",
	       "link %", "Mb/s", "p50 us", "p99 us", "max us", "again %", "channels",
	       "KiB/node", "KiB most");
}

bool sim_crowd_run(const char *name, const struct sim_crowd *crowd)
{
	int kind = kind_of(name);
	bool trace = sim.trace;

	if (kind < 0)
		return false;
	free(run.times);
	memset(&run, 0, sizeof(run));
	run.crowd = crowd;
	sim = (struct sim){
		.seed = crowd->seed, .trace = trace, .chance = { crowd->seed * 2 + 1 },
		.kernel = { ~crowd->seed },
	};
	sim_time_start();
	sim_ledger_start();
	crowd_make_nodes();
	sim_run(2 * SIM_MS, NULL);
	sim_on_delivered = crowd_delivered;
	sim.troubles.loss = crowd->loss;
	sim.fail_atomic = sim.fail_kernel = crowd->no_memory;
	kinds[kind].make();
	if (!sim_run(sim_now + PATIENCE, crowd_is_done))
		sim_ledger_fail("the run does not end");
	crowd_report(kind);
	if (kinds[kind].finish)
		kinds[kind].finish();
	sim_on_delivered = NULL;
	crowd_end();
	return true;
}
