/* SPDX-License-Identifier: GPL-2.0 */
/*
 * An open endpoint: the file that owns it, its ring, its channels and the
 * requests under way.
 *
 * Lifetime.  The file owns the endpoint and frees it in release().  Frames
 * find it in board->endpoints under RCU; timers under the locks below.  Close
 * takes it out of that table, marks it dead, waits for a grace period and
 * only then stops timers and frees: nobody can come in behind.  Detaching the
 * interface does the first two of these steps and leaves the rest to the file.
 *
 * Locks, outermost first, all taken with BH off:
 *	pull->lock		one pull's progress
 *	channel->lock		one channel's sequencing and lists
 *	ep->channels_lock	the hash of channels, hosts, ended flows
 *	board->pulls.lock	whose turn it is to ask
 *	ring->lock		the event ring
 *	table->lock		numbers
 *	budget->lock		memory reserved (innermost)
 * Frames are handed to the network with none of them held.  rndv->lock is
 * taken with none of them held; extent->lock, under which pages are copied,
 * inside pull->lock; pager->lock (pager.h) inside pull->lock or rndv->lock.  In
 * process context, before any of them: account->lock; space->lock, then the
 * mmap lock.
 */
#ifndef OMX_ENDPOINT_H
#define OMX_ENDPOINT_H

#include <linux/hashtable.h>
#include <linux/hrtimer.h>
#include <linux/netdevice.h>
#include <linux/wait.h>

#include "channel/ended.h"
#include "endpoint/budget.h"
#include "endpoint/ring.h"
#include "endpoint/table.h"
#include "omx_abi.h"

struct omx_board;
struct omx_space;
struct pid;

#define OMX_CHANNEL_HASH_BITS	10
#define OMX_CHANNELS_MAX	8192	/* per endpoint; see also quota.h */
#define OMX_QUOTA_HASH_BITS	6
#define OMX_UNFETCHED_MAX		(16 << 20)	/* bytes of messages that the program has not fetched */
#define OMX_HELD_MIN		(64 << 10)	/* ... it may have, whatever others take */

struct omx_endpoint {
	struct net *net;
	struct omx_board *board;	/* referenced */
	u32 index;
	u32 session;
	u32 key;
	unsigned int timeout;		/* jiffies */
	u8 dead;			/* OMX_STATUS_*: why nothing works any more; set once */
	struct pid *owner;
	char command[16];

	struct omx_budget budget;	/* what its owner pays for */
	struct omx_space *space;	/* the owner's memory, for what is not pinned */
	struct omx_ring ring;
	wait_queue_head_t wait;		/* programs in OMX_IOC_WAIT */
	atomic_t attending;		/* threads that look at the ring once they are back */
	wait_queue_head_t helper_wait;	/* helper threads */
	struct hrtimer helper_timer;	/* what follows lies in the ring */
	u32 urgent_head;		/* ring head behind the newest event that cannot wait */
	bool helper_due;

	u32 hash_seed;			/* nobody else can make chains long */
	u64 hash_keys[4];		/* nor in channels_by_peer */
	DECLARE_HASHTABLE(channels_by_peer, OMX_CHANNEL_HASH_BITS);
	DECLARE_HASHTABLE(quotas, OMX_QUOTA_HASH_BITS);
	struct omx_ended_flows ended;
	spinlock_t channels_lock;	/* of the three above */
	struct omx_table channels;
	struct omx_table regions;
	struct omx_table pulls;
	struct omx_table rndvs;
	struct omx_table messages;	/* medium ones, until fetched */
	struct omx_table connects;

	atomic_t unfetched;			/* bytes: complete messages that are not fetched */
	atomic_t ahead;			/* bytes: frames kept out of order */
	atomic_t closed_windows;	/* channels whose peers we told to wait */
	atomic_t next_flow;

	struct omx_completion board_completion;
};

/* ---- process context ---- */
struct omx_endpoint *omx_endpoint_open(struct net *net, struct omx_ioc_open *open);
void omx_endpoint_close(struct omx_endpoint *ep);
long omx_endpoint_wait(struct omx_endpoint *ep, void __user *arg);
long omx_endpoint_wakeup(struct omx_endpoint *ep);
long omx_endpoint_kick(struct omx_endpoint *ep);
void omx_endpoint_describe(struct omx_board *board, u32 index,
			   struct omx_ioc_endpoint_info *info);
/* The interface goes: all its endpoints die.  rtnl may be held. */
void omx_endpoints_detach(struct omx_board *board);

/*
 * May a request begin that this table numbers?  One always may, whatever others
 * have taken.
 */
bool omx_endpoint_takes(struct omx_endpoint *ep, const struct omx_table *table,
			enum omx_account_use use);

/* ---- any context ---- */
/* Flags or MTU of the interface changed. */
void omx_endpoints_board_changed(struct omx_board *board);
/* RCU read lock held. */
struct omx_endpoint *omx_endpoint_find(struct omx_board *board, u16 index);
/* Something was appended to the ring. */
void omx_endpoint_notify(struct omx_endpoint *ep);
/* ... and the transfer stops until the program, or its helper, has seen it. */
void omx_endpoint_notify_urgent(struct omx_endpoint *ep);
/* A thread that was `attending` goes back to its program. */
void omx_endpoint_leave(struct omx_endpoint *ep);
/* Posts a note and wakes. */
void omx_endpoint_post(struct omx_endpoint *ep, struct omx_completion *completion);

/* Whom the requests of its program are charged to. */
static inline struct omx_account *omx_endpoint_user(const struct omx_endpoint *ep)
{
	return ep->budget.user.account;
}

/* Does its program keep more than it wants of messages that nobody asked for? */
static inline bool omx_endpoint_wants_announcements(const struct omx_endpoint *ep)
{
	return READ_ONCE(ep->ring.user->uannounce) & OMX_ANNOUNCE_PEERS;
}

/* Does its library know what to do with a message that its peer does not take? */
static inline bool omx_endpoint_can_announce(const struct omx_endpoint *ep)
{
	return READ_ONCE(ep->ring.user->uannounce) & OMX_ANNOUNCE_OWN;
}

/* May another message begin that waits for the program? */
static inline bool omx_endpoint_may_hold(const struct omx_endpoint *ep)
{
	return atomic_read(&ep->unfetched) < OMX_HELD_MIN ||
	       omx_budget_has_room(&ep->budget, OMX_ACCOUNT_RECEIVE);
}

static inline bool omx_endpoint_is_dead(const struct omx_endpoint *ep)
{
	return READ_ONCE(ep->dead);
}

#endif
