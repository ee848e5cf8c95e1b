/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A driver of omx-engine (tests/engine) for the test ../device.  It owns the
 * function's DMA: its addresses are of a domain of its own, which has exactly the
 * pages that the driver maps.
 */
#ifndef ENGINE_DRIVER_H
#define ENGINE_DRIVER_H

#include <linux/atomic.h>
#include <linux/iommu.h>
#include <linux/pci.h>
#include <linux/spinlock.h>
#include <linux/version.h>

#include "omx_engine.h"

#define CHANNELS	8
#define ENTRIES		64		/* of a ring, one page */
#define DATA_PAGES	4

/* ---- other kernels ---- */

static inline struct iommu_domain *domain_alloc(struct device *dev)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 11, 0)
	return iommu_paging_domain_alloc(dev);
#else
	return iommu_domain_alloc(dev->bus);
#endif
}

static inline int domain_map(struct iommu_domain *domain, u64 address, phys_addr_t page,
			     int access)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 3, 0)
	return iommu_map(domain, address, page, PAGE_SIZE, access, GFP_KERNEL);
#else
	return iommu_map(domain, address, page, PAGE_SIZE, access);
#endif
}

/* Memory that lies at consecutive addresses of the kernel, and of the engine. */
struct area {
	u8 *memory;
	u64 address;			/* the engine's */
	unsigned int pages;
};

struct channel {
	struct engine *engine;
	unsigned int number;
	void __iomem *registers;
	struct area ring, records, from, to;
	spinlock_t lock;		/* submitting */
	u32 tail;
	atomic_t interrupts;
	bool loaded;			/* its interrupts submit more copies */
};

struct engine {
	struct pci_dev *pdev;
	void __iomem *registers;
	struct iommu_domain *domain;
	atomic_t errors;		/* interrupts of the device itself */
	struct channel channels[CHANNELS];
};

/* ---- channel.c ---- */
int area_map(struct engine *engine, struct area *area, u64 address, unsigned int pages);
void area_unmap(struct engine *engine, struct area *area);
/* One of its pages, which keeps its contents. */
int area_map_page(struct engine *engine, struct area *area, unsigned int page, int access);
void area_unmap_page(struct engine *engine, struct area *area, unsigned int page);

int channel_map(struct channel *channel);
void channel_unmap(struct channel *channel);
void channel_start(struct channel *channel);
/* Returns the number of the descriptor. */
u32 channel_submit(struct channel *channel, u64 from, u64 to, u32 length, u8 flags);
struct engine_record *channel_record(struct channel *channel, u32 number);
/* The status, or 0 after some seconds. */
u32 channel_await(struct channel *channel, u32 number);
/* Waits until none of these bits of STATUS is set. */
bool channel_await_not(struct channel *channel, u32 bits);
/* Waits for so many interrupts. */
bool await_interrupts(atomic_t *counted, int number);
u32 channel_get(struct channel *channel, u32 offset);
void channel_set(struct channel *channel, u32 offset, u32 value);

/* ---- main.c ---- */
void engine_reset(struct engine *engine);

/* ---- acts.c ---- */
/* One of the acts of the test; 0 or an error that the kernel log explains. */
int act_run(struct engine *engine, const char *name);
/* Fills the queue of a channel, from its interrupt as well. */
void load_submit(struct channel *channel);

#endif
