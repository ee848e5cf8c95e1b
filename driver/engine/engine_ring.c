// SPDX-License-Identifier: GPL-2.0
/*
 * Descriptors are put on the ring of a channel and are found complete there.
 * device_engine.c calls this in softirq, in process context and from MMU notifiers,
 * with the engine's lock.
 */
#include <linux/delay.h>
#include <linux/gfp.h>
#include <linux/io-64-nonatomic-lo-hi.h>
#include <linux/iommu.h>
#include <linux/mm.h>
#include <linux/pci.h>
#include <linux/string.h>

#include "compat.h"
#include "engine/domain.h"
#include "engine/engine.h"
#include "engine/engine_ring.h"
#include "engine/sva.h"
#include "memory/space.h"
#include "net/board.h"
#include "omx_engine.h"

#define DRAIN_MAX_US	100000	/* no working engine needs it for a page */

/* ---- memory ---- */

static u64 ring_address(const struct omx_engine_ring *ring)
{
	return OMX_DEVICE_ADDRESSES + ring->number * 2 * PAGE_SIZE;
}

static u64 ring_record_address(const struct omx_engine_ring *ring, u32 number)
{
	return ring_address(ring) + PAGE_SIZE +
	       number % OMX_RING_ENTRIES * sizeof(struct engine_record);
}

int omx_engine_ring_init(struct omx_engine_ring *ring, unsigned int number,
			 void __iomem *registers)
{
	ring->number = number;
	ring->registers = registers;
	ring->descriptor = (void *)get_zeroed_page(GFP_KERNEL);
	ring->record = (void *)get_zeroed_page(GFP_KERNEL);
	if (ring->descriptor && ring->record)
		return 0;
	omx_engine_ring_free(ring);
	return -ENOMEM;
}

void omx_engine_ring_free(struct omx_engine_ring *ring)
{
	free_page((unsigned long)ring->descriptor);
	free_page((unsigned long)ring->record);
	ring->descriptor = NULL;
	ring->record = NULL;
}

int omx_engine_ring_map(const struct omx_engine_ring *ring, struct iommu_domain *domain)
{
	return omx_iommu_map(domain, ring_address(ring), virt_to_phys(ring->descriptor),
			     PAGE_SIZE, IOMMU_READ | IOMMU_CACHE, GFP_KERNEL) ?:
	       omx_iommu_map(domain, ring_record_address(ring, 0), virt_to_phys(ring->record),
			     PAGE_SIZE, IOMMU_WRITE | IOMMU_CACHE, GFP_KERNEL);
}

/* ---- the channel ---- */

void omx_engine_ring_clear(struct omx_engine_ring *ring)
{
	ring->tail = 0;
	ring->done = 0;
	ring->requests = 0;
	ring->was_busy = false;
}

void omx_engine_ring_enable(struct omx_engine_ring *ring)
{
	omx_engine_ring_clear(ring);
	writeq(ring_address(ring), ring->registers + ENGINE_RING_LOW);
	writel(OMX_RING_ENTRIES, ring->registers + ENGINE_RING_SIZE);
	writel(1, ring->registers + ENGINE_ENABLE);
}

/* Of the program's memory; the frame is in the function's own domain. */
static u8 ring_pasid_flag(const struct omx_copy *copy)
{
	if (!copy->device.sva)
		return 0;
	return copy->job.out ? ENGINE_FLAG_SOURCE_PASID : ENGINE_FLAG_DESTINATION_PASID;
}

void omx_engine_ring_put(struct omx_engine_ring *ring, struct omx_copy *copy, u64 address)
{
	const struct omx_sva *sva = copy->device.sva;
	bool out = copy->job.out;
	u32 pasid = sva ? sva->pasid : 0;
	u32 number = ring->tail++;
	u32 slot = number % OMX_RING_ENTRIES;

	ring->copy[slot] = copy;
	memset(&ring->record[slot], 0, sizeof(ring->record[slot]));
	ring->descriptor[slot] = (struct engine_descriptor) {
		.operation = ENGINE_OPERATION_COPY,
		.flags = ENGINE_FLAG_RECORD | ENGINE_FLAG_INTERRUPT |
			 ring_pasid_flag(copy),
		.length = cpu_to_le32(copy->job.length),
		.source = cpu_to_le64(out ? address : copy->device.frame),
		.destination = cpu_to_le64(out ? copy->device.frame : address),
		.record = cpu_to_le64(ring_record_address(ring, number)),
		.source_pasid = cpu_to_le32(out ? pasid : 0),
		.destination_pasid = cpu_to_le32(out ? 0 : pasid),
		.cookie = cpu_to_le64(copy->number),
	};
	/* writel() is a barrier: the engine sees the descriptor before the tail. */
	writel(ring->tail, ring->registers + ENGINE_TAIL);
}

