// SPDX-License-Identifier: BSD-2-Clause
/*
 * Atomic accesses.  First each client alone changes words of its own with random
 * operations, which a model checks.  Then all clients and the server itself, with
 * the instructions of its processor, change the same words at once: sums, counts
 * and tickets must be exact.
 *
 *	--window N	clients (the server needs to know)
 *	--count N	operations of each kind and client
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "accesses.h"
#include "atomic_model.h"

#define WRITERS_MAX	64
#define UNDER_WAY	16
#define BURST		64		/* changes of the owner between two looks */
#define MODEL_WORDS	8		/* of each client */

/* What all change.  Words of 4 bytes have neighbours that others change. */
struct shared {
	uint64_t sum, swapped, locked, tickets;
	uint64_t low, high, bits;
	uint32_t sum4, swapped4, locked4, tickets4;
	uint32_t low4, high4, bits4, guard4;
};

/* What one writer has done to them. */
struct account {
	uint64_t sum, swapped, locked, tickets, low, high, bits;
	uint32_t sum4, swapped4, locked4, tickets4, low4, high4, bits4;
};

struct memory {
	struct shared shared;
	uint64_t model[WRITERS_MAX][MODEL_WORDS];
};

static omx_endpoint_t ep;
static struct random chance_of;
static struct memory *memory;
static struct account total;

#define GUARD	0x5a5a5a5a
#define AT(word) offsetof(struct memory, shared.word)

/* ---- against a model -------------------------------------------------------------- */

static uint64_t draw_word(uint32_t size)
{
	static const uint64_t edges[] = {
		0, 1, ~0ull, 1ull << 63, (1ull << 63) - 1, 1u << 31, (1u << 31) - 1, ~0u,
	};
	uint64_t word = random_next(&chance_of);

	if (random_chance(&chance_of, 30))
		word = edges[random_below(&chance_of, 8)];
	return size == 4 ? (uint32_t)word : word;
}

/* A word of the model, of 4 or 8 bytes. */
static uint64_t load_word(const uint8_t *at, uint32_t size)
{
	uint64_t word = 0;

	memcpy(&word, at, size);	/* little endian, as all that we run on */
	return word;
}

static void store_word(uint8_t *at, uint32_t size, uint64_t word)
{
	memcpy(at, &word, size);
}

static void change_once(const struct remote *remote, uint64_t base, uint8_t *model)
{
	uint32_t size = random_chance(&chance_of, 50) ? 4 : 8;
	omx_atomic_t operation = random_below(&chance_of, OPERATIONS);
	size_t at = random_below(&chance_of, MODEL_WORDS * 8 / size) * size;
	uint64_t word = load_word(model + at, size), got[2];
	uint64_t operand = draw_word(size), compare = draw_word(size);

	if (random_chance(&chance_of, 50))
		compare = word;
	got[0] = got[1] = 0xa5a5a5a5a5a5a5a5;
	MUST(try_atomic(remote, operation, size, base + at, operand, compare,
			random_chance(&chance_of, 90) ? got : NULL));
	CHECK(got[0] == 0xa5a5a5a5a5a5a5a5 || load_word((void *)got, size) == word,
	      "operation %d of %u bytes: was %#llx, not %#llx", operation, size,
	      (unsigned long long)load_word((void *)got, size), (unsigned long long)word);
	if (size == 4)
		CHECK(((uint32_t *)got)[1] == 0xa5a5a5a5, "more than 4 bytes were stored");
	EQUAL(got[1], 0xa5a5a5a5a5a5a5a5);
	store_word(model + at, size, atomic_result(operation, size, word, operand, compare));
}

static void check_model(const struct remote *remote, unsigned int writer)
{
	uint64_t base = offsetof(struct memory, model[writer]);
	uint64_t model[MODEL_WORDS] = { 0 }, got[MODEL_WORDS];
	uint64_t i;

	for (i = 0; i < options.count; i++)
		change_once(remote, base, (uint8_t *)model);
	MUST(try_get(remote, base, got, sizeof(got)));
	for (i = 0; i < MODEL_WORDS; i++)
		CHECK(got[i] == model[i], "word %llu is %#llx instead of %#llx",
		      (unsigned long long)i, (unsigned long long)got[i],
		      (unsigned long long)model[i]);
}

