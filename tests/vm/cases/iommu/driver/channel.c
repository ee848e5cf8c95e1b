// SPDX-License-Identifier: GPL-2.0
/*
 * Memory that the engine can reach, and rings of descriptors in it.  The acts call
 * this in process context, channel_submit() also in interrupts.
 */
#include <linux/delay.h>
#include <linux/iopoll.h>
#include <linux/vmalloc.h>

#include "driver.h"

#define PATIENCE_US	(5 * USEC_PER_SEC)

/* ---- memory ---- */

int area_map_page(struct engine *engine, struct area *area, unsigned int page, int access)
{
	struct page *p = vmalloc_to_page(area->memory + page * PAGE_SIZE);

	return domain_map(engine->domain, area->address + page * PAGE_SIZE, page_to_phys(p),
			  access | IOMMU_CACHE);
}

void area_unmap_page(struct engine *engine, struct area *area, unsigned int page)
{
	iommu_unmap(engine->domain, area->address + page * PAGE_SIZE, PAGE_SIZE);
}

int area_map(struct engine *engine, struct area *area, u64 address, unsigned int pages)
{
	int error;

	area->memory = vzalloc(pages * PAGE_SIZE);
	if (!area->memory)
		return -ENOMEM;
	area->address = address;
	for (area->pages = 0; area->pages < pages; area->pages++) {
		error = area_map_page(engine, area, area->pages, IOMMU_READ | IOMMU_WRITE);
		if (error)
			return error;
	}
	return 0;
}

void area_unmap(struct engine *engine, struct area *area)
{
	while (area->pages)
		area_unmap_page(engine, area, --area->pages);
	vfree(area->memory);
	area->memory = NULL;
}

/* The data is where processes have theirs. */
int channel_map(struct channel *c)
{
	u64 mine = (u64)c->number << 24;
	int error;

	error = area_map(c->engine, &c->ring, 0x100000000 + mine, 1);
	if (!error)
		error = area_map(c->engine, &c->records, 0x200000000 + mine, 1);
	if (!error)
		error = area_map(c->engine, &c->from, 0x7f1234560000 + mine, DATA_PAGES);
	if (!error)
		error = area_map(c->engine, &c->to, 0x7ffe76540000 + mine, DATA_PAGES);
	return error;
}

void channel_unmap(struct channel *c)
{
	area_unmap(c->engine, &c->ring);
	area_unmap(c->engine, &c->records);
	area_unmap(c->engine, &c->from);
	area_unmap(c->engine, &c->to);
}

/* ---- registers ---- */

u32 channel_get(struct channel *c, u32 offset)
{
	return readl(c->registers + offset);
}

void channel_set(struct channel *c, u32 offset, u32 value)
{
	writel(value, c->registers + offset);
}

void channel_start(struct channel *c)
{
	channel_set(c, ENGINE_ENABLE, 0);
	writeq(c->ring.address, c->registers + ENGINE_RING_LOW);
	channel_set(c, ENGINE_RING_SIZE, ENTRIES);
	c->tail = 0;
	channel_set(c, ENGINE_ENABLE, 1);
}

bool channel_await_not(struct channel *c, u32 bits)
{
	u32 status;

	return !readl_poll_timeout(c->registers + ENGINE_STATUS, status, !(status & bits), 100,
				   PATIENCE_US);
}

/* ---- descriptors ---- */

struct engine_record *channel_record(struct channel *c, u32 number)
{
	return (struct engine_record *)c->records.memory + number % ENTRIES;
}

u32 channel_submit(struct channel *c, u64 from, u64 to, u32 length, u8 flags)
{
	struct engine_descriptor *d;
	unsigned long irq_flags;
	u32 number, slot;

	spin_lock_irqsave(&c->lock, irq_flags);
	number = c->tail++;
	slot = number % ENTRIES;
	d = (struct engine_descriptor *)c->ring.memory + slot;
	memset(channel_record(c, number), 0, sizeof(struct engine_record));
	*d = (struct engine_descriptor) {
		.operation = ENGINE_OPERATION_COPY,
		.flags = flags,
		.length = cpu_to_le32(length),
		.source = cpu_to_le64(from),
		.destination = cpu_to_le64(to),
		.record = cpu_to_le64(c->records.address + slot * sizeof(struct engine_record)),
		.cookie = cpu_to_le64(~(u64)number),
	};
	/* writel() is a barrier: the engine sees the descriptor before the tail. */
	channel_set(c, ENGINE_TAIL, c->tail);
	spin_unlock_irqrestore(&c->lock, irq_flags);
	return number;
}

u32 channel_await(struct channel *c, u32 number)
{
	struct engine_record *record = channel_record(c, number);
	u32 status;

	if (read_poll_timeout(READ_ONCE, status, status, 100, PATIENCE_US, false,
			      *(u32 *)&record->status))
		return 0;
	/* The engine writes the status last. */
	dma_rmb();
	return le32_to_cpu((__force __le32)status);
}

bool await_interrupts(atomic_t *counted, int number)
{
	int is;

	return !read_poll_timeout(atomic_read, is, is >= number, 100, PATIENCE_US, false, counted);
}