/* Was it the program's memory that was not accessible? */
static bool ring_is_fault(const struct omx_copy *copy, u32 status)
{
	return status == (copy->job.out ? ENGINE_STATUS_SOURCE_FAULT :
					  ENGINE_STATUS_DESTINATION_FAULT);
}

/*
 * In a domain a page that is gone faults, and is tried again.  With SVA a fault is
 * final: the kernel has refused the page, and the processor finds out why.
 */
static bool ring_copies_again(const struct omx_copy *copy, u32 status)
{
	if (ring_is_fault(copy, status))
		return !copy->device.sva;
	return status == ENGINE_STATUS_ABORTED && !copy->device.late;
}

/* The record may be missing, if it could not be written: then nothing is known. */
static void ring_report(struct omx_copy *copy, const struct engine_record *record)
{
	u32 status = le32_to_cpu(READ_ONCE(record->status));

	/* The engine writes the status last. */
	dma_rmb();
	copy->failed = status != ENGINE_STATUS_SUCCESS;
	copy->again = ring_copies_again(copy, status);
	if (copy->again)
		copy->done = min(le32_to_cpu(record->done), copy->job.length);
	if (ring_is_fault(copy, status))
		omx_count(copy->job.space->board, ENGINE_FAULT);
	copy->reported = true;
}

/* Of all copies that have ended since the last time, which may be of several boards. */
static void ring_count_requests(struct omx_engine_ring *ring)
{
	const struct omx_copy *copy = omx_engine_ring_head(ring);
	u32 requests;

	if (!copy->device.sva)
		return;
	requests = readl(ring->registers + ENGINE_PAGE_REQUESTS);
	omx_count_add(copy->job.space->board, ENGINE_PAGE_REQUEST, requests - ring->requests);
	ring->requests = requests;
}

bool omx_engine_ring_complete(struct omx_engine_ring *ring, struct omx_engine *engine)
{
	u32 head;

	lockdep_assert_held(&engine->lock);
	if (omx_engine_ring_is_idle(ring))
		return true;
	/* It comes back after all that the engine wrote before it was so far. */
	head = readl(ring->registers + ENGINE_HEAD);
	if (head - ring->done > ring->tail - ring->done)
		return false;
	if (ring->done != head)
		ring_count_requests(ring);
	for (; ring->done != head; ring->done++) {
		u32 slot = ring->done % OMX_RING_ENTRIES;

		ring_report(ring->copy[slot], &ring->record[slot]);
		omx_engine_land(engine, ring->copy[slot]);
		if (ring->copy[slot]->again)
			omx_copy_skip(ring->copy[slot], ring->copy[slot]->done);
	}
	return true;
}

void omx_engine_ring_drain(struct omx_engine_ring *ring)
{
	if (!omx_engine_ring_is_idle(ring))
		writel(ENGINE_COMMAND_DRAIN, ring->registers + ENGINE_COMMAND);
}

bool omx_engine_ring_await_drained(struct omx_engine_ring *ring)
{
	unsigned int us;

	if (omx_engine_ring_is_idle(ring))
		return true;
	/* Not by the clock: it goes on while a virtual machine does not. */
	for (us = 0; us < DRAIN_MAX_US; us++) {
		if (!(readl(ring->registers + ENGINE_STATUS) & ENGINE_STATUS_DRAINING))
			return true;
		udelay(1);
	}
	return false;
}

void omx_engine_ring_abort(struct omx_engine_ring *ring)
{
	if (!omx_engine_ring_is_idle(ring))
		writel(ENGINE_COMMAND_ABORT, ring->registers + ENGINE_COMMAND);
}

struct omx_copy *omx_engine_ring_head(struct omx_engine_ring *ring)
{
	return ring->copy[ring->done % OMX_RING_ENTRIES];
}

bool omx_engine_ring_has_requests(struct omx_engine_ring *ring)
{
	u32 pending = readl(ring->registers + ENGINE_PENDING);

	return pending && !PCI_POSSIBLE_ERROR(pending);
}