/* ---- all at once: what does not depend on the order ------------------------------------ */

struct change {
	omx_request_t request;
	uint64_t before;
	void (*ended)(struct account *account, uint64_t before);
};

static void swapped_out(struct account *account, uint64_t before)
{
	account->swapped += before;
}

static void swapped_out4(struct account *account, uint64_t before)
{
	account->swapped4 += (uint32_t)before;
}

/* The square makes it unlikely that two writers who got one ticket are not noticed. */
static void got_ticket(struct account *account, uint64_t before)
{
	account->tickets += before * before;
}

static void got_ticket4(struct account *account, uint64_t before)
{
	account->tickets4 += (uint32_t)before * (uint32_t)before;
}

static const struct {
	omx_atomic_t operation;
	uint32_t size;
	uint64_t offset;
	void (*ended)(struct account *account, uint64_t before);
} changes[] = {
	{ OMX_ATOMIC_ADD, 8, AT(sum), NULL },
	{ OMX_ATOMIC_ADD, 4, AT(sum4), NULL },
	{ OMX_ATOMIC_XOR, 8, AT(bits), NULL },
	{ OMX_ATOMIC_XOR, 4, AT(bits4), NULL },
	{ OMX_ATOMIC_MIN, 8, AT(low), NULL },
	{ OMX_ATOMIC_MIN, 4, AT(low4), NULL },
	{ OMX_ATOMIC_UMAX, 8, AT(high), NULL },
	{ OMX_ATOMIC_UMAX, 4, AT(high4), NULL },
	{ OMX_ATOMIC_SWAP, 8, AT(swapped), swapped_out },
	{ OMX_ATOMIC_SWAP, 4, AT(swapped4), swapped_out4 },
	{ OMX_ATOMIC_ADD, 8, AT(tickets), got_ticket },
	{ OMX_ATOMIC_ADD, 4, AT(tickets4), got_ticket4 },
};

#define CHANGES		(sizeof(changes) / sizeof(changes[0]))

static void account_low(struct account *a, uint64_t operand)
{
	if ((int64_t)operand < (int64_t)a->low)
		a->low = operand;
}

static void account_low4(struct account *a, uint32_t operand)
{
	if ((int32_t)operand < (int32_t)a->low4)
		a->low4 = operand;
}

/* What the operand does to the word in the end, whoever comes first. */
static void account_operand(struct account *a, unsigned int i, uint64_t operand)
{
	switch (changes[i].offset) {
	case AT(sum): a->sum += operand; break;
	case AT(sum4): a->sum4 += operand; break;
	case AT(bits): a->bits ^= operand; break;
	case AT(bits4): a->bits4 ^= operand; break;
	case AT(low): account_low(a, operand); break;
	case AT(low4): account_low4(a, operand); break;
	case AT(high): a->high = operand > a->high ? operand : a->high; break;
	case AT(high4): a->high4 = (uint32_t)operand > a->high4 ? operand : a->high4; break;
	case AT(swapped): a->swapped -= operand; break;
	case AT(swapped4): a->swapped4 -= (uint32_t)operand; break;
	}
}

static bool is_ticket(unsigned int i)
{
	return changes[i].ended == got_ticket || changes[i].ended == got_ticket4;
}

static void end_change(struct change *change, struct account *account)
{
	if (!change->request)
		return;
	finish_with(ep, &change->request, OMX_SUCCESS);
	if (change->ended)
		change->ended(account, change->before);
}

static void change_shared(const struct remote *remote, struct account *account)
{
	struct change under_way[UNDER_WAY] = { 0 };
	uint64_t n;
	unsigned int i;

	for (n = 0; n < options.count * CHANGES; n++) {
		struct change *change = &under_way[n % UNDER_WAY];
		uint64_t operand = random_next(&chance_of);

		i = random_below(&chance_of, CHANGES);
		if (is_ticket(i))
			operand = 1;
		end_change(change, account);
		change->before = 0;
		change->ended = changes[i].ended;
		account_operand(account, i, operand);
		MUST(omx_iatomic(ep, changes[i].operation, changes[i].size, remote->addr,
				 remote->key, changes[i].offset, operand, 0,
				 change->ended ? &change->before : NULL, NULL,
				 &change->request));
	}
	for (i = 0; i < UNDER_WAY; i++)
		end_change(&under_way[i], account);
}

