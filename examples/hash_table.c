/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A distributed hash table, in three versions that differ in how elements are inserted
 * and deleted [Besta15, section 4.1]:
 *
 *	active	one put to the bucket: the page is not written but logged, and a handler of
 *		the owner does the rest
 *	rma	the inserting program does everything with atomics and puts, one after the
 *		other: one access if the bucket is free, four if it is not
 *	message	a message to the owner, which polls for them
 *
 * Lookups are gets in all versions. The owner of the table, and then its clients:
 *
 *	hash_table serve VERSION CLIENTS
 *	hash_table BOARD VERSION COLLISIONS-PERCENT INSERTS
 *
 * Each client looks up all that it has inserted, deletes a tenth of it, and prints how
 * many inserts it made per second.
 */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "peer.h"

#define KEY		0x4a5b
#define BUCKETS		(1u << 20)
#define HEAP		(1u << 20)

#define HELLO		1		/* match infos */
#define WINDOW		2
#define INSERT		3
#define DELETE		4
#define BYE		5

struct cell {
	uint64_t element;		/* 0: free, or deleted */
	uint64_t next;			/* cell of the heap, counted from 1; 0: none */
};

/* What a client sees of the table, through a window. */
struct volume {
	struct cell table[BUCKETS];
	struct cell heap[HEAP];		/* elements whose bucket was taken */
	uint64_t free;			/* cells of the heap in use */
	uint8_t fill[4088];
	uint8_t deletes[4096];		/* active: elements put here are deleted */
};

static struct volume *volume;		/* the owner's */
static omx_endpoint_addr_t owner;	/* a client's */
static omx_key_t key;

/* ---- the owner's own changes ------------------------------------------------------ */

static void insert_here(uint64_t element)
{
	struct cell *bucket = &volume->table[element % BUCKETS], *cell;

	if (!bucket->element && !bucket->next) {
		bucket->element = element;
		return;
	}
	if (volume->free == HEAP)
		die("the heap is full");
	cell = &volume->heap[volume->free++];
	*cell = (struct cell){ element, bucket->next };
	bucket->next = volume->free;
}

static void delete_here(uint64_t element)
{
	struct cell *cell = &volume->table[element % BUCKETS];

	while (cell->element != element && cell->next)
		cell = &volume->heap[cell->next - 1];
	if (cell->element == element)
		cell->element = 0;
}

/* ---- accesses of clients ---------------------------------------------------------- */

static uint64_t bucket_offset(uint64_t element)
{
	return offsetof(struct volume, table) + element % BUCKETS * sizeof(struct cell);
}

static uint64_t heap_offset(uint64_t cell)
{
	return offsetof(struct volume, heap) + (cell - 1) * sizeof(struct cell);
}

static uint64_t atomic(omx_atomic_t operation, uint64_t offset, uint64_t operand,
		       uint64_t compare)
{
	omx_request_t request;
	uint64_t before;

	check("atomic", omx_iatomic(ep, operation, 8, owner, key, offset, operand, compare,
				    &before, NULL, &request));
	finish(&request, NULL);
	return before;
}

/* Follows the chain of the bucket.  Returns whether the element is there, and where. */
static int lookup(uint64_t element, uint64_t *offset)
{
	struct cell cell;

	for (*offset = bucket_offset(element);; *offset = heap_offset(cell.next)) {
		omx_request_t request;

		check("get", omx_iget(ep, &cell, sizeof(cell), owner, key, *offset, NULL,
				      &request));
		finish(&request, NULL);
		if (cell.element == element)
			return 1;
		if (!cell.next)
			return 0;
	}
}

/* ---- version active --------------------------------------------------------------- */

static void active_handle(omx_endpoint_t unused, const omx_log_entry_t *entry, void *context)
{
	uint64_t element;

	(void)unused, (void)context;
	memcpy(&element, entry->data, sizeof(element));
	if (entry->offset >= offsetof(struct volume, deletes))
		delete_here(element);
	else
		insert_here(element);
}

