// SPDX-License-Identifier: BSD-2-Clause
/*
 * mpi_soak: random messages between all, --count rounds of them: of random
 * length, mode and datatype, received in random ways, every byte checked. The
 * same --seed does the same.
 */
#include "common.h"
#include "shapes.h"

#include <stdlib.h>

#define PER_ROUND	24

struct message {
	int from, to, tag, send_kind, receive_kind, mode, way;
	size_t bytes;
	uint64_t key;
	/* of this process */
	struct shape shape;
	char *memory;
	MPI_Request request;
};

static size_t random_length(struct random *random)
{
	static const size_t most[] = { 64, 512, 4096, 16384, 65536, 300000, 1500000 };

	return (random_below(random, most[random_below(random, 7)]) / 64 + 1) * 64;
}

/* Every process draws the same. */
static void draw_message(struct message *message, struct random *random, int index, int round)
{
	message->from = random_below(random, ranks);
	message->to = random_below(random, ranks);
	message->tag = random_below(random, 3);
	message->send_kind = random_below(random, shape_kinds);
	message->receive_kind = random_below(random, 2) ? message->send_kind : 0;
	message->mode = random_below(random, 3);
	message->way = random_below(random, 3);
	message->bytes = random_length(random);
	message->key = (uint64_t)round * PER_ROUND + index;
	message->request = MPI_REQUEST_NULL;
	message->memory = NULL;
}

static void send_message(struct message *message)
{
	shape_make(&message->shape, message->send_kind, message->bytes);
	message->memory = shape_allocate(&message->shape);
	shape_fill(&message->shape, message->memory, message->key);
	if (message->mode == 2)
		MUST(MPI_Issend(message->memory, message->shape.count, message->shape.type,
				message->to,
				message->tag, world, &message->request));
	else
		MUST(MPI_Isend(message->memory, message->shape.count, message->shape.type,
			       message->to,
			       message->tag, world, &message->request));
}

/* The receiver's shape has room for all of the sender's bytes. */
static void receive_message(struct message *message)
{
	struct shape sent;

	shape_make(&sent, message->send_kind, message->bytes);
	shape_make(&message->shape, message->receive_kind,
		   message->receive_kind == message->send_kind ? message->bytes : sent.bytes);
	message->bytes = sent.bytes;
	shape_free(&sent);
	message->memory = shape_allocate(&message->shape);
	MUST(MPI_Irecv(message->memory, message->shape.count, message->shape.type, message->from,
		       message->tag, world, &message->request));
}

static void done_with(struct message *message)
{
	if (!message->memory)
		return;
	shape_release(&message->shape, message->memory);
	shape_free(&message->shape);
}

static void play_round(struct message *sends, struct message *receives, struct random *random,
		       bool receive_first)
{
	MPI_Request requests[2 * PER_ROUND];
	int i;

	for (i = 0; i < PER_ROUND && receive_first; i++)
		if (receives[i].to == rank)
			receive_message(&receives[i]);
	for (i = 0; i < PER_ROUND; i++)
		if (sends[i].from == rank)
			send_message(&sends[i]);
	for (i = 0; i < PER_ROUND && !receive_first; i++)
		if (receives[i].to == rank)
			receive_message(&receives[i]);
	for (i = 0; i < PER_ROUND; i++) {
		requests[2 * i] = sends[i].request;
		requests[2 * i + 1] = receives[i].request;
	}
	(void)random;
	MUST(MPI_Waitall(2 * PER_ROUND, requests, MPI_STATUSES_IGNORE));
}

static void run_round(int round, struct random *random)
{
	struct message sends[PER_ROUND], receives[PER_ROUND];
	int i, mine = random_next(random) % 3;

	for (i = 0; i < PER_ROUND; i++) {
		draw_message(&sends[i], random, i, round);
		receives[i] = sends[i];
	}
	play_round(sends, receives, random, mine == 0 || (mine == 1 && rank % 2));
	for (i = 0; i < PER_ROUND; i++) {
		if (receives[i].to == rank)
			shape_verify(&receives[i].shape, receives[i].memory, receives[i].key,
				     receives[i].bytes);
		done_with(&sends[i]);
		done_with(&receives[i]);
	}
}

int main(int argc, char **argv)
{
	struct random random;
	uint64_t round;

	options.count = 50;
	MPI_Init(&argc, &argv);
	read_options(argc, argv);
	start();
	say("seed %llu", (unsigned long long)options.seed);
	random.state = options.seed;
	for (round = 0; round < options.count; round++)
		run_round(round, &random);
	MUST(MPI_Barrier(world));
	return finish();
}
