// SPDX-License-Identifier: BSD-2-Clause
/*
 * mpi_displaced [--mode windows] [--count LENGTHS]: combines every call that
 * sends with every call that receives, with datatypes whose data does not begin
 * at the address of the buffer.  Each byte is compared, including those around
 * the data.  Persistent requests are started again with other data.  "windows"
 * adds one-sided communication.
 */
#include "common.h"

#include <stdlib.h>
#include <string.h>

#define MARGIN	4096
#define MARK	0xa5
#define ROUNDS	2
#define TAG	7

static const size_t lengths[] = { 64, 200000, 4, 32, 4096, 20000, 65536, 65540, 1048576 };

#define LENGTHS	((int)(sizeof(lengths) / sizeof(*lengths)))

/* ---- datatypes --------------------------------------------------------------- */

struct layout {
	const char *name;
	MPI_Datatype type;
	int count;
	size_t gap;		/* between the halves of the data */
	ptrdiff_t origin;	/* of the buffer, from the first byte of the data */
	char *memory;		/* MARGIN bytes, the data, MARGIN bytes */
	void *buffer;		/* what MPI is given */
	size_t length;
};

static char *data_of(const struct layout *layout)
{
	return layout->memory + MARGIN;
}

/* A block at the address `place` of the buffer. */
static MPI_Datatype block_at(size_t length, MPI_Aint place)
{
	MPI_Datatype type;
	int bytes = length;

	MUST(MPI_Type_create_hindexed(1, &bytes, &place, MPI_BYTE, &type));
	return type;
}

static void make_plain(struct layout *layout)
{
	layout->name = "at the buffer";
	MUST(MPI_Type_contiguous(layout->length, MPI_BYTE, &layout->type));
}

static void make_behind(struct layout *layout)
{
	layout->name = "behind the buffer's address";
	layout->origin = -48;
	layout->type = block_at(layout->length, 48);
}

static void make_before(struct layout *layout)
{
	layout->name = "before the buffer's address";
	layout->origin = 48;
	layout->type = block_at(layout->length, -48);
}

/* Of larger elements, so that a count of them is not one of bytes. */
static void make_several(struct layout *layout)
{
	size_t unit = layout->length / 4;
	MPI_Datatype inner = block_at(unit, 48);

	layout->name = "four elements behind the buffer's address";
	layout->origin = -48;
	layout->count = 4;
	MUST(MPI_Type_create_resized(inner, 48, unit, &layout->type));
	MUST(MPI_Type_free(&inner));
}

static void make_absolute(struct layout *layout)
{
	MPI_Aint place;

	layout->name = "relative to MPI_BOTTOM";
	MUST(MPI_Get_address(data_of(layout), &place));
	layout->type = block_at(layout->length, place);
	layout->buffer = MPI_BOTTOM;
}

static void make_halves(struct layout *layout)
{
	int half = layout->length / 2, lengths[2] = { half, half };
	MPI_Aint places[2] = { 48, 48 + half + 32 };

	layout->name = "two halves behind the buffer's address";
	layout->origin = -48;
	layout->gap = 32;
	MUST(MPI_Type_create_hindexed(2, lengths, places, MPI_BYTE, &layout->type));
}

typedef void make(struct layout *layout);
static make *const layouts[] = {
	make_plain, make_behind, make_before, make_several, make_absolute, make_halves,
};

#define LAYOUTS	((int)(sizeof(layouts) / sizeof(*layouts)))

static size_t layout_span(const struct layout *layout)
{
	return layout->length + layout->gap + 2 * MARGIN;
}

/* Of `length` bytes, a multiple of 4. */
static void layout_make(struct layout *layout, int kind, size_t length)
{
	*layout = (struct layout) { .count = 1, .length = length };
	layout->memory = allocate(length + 3 * MARGIN);
	layout->buffer = layout->memory;	/* not NULL */
	layouts[kind](layout);
	if (layout->buffer)
		layout->buffer = data_of(layout) + layout->origin;
	memset(layout->memory, MARK, layout_span(layout));
	MUST(MPI_Type_commit(&layout->type));
}

static void layout_free(struct layout *layout)
{
	MUST(MPI_Type_free(&layout->type));
	free(layout->memory);
}

