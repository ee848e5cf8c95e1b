// SPDX-License-Identifier: BSD-2-Clause
/*
 * A scenario that follows from its seed: nodes, links, programs, what they send, and
 * troubles until all of them end at once.  From then on everything has to go on within
 * a second, again and again until all has arrived.
 */
#include "program.h"

#define PICK(...)	({							\
	static const u64 choice_[] = { __VA_ARGS__ };				\
	choice_[sim_below(ARRAY_SIZE(choice_))]; })

#define PATIENCE	(1200 * SIM_MS)	/* a second, the longest timeout, and a round trip */
#define ROUNDS		300

extern void *const sim_param_user_memory_mb, *const sim_param_cork_us;

static struct {
	struct sim_event act;		/* the next trouble */
	u64 healing;
	u64 pause;			/* between troubles, about */
	u32 restarts;
} scenario;

/* ---- the network ---- */

static void make_troubles(void)
{
	sim.troubles = (struct sim_troubles){
		.loss = PICK(0, 0, 0, 1000, 10000, 50000, 200000, 500000),
		.duplicate = PICK(0, 0, 0, 5000, 100000),
		.reorder = PICK(0, 0, 0, 20000, 300000),
		.corrupt = PICK(0, 0, 0, 2000, 30000),
		.late = PICK(50 * SIM_US, SIM_MS, 20 * SIM_MS),
	};
	SIM_TRACE("of a million: %u lost, %u twice, %u late, %u damaged", sim.troubles.loss,
		  sim.troubles.duplicate, sim.troubles.reorder, sim.troubles.corrupt);
}

static void make_network(void)
{
	u64 rate = PICK(100000000, 1000000000, 1000000000, 10000000000);
	u32 limit = PICK(16, 100, 100, 1000), i;
	bool mixed = sim_chance(15);
	u32 mtu = PICK(1500, 1500, 9000);

	sim_nodes_make(sim_chance(50) ? 2 : sim_chance(70) ? 3 + sim_below(2) : 5 + sim_below(4));
	sim.delay = PICK(2 * SIM_US, 20 * SIM_US, 100 * SIM_US, SIM_MS, 4 * SIM_MS);
	sim.broadcasts = !sim_chance(15);
	sim.seldom = sim_chance(30);
	for (i = 0; i < sim.node_count; i++) {
		struct sim_node *node = &sim.node[i];

		sim_port_init(&node->out, rate, max(limit, 64u));
		sim_port_init(&node->in, rate, limit);
		node->dev.mtu = mixed ? PICK(1500, 9000, 576, 4000) : mtu;
		sim_node_attach(node);
	}
	SIM_TRACE("%u nodes, %llu bit/s, %llu ns, %u frames", sim.node_count,
		  (unsigned long long)rate, (unsigned long long)sim.delay, limit);
	sim.interrupts = PICK(0, 3, 30);
	sim.whole = PICK(0, 50, 100);
	if (sim_chance(15)) {
		sim.fail_atomic = PICK(1000, 20000, 100000);
		sim.fail_kernel = PICK(0, 1000, 20000);
	}
	if (sim_chance(20))
		sim.absent = PICK(5, 50);
	if (sim_chance(30))
		sim.fragmented = PICK(5, 50);
	*(unsigned long *)sim_param_user_memory_mb = sim_chance(10) ? PICK(8, 16) : 0;
	*(unsigned int *)sim_param_cork_us = PICK(0, 1, 20, 50, 50, 200, 1000, 5000);
	make_troubles();
}

/* ---- the programs ---- */

static bool is_streaming_to(const struct sim_program *program, const struct sim_node *to,
			    u32 slot)
{
	struct sim_stream *stream;

	list_for_each_entry(stream, &program->streams, in_program)
		if (stream->to == to && stream->to_slot == slot)
			return true;
	return false;
}

static void make_stream(struct sim_program *from)
{
	static const u32 most[SIM_LENGTHS] = {
		[SIM_TINY] = 400, [SIM_SMALL] = 200, [SIM_MIDDLE] = 200, [SIM_MEDIUM] = 30,
		[SIM_LARGE] = 6, [SIM_MIXED] = 30,
	};
	struct sim_node *to = &sim.node[sim_below(sim.node_count)];
	enum sim_lengths lengths = sim_below(SIM_FIXED);
	struct sim_stream *stream;
	u32 slot = sim_below(2), total;

	if (to == from->node || !to->program[slot] || is_streaming_to(from, to, slot))
		return;
	total = most[lengths];
	if (lengths <= SIM_SMALL && sim_chance(25))
		total *= 5;	/* fill rings, but not much of the memory */
	stream = sim_stream_make(from, to, slot, lengths, 1 + sim_below(total));
	stream->burst = 1 + sim_below(sim_chance(20) ? stream->total : 16);
	stream->pause = sim_chance(50) ? 0 : scenario.healing * stream->burst / stream->total;
}