/* Counts up by compare-and-swap, as a program does that has no other operation. */
static void count_up(const struct remote *remote, struct account *account)
{
	uint64_t seen = 0, before;
	uint32_t seen4 = 0, before4;
	uint64_t n;

	for (n = 0; n < options.count;) {
		MUST(try_atomic(remote, OMX_ATOMIC_COMPARE_SWAP, 8, AT(locked), seen + 1, seen,
				&before));
		n += before == seen;
		account->locked += before == seen;
		seen = before == seen ? seen + 1 : before;
	}
	for (n = 0; n < options.count;) {
		MUST(try_atomic(remote, OMX_ATOMIC_COMPARE_SWAP, 4, AT(locked4), seen4 + 1, seen4,
				&before4));
		n += before4 == seen4;
		account->locked4 += before4 == seen4;
		seen4 = before4 == seen4 ? seen4 + 1 : before4;
	}
}

/* ---- the owner --------------------------------------------------------------------------- */

#define LOAD(word)	__atomic_load_n(&memory->shared.word, __ATOMIC_RELAXED)

#define OWN_ADD(word, operand)	__atomic_fetch_add(&memory->shared.word, operand, __ATOMIC_SEQ_CST)
#define OWN_XOR(word, operand)	__atomic_fetch_xor(&memory->shared.word, operand, __ATOMIC_SEQ_CST)
#define OWN_SWAP(word, operand)	__atomic_exchange_n(&memory->shared.word, operand, __ATOMIC_SEQ_CST)

/*
 * One compare-and-swap, which may lose against others, of a value that somebody else has
 * stored.  If the owner also counted up its own values, a client would find another value than
 * it has seen whenever its swap arrives, and would hardly ever win.
 */
#define OWN_COUNT(word) \
	({ \
		static __typeof__(memory->shared.word) mine_; \
		__typeof__(memory->shared.word) seen_ = LOAD(word); \
		bool won_ = seen_ != mine_ && \
			__atomic_compare_exchange_n(&memory->shared.word, &seen_, seen_ + 1, \
						    false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); \
		if (won_) \
			mine_ = seen_ + 1; \
		won_; \
	})

static void change_own(struct account *a)
{
	uint64_t operand = random_next(&chance_of);

	OWN_ADD(sum, operand);
	OWN_ADD(sum4, (uint32_t)operand);
	OWN_XOR(bits, operand);
	OWN_XOR(bits4, (uint32_t)operand);
	a->sum += operand;
	a->sum4 += operand;
	a->bits ^= operand;
	a->bits4 ^= operand;
	a->swapped += OWN_SWAP(swapped, operand) - operand;
	a->swapped4 += OWN_SWAP(swapped4, (uint32_t)operand) - (uint32_t)operand;
	got_ticket(a, OWN_ADD(tickets, 1));
	got_ticket4(a, OWN_ADD(tickets4, 1));
	a->locked += OWN_COUNT(locked);
	a->locked4 += OWN_COUNT(locked4);
}

/* ---- accounts ------------------------------------------------------------------------------ */

static void add_account(const struct account *a)
{
	total.sum += a->sum;
	total.sum4 += a->sum4;
	total.bits ^= a->bits;
	total.bits4 ^= a->bits4;
	total.swapped += a->swapped;
	total.swapped4 += a->swapped4;
	total.tickets += a->tickets;
	total.tickets4 += a->tickets4;
	total.locked += a->locked;
	total.locked4 += a->locked4;
	account_low(&total, a->low);
	account_low4(&total, a->low4);
	total.high = a->high > total.high ? a->high : total.high;
	total.high4 = a->high4 > total.high4 ? a->high4 : total.high4;
}

static uint64_t squares(uint64_t n)
{
	uint64_t sum = 0, i;

	for (i = 0; i < n; i++)
		sum += i * i;
	return sum;
}

