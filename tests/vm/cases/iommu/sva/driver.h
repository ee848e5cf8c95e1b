/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A driver of omx-engine (tests/engine) for the test ../sva-device.  Rings and records
 * are the kernel's and mapped by the DMA API; the data is a process's, which the engine
 * reaches with the PASID of that process.  Nothing of it is mapped or pinned here.
 */
#ifndef SVA_DRIVER_H
#define SVA_DRIVER_H

#include <linux/iommu.h>
#include <linux/miscdevice.h>
#include <linux/pci.h>
#include <linux/spinlock.h>
#include <linux/wait.h>

#include "omx_engine.h"
#include "sva.h"

#define CHANNELS	8
#define ENTRIES		64

struct channel {
	struct engine *engine;
	void __iomem *registers;
	struct engine_descriptor *ring;
	struct engine_record *records;
	dma_addr_t ring_address, records_address;
	spinlock_t lock;		/* submitting */
	u32 tail;
	wait_queue_head_t done;
};

struct engine {
	struct pci_dev *pdev;
	void __iomem *registers;
	struct miscdevice misc;
	struct channel channels[CHANNELS];
};

/* ---- channel.c ---- */
int channel_init(struct engine *engine, unsigned int number);
u32 channel_get(struct channel *channel, u32 offset);
void channel_set(struct channel *channel, u32 offset, u32 value);
/* Sets *number, that of the descriptor. */
int channel_submit(struct channel *channel, const struct sva_copy *copy, u32 pasid, u32 *number);
bool channel_is_done(struct channel *channel, u32 number);
/* Takes what the record says. */
void channel_result(struct channel *channel, u32 number, struct sva_copy *copy);
/* Ends all copies of the channel, whoever waits for them. */
void channel_abort(struct channel *channel);

/* ---- process.c ---- */
extern const struct file_operations process_operations;

#endif
