/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The event ring of an endpoint, mapped read-only into the program.
 *
 * Producers run in any context under ring->lock.  The consumer is the program.
 * Its tail is read from a page that it can write, so it is only used to compute
 * how much is free, bounded by our own head and size.
 *
 * There are two kinds of entries.  A message may be refused when there is no
 * room: its sender keeps it and sends it again.  A completion (how a request
 * ended, what happened to a channel) may not: it waits in the backlog until
 * OMX_IOC_KICK.  Its memory is charged to the user, who gets no new requests while
 * that is used up.
 */
#ifndef OMX_RING_H
#define OMX_RING_H

#include <linux/gfp.h>
#include <linux/list.h>
#include <linux/spinlock.h>

#include "omx_abi.h"

struct omx_account;
struct sk_buff;
struct vm_area_struct;

#define OMX_RING_SLOTS	16384	/* 1 MiB */
/* Those that the messages of one packet take. */
#define OMX_PACKET_SLOTS_MAX	144

/* Those of a message: its event, and the payload behind it. */
static inline u32 omx_ring_slots(u32 length)
{
	return length <= OMX_TINY_MAX ? 1 : 1 + DIV_ROUND_UP(length, OMX_SLOT_SIZE);
}

/* All its memory: a page of the driver's words, the slots, a page of the program's. */
#define OMX_RING_BYTES	(2 * PAGE_SIZE + OMX_RING_SLOTS * OMX_SLOT_SIZE)

struct omx_ring {
	spinlock_t lock;		/* of producers: everything below */
	u32 head;			/* ours, the program sees a copy; also read unlocked */
	struct omx_ring_kernel *kernel;	/* one page, then the slots */
	struct omx_ring_user *user;	/* one page */
	struct omx_event *slot;
	struct list_head backlog;	/* of completions */
};

struct omx_completion {
	struct list_head link;		/* in the backlog, or empty */
	struct omx_account *user;	/* charged for it; NULL: part of another object */
	struct omx_event event;
};

/* Process context. */
int omx_ring_init(struct omx_ring *ring);
void omx_ring_destroy(struct omx_ring *ring);
/* Maps the driver's or the program's part; the mmap lock is held for writing. */
int omx_ring_map_kernel(struct omx_ring *ring, struct vm_area_struct *vma);
int omx_ring_map_user(struct omx_ring *ring, struct vm_area_struct *vma);
void omx_completion_init(struct omx_completion *completion, enum omx_event_type type);
/* Removes an embedded completion from the backlog before its object is freed. */
void omx_ring_forget(struct omx_ring *ring, struct omx_completion *completion);

/* Any context. */
struct omx_completion *omx_completion_alloc(struct omx_account *user, enum omx_event_type type,
					    u64 cookie, gfp_t gfp);
/* Prepares one for another request, after the ring has taken its event. */
void omx_completion_reset(struct omx_completion *completion, enum omx_event_type type, u64 cookie);
/* Frees one that was not posted; NULL is allowed. */
void omx_completion_free(struct omx_completion *completion);
/*
 * Appends a message with `length` bytes of payload found at `offset` of skb
 * (behind the event, or inside it when they are few).  False: no room.  BH off.
 */
bool omx_ring_push(struct omx_ring *ring, struct omx_event *event,
		   const struct sk_buff *skb, int offset, u32 length);
/*
 * Appends a completion, now or later from the backlog, and frees it then unless
 * it is embedded.  An embedded one that still waits keeps its place, with its new
 * content.  True: it has to wait.
 */
bool omx_ring_post(struct omx_ring *ring, struct omx_completion *completion);
/* Appends it now, and leaves it to the caller.  False: it would have to wait. */
bool omx_ring_try_post(struct omx_ring *ring, struct omx_completion *completion);
/*
 * Do completions wait for room?  Then the program is made to kick: who finds this true
 * goes on after that.
 */
bool omx_ring_is_backlogged(struct omx_ring *ring);
/* Moves what fits from the backlog.  True if the backlog is empty now. */
bool omx_ring_flush(struct omx_ring *ring);
/* Free slots, according to the program. */
static inline u32 omx_ring_room(const struct omx_ring *ring)
{
	/* Pairs with the program's release: it has read what we overwrite. */
	u32 used = ring->head - smp_load_acquire(&ring->user->utail);

	return used > OMX_RING_SLOTS ? 0 : OMX_RING_SLOTS - used;
}

#endif