static void active_prepare(omx_window_t window)
{
	omx_log_t log;

	check("log", omx_log_create(ep, 0, &log));
	check("table", omx_window_activate(ep, window, offsetof(struct volume, table),
					   sizeof(volume->table),
					   OMX_ACTIVE_R | OMX_ACTIVE_WLD | OMX_ACTIVE_E, log));
	check("deletes", omx_window_activate(ep, window, offsetof(struct volume, deletes),
					     sizeof(volume->deletes),
					     OMX_ACTIVE_WLD | OMX_ACTIVE_E, log));
	check("handler", omx_log_handler(ep, log, active_handle, NULL));
}

static void active_put(uint64_t *element, uint64_t offset)
{
	check("put", omx_iput(ep, element, sizeof(*element), owner, key, offset, NULL, NULL));
}

static void active_insert(uint64_t *element)
{
	active_put(element, bucket_offset(*element));
}

static void active_delete(uint64_t *element)
{
	active_put(element, offsetof(struct volume, deletes));
}

static void active_flush(void)
{
	uint32_t done;

	check("flush", omx_flush_active(ep, owner, &done, OMX_TIMEOUT_INFINITE));
}

/* ---- version rma ------------------------------------------------------------------ */

static void rma_insert(uint64_t *element)
{
	uint64_t bucket = bucket_offset(*element), cell;
	omx_request_t request;
	struct cell content = { .element = *element };

	if (!atomic(OMX_ATOMIC_COMPARE_SWAP, bucket, *element, 0))
		return;
	cell = atomic(OMX_ATOMIC_ADD, offsetof(struct volume, free), 1, 0) + 1;
	if (cell > HEAP)
		die("the heap is full");
	content.next = atomic(OMX_ATOMIC_SWAP, bucket + offsetof(struct cell, next), cell, 0);
	check("put", omx_iput(ep, &content, sizeof(content), owner, key, heap_offset(cell), NULL,
			      &request));
	finish(&request, NULL);
}

static void rma_delete(uint64_t *element)
{
	uint64_t offset;

	if (lookup(*element, &offset))
		atomic(OMX_ATOMIC_COMPARE_SWAP, offset, 0, *element);
}

/* ---- version message -------------------------------------------------------------- */

static uint64_t message_poll(omx_status_t *status)
{
	uint64_t element = 0;
	omx_request_t request;
	uint32_t done;

	check("receive", omx_irecv(ep, &element, sizeof(element), 0, 0, NULL, &request));
	for (;;) {
		check("test", omx_test(ep, &request, status, &done));
		if (done)
			break;
		sched_yield();		/* a client may need this processor */
	}
	check("message", status->code);
	return element;
}

static void message_serve(uint64_t clients)
{
	omx_status_t status;

	while (clients) {
		uint64_t element = message_poll(&status);

		if (status.match_info == INSERT)
			insert_here(element);
		else if (status.match_info == DELETE)
			delete_here(element);
		else
			clients--;
	}
}

static void message_send(uint64_t *element, uint64_t match)
{
	omx_request_t request;

	check("send", omx_isend(ep, element, sizeof(*element), owner, match, NULL, &request));
	check("forget", omx_forget(ep, &request));
}

static void message_insert(uint64_t *element)
{
	message_send(element, INSERT);
}

static void message_delete(uint64_t *element)
{
	message_send(element, DELETE);
}

/*
 * Messages of one sender are received in order, this one last, and the owner receives it
 * when it has done what the others say: it has one receive posted at a time.
 */
static void message_flush(void)
{
	uint64_t nothing = UINT64_MAX;		/* no element */

	send_message(owner, &nothing, sizeof(nothing), DELETE);
}

/* ---- all versions ----------------------------------------------------------------- */

static const struct version {
	const char *name;
	void (*prepare)(omx_window_t window);
	void (*serve)(uint64_t clients);
	void (*insert)(uint64_t *element);
	void (*delete)(uint64_t *element);
	void (*flush)(void);
} versions[] = {
	{ "active", active_prepare, NULL, active_insert, active_delete, active_flush },
	{ "rma", NULL, NULL, rma_insert, rma_delete, NULL },
	{ "message", NULL, message_serve, message_insert, message_delete, message_flush },
};

