/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Posted receives and queues by themselves, with thousands of entries, more masks than
 * there can be indexes, and no memory for tables at times: against lists that are
 * walked along.
 */
#include "fixture.h"
#include "posted.h"
#include "match_queue.h"

#define STEPS		60000
#define ENTRIES		4000
#define KEYS		300

/* ---- memory that runs short ----------------------------------------------------- */

static int shortage;	/* percent of the allocations that fail */
static uint32_t failed;

void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);

void *__wrap_calloc(size_t count, size_t size)
{
	if (rand() % 100 < shortage) {
		failed++;
		return NULL;
	}
	return __real_calloc(count, size);
}

/* ---- what both models have in common ---------------------------------------------- */

/* Of fields as MPI has them: a communicator, a source and a tag. */
#define COMMUNICATOR	(0xffull << 56)
#define SOURCE		(0xffffull << 32)
#define TAG		0xffffull

static const uint64_t masks[] = {
	ALL, ALL & ~SOURCE, ALL & ~TAG, COMMUNICATOR, COMMUNICATOR | SOURCE, COMMUNICATOR | TAG,
	SOURCE, TAG, SOURCE | TAG, 0, 1, 3, 7, 15, 1ull << 32, 3ull << 32,
};

static uint64_t random_info(void)
{
	return (uint64_t)(rand() % 2) << 56 | (uint64_t)(rand() % KEYS) << 32 |
	       (uint64_t)(rand() % 4);
}

/* One mask is used most, as in programs. */
static uint64_t random_mask(uint32_t count)
{
	return masks[rand() % 2 ? 0 : (uint32_t)rand() % count];
}

/* How a run goes: queues grow, shrink and become empty; masks and memory come and go. */
struct phase {
	uint32_t masks;
	int bias;	/* percent of the steps that add an entry */
};

static void change_phase(struct phase *phase)
{
	phase->masks = 1 + (uint32_t)rand() % COUNT(masks);
	phase->bias = rand() % 5 ? 30 + rand() % 50 : 0;
	shortage = rand() % 3 ? 0 : rand() % 101;
}

/* The entries of a model, in their order. */
struct list_of_all {
	void *entries[ENTRIES];
	uint32_t count;
};

static void *take(struct list_of_all *all, uint32_t i)
{
	void *entry = all->entries[i];

	memmove(&all->entries[i], &all->entries[i + 1],
		(--all->count - i) * sizeof(all->entries[0]));
	return entry;
}

/* ---- posted receives ---------------------------------------------------------------- */

static void post(struct posted *posted, struct list_of_all *all, uint64_t info, uint64_t mask)
{
	struct omx__request *req;

	if (all->count == ENTRIES)
		return;
	req = __real_calloc(1, sizeof(*req));
	req->match_mask = mask;
	req->item.match_info = info & mask;
	omx__posted_append(posted, req);
	all->entries[all->count++] = req;
}

static void withdraw(struct posted *posted, struct list_of_all *all, uint32_t i)
{
	struct omx__request *req = take(all, i);

	omx__posted_remove(posted, req);
	free(req);
}

static void message_comes(struct posted *posted, struct list_of_all *all, uint64_t info)
{
	struct omx__request *req = NULL;
	uint32_t i;

	for (i = 0; i < all->count && !req; i++) {
		req = all->entries[i];
		if ((info & req->match_mask) != req->item.match_info)
			req = NULL;
	}
	assert_ptr_equal(omx__posted_find(posted, info), req);
	if (req)
		withdraw(posted, all, i - 1);
}

