// SPDX-License-Identifier: BSD-2-Clause
/*
 * Channels that cannot go on: their receiver has no memory for a channel, what is sent to
 * them is lost while everything else passes, or their packets have become too long for the
 * network.  Channels from the same hosts to another program must not notice, and those that
 * are stuck must end with an error after their timeout, or go on when they can.
 */
#include "crowd.h"
#include "endpoint/budget.h"
#include "program.h"
#include "stuck.h"

#define SLOT		1		/* of the program whose channels are stuck */
#define USER		1000
#define MEMORY		(1ul << 36)
#define LONG_MESSAGE	16384
#define BEFORE		(5 * SIM_MS)	/* they are sending then */

static struct sim_event trouble;

static struct sim_program *stuck_program(void)
{
	struct sim_program *program = sim_program_start(&sim.node[0], SLOT);

	program->task.uid = USER;
	sim_run(sim_now + 2 * SIM_MS, NULL);
	return program;
}

static void stuck_streams(u32 first)
{
	u32 i;

	for (i = first; i < sim.node_count; i++)
		sim_crowd_stream(i, 0, 0, SLOT);
}

static void healthy_streams(void)
{
	u32 i;

	for (i = 1; i < sim.node_count; i++)
		sim_crowd_stream(i, 0, 0, 0);
}

static void stuck_at(void (*begin)(struct sim_event *event))
{
	trouble = (struct sim_event){ .run = begin };
	sim_event_at(&trouble, sim_now + BEFORE);
}

/* ---- no memory ---- */

static struct omx_account *stuck_user(void)
{
	return omx_endpoint_user(sim.node[0].program[SLOT]->ep);
}

static bool first_is_connected(void)
{
	return sim.stream[0]->state == SIM_OPEN;
}

/* One has connected before its user ran out of memory, and is refused by its first packet. */
void sim_stuck_refused(void)
{
	stuck_program();
	sim_crowd_stream(1, 0, 0, SLOT);
	SIM_REQUIRE(sim_run(sim_now + SIM_S, first_is_connected));
	omx_account_charge(stuck_user(), MEMORY);
	healthy_streams();
	stuck_streams(2);
}

void sim_stuck_resume(void)
{
	u32 i;

	for (i = 0; i < sim.stream_count; i++) {
		struct sim_stream *stream = sim.stream[i];

		if (stream->to_slot != SLOT)
			continue;
		SIM_REQUIRE(!stream->delivered);
		if (i && stream->state >= SIM_OPEN)
			SIM_FAIL("stream %u has connected although there is no memory", i);
	}
	/* Refusal is not loss: the path that it shares with others is as wide as before. */
	SIM_REQUIRE(!sim_node_counter(&sim.node[1], OMX_COUNTER_PATH_SLOWED));
	omx_account_uncharge(stuck_user(), MEMORY);
	if (!sim_run(sim_now + SIM_S, sim_ledger_is_done))
		sim_ledger_fail("no progress though there is memory");
}

/* ---- packets that do not arrive ---- */

static void flow_is_cut(struct sim_event *event)
{
	sim.cut = SLOT;
}

void sim_stuck_cut(void)
{
	stuck_program();
	healthy_streams();
	stuck_streams(1);
	stuck_at(flow_is_cut);
}

static void network_narrows(struct sim_event *event)
{
	sim.longest = ETH_HLEN + ETH_DATA_LEN;
}

/*
 * First, what is longer is proved to pass.  The packets of a long bundle are all as long as that,
 * and would not pass any more.
 */
void sim_stuck_narrow(void)
{
	u32 i;

	sim.broadcasts = true;
	sim.no_bursts = true;
	stuck_program();
	sim_run(sim_now + 6 * SIM_S, NULL);
	healthy_streams();
	stuck_streams(1);
	for (i = 0; i < sim.stream_count; i++)
		if (sim.stream[i]->to_slot == SLOT)
			sim.stream[i]->length = LONG_MESSAGE;
	stuck_at(network_narrows);
}

static bool has_given_up(const struct sim_stream *stream)
{
	return stream->generations > 1 || stream->state < SIM_OPEN;
}

void sim_stuck_end(void)
{
	u32 i;

	sim_run(sim_now + 62 * SIM_S, NULL);
	for (i = 0; i < sim.stream_count; i++)
		if (sim.stream[i]->to_slot == SLOT && !has_given_up(sim.stream[i]))
			sim_ledger_fail("a channel does not end");
}
