// SPDX-License-Identifier: GPL-2.0
/* A channel's ring: copies go in from processes, interrupts say that they are done. */
#include <linux/delay.h>
#include <linux/dma-mapping.h>
#include <linux/iopoll.h>

#include "driver.h"

#define PATIENCE_US	(10 * USEC_PER_SEC)

u32 channel_get(struct channel *c, u32 offset)
{
	return readl(c->registers + offset);
}

void channel_set(struct channel *c, u32 offset, u32 value)
{
	writel(value, c->registers + offset);
}

static void channel_start(struct channel *c)
{
	writeq(c->ring_address, c->registers + ENGINE_RING_LOW);
	channel_set(c, ENGINE_RING_SIZE, ENTRIES);
	channel_set(c, ENGINE_ENABLE, 1);
}

int channel_init(struct engine *engine, unsigned int number)
{
	struct channel *c = &engine->channels[number];
	struct device *dev = &engine->pdev->dev;

	c->engine = engine;
	c->registers = engine->registers + ENGINE_CHANNEL(number);
	spin_lock_init(&c->lock);
	init_waitqueue_head(&c->done);
	c->ring = dmam_alloc_coherent(dev, PAGE_SIZE, &c->ring_address, GFP_KERNEL);
	c->records = dmam_alloc_coherent(dev, PAGE_SIZE, &c->records_address, GFP_KERNEL);
	if (!c->ring || !c->records)
		return -ENOMEM;
	channel_start(c);
	return 0;
}

static struct engine_descriptor describe(struct channel *c, const struct sva_copy *copy,
					 u32 pasid, u32 slot)
{
	struct engine_descriptor d = {
		.operation = ENGINE_OPERATION_COPY,
		.flags = ENGINE_FLAG_RECORD | ENGINE_FLAG_INTERRUPT |
			 ENGINE_FLAG_SOURCE_PASID | ENGINE_FLAG_DESTINATION_PASID,
		.length = cpu_to_le32(copy->length),
		.source = cpu_to_le64(copy->source),
		.destination = cpu_to_le64(copy->destination),
		.record = cpu_to_le64(c->records_address + slot * sizeof(struct engine_record)),
		.source_pasid = cpu_to_le32(pasid),
		.destination_pasid = cpu_to_le32(pasid),
	};

	if (copy->record) {
		d.flags |= ENGINE_FLAG_RECORD_PASID;
		d.record = cpu_to_le64(copy->record);
		d.record_pasid = cpu_to_le32(pasid);
	}
	return d;
}

int channel_submit(struct channel *c, const struct sva_copy *copy, u32 pasid, u32 *number)
{
	u32 slot;

	spin_lock(&c->lock);
	if (c->tail - channel_get(c, ENGINE_HEAD) >= ENTRIES) {
		spin_unlock(&c->lock);
		return -EBUSY;
	}
	*number = c->tail++;
	slot = *number % ENTRIES;
	c->ring[slot] = describe(c, copy, pasid, slot);
	memset(&c->records[slot], 0, sizeof(c->records[slot]));
	/* writel() is a barrier: the engine sees the descriptor before the tail. */
	channel_set(c, ENGINE_TEST_DELAY, copy->delay);
	channel_set(c, ENGINE_TEST_FLOOD, copy->flood);
	channel_set(c, ENGINE_TAIL, c->tail);
	spin_unlock(&c->lock);
	return 0;
}

bool channel_is_done(struct channel *c, u32 number)
{
	return (s32)(channel_get(c, ENGINE_HEAD) - number) > 0;
}

void channel_result(struct channel *c, u32 number, struct sva_copy *copy)
{
	const struct engine_record *record = &c->records[number % ENTRIES];

	/* The head was read, which comes after what the engine has written before. */
	dma_rmb();
	copy->status = le32_to_cpu(record->status);
	copy->done = le32_to_cpu(record->done);
	copy->fault = le64_to_cpu(record->fault);
}

void channel_abort(struct channel *c)
{
	u32 status;

	channel_set(c, ENGINE_COMMAND, ENGINE_COMMAND_ABORT);
	WARN_ON(readl_poll_timeout(c->registers + ENGINE_STATUS, status,
				   !(status & ENGINE_STATUS_BUSY), 100, PATIENCE_US));
	wake_up_all(&c->done);
}
