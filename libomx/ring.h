/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The event ring is mapped memory, in which the driver writes events and the
 * library consumes them.
 *
 * Called by progress.c, and by wait.c and helper.c for the words that they sleep
 * on.  There is a single consumer: must hold the endpoint's lock.  What is read
 * from the ring is masked or bounded before it is used as an index.
 */
#ifndef OMX_RING_H
#define OMX_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "omx_abi.h"

struct ring {
	const struct omx_ring_kernel *kernel;
	const unsigned char *slots;
	struct omx_ring_user *user;
	uint32_t slot_count;	/* a power of two */
	uint32_t head;		/* first slot not handled yet */
	uint32_t released;	/* utail as last stored */
	uint32_t kicked;	/* `released` at the last KICK */
	uint32_t page;		/* size of a page */
	bool unseen;		/* uunseen as last stored */
	bool announce;		/* uannounce as last stored */
};

/* 0 or -errno. */
int omx__ring_map(struct ring *ring, int fd, uint32_t slot_count);
void omx__ring_unmap(struct ring *ring);

/* Acquire: pairs with the driver's release after it has written the slots. */
static inline uint32_t omx__ring_khead(const struct ring *ring)
{
	return __atomic_load_n(&ring->kernel->khead, __ATOMIC_ACQUIRE);
}

/* Acquire: pairs with the driver's increment before it wakes the waiters. */
static inline uint32_t omx__ring_wakeups(const struct ring *ring)
{
	return __atomic_load_n(&ring->kernel->kwakeups, __ATOMIC_ACQUIRE);
}

static inline bool omx__ring_backlogged(const struct ring *ring)
{
	return __atomic_load_n(&ring->kernel->kbacklog, __ATOMIC_RELAXED);
}

/*
 * Does the ring have the room that the driver wants before it opens windows?  Three quarters
 * of it.  What waits in the driver is not delivered earlier, to spare the calls.
 */
static inline bool omx__ring_is_roomy(const struct ring *ring)
{
	return omx__ring_khead(ring) - ring->released <= ring->slot_count / 4;
}

/* Have messages been sent that wait for more of them? */
static inline bool omx__ring_corked(const struct ring *ring)
{
	return __atomic_load_n(&ring->kernel->kcorked, __ATOMIC_RELAXED);
}

static inline const struct omx_event *omx__ring_event(const struct ring *ring, uint32_t position)
{
	return (const struct omx_event *)(ring->slots +
		(size_t)(position & (ring->slot_count - 1)) * OMX_SLOT_SIZE);
}

/* Slots of the event there: at least one, and none behind khead or the ring's end. */
static inline uint32_t omx__ring_entry_slots(const struct ring *ring, uint32_t position,
					     uint32_t khead)
{
	uint32_t slots = omx__ring_event(ring, position)->slots;
	uint32_t to_khead, to_end;

	if (__builtin_expect(slots <= 1, 1))
		return 1;
	to_khead = khead - position;
	to_end = ring->slot_count - (position & (ring->slot_count - 1));
	if (slots > to_khead)
		slots = to_khead;
	return slots < to_end ? slots : to_end;
}

/* Gives the slots before `tail` back to the driver; there must be some. */
void omx__ring_release(struct ring *ring, int fd, uint32_t tail);

/* Have events been handled that the program does not know of?  poll() reports it. */
static inline void omx__ring_set_unseen(struct ring *ring, bool unseen)
{
	ring->unseen = unseen;
	/* The release store of utail, which follows, makes this visible before it. */
	__atomic_store_n(&ring->user->uunseen, unseen, __ATOMIC_RELAXED);
}

/* Must peers announce all messages instead of sending their data? */
static inline void omx__ring_set_announce(struct ring *ring, bool announce)
{
	ring->announce = announce;
	/* A hint, which the next packet to each peer carries: it needs no ordering. */
	__atomic_store_n(&ring->user->uannounce,
			 OMX_ANNOUNCE_OWN | (announce ? OMX_ANNOUNCE_PEERS : 0),
			 __ATOMIC_RELAXED);
}

/* For how long may the driver poll before a thread sleeps? */
static inline void omx__ring_set_poll(const struct ring *ring, uint32_t us)
{
	__atomic_store_n(&ring->user->upoll_us, us, __ATOMIC_RELAXED);
}

/* Makes the driver send such messages: the program looks for events now. */
void omx__ring_uncork(int fd);

/* Makes the driver deliver what did not fit; does nothing if no slots were freed since. */
void omx__ring_kick(struct ring *ring, int fd);

#endif