static void check_total(void)
{
	EQUAL(LOAD(sum), total.sum);
	EQUAL(LOAD(sum4), total.sum4);
	EQUAL(LOAD(bits), total.bits);
	EQUAL(LOAD(bits4), total.bits4);
	EQUAL(LOAD(low), total.low);
	EQUAL(LOAD(low4), total.low4);
	EQUAL(LOAD(high), total.high);
	EQUAL(LOAD(high4), total.high4);
	EQUAL(LOAD(locked), total.locked);
	EQUAL(LOAD(locked4), total.locked4);
	/* What was swapped out, and what is there now, is what was swapped in. */
	EQUAL(total.swapped + LOAD(swapped), 0);
	EQUAL((uint32_t)(total.swapped4 + LOAD(swapped4)), 0);
	/* Each ticket went to one writer. */
	EQUAL(total.tickets, squares(LOAD(tickets)));
	EQUAL(total.tickets4, (uint32_t)squares(LOAD(tickets4)));
	EQUAL(LOAD(guard4), GUARD);
}

static void start_account(struct account *account)
{
	memset(account, 0, sizeof(*account));
	account->low = INT64_MAX;
	account->low4 = INT32_MAX;
}

/* ---- sides ----------------------------------------------------------------------------------- */

#define NUMBER	2			/* match infos */
#define READY	3
#define BEGIN	4
#define RESULT	5
#define DONE	6

static void serve_writers(const omx_endpoint_addr_t *writers)
{
	struct account own, theirs;
	omx_request_t result;
	omx_status_t status;
	unsigned int i, n;

	start_account(&own);
	for (i = 0; i < options.window; i++)
		send_sync(ep, writers[i], NULL, 0, BEGIN);
	for (i = 0; i < options.window; i++) {
		MUST(omx_irecv(ep, &theirs, sizeof(theirs), RESULT, EXACT, NULL, &result));
		while (!is_done(ep, &result, &status))
			for (n = 0; n < BURST; n++)
				change_own(&own);
		EQUAL(status.code, OMX_SUCCESS);
		add_account(&theirs);
	}
	add_account(&own);
}

static void run_server(void)
{
	omx_endpoint_addr_t writers[WRITERS_MAX];
	omx_window_t window;
	unsigned int i;

	CHECK(options.window <= WRITERS_MAX);
	memory = (void *)map_anonymous(NULL, sizeof(*memory));
	chance_of.state = options.seed;
	start_account(&total);
	memory->shared.low = total.low;
	memory->shared.low4 = total.low4;
	memory->shared.guard4 = GUARD;
	ep = open_number(options.endpoint, NULL, 0);
	window = export_memory(ep, memory, sizeof(*memory));
	for (i = 0; i < options.window; i++) {
		writers[i] = find_peer(ep);
		send_key(ep, writers[i], window);
		send_sync(ep, writers[i], &i, sizeof(i), NUMBER);
	}
	for (i = 0; i < options.window; i++)
		receive(ep, NULL, 0, READY);
	serve_writers(writers);
	check_total();
	printf("one_atomics: %u writers and the owner, %llu tickets, %llu counted\n",
	       options.window, (unsigned long long)LOAD(tickets),
	       (unsigned long long)LOAD(locked));
	for (i = 0; i < options.window; i++)
		send_sync(ep, writers[i], NULL, 0, DONE);
	MUST(omx_window_destroy(ep, window));
	MUST(omx_close_endpoint(ep));
}

static void run_client(void)
{
	struct account account;
	omx_endpoint_addr_t server;
	struct remote remote;
	unsigned int number;

	start_account(&account);
	ep = open_any();
	server = find_peer(ep);
	remote = receive_key(ep, server);
	receive(ep, &number, sizeof(number), NUMBER);
	chance_of.state = options.seed + number;
	check_model(&remote, number);
	send_sync(ep, server, NULL, 0, READY);
	receive(ep, NULL, 0, BEGIN);
	change_shared(&remote, &account);
	count_up(&remote, &account);
	send_sync(ep, server, &account, sizeof(account), RESULT);
	receive(ep, NULL, 0, DONE);
	MUST(omx_close_endpoint(ep));
}

int main(int argc, char **argv)
{
	options.count = 100;
	options.window = 1;
	return run_pair(argc, argv, run_server, run_client);
}