static void make_program(struct sim_node *node, u32 slot)
{
	struct sim_program *program = sim_program_start(node, slot);

	program->timeout_ms = PICK(0, 0, 0, 200, 1000, 5000);
	program->latency = PICK(SIM_US, 20 * SIM_US, 500 * SIM_US);
	program->sleepy = PICK(0, 0, 5, 30);
	program->sleep = PICK(SIM_MS, 20 * SIM_MS, 200 * SIM_MS);
	program->waits = PICK(0, 10, 100);
	program->hoards = PICK(0, 50, 100);
}

static void continue_program(struct sim_program *program)
{
	if (sim_chance(50) && !sim.healed)
		make_stream(program);
}

static void make_programs(void)
{
	u32 i, streams;

	for (i = 0; i < sim.node_count; i++) {
		make_program(&sim.node[i], 0);
		if (sim_chance(30))
			make_program(&sim.node[i], 1);
	}
	sim_on_reopen = continue_program;
	for (streams = 1 + sim_below(2 * sim.node_count); streams; streams--) {
		struct sim_node *node = &sim.node[sim_below(sim.node_count)];

		make_stream(node->program[node->program[1] ? sim_below(2) : 0]);
	}
}

/* ---- troubles ---- */

static struct sim_node *any_node(void)
{
	return &sim.node[sim_below(sim.node_count)];
}

static void end_program(struct sim_node *node, u32 slot, bool killed)
{
	struct sim_program *program = node->program[slot];

	if (!program || program->closing)
		return;
	program->reopen = true;
	program->reopen_after = sim_below(20 * SIM_MS);
	sim_program_end(program, killed);
}

static void trouble_partition(void)
{
	u32 i;

	for (i = 0; i < sim.node_count; i++)
		sim.node[i].side = sim_below(2);
	SIM_TRACE("partition");
}

static void trouble_heal(void)
{
	u32 i;

	for (i = 0; i < sim.node_count; i++)
		sim.node[i].side = sim.node[i].mute = sim.node[i].deaf = 0;
	SIM_TRACE("partition ends");
}

static void trouble_one_way(void)
{
	struct sim_node *node = any_node();

	if (sim_chance(50))
		node->mute = !node->mute;
	else
		node->deaf = !node->deaf;
	SIM_TRACE("node %u: mute %u deaf %u", node->index, node->mute, node->deaf);
}

static void trouble_end_program(void)
{
	end_program(any_node(), sim_below(2), sim_chance(50));
}

static void node_restart(struct sim_node *node)
{
	u32 slot;

	if (node->board) {
		/* Orderly, or as if the power failed. */
		(sim_chance(30) ? sim_node_detach : sim_node_crash)(node);
		for (slot = 0; slot < SIM_ENDPOINTS; slot++)
			end_program(node, slot, true);
	} else {
		sim_node_attach(node);
	}
}

static void trouble_restart(void)
{
	node_restart(any_node());
}

static void trouble_mtu(void)
{
	sim_node_set_mtu(any_node(), PICK(1500, 9000, 1000, 4000));
}

/* What has been proved to pass does not pass any more. */
static void trouble_narrow(void)
{
	sim.longest = sim.longest ? 0 : ETH_HLEN + PICK(1500, 1500, 4000);
	SIM_TRACE("frames of %u bytes pass", sim.longest);
}

/* Everything else between two nodes arrives. */
static void trouble_cut(void)
{
	sim.cut = !sim.cut;
	SIM_TRACE("frames to endpoint 1 are %s", sim.cut ? "lost" : "not lost any more");
}

static void (*const troubles[])(void) = {
	make_troubles, trouble_partition, trouble_heal, trouble_heal, trouble_one_way,
	trouble_end_program, trouble_restart, trouble_mtu, trouble_narrow, trouble_cut,
};

static void scenario_act(struct sim_event *event)
{
	troubles[sim_below(ARRAY_SIZE(troubles))]();
	if (sim_now < scenario.healing)
		sim_event_at(event, sim_now + sim_below(2 * scenario.pause) + 1);
}

