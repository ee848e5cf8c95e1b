/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The state of one omx-engine.  Everything runs under QEMU's big lock: reads and
 * writes of registers in the thread of a virtual processor, the timer in the main
 * loop.
 */
#ifndef OMX_ENGINE_H
#define OMX_ENGINE_H

#include "qemu.h"
#include "registers.h"

#define CHANNELS	8
#define RING_ORDER	12
#define MAX_LENGTH	(16 << 20)
#define PAGE		4096

/* The address of one access; without a PASID the requester ID selects the tables. */
struct target {
	uint64_t address;
	bool has_pasid;
	uint32_t pasid;
};

struct channel {
	struct engine *engine;
	unsigned int number;
	/* registers */
	uint64_t ring;
	uint32_t ring_size, ring_pasid;
	uint32_t tail, head;
	uint32_t error;
	uint64_t fault;
	uint32_t faults;
	uint32_t delay, hang_after;
	bool enabled, halted;
	bool draining;
	bool aborting;
	uint32_t abort_to;		/* the descriptors before it are aborted */
	/* the descriptor at the head */
	bool begun;
	bool hung;
	struct engine_descriptor descriptor;
	uint32_t done;			/* bytes */
	int64_t due;			/* when the channel does its next step */
	/* bytes that were read and have not been written */
	uint32_t in_flight;
	uint8_t bytes[PAGE];
};

struct engine {
	PCIDevice *device;
	struct channel channels[CHANNELS];
	/* QEMU's; realize checks that the region fits. */
	_Alignas(16) char region[1024];
	_Alignas(16) char timer[256];
};

/* ---- dma.c ---- */
/* Within one page.  False: the IOMMU does not let it pass, nothing was written. */
bool dma_read(struct engine *engine, struct target target, void *buffer, size_t length);
bool dma_write(struct engine *engine, struct target target, void *buffer, size_t length);

/* ---- channel.c ---- */
/* Does the steps that are due; false if the channel has nothing left to do. */
bool channel_run(struct channel *channel, int64_t now);
uint32_t channel_read(struct channel *channel, uint32_t offset);
void channel_write(struct channel *channel, uint32_t offset, uint32_t value);
void channel_reset(struct channel *channel);

/* ---- device.c ---- */
extern const struct memory_operations engine_registers;
/* Runs the channels soon. */
void engine_wake(struct engine *engine);
void engine_run(void *engine);
void engine_reset(struct engine *engine);
/* Of channel N; vector 0 is the device's. */
#define CHANNEL_VECTOR(n)	((n) + 1)

#endif
