/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Active access: the flags of a window's pages, which decide whether accesses of
 * peers are performed and whether they are logged [Besta15].
 *
 * Windows have no such pages unless their program asks for them.  As long as no
 * endpoint of this host has, accesses cost no instruction for it (a static key).
 */
#ifndef OMX_ACTIVE_H
#define OMX_ACTIVE_H

#include <linux/jump_label.h>
#include <linux/rcupdate.h>

#include "onesided/window.h"

struct omx_channel;
struct omx_log;
struct omx_log_record;
struct sk_buff;

/* Pages with the same flags and log, of a window; the others are W and R. */
struct omx_active_range {
	u64 first;			/* page */
	u64 end;			/* the one behind the last */
	u8 flags;			/* OMX_PAGE_* */
	u8 log;
};

/* All of a window, in order.  Constant; replaced under ep->active_lock. */
struct omx_active_pages {
	struct rcu_head rcu;
	u32 count;
	struct omx_active_range range[];
};

/*
 * The access that a channel performs, if its window has active pages: from its first
 * packet to its response.  Belongs to whoever runs the channel's queue.
 */
struct omx_active_access {
	struct omx_log *log;		/* referenced; NULL: it is not logged */
	struct omx_log_record *entry;	/* reserved in the log */
	u64 offset;			/* in the window */
	u32 length;
	u32 data_length;		/* reserved: others overwrite the entry if utail is wrong */
	u32 arrived;			/* a put: bytes so far */
	u32 id;
	u32 window;
	u8 type;			/* OMX_WIRE_* */
	u8 status;			/* why it is refused */
	bool busy;
	bool performs;			/* a put: memory is written */
	bool blocked;			/* by its flags, and that is logged */
};

DECLARE_STATIC_KEY_FALSE(omx_active_windows);

/* ---- process context ---- */
/* OMX_IOC_ACTIVATE */
long omx_window_activate(struct omx_endpoint *ep, void __user *arg);
/* The window ends: nobody performs accesses to it any more. */
void omx_window_deactivate(struct omx_endpoint *ep, struct omx_window *window);
/* The endpoint closes, after its windows. */
void omx_active_close(struct omx_endpoint *ep);

/* ---- BH off, RCU read lock held; by whoever runs the channel's queue ---- */
/* Does omx_active_begin() have anything to do? */
static inline bool omx_active_concerns(const struct omx_active_access *active,
				       const struct omx_window *window)
{
	return static_branch_unlikely(&omx_active_windows) &&
	       (active->busy || rcu_access_pointer(window->active));
}

/*
 * A packet of an access is to be performed in this window, which may have active pages.
 * Reserves an entry if the access is to be logged, and enters the data of a put, whose
 * bytes are not written if its pages say so.  May be called again for the same packet.
 * Returns OMX_STATUS_*: with anything but OK, the access is to be refused.
 */
u8 omx_active_begin(struct omx_channel *ch, const struct omx_window *window,
		    struct sk_buff *skb);
/*
 * The response is about to be sent, or an ack is to say that a put has been performed
 * (`response` is NULL then): completes the entry, if there is one.
 */
void omx_active_end(struct omx_channel *ch, u32 id, u8 status, const struct sk_buff *request,
		    const struct sk_buff *response, u64 before);
/* Does this packet go on with an access that has an entry? */
bool omx_active_goes_on(const struct omx_channel *ch, const struct sk_buff *skb);
/*
 * FLUSH: 0 if the program has consumed what accesses of this channel have logged, up to
 * the stamp (0: all), or else the stamp to ask for the next time.
 */
u64 omx_active_pending(struct omx_channel *ch, u64 stamp);

/* ---- any context ---- */
/* The channel ends, and nobody performs its accesses: voids the entry of an unfinished put. */
void omx_active_abandon(struct omx_channel *ch);

#endif
