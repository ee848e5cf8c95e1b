/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A window is a part of a region that peers access without the program: they name
 * it by a key, which contains a secret.  perform.c finds the window of each access
 * that arrives, large.c those of transfers that last longer.
 */
#ifndef OMX_WINDOW_H
#define OMX_WINDOW_H

#include <linux/rcupdate.h>
#include <linux/refcount.h>
#include <linux/types.h>

struct omx_account;
struct omx_active_pages;
struct omx_channel;
struct omx_endpoint;
struct omx_region;
struct omx_wire_key;

struct omx_window_peer {
	u64 mac;
	u32 session;
	u16 endpoint;
};

/*
 * Constant once it can be found, but for its pages.  References: one of the table, which revoking
 * takes over, and one of each pull into the window and of each message that was
 * announced out of it.  A small access has none: it finds the window and has ended
 * within one read-side section of RCU.
 */
struct omx_window {
	u32 id;				/* first: see table.h */
	refcount_t ref;
	struct rcu_head rcu;
	struct omx_account *user;	/* charged for it */
	struct omx_region *region;	/* referenced, counted in region->windows */
	u64 start;			/* in the region */
	u64 length;
	u8 rights;			/* OMX_WINDOW_* */
	u32 secret[3];
	struct omx_active_pages __rcu *active;	/* NULL: none; written under ep->active_lock */
	bool has_ended;			/* under ep->active_lock: its pages stay as they are */
	bool is_private;		/* only this peer may access it: */
	struct omx_window_peer peer;
};

/* ---- process context ---- */
/* OMX_IOC_WINDOW_CREATE and OMX_IOC_WINDOW_REVOKE */
long omx_window_create(struct omx_endpoint *ep, void __user *arg);
long omx_window_revoke(struct omx_endpoint *ep, void __user *arg);
/* The endpoint closes: no frame finds a window any more, and all transfers have ended. */
void omx_windows_destroy(struct omx_endpoint *ep);

/* ---- any context ---- */
/*
 * The window that the key names, if the peer of the channel may access these bytes
 * of it with this right (one of OMX_WINDOW_*).  Returns OMX_STATUS_OK, _BAD_WINDOW,
 * _NO_RIGHT or _BAD_RANGE.  RCU read lock held, which keeps the window; whoever
 * uses it for longer calls omx_window_ref() before the end of that section.
 */
u8 omx_window_find(struct omx_endpoint *ep, const struct omx_wire_key *key,
		   const struct omx_channel *ch, u8 right, u64 offset, u64 length,
		   struct omx_window **window);

/*
 * For a transfer that outlives the read-side section in which the window was
 * found.  False: the window is revoked and its last transfer has ended.
 */
static inline bool omx_window_ref(struct omx_window *window)
{
	return refcount_inc_not_zero(&window->ref);
}

/* The transfer has ended: it does not access the window's memory any more. */
void omx_window_put(struct omx_window *window);

#endif