/* Programs neither pause nor sleep for long any more: only the driver may take its time. */
static void hurry(void)
{
	u32 i, slot;

	for (i = 0; i < sim.stream_count; i++) {
		struct sim_stream *stream = sim.stream[i];

		stream->pause = 0;
		if (stream->from)
			stream->next_at = min(stream->next_at, sim_now);
	}
	for (i = 0; i < sim.node_count; i++)
		for (slot = 0; slot < SIM_ENDPOINTS; slot++)
			if (sim.node[i].program[slot])
				sim_program_hurry(sim.node[i].program[slot]);
}

static void heal(void)
{
	u32 i;

	sim_event_cancel(&scenario.act);
	sim.healed = true;
	sim.troubles = (struct sim_troubles){ 0 };
	sim.fail_atomic = sim.fail_kernel = 0;
	sim.longest = sim.cut = 0;
	trouble_heal();
	for (i = 0; i < sim.node_count; i++)
		if (!sim.node[i].board)
			sim_node_attach(&sim.node[i]);
	hurry();
	SIM_TRACE("all troubles have ended");
}

/* ---- memory ---- */

#define MIB		(1ul << 20)
/* Not counted against a user's memory: boards, tables, frames on their way. */
#define OUTSIDE		(2 * MIB)
/* Of a channel, however little memory there is: see endpoint/account.h. */
#define CHANNEL_LEAST	(512ul << 10)
/* What a channel keeps until the peer has it, or until the program reads it. */
#define CHANNEL_MOST	(3 * MIB)

static u32 streams_of(const struct sim_node *node)
{
	u32 i, count = 0;

	for (i = 0; i < sim.stream_count; i++)
		count += sim.stream[i]->to == node || sim.stream[i]->node == node;
	return count;
}

static void check_memory(const struct sim_node *node)
{
	unsigned long limit = *(unsigned long *)sim_param_user_memory_mb * MIB;
	unsigned long rings = SIM_ENDPOINTS * OMX_RING_BYTES;
	unsigned long most = OUTSIDE + streams_of(node) * CHANNEL_MOST + rings;

	if (limit)
		most = min(most, OUTSIDE + streams_of(node) * CHANNEL_LEAST + limit);
	sim.peak = max(sim.peak, node->peak);
	if (node->peak > most)
		SIM_FAIL("node %u has allocated %zu bytes, more than %lu", node->index,
			 node->peak, most);
}

static void check_all_memory(void)
{
	u32 i;

	for (i = 0; i < sim.node_count; i++)
		check_memory(&sim.node[i]);
}

/* ---- the run ---- */

static bool all_have_ended(void)
{
	return !sim_fibers();
}

void sim_end(void)
{
	u32 i, slot;

	sim_on_reopen = NULL;
	for (i = 0; i < sim.node_count; i++)
		for (slot = 0; slot < SIM_ENDPOINTS; slot++) {
			struct sim_program *program = sim.node[i].program[slot];

			if (!program)
				continue;
			program->reopen = false;
			sim_program_end(program, sim_chance(20));
		}
	if (!sim_run(sim_now + 20 * SIM_S, all_have_ended))
		SIM_FAIL("%u programs do not end", sim_fibers());
	for (i = 0; i < sim.node_count; i++)
		sim_node_detach(&sim.node[i]);
	sim_run(sim_now + SIM_S, NULL);
	omx_account_exit();
	sim_time_require_empty();
	sim_memory_require_empty();
	sim_nodes_destroy();
	sim_ledger_end();
}

static void scenario_finish(void)
{
	u32 round;

	sim_ledger_check_progress(true);
	for (round = 0; !sim_run(sim_now + PATIENCE, sim_ledger_is_done); round++) {
		sim_ledger_check_progress(false);
		if (round == ROUNDS)
			sim_ledger_fail("the run does not end");
	}
}

static void scenario_begin(u64 seed)
{
	bool trace = sim.trace;

	sim = (struct sim){
		.seed = seed, .trace = trace, .chance = { seed * 2 + 1 }, .kernel = { ~seed },
	};
	sim_time_start();
	sim_ledger_start();
	scenario.act = (struct sim_event){ .run = scenario_act };
	scenario.healing = PICK(20, 100, 300, 1000, 3000) * SIM_MS;
	scenario.pause = scenario.healing / (1 + sim_below(6));
}

void sim_run_seed(u64 seed)
{
	scenario_begin(seed);
	make_network();
	make_programs();
	if (!sim_chance(25))
		sim_event_at(&scenario.act, sim_below(scenario.pause));
	sim_run(scenario.healing, NULL);
	heal();
	scenario_finish();
	if (sim_chance(5))
		sim_run(sim_now + 200 * SIM_S, NULL);	/* idle channels are probed */
	check_all_memory();
	sim_end();
}
