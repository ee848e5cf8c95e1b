/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The event ring of an endpoint, mapped read-only into the program.
 *
 * Producers run in any context under ring->lock.  The consumer is the
 * program: its tail is read from a page it can write, so it is only ever
 * used as a hint of how much is free, bounded by our own head and size.
 *
 * Two kinds of entries.  A message may be refused when there is no room: its
 * sender keeps it and sends it again.  A note (how a request ended, what
 * happened to a channel) may not: it waits in the backlog until OMX_IOC_KICK,
 * and is charged to the user, of whom no new request is taken while the memory
 * is used up.
 */
#ifndef OMX_RING_H
#define OMX_RING_H

#include <linux/list.h>
#include <linux/spinlock.h>

#include "omx_abi.h"

struct omx_account;
struct sk_buff;
struct vm_area_struct;

#define OMX_RING_SLOTS	16384	/* 1 MiB */
/* All its memory: a page of the driver's words, the slots, a page of the program's. */
#define OMX_RING_BYTES	(2 * PAGE_SIZE + OMX_RING_SLOTS * OMX_SLOT_SIZE)

struct omx_ring {
	spinlock_t lock;		/* taken with BH off; only table locks nest inside */
	u32 head;			/* ours; what the program sees is a copy */
	struct omx_ring_kernel *kernel;	/* one page, then the slots */
	struct omx_ring_user *user;	/* one page */
	struct omx_event *slot;
	struct list_head backlog;	/* of notes */
};

struct omx_completion {
	struct list_head link;		/* in the backlog, or empty */
	struct omx_account *user;	/* charged for it; NULL: it is in an object that outlives it */
	struct omx_event event;
};

/* Process context. */
int omx_ring_init(struct omx_ring *ring);
void omx_ring_destroy(struct omx_ring *ring);
/* Maps the driver's or the program's part; the mmap lock is held for writing. */
int omx_ring_map_kernel(struct omx_ring *ring, struct vm_area_struct *vma);
int omx_ring_map_user(struct omx_ring *ring, struct vm_area_struct *vma);
struct omx_completion *omx_completion_alloc(struct omx_account *user, enum omx_event_type type,
					    u64 cookie);
void omx_completion_init(struct omx_completion *completion, enum omx_event_type type);
/* Takes an embedded note out of the backlog before its object goes. */
void omx_ring_forget(struct omx_ring *ring, struct omx_completion *completion);

/* Any context. */
/* One that was not posted, or NULL. */
void omx_note_free(struct omx_completion *completion);
/*
 * Appends a message with `length` bytes of payload found at `offset` of skb
 * (behind the event, or inside it when they are few).  False: no room.
 */
bool omx_ring_push(struct omx_ring *ring, struct omx_event *event,
		   const struct sk_buff *skb, int offset, u32 length);
/*
 * Appends a note, now or from the backlog; frees it then unless embedded.
 * An embedded note that still waits is left in its place with its new text.
 * True: it had to wait.
 */
bool omx_ring_post(struct omx_ring *ring, struct omx_completion *completion);
/* Moves what fits from the backlog.  True if the backlog is empty now. */
bool omx_ring_flush(struct omx_ring *ring);
/* Free slots, as far as the program can be believed. */
u32 omx_ring_room(const struct omx_ring *ring);

#endif
