/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The state of one omx-engine.  Everything runs under QEMU's big lock: reads and
 * writes of registers in the thread of a virtual processor, the timer in the main
 * loop.
 */
#ifndef OMX_ENGINE_H
#define OMX_ENGINE_H

#include "omx_engine.h"
#include "qemu.h"

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

/* What became of an access. */
enum access {
	ACCESS_DONE,
	ACCESS_FAULT,			/* the IOMMU does not let it pass */
	ACCESS_NOT_YET,			/* a page is absent; again when the channel is due */
};

/* The page that a channel waits for.  It holds no translation. */
struct page_wait {
	bool waits;
	bool is_write;
	uint32_t pasid;
	uint64_t page;
	int64_t since;
	bool sent;			/* a request, which has no response yet */
	bool refused;
	uint16_t group;			/* of the request */
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
	uint32_t page_requests, overflows;
	/* A reset leaves these: responses may be on their way. */
	uint32_t pending;		/* page requests without one */
	uint32_t groups;		/* numbers of page requests used so far */
	uint32_t delay, hang_after, flood;
	bool enabled, halted;
	bool draining;
	bool aborting;
	uint32_t abort_to;		/* the descriptors before it are aborted */
	/* the descriptor at the head */
	bool begun;
	bool hung;
	struct engine_descriptor descriptor;
	uint32_t done;			/* bytes */
	bool completing;		/* only its record is missing */
	uint32_t status;
	uint64_t fault_address;
	int64_t due;			/* when the channel does its next step */
	struct page_wait wait;
	/* bytes that were read and have not been written */
	uint32_t in_flight;
	uint8_t bytes[PAGE];
};

struct engine {
	struct engine *next;
	PCIDevice *device;
	bool has_pasid;			/* and page requests */
	struct space *spaces;		/* pasid.c */
	struct channel channels[CHANNELS];
	/* QEMU's, which are smaller. */
	_Alignas(16) char region[4096];
	_Alignas(16) char timer[256];
};

/* ---- dma.c ---- */
/* Within one page.  Nothing was written unless it is done. */
enum access dma_read(struct channel *channel, struct target target, void *buffer, size_t length);
enum access dma_write(struct channel *channel, struct target target, void *buffer, size_t length);

/* ---- pasid.c ---- */
/* Where the engine's TLB or the IOMMU say that this is; false: nowhere. */
bool pasid_translate(struct engine *engine, struct target target, bool is_write,
		     struct iommu_entry *entry);
void pasid_forget_translations(struct engine *engine);
void pasid_exit(struct engine *engine);

/* ---- request.c ---- */
/* Asks for the page of an access that has no translation; not ACCESS_DONE. */
enum access page_await(struct channel *channel, struct target target, bool is_write);
/* The channel gives up, or has no need any more. */
void page_forget(struct channel *channel);
/* No response that is missing will come. */
void page_forget_requests(struct engine *engine);
void page_respond(struct engine *engine, uint32_t pasid, const struct page_response *response);

/* ---- iommu.c ---- */
void iommu_complete_capabilities(const MemoryRegion *own, const void *own_operations);

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