static void posted_against_a_list(void **state)
{
	struct list_of_all *all = calloc(1, sizeof(*all));
	struct posted *posted = calloc(1, sizeof(*posted));
	struct phase phase;
	uint32_t longest = 0, others = 0;

	(void)state;
	omx__posted_init(posted);
	for (int step = 0; step < STEPS; step++) {
		if (step % 2000 == 0)
			change_phase(&phase);
		if (rand() % 100 < phase.bias)
			post(posted, all, random_info(), random_mask(phase.masks));
		else
			message_comes(posted, all, random_info());
		if (all->count && rand() % (phase.bias ? 10 : 2) == 0)
			withdraw(posted, all, (uint32_t)rand() % all->count);
		longest = all->count > longest ? all->count : longest;
		others += !list_empty(&posted->others);
	}
	shortage = 0;
	/* Every case was met. */
	assert_true(longest > 500 && others && failed);
	while (all->count)
		withdraw(posted, all, (uint32_t)rand() % all->count);
	assert_false(posted->indexed || posted->filled);
	omx__posted_free(posted);
	free(posted);
	free(all);
}

/* ---- queues --------------------------------------------------------------------------- */

struct object {
	struct match_item item;
	struct match_link links[MATCH_LINKS];
};

#define LINKS	OMX_MATCH_LINKS(struct object)

static void append(struct match_queue *queue, struct list_of_all *all, uint64_t info)
{
	struct match_item *item;

	if (all->count == ENTRIES)
		return;
	item = __real_calloc(1, sizeof(struct object));
	item->match_info = info;
	omx__queue_append(queue, item);
	all->entries[all->count++] = item;
}

static void unqueue(struct match_queue *queue, struct list_of_all *all, uint32_t i)
{
	struct match_item *item = take(all, i);

	omx__queue_remove(queue, item);
	free(item);
}

/* The program looks for a message; whether it receives it is another matter. */
static void look(struct match_queue *queue, struct list_of_all *all, uint64_t info, uint64_t mask,
		 bool receive)
{
	struct match_item *item = NULL;
	uint32_t i;

	for (i = 0; i < all->count && !item; i++) {
		item = all->entries[i];
		if ((item->match_info & mask) != info)
			item = NULL;
	}
	assert_ptr_equal(omx__queue_find(queue, info, mask), item);
	if (item && receive)
		unqueue(queue, all, i - 1);
}

static void queue_against_a_list(void **state)
{
	struct list_of_all *all = calloc(1, sizeof(*all));
	struct match_queue queue;
	struct phase phase;
	uint32_t longest = 0, walks = 0;

	(void)state;
	failed = 0;
	omx__queue_init(&queue, LINKS);
	for (int step = 0; step < STEPS; step++) {
		uint64_t mask;

		if (step % 2000 == 0)
			change_phase(&phase);
		mask = random_mask(phase.masks);
		if (rand() % 100 < phase.bias)
			append(&queue, all, random_info());
		else
			look(&queue, all, random_info() & mask, mask, rand() % 2);
		if (all->count && rand() % (phase.bias ? 10 : 2) == 0)
			unqueue(&queue, all, (uint32_t)rand() % all->count);
		longest = all->count > longest ? all->count : longest;
		walks = queue.walks > walks ? queue.walks : walks;
	}
	shortage = 0;
	assert_true(longest > 500 && walks > 100 && failed);
	while (all->count)
		unqueue(&queue, all, (uint32_t)rand() % all->count);
	assert_int_equal(queue.indexed, 0);
	omx__queue_free(&queue);
	free(all);
}

/* ---- nothing but what is needed is looked at --------------------------------------------- */

static uint32_t longest_chain(const struct match_index *index)
{
	uint32_t longest = 0;

	for (uint32_t i = 0; i < 1u << index->bits; i++) {
		const struct match_link *link;
		uint32_t length = 0;

		for (link = index->buckets[i]; link; link = link->chain)
			length++;
		longest = length > longest ? length : longest;
	}
	return longest;
}

/* The keys have numbers in two fields: of 10000, or each of 100. */
static void check_spread(struct object *objects, uint32_t first, uint32_t second,
			 uint64_t rows)
{
	struct match_index index = { 0 };

	assert_true(omx__index_start(&index, ALL, LINKS));
	for (uint64_t i = 0; i < 10000; i++) {
		objects[i].item.match_info = (i % rows) << first | (i / rows) << second;
		omx__index_add(&index, &objects[i].item);
	}
	assert_int_equal(index.keys, 10000);
	assert_in_range(longest_chain(&index), 1, 16);
	omx__index_free(&index);
}