static void write_data(const struct layout *layout, char *memory, uint64_t key)
{
	size_t first = layout->gap ? layout->length / 2 : layout->length;
	char *data = memory + MARGIN;

	fill(data, first, key, 0);
	fill(data + first + layout->gap, layout->length - first, key, first);
}

static void layout_fill(const struct layout *layout, uint64_t key)
{
	write_data(layout, layout->memory, key);
}

static const char *sending, *receiving;	/* for complaints */

static void layout_verify(const struct layout *layout, uint64_t key)
{
	char *wanted = allocate(layout_span(layout));
	size_t i;

	memset(wanted, MARK, layout_span(layout));
	write_data(layout, wanted, key);
	for (i = 0; memcmp(layout->memory, wanted,
			   layout_span(layout)) && i < layout_span(layout); i++)
		CHECK(layout->memory[i] == wanted[i],
		      "byte %zd of %zu bytes %s, from %s to %s, start %llu",
		      (ptrdiff_t)i - MARGIN, layout->length, layout->name, sending, receiving,
		      (unsigned long long)key % ROUNDS);
	free(wanted);
}

/* ---- calls that send --------------------------------------------------------- */

#define SEND(call) \
	static void call##_once(const struct layout *out, int peer) \
	{ \
		MUST(call(out->buffer, out->count, out->type, peer, TAG, world)); \
	}
SEND(MPI_Send)
SEND(MPI_Ssend)
SEND(MPI_Rsend)
SEND(MPI_Bsend)

#define SEND_LATER(call) \
	static void call##_once(const struct layout *out, int peer) \
	{ \
		MPI_Request request; \
		\
		MUST(call(out->buffer, out->count, out->type, peer, TAG, world, &request)); \
		MUST(MPI_Wait(&request, MPI_STATUS_IGNORE)); \
	}
SEND_LATER(MPI_Isend)
SEND_LATER(MPI_Issend)
SEND_LATER(MPI_Irsend)
SEND_LATER(MPI_Ibsend)

static void MPI_Sendrecv_once(const struct layout *out, int peer)
{
	MUST(MPI_Sendrecv(out->buffer, out->count, out->type, peer, TAG, NULL, 0, MPI_BYTE,
			  MPI_PROC_NULL, TAG, world, MPI_STATUS_IGNORE));
}

typedef int init_send(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);

struct send {
	const char *name;
	void (*once)(const struct layout *out, int peer);
	init_send *init;
	bool is_ready;		/* its receive has to be there */
};

#define ONCE(call, ready)	{ #call, call##_once, NULL, ready }
#define INIT(call, ready)	{ #call, NULL, call, ready }
static const struct send sends[] = {
	ONCE(MPI_Send, false), ONCE(MPI_Ssend, false), ONCE(MPI_Rsend, true),
	ONCE(MPI_Bsend, false), ONCE(MPI_Isend, false), ONCE(MPI_Issend, false),
	ONCE(MPI_Irsend, true), ONCE(MPI_Ibsend, false), ONCE(MPI_Sendrecv, false),
	INIT(MPI_Send_init, false), INIT(MPI_Ssend_init, false),
	INIT(MPI_Rsend_init, true), INIT(MPI_Bsend_init, false),
};

#define SENDS	((int)(sizeof(sends) / sizeof(*sends)))

/* ---- calls that receive ------------------------------------------------------ */

struct receive {
	const char *name;
	/* NULL: it waits for the message, so it comes second */
	void (*post)(const struct layout *in, int peer, MPI_Request *request);
	void (*now)(const struct layout *in, int peer);
	bool is_persistent;
};

static void post_irecv(const struct layout *in, int peer, MPI_Request *request)
{
	MUST(MPI_Irecv(in->buffer, in->count, in->type, peer, TAG, world, request));
}

static void post_recv_init(const struct layout *in, int peer, MPI_Request *request)
{
	if (*request == MPI_REQUEST_NULL)
		MUST(MPI_Recv_init(in->buffer, in->count, in->type, peer, TAG, world, request));
	MUST(MPI_Start(request));
}

static void recv_now(const struct layout *in, int peer)
{
	MUST(MPI_Recv(in->buffer, in->count, in->type, peer, TAG, world, MPI_STATUS_IGNORE));
}

