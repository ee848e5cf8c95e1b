/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A channel of omx-engine and its ring of descriptors: what device_engine.c puts
 * there, the channel does in order.  Rings and completion records are at the same
 * addresses in every domain.
 *
 * Everything under the engine's lock, except for making and mapping the memory.
 */
#ifndef OMX_ENGINE_RING_H
#define OMX_ENGINE_RING_H

#include <linux/types.h>

struct engine_descriptor;
struct engine_record;
struct iommu_domain;
struct omx_copy;
struct omx_engine;

#define OMX_RING_ENTRIES	64	/* of 64 bytes: one page */
/* Descriptors that are not complete.  Few, because a drain waits for what they write. */
#define OMX_RING_DEPTH		16

/*
 * Where rings and frames are in each domain.  Programs rarely have memory there; what
 * they have the processor copies.
 */
#define OMX_DEVICE_ADDRESSES	0x6f0000000000ULL
#define OMX_DEVICE_ADDRESSES_END	(OMX_DEVICE_ADDRESSES + (2ULL << 30))

struct omx_engine_ring {
	void __iomem *registers;
	unsigned int number;
	struct engine_descriptor *descriptor;
	struct engine_record *record;
	u32 tail;				/* descriptors submitted ... */
	u32 done;				/* ... and seen to be complete */
	u32 requests;				/* page requests, since it was enabled */
	u32 watched;				/* `done` when it was last looked at ... */
	bool was_busy;				/* ... and whether it was idle then */
	struct omx_copy *copy[OMX_RING_ENTRIES];
};

/* ---- process context ---- */
/* -ENOMEM */
int omx_engine_ring_init(struct omx_engine_ring *ring, unsigned int number,
			 void __iomem *registers);
void omx_engine_ring_free(struct omx_engine_ring *ring);
/* Makes the ring's memory accessible in a domain. */
int omx_engine_ring_map(const struct omx_engine_ring *ring, struct iommu_domain *domain);

/* ---- the engine's lock held ---- */
/* Starts the channel with an empty ring. */
void omx_engine_ring_enable(struct omx_engine_ring *ring);
/* The function was reset: nothing is on the ring any more. */
void omx_engine_ring_clear(struct omx_engine_ring *ring);
/* address: of the program's memory. */
void omx_engine_ring_put(struct omx_engine_ring *ring, struct omx_copy *copy, u64 address);
/* Lands what is complete.  False: the channel says what cannot be. */
bool omx_engine_ring_complete(struct omx_engine_ring *ring, struct omx_engine *engine);
/*
 * In two steps: when the second one returns true, nothing is written any more with a
 * translation from before the first; false: the channel hangs.  Spins.
 */
void omx_engine_ring_drain(struct omx_engine_ring *ring);
bool omx_engine_ring_await_drained(struct omx_engine_ring *ring);
/* What is on the ring ends soon: as it would have, or aborted. */
void omx_engine_ring_abort(struct omx_engine_ring *ring);
/* The oldest copy on a ring that is not idle. */
struct omx_copy *omx_engine_ring_head(struct omx_engine_ring *ring);

/* ---- any context ---- */
/* Is the kernel still serving page requests of the channel? */
bool omx_engine_ring_has_requests(struct omx_engine_ring *ring);

static inline bool omx_engine_ring_is_idle(const struct omx_engine_ring *ring)
{
	return ring->done == ring->tail;
}

static inline bool omx_engine_ring_has_room(const struct omx_engine_ring *ring)
{
	return ring->tail - ring->done < OMX_RING_DEPTH;
}

#endif
