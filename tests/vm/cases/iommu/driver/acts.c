// SPDX-License-Identifier: GPL-2.0
/*
 * What the test ../device does with the engine, one act for each name.  An act begins
 * by resetting the engine, whatever the last one has left.
 */
#include <linux/delay.h>
#include <linux/random.h>

#include "driver.h"

#define FLAGS	(ENGINE_FLAG_RECORD | ENGINE_FLAG_INTERRUPT)

/* Says in the kernel log what did not hold. */
#define HOLDS(c, condition)								\
	({										\
		bool holds = (condition);						\
		if (!holds)								\
			dev_err(&(c)->engine->pdev->dev, "channel %u: failed: %s\n",	\
				(c)->number, #condition);				\
		holds;									\
	})
#define REQUIRE(c, condition)				\
	do {						\
		if (!HOLDS(c, condition))		\
			return -EIO;			\
	} while (0)

static size_t area_size(const struct area *area)
{
	return area->pages * PAGE_SIZE;
}

static void fill(struct channel *c)
{
	get_random_bytes(c->from.memory, area_size(&c->from));
	memset(c->to.memory, 0x55, area_size(&c->to));
}

/* Exactly these bytes have arrived. */
static bool has_arrived(struct channel *c, u32 from, u32 to, u32 length)
{
	return !memcmp(c->to.memory + to, c->from.memory + from, length) &&
	       !memchr_inv(c->to.memory, 0x55, to) &&
	       !memchr_inv(c->to.memory + to + length, 0x55, area_size(&c->to) - to - length);
}

static u32 copy_start(struct channel *c, u32 from, u32 to, u32 length)
{
	return channel_submit(c, c->from.address + from, c->to.address + to, length, FLAGS);
}

static int copy(struct channel *c, u32 from, u32 to, u32 length)
{
	int interrupts = atomic_read(&c->interrupts);
	u32 number;

	fill(c);
	number = copy_start(c, from, to, length);
	REQUIRE(c, channel_await(c, number) == ENGINE_STATUS_SUCCESS);
	REQUIRE(c, le32_to_cpu(channel_record(c, number)->done) == length);
	REQUIRE(c, le64_to_cpu(channel_record(c, number)->cookie) == ~(u64)number);
	REQUIRE(c, has_arrived(c, from, to, length));
	REQUIRE(c, await_interrupts(&c->interrupts, interrupts + 1));
	return 0;
}

static bool is_fault_at(struct channel *c, u32 number, u32 status, u32 done, u64 address)
{
	struct engine_record *record = channel_record(c, number);

	return HOLDS(c, channel_await(c, number) == status) &&
	       HOLDS(c, le32_to_cpu(record->done) == done) &&
	       HOLDS(c, le64_to_cpu(record->fault) == address);
}

/* ---- copies ---- */

static int act_copy(struct engine *engine)
{
	static const u32 lengths[] = { 0, 1, 64, 4095, 4096, 4097, 12000 };
	int n, i, error = 0;

	for (n = 0; n < CHANNELS; n++) {
		struct channel *c = &engine->channels[n];

		for (i = 0; !error && i < ARRAY_SIZE(lengths); i++)
			error = copy(c, 0, 0, lengths[i]) ?: copy(c, 17, 4001, lengths[i]);
		if (error)
			return error;
		REQUIRE(c, atomic_read(&c->interrupts) == 2 * ARRAY_SIZE(lengths));
	}
	return 0;
}

/* More descriptors than the ring has entries. */
static int act_ring(struct engine *engine)
{
	struct channel *c = &engine->channels[3];
	u32 last = 0;
	int i, round;

	fill(c);
	for (round = 0; round < 3; round++) {
		for (i = 0; i < ENTRIES; i++)
			last = copy_start(c, i * 256, i * 256, 256);
		REQUIRE(c, channel_await(c, last) == ENGINE_STATUS_SUCCESS);
	}
	REQUIRE(c, has_arrived(c, 0, 0, ENTRIES * 256));
	REQUIRE(c, channel_get(c, ENGINE_HEAD) == 3 * ENTRIES);
	channel_set(c, ENGINE_TAIL, 4 * ENTRIES + 1);
	REQUIRE(c, channel_get(c, ENGINE_ERROR) == ENGINE_ERROR_TAIL);
	channel_set(c, ENGINE_ERROR, ~0);
	return copy(c, 1, 2, 3);
}

static int act_invalid(struct engine *engine)
{
	bool has_pasid = readl(engine->registers + ENGINE_CAPS) & ENGINE_CAPS_PASID;
	u8 unknown = has_pasid ? 0x80 : ENGINE_FLAG_SOURCE_PASID;
	struct channel *c = &engine->channels[0];
	u32 number;

	number = channel_submit(c, c->from.address, c->to.address,
				readl(engine->registers + ENGINE_MAX_LENGTH) + 1, FLAGS);
	REQUIRE(c, channel_await(c, number) == ENGINE_STATUS_INVALID);
	number = channel_submit(c, c->from.address, c->to.address, 1, FLAGS | unknown);
	REQUIRE(c, channel_await(c, number) == ENGINE_STATUS_INVALID);
	return copy(c, 1, 2, 3);
}

/* ---- what the IOMMU does not let pass; the test looks for it in the kernel log ---- */

/* The second page is gone in the middle of a copy; its neighbour copies all the while. */
static int act_write_fault(struct engine *engine)
{
	struct channel *c = &engine->channels[1], *other = &engine->channels[2];
	u32 number, last = 0;
	int i, error = copy(c, 0, 0, 2 * PAGE_SIZE);

	if (error)
		return error;
	fill(c);
	fill(other);
	channel_set(other, ENGINE_TEST_DELAY, 20 * NSEC_PER_MSEC);
	for (i = 0; i < ENTRIES; i++)
		last = copy_start(other, i * 256, i * 256, 256);
	area_unmap_page(engine, &c->to, 1);
	number = copy_start(c, 16, 16, 2 * PAGE_SIZE);
	REQUIRE(c, is_fault_at(c, number, ENGINE_STATUS_DESTINATION_FAULT, PAGE_SIZE - 16,
			       c->to.address + PAGE_SIZE));
	REQUIRE(c, has_arrived(c, 16, 16, PAGE_SIZE - 16));
	REQUIRE(c, channel_get(c, ENGINE_FAULTS) == 1);
	REQUIRE(other, channel_get(other, ENGINE_STATUS) & ENGINE_STATUS_BUSY);
	REQUIRE(other, channel_await(other, last) == ENGINE_STATUS_SUCCESS);
	REQUIRE(other, has_arrived(other, 0, 0, ENTRIES * 256));
	REQUIRE(other, !channel_get(other, ENGINE_FAULTS));
	REQUIRE(c, !area_map_page(engine, &c->to, 1, IOMMU_READ | IOMMU_WRITE));
	return copy(c, 16, 16, 2 * PAGE_SIZE);
}

static int act_read_fault(struct engine *engine)
{
	struct channel *c = &engine->channels[4];
	u32 number;

	fill(c);
	area_unmap_page(engine, &c->from, 3);
	number = copy_start(c, 3 * PAGE_SIZE + 5, 0, 100);
	REQUIRE(c, is_fault_at(c, number, ENGINE_STATUS_SOURCE_FAULT, 0,
			       c->from.address + 3 * PAGE_SIZE + 5));
	REQUIRE(c, has_arrived(c, 0, 0, 0));
	REQUIRE(c, !area_map_page(engine, &c->from, 3, IOMMU_READ | IOMMU_WRITE));
	return copy(c, 3 * PAGE_SIZE + 5, 0, 100);
}

static int act_read_only(struct engine *engine)
{
	struct channel *c = &engine->channels[5];
	u32 number;

	fill(c);
	area_unmap_page(engine, &c->to, 2);
	REQUIRE(c, !area_map_page(engine, &c->to, 2, IOMMU_READ));
	number = copy_start(c, 0, 2 * PAGE_SIZE, 100);
	REQUIRE(c, is_fault_at(c, number, ENGINE_STATUS_DESTINATION_FAULT, 0,
			       c->to.address + 2 * PAGE_SIZE));
	REQUIRE(c, has_arrived(c, 0, 0, 0));
	area_unmap_page(engine, &c->to, 2);
	REQUIRE(c, !area_map_page(engine, &c->to, 2, IOMMU_READ | IOMMU_WRITE));
	return copy(c, 0, 2 * PAGE_SIZE, 100);
}

/* Without records the head says that the copies are done; without a ring nothing goes on. */
static int act_lost(struct engine *engine)
{
	struct channel *c = &engine->channels[6], *other = &engine->channels[7];
	int errors = atomic_read(&engine->errors);

	fill(c);
	area_unmap_page(engine, &c->records, 0);
	copy_start(c, 0, 0, 100);
	REQUIRE(c, channel_await_not(c, ENGINE_STATUS_BUSY));
	REQUIRE(c, has_arrived(c, 0, 0, 100));
	REQUIRE(c, channel_get(c, ENGINE_ERROR) == ENGINE_ERROR_RECORD);
	REQUIRE(c, await_interrupts(&engine->errors, errors + 1));
	REQUIRE(c, readq(c->registers + ENGINE_FAULT_LOW) == c->records.address);
	REQUIRE(c, !area_map_page(engine, &c->records, 0, IOMMU_READ | IOMMU_WRITE));
	area_unmap_page(engine, &c->ring, 0);
	copy_start(c, 0, 0, 100);
	REQUIRE(c, channel_await_not(c, ENGINE_STATUS_BUSY));
	REQUIRE(c, channel_get(c, ENGINE_STATUS) & ENGINE_STATUS_HALTED);
	REQUIRE(c, channel_get(c, ENGINE_ERROR) == (ENGINE_ERROR_RECORD | ENGINE_ERROR_RING));
	REQUIRE(c, readq(c->registers + ENGINE_FAULT_LOW) == c->ring.address + 64);
	REQUIRE(c, readl(engine->registers + ENGINE_ERRORS) == BIT(c->number));
	REQUIRE(c, await_interrupts(&engine->errors, errors + 2));
	REQUIRE(c, !area_map_page(engine, &c->ring, 0, IOMMU_READ | IOMMU_WRITE));
	channel_start(c);
	return copy(other, 1, 2, 3) ?: copy(c, 1, 2, 3);
}

/* ---- slow, and never ---- */

/* Nothing is written any more. */
static bool is_at_rest(struct channel *c)
{
	fill(c);
	msleep(20);
	return has_arrived(c, 0, 0, 0);
}

static int act_drain(struct engine *engine)
{
	struct channel *c = &engine->channels[0];
	u32 number;

	fill(c);
	channel_set(c, ENGINE_TEST_DELAY, 500 * NSEC_PER_MSEC);
	number = copy_start(c, 0, 0, 2 * PAGE_SIZE);
	msleep(5);
	REQUIRE(c, has_arrived(c, 0, 0, 0));
	channel_set(c, ENGINE_COMMAND, ENGINE_COMMAND_DRAIN);
	REQUIRE(c, channel_get(c, ENGINE_STATUS) & ENGINE_STATUS_DRAINING);
	REQUIRE(c, channel_await_not(c, ENGINE_STATUS_DRAINING));
	REQUIRE(c, !channel_record(c, number)->status);
	REQUIRE(c, has_arrived(c, 0, 0, PAGE_SIZE));
	REQUIRE(c, channel_await(c, number) == ENGINE_STATUS_SUCCESS);
	REQUIRE(c, has_arrived(c, 0, 0, 2 * PAGE_SIZE));
	return 0;
}

static int act_abort(struct engine *engine)
{
	struct channel *c = &engine->channels[0];
	u32 number[20];
	int i;

	channel_set(c, ENGINE_TEST_DELAY, NSEC_PER_SEC);
	for (i = 0; i < ARRAY_SIZE(number); i++)
		number[i] = copy_start(c, 0, 0, PAGE_SIZE);
	channel_set(c, ENGINE_COMMAND, ENGINE_COMMAND_ABORT);
	REQUIRE(c, channel_await_not(c, ENGINE_STATUS_ABORTING | ENGINE_STATUS_BUSY));
	for (i = 0; i < ARRAY_SIZE(number); i++)
		REQUIRE(c, channel_await(c, number[i]) == ENGINE_STATUS_ABORTED);
	REQUIRE(c, is_at_rest(c));
	channel_set(c, ENGINE_TEST_DELAY, 0);
	return copy(c, 1, 2, 3);
}

/* A drain ends at once until then. */
static bool await_hang(struct channel *c)
{
	int tries;

	for (tries = 0; tries < 5000; tries++) {
		channel_set(c, ENGINE_COMMAND, ENGINE_COMMAND_DRAIN);
		if (channel_get(c, ENGINE_STATUS) & ENGINE_STATUS_DRAINING)
			return true;
		usleep_range(1000, 2000);
	}
	return false;
}

/* Neither drain nor abort nor the channel's own switch help, and the others go on. */
static int act_hang(struct engine *engine)
{
	struct channel *c = &engine->channels[0], *other = &engine->channels[1];
	u32 first, second;

	fill(c);
	channel_set(c, ENGINE_TEST_HANG, 2);
	first = copy_start(c, 0, 0, 100);
	second = copy_start(c, 0, 0, 200);
	REQUIRE(c, channel_await(c, first) == ENGINE_STATUS_SUCCESS);
	REQUIRE(c, await_hang(c));
	channel_set(c, ENGINE_COMMAND, ENGINE_COMMAND_ABORT);
	channel_set(c, ENGINE_ENABLE, 0);
	msleep(20);
	REQUIRE(c, !channel_record(c, second)->status);
	REQUIRE(c, channel_get(c, ENGINE_STATUS) ==
		   (ENGINE_STATUS_ENABLED | ENGINE_STATUS_BUSY | ENGINE_STATUS_DRAINING |
		    ENGINE_STATUS_ABORTING));
	REQUIRE(c, readl(engine->registers + ENGINE_BUSY) == BIT(c->number));
	if (copy(other, 1, 2, 3))
		return -EIO;
	engine_reset(engine);
	REQUIRE(c, !channel_get(c, ENGINE_STATUS) && !channel_get(c, ENGINE_HEAD));
	REQUIRE(c, is_at_rest(c));
	channel_start(c);
	return copy(c, 1, 2, 3);
}

/* ---- load: goes on after the act, on all channels, until a reset or the end ---- */

/* Some 25 ms of work, which nobody can wait for by accident. */
#define LOAD		(ENTRIES - 4)
#define LOAD_DELAY	(100 * NSEC_PER_USEC)

void load_submit(struct channel *c)
{
	while (c->tail - channel_get(c, ENGINE_HEAD) < LOAD)
		copy_start(c, 0, 0, area_size(&c->from));
}

static int act_load(struct engine *engine)
{
	int n;

	for (n = 0; n < CHANNELS; n++) {
		struct channel *c = &engine->channels[n];

		channel_set(c, ENGINE_TEST_DELAY, LOAD_DELAY);
		load_submit(c);
		WRITE_ONCE(c->loaded, true);
		copy_start(c, 0, 0, 1);
	}
	for (n = 0; n < CHANNELS; n++)
		REQUIRE(&engine->channels[n],
			await_interrupts(&engine->channels[n].interrupts, 2 * LOAD));
	return 0;
}

/* After a reset under load. */
static int act_rest(struct engine *engine)
{
	int n;

	REQUIRE(&engine->channels[0], !readl(engine->registers + ENGINE_BUSY));
	for (n = 0; n < CHANNELS; n++) {
		struct channel *c = &engine->channels[n];

		REQUIRE(c, !c->loaded);
		REQUIRE(c, !channel_get(c, ENGINE_STATUS) && !channel_get(c, ENGINE_TEST_DELAY));
		REQUIRE(c, is_at_rest(c));
	}
	return 0;
}

/* ---- by name ---- */

static const struct {
	const char *name;
	int (*run)(struct engine *engine);
	bool as_it_is;			/* without a reset before */
} acts[] = {
	{ "copy", act_copy },
	{ "ring", act_ring },
	{ "invalid", act_invalid },
	{ "write-fault", act_write_fault },
	{ "read-fault", act_read_fault },
	{ "read-only", act_read_only },
	{ "lost", act_lost },
	{ "drain", act_drain },
	{ "abort", act_abort },
	{ "hang", act_hang },
	{ "load", act_load },
	{ "rest", act_rest, true },
};

static void start_afresh(struct engine *engine)
{
	int n;

	for (n = 0; n < CHANNELS; n++)
		WRITE_ONCE(engine->channels[n].loaded, false);
	engine_reset(engine);
	for (n = 0; n < CHANNELS; n++) {
		synchronize_irq(pci_irq_vector(engine->pdev, n + 1));
		atomic_set(&engine->channels[n].interrupts, 0);
		channel_start(&engine->channels[n]);
	}
}

int act_run(struct engine *engine, const char *name)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(acts); i++) {
		if (!sysfs_streq(name, acts[i].name))
			continue;
		if (!acts[i].as_it_is)
			start_afresh(engine);
		return acts[i].run(engine);
	}
	return -EINVAL;
}