static void mrecv_now(const struct layout *in, int peer)
{
	MPI_Message message;

	MUST(MPI_Mprobe(peer, TAG, world, &message, MPI_STATUS_IGNORE));
	MUST(MPI_Mrecv(in->buffer, in->count, in->type, &message, MPI_STATUS_IGNORE));
}

static void imrecv_now(const struct layout *in, int peer)
{
	MPI_Message message;
	MPI_Request request;

	MUST(MPI_Mprobe(peer, TAG, world, &message, MPI_STATUS_IGNORE));
	MUST(MPI_Imrecv(in->buffer, in->count, in->type, &message, &request));
	MUST(MPI_Wait(&request, MPI_STATUS_IGNORE));
}

static const struct receive receives[] = {
	{ "MPI_Irecv", post_irecv, NULL, false },
	{ "MPI_Recv_init", post_recv_init, NULL, true },
	{ "MPI_Recv", NULL, recv_now, false },
	{ "MPI_Mrecv", NULL, mrecv_now, false },
	{ "MPI_Imrecv", NULL, imrecv_now, false },
};

#define RECEIVES	((int)(sizeof(receives) / sizeof(*receives)))

/* ---- each with each ---------------------------------------------------------- */

static bool is_possible(const struct send *send, const struct receive *receive)
{
	return receive->post || !send->is_ready;
}

/*
 * Only a third of the combinations is tested with further lengths, unless
 * --count asks for all lengths.
 */
static bool is_left_out(int send, int receive, int kind, size_t length)
{
	return length != lengths[0] && options.count < LENGTHS && (send + receive + kind) % 3;
}

static int rounds_of(const struct send *send, const struct receive *receive)
{
	return send->init || receive->is_persistent ? ROUNDS : 1;
}

static uint64_t key_of(int send, int receive, int kind, int round)
{
	return ((send * RECEIVES + receive) * LAYOUTS + kind) * ROUNDS + round;
}

static void send_by(const struct send *send, const struct layout *out, int peer,
		    MPI_Request *request)
{
	if (send->once) {
		send->once(out, peer);
		return;
	}
	if (*request == MPI_REQUEST_NULL)
		MUST(send->init(out->buffer, out->count, out->type, peer, TAG, world, request));
	MUST(MPI_Start(request));
	MUST(MPI_Wait(request, MPI_STATUS_IGNORE));
}

static void send_all(int peer, int send, int receive, int kind, size_t length)
{
	MPI_Request request = MPI_REQUEST_NULL;
	struct layout out;
	int round;

	layout_make(&out, kind, length);
	for (round = 0; round < rounds_of(&sends[send], &receives[receive]); round++) {
		layout_fill(&out, key_of(send, receive, kind, round));
		if (receives[receive].post)
			meet(peer);
		send_by(&sends[send], &out, peer, &request);
		layout_verify(&out, key_of(send, receive, kind, round));
	}
	if (request != MPI_REQUEST_NULL)
		MUST(MPI_Request_free(&request));
	layout_free(&out);
	meet(peer);		/* the attached buffer has room for a few messages */
}

static void receive_all(int peer, int send, int receive, int kind, size_t length)
{
	const struct receive *call = &receives[receive];
	MPI_Request request = MPI_REQUEST_NULL;
	struct layout in;
	int round;

	layout_make(&in, kind, length);
	for (round = 0; round < rounds_of(&sends[send], call); round++) {
		if (call->post) {
			call->post(&in, peer, &request);
			meet(peer);
			MUST(MPI_Wait(&request, MPI_STATUS_IGNORE));
		} else {
			call->now(&in, peer);
		}
		layout_verify(&in, key_of(send, receive, kind, round));
	}
	if (request != MPI_REQUEST_NULL)
		MUST(MPI_Request_free(&request));
	layout_free(&in);
	meet(peer);
}

static void each_with_each(size_t length)
{
	int send, receive, kind, count = 0;

	for (send = 0; send < SENDS; send++)
		for (receive = 0; receive < RECEIVES; receive++)
			for (kind = 0; kind < LAYOUTS; kind++) {
				sending = sends[send].name;
				receiving = receives[receive].name;
				if (!is_possible(&sends[send], &receives[receive]) ||
				    is_left_out(send, receive, kind, length))
					continue;
				if (rank == 0)
					send_all(1, send, receive, kind, length);
				else
					receive_all(0, send, receive, kind, length);
				count++;
			}
	say("%zu bytes: %d combinations", length, count);
}

