// SPDX-License-Identifier: BSD-2-Clause
/*
 * An act changes the memory of a message, before the message or while it is
 * sent or received: it is moved, swapped, unmapped and so on.  Later transfers
 * must see the same memory as the program.
 *
 *	--mode M	pin, overlap, unpinned, permanent, auto
 *	--act A		only this one
 *	--state S	only this one: idle, declared, source, destination
 *	--count N	rounds of each act in each state
 *	--seed S	of everything that is random
 *
 * The acts change the client's memory.  A round begins according to its state:
 *
 *	idle		a transfer, the act
 *	declared	memory is declared, never used, the act
 *	source		the act while a message is sent
 *	destination	the act while a message is received
 *
 * Then the memory is transferred as the act has left it.  That must fail on
 * both sides if the program itself cannot access the memory; otherwise the
 * message has the bytes that the program sees.  After that, all of the memory
 * is mapped and filled again, sent, and received into.
 *
 * A transfer during which the act happens may carry the bytes from before or
 * from after the act, and may fail if the act makes them inaccessible, with the
 * same result on both sides.  Two messages of other memory travel at the same
 * time and must arrive.  In some rounds memory is prefetched at any of these
 * times.
 */
#include <stdio.h>
#include <string.h>

#include "torture.h"

#define ENOUGH		10		/* so many rounds contain every random choice */

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

/* Whether the client can do this act; tells the server. */
static bool is_possible(const struct act *act)
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

/* Checks by /proc/vmstat that the kernel has done what the act asked for. */
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
		if (!is_possible(acts[act]))
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

static void run_server(void)
{
	ep = meet(&peer);
	check_mode(ep);
	agree_on_seed();
	bystanders_make();
	server_make();
	run_all();
	part(ep, peer);
}

static void run_client(void)
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
	return run_pair(argc, argv, run_server, run_client);
}