static void keys_are_spread(void **state)
{
	struct object *objects = calloc(10000, sizeof(*objects));

	(void)state;
	for (uint32_t first = 0; first <= 48; first += 4) {
		check_spread(objects, first, 0, 10000);
		for (uint32_t second = first + 8; second <= 56; second += 4)
			check_spread(objects, first, second, 100);
	}
	free(objects);
}

/* Many items with one key take one place in the table. */
static void equal_keys_share_a_place(void **state)
{
	struct object *objects = calloc(1000, sizeof(*objects));
	struct match_index index = { 0 };

	(void)state;
	assert_true(omx__index_start(&index, TAG, LINKS));
	for (uint64_t i = 0; i < 1000; i++) {
		objects[i].item.match_info = i << 32 | i % 2;
		omx__index_add(&index, &objects[i].item);
	}
	assert_int_equal(index.keys, 2);
	assert_int_equal(longest_chain(&index), 1);
	assert_ptr_equal(omx__index_find(&index, 1), &objects[1].item);
	omx__index_free(&index);
	free(objects);
}

/* As many masks as a queue has indexes are never walked for, new ones only for a while. */
static void masks_in_use_get_indexes(void **state)
{
	struct list_of_all *all = calloc(1, sizeof(*all));
	struct match_queue queue;
	uint32_t walks;

	(void)state;
	omx__queue_init(&queue, LINKS);
	for (uint32_t i = 0; i < 1000; i++)
		append(&queue, all, i);
	for (uint32_t i = 0; i < 1000; i++)
		look(&queue, all, 1 << 20, masks[i % MATCH_LINKS] | 1 << 20, false);
	assert_int_equal(queue.walks, 0);
	for (uint32_t i = 0; i < 1000; i++)
		look(&queue, all, 1 << 20, masks[4 + i % MATCH_LINKS] | 1 << 20, false);
	walks = queue.walks;
	assert_in_range(walks, 1, 100);
	for (uint32_t i = 0; i < 1000; i++)
		look(&queue, all, 1 << 20, masks[4 + i % MATCH_LINKS] | 1 << 20, false);
	assert_int_equal(queue.walks, walks);
	while (all->count)
		unqueue(&queue, all, 0);
	omx__queue_free(&queue);
	free(all);
}

static void receives_of_few_masks_have_indexes(void **state)
{
	struct list_of_all *all = calloc(1, sizeof(*all));
	struct posted *posted = calloc(1, sizeof(*posted));

	(void)state;
	omx__posted_init(posted);
	for (uint32_t i = 0; i < 1000; i++)
		post(posted, all, 1 << 20, masks[i % POSTED_MASKS] | 1 << 20);
	message_comes(posted, all, 0);
	assert_true(posted->indexed && list_empty(&posted->others));
	/* One more mask has none until another one gives up its place. */
	post(posted, all, 1 << 20, ALL);
	post(posted, all, 1 << 20, 1ull << 63 | 1 << 20);
	assert_false(list_empty(&posted->others));
	while (all->count > 1)
		withdraw(posted, all, 0);
	post(posted, all, 1 << 20, 1ull << 63 | 1 << 20);
	assert_int_equal(posted->filled & (posted->filled - 1), 0);
	message_comes(posted, all, 1 << 20);
	assert_true(list_empty(&posted->others));
	message_comes(posted, all, 1 << 20);
	assert_false(posted->indexed);
	omx__posted_free(posted);
	free(posted);
	free(all);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(posted_against_a_list),
		cmocka_unit_test(queue_against_a_list),
		cmocka_unit_test(keys_are_spread),
		cmocka_unit_test(equal_keys_share_a_place),
		cmocka_unit_test(masks_in_use_get_indexes),
		cmocka_unit_test(receives_of_few_masks_have_indexes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