/* ---- buffered sends that overtake the receiver ------------------------------- */

/*
 * All sends start before the first receive, since buffered sends complete at
 * once.
 */
#define AHEAD	3

static void send_ahead(int kind, size_t length)
{
	MPI_Request request;
	struct layout out;
	int round;

	layout_make(&out, kind, length);
	MUST(MPI_Bsend_init(out.buffer, out.count, out.type, 1, TAG, world, &request));
	for (round = 0; round < AHEAD; round++) {
		layout_fill(&out, round);
		MUST(MPI_Start(&request));
		MUST(MPI_Wait(&request, MPI_STATUS_IGNORE));
	}
	MUST(MPI_Request_free(&request));
	layout_fill(&out, AHEAD);
	layout_free(&out);
	meet(1);
}

static void receive_behind(int kind, size_t length)
{
	MPI_Status status;
	struct layout in;
	int round, count;

	meet(0);
	layout_make(&in, kind, length);
	for (round = 0; round < AHEAD; round++) {
		MUST(MPI_Recv(in.buffer, in.count, in.type, 0, TAG, world, &status));
		MPI_Get_count(&status, in.type, &count);
		EQUAL(count, in.count);
		layout_verify(&in, round);
	}
	layout_free(&in);
}

/*
 * Again and again: the attached buffer has room for the sends of two rounds, and those of
 * an earlier one have been received whenever a round begins.
 */
static void overtake_receive(size_t length)
{
	int i;

	sending = "MPI_Bsend_init";
	receiving = "MPI_Recv, later";
	for (i = 0; i < 50 * LAYOUTS; i++) {
		if (rank == 0)
			send_ahead(i % LAYOUTS, length);
		else
			receive_behind(i % LAYOUTS, length);
	}
}

/* ---- one-sided --------------------------------------------------------------- */

static void put_and_get(MPI_Win window, char *memory, int kind, size_t length)
{
	struct layout out, in;

	layout_make(&out, kind, length);
	layout_make(&in, kind, length);
	layout_fill(&out, kind);
	sending = "MPI_Put";
	receiving = "MPI_Get";
	MUST(MPI_Win_fence(0, window));
	if (rank == 0)
		MUST(MPI_Put(out.buffer, out.count, out.type, 1, 0, length, MPI_BYTE, window));
	MUST(MPI_Win_fence(0, window));
	if (rank == 1)
		verify(memory, length, kind);
	if (rank == 0)
		MUST(MPI_Get(in.buffer, in.count, in.type, 1, 0, length, MPI_BYTE, window));
	MUST(MPI_Win_fence(0, window));
	if (rank == 0)
		layout_verify(&in, kind);
	layout_free(&in);
	layout_free(&out);
}

static void one_sided(size_t length)
{
	char *memory = allocate(length);
	MPI_Win window;
	int kind;

	memset(memory, MARK, length);
	MUST(MPI_Win_create(memory, length, 1, MPI_INFO_NULL, world, &window));
	for (kind = 0; kind < LAYOUTS; kind++)
		put_and_get(window, memory, kind, length);
	MUST(MPI_Win_free(&window));
	free(memory);
}

/* ------------------------------------------------------------------------------ */

static void all_of(size_t length)
{
	size_t space = 2 * AHEAD * (length + 1000 + MPI_BSEND_OVERHEAD);
	void *attached = allocate(space);
	int size;

	MUST(MPI_Buffer_attach(attached, space));
	each_with_each(length);
	overtake_receive(length);
	MUST(MPI_Buffer_detach(&attached, &size));
	free(attached);
	if (options.mode)
		one_sided(length);
}

int main(int argc, char **argv)
{
	uint64_t i;

	options.count = 2;
	MPI_Init(&argc, &argv);
	read_options(argc, argv);
	start();
	EQUAL(ranks, 2);
	CHECK(options.count <= LENGTHS);
	for (i = 0; i < options.count; i++)
		all_of(lengths[i]);
	return finish();
}