static const struct version *find_version(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(versions) / sizeof(versions[0]); i++)
		if (!strcmp(versions[i].name, name))
			return &versions[i];
	die("there is no version '%s'", name);
}

static void serve(const struct version *version, uint64_t clients)
{
	uint32_t rights = OMX_WINDOW_RIGHT_GET | OMX_WINDOW_RIGHT_PUT | OMX_WINDOW_RIGHT_ATOMIC |
			  OMX_WINDOW_RIGHT_ACTIVE;
	omx_window_t window;
	omx_status_t status;
	uint64_t i;

	volume = allocate(sizeof(*volume));
	open_endpoint(0, KEY);
	check("window", omx_window_create(ep, volume, sizeof(*volume), rights, NULL, &window));
	check("key", omx_window_key(ep, window, &key));
	if (version->prepare)
		version->prepare(window);
	for (i = 0; i < clients; i++) {
		receive_message(NULL, 0, HELLO, &status);
		send_message(status.addr, &i, sizeof(i), HELLO);
		send_message(status.addr, &key, sizeof(key), WINDOW);
	}
	if (version->serve)
		version->serve(clients);
	else
		for (i = 0; i < clients; i++)
			receive_message(NULL, 0, BYE, NULL);
}

/* Client n's element i: with the given chance in a bucket that it has used before. */
static uint64_t make_element(uint64_t n, uint64_t i, unsigned int percent, uint64_t *buckets)
{
	uint64_t bucket = *buckets;

	if (*buckets && (unsigned int)(rand() % 100) < percent)
		bucket = (uint64_t)rand() % *buckets;
	else
		*buckets = *buckets + 1;
	bucket = (bucket * 16 + n) % BUCKETS;
	return ((n << 24 | i) + 1) * BUCKETS + bucket;
}

static void expect(uint64_t element, int there)
{
	uint64_t offset;

	if (lookup(element, &offset) == there)
		return;
	die("element %#llx is %s", (unsigned long long)element,
	    there ? "not there" : "still there");
}

static void run_client(const struct version *version, unsigned int percent, uint64_t count)
{
	uint64_t *elements = calloc(count + 1, sizeof(*elements)), buckets = 0, i, n;
	double start, seconds;

	send_message(owner, NULL, 0, HELLO);
	receive_message(&n, sizeof(n), HELLO, NULL);
	receive_message(&key, sizeof(key), WINDOW, NULL);
	for (i = 0; i < count; i++)
		elements[i] = make_element(n, i, percent, &buckets);
	start = now();
	for (i = 0; i < count; i++)
		version->insert(&elements[i]);
	if (version->flush)
		version->flush();
	seconds = now() - start;
	for (i = 0; i < count; i++)
		expect(elements[i], 1);
	for (i = 0; i < count; i += 10)
		version->delete(&elements[i]);
	if (version->flush)
		version->flush();
	for (i = 0; i < count; i++)
		expect(elements[i], i % 10 != 0);
	printf("%s, %u %% collisions: %.0f inserts/s\n", version->name, percent,
	       (double)count / seconds);
	send_message(owner, NULL, 0, BYE);
	free(elements);
}

static const char usage[] =
	"usage: hash_table serve VERSION CLIENTS\n"
	"       hash_table BOARD VERSION COLLISIONS-PERCENT INSERTS\n"
	"\n"
	"Inserts elements into a table of another process.  VERSION is active, rma or message.\n"
	"Start the clients on other nodes, or on the same one; BOARD is where the server is,\n"
	"for instance node1:0.\n";

int main(int argc, char **argv)
{
	begin(argc, argv, usage);
	if (argc == 4 && !strcmp(argv[1], "serve")) {
		serve(find_version(argv[2]), number_in(argv[3], "CLIENTS", 1, 16));
	} else if (argc == 5) {
		open_endpoint(OMX_ANY_ENDPOINT, KEY);
		owner = connect_to(argv[1], 0, KEY);
		run_client(find_version(argv[2]),
			   (unsigned int)number_in(argv[3], "COLLISIONS-PERCENT", 0, 100),
			   number_in(argv[4], "INSERTS", 1, BUCKETS / 16));
	} else {
		misused(usage);
	}
	close_endpoint();
	return 0;
}
