/* SPDX-License-Identifier: GPL-2.0 */
/*
 * An open endpoint: its ring, its channels and the requests under way.
 *
 * Lifetime.  A file (device/chardev.c) owns the endpoint and frees it in release().
 * Frames find it in board->endpoints under RCU; timers check that it is not dead.
 * Close takes it out of that table, marks it dead, waits for a grace period and
 * only then stops timers and frees: nobody can come in behind.  Detaching the
 * board does the first two of these steps and leaves the rest to the file.
 *
 * driver/LOCKING describes the locks of an endpoint and of all else.
 */
#ifndef OMX_ENDPOINT_H
#define OMX_ENDPOINT_H

#include <linux/hashtable.h>
#include <linux/hrtimer.h>
#include <linux/mutex.h>
#include <linux/netdevice.h>
#include <linux/rcuwait.h>
#include <linux/wait.h>

#include "channel/cork.h"
#include "channel/ended.h"
#include "endpoint/budget.h"
#include "endpoint/polling.h"
#include "endpoint/ring.h"
#include "endpoint/table.h"
#include "endpoint/traffic.h"
#include "omx_abi.h"
#include "onesided/log.h"

struct omx_board;
struct omx_board_user;
struct omx_space;
struct pid;

#define OMX_CHANNEL_HASH_BITS	10
#define OMX_CHANNELS_MAX	8192	/* per endpoint; see also quota.h */
#define OMX_QUOTA_HASH_BITS	6
#define OMX_UNFETCHED_MAX	(16 << 20)	/* bytes of messages that are not fetched */
#define OMX_HELD_MIN		(64 << 10)	/* ... that it may have, however much others have */

struct omx_endpoint {
	struct net *net;
	struct omx_board *board;	/* referenced */
	struct omx_board_user *board_user;	/* what its user's endpoints there share */
	u32 index;
	u32 session;
	u32 key;
	unsigned int timeout;		/* jiffies */
	u8 dead;			/* OMX_STATUS_*: why it has ended; set once */
	struct pid *owner;
	char command[16];

	struct omx_budget budget;	/* kernel memory, charged to the owner */
	struct omx_space *space;	/* the owner's address space, for unpinned regions */
	struct omx_ring ring;
	struct rcuwait lone;		/* a thread in OMX_IOC_WAIT, if there is no other */
	unsigned long lone_taken;	/* bit 0; atomic */
	wait_queue_head_t wait;		/* other threads in OMX_IOC_WAIT, and in poll() */
	struct omx_polling polling;	/* how long these poll before they sleep */
	atomic_t attending;		/* threads that look at the ring when they return */
	wait_queue_head_t helper_wait;	/* helper threads */
	struct hrtimer helper_timer;	/* runs while an urgent event lies in the ring */
	u32 urgent_head;		/* ring head behind the newest urgent event */
	bool helper_due;		/* the timer has woken the helper */

	struct omx_cork cork;		/* short messages that wait for more of them */

	u32 hash_seed;			/* of `quotas`: no peer can choose its bucket */
	u64 hash_keys[4];		/* of channels_by_peer */
	DECLARE_HASHTABLE(channels_by_peer, OMX_CHANNEL_HASH_BITS);
	DECLARE_HASHTABLE(quotas, OMX_QUOTA_HASH_BITS);
	struct omx_ended_flows ended;
	struct omx_traffic sent, received;	/* by channels that have ended */
	spinlock_t channels_lock;	/* protects those above, from the hash tables on */
	struct omx_table channels;
	struct omx_table regions;
	struct omx_table pulls;
	struct omx_table rndvs;
	struct omx_table messages;	/* medium ones, until fetched */
	struct omx_table connects;
	struct omx_table windows;
	struct omx_table accesses;	/* of ours to windows of peers */
	atomic_t accesses_kept;		/* of these: kept by channels for their next one */
	struct mutex active_lock;	/* of writers of active pages and of: */
	struct omx_logs logs;

	atomic_t unfetched;		/* bytes: complete messages that are not fetched */
	atomic_t pushed;		/* bytes: frames of messages that are not pulled yet */
	atomic_t ahead;			/* bytes: frames kept out of order */
	atomic_t closed_windows;	/* channels on which we advertise no window */
	atomic_t next_flow;

	struct omx_completion board_completion;
};

/* ---- process context ---- */
struct omx_endpoint *omx_endpoint_open(struct net *net, struct omx_ioc_open *open);
/*
 * Peers are told that it has closed, after what it has sent before; its number is free.
 * May wait for that for a second.  For a program that has ended, before its close.
 */
void omx_endpoint_retire(struct omx_endpoint *ep);
void omx_endpoint_close(struct omx_endpoint *ep);
/* OMX_IOC_KICK: the program has made room in its ring. */
long omx_endpoint_kick(struct omx_endpoint *ep);
void omx_endpoint_describe(struct omx_board *board, u32 index,
			   struct omx_ioc_endpoint_info *info);
/* The board is detached: all its endpoints die.  rtnl may be held. */
void omx_endpoints_detach(struct omx_board *board);

/* No: but is it the first one?  Else counts the refusal. */
bool omx_endpoint_takes_first(struct omx_endpoint *ep, const struct omx_table *table);
/*
 * Is there memory for another request of the kind that this table numbers?  The
 * first one is always admitted, however much memory other endpoints use.
 */
static inline bool omx_endpoint_takes(struct omx_endpoint *ep, const struct omx_table *table,
				      enum omx_account_use use)
{
	return likely(omx_budget_has_room(&ep->budget, use)) ||
	       omx_endpoint_takes_first(ep, table);
}

/* ---- any context ---- */
/* Flags or MTU of the board have changed. */
void omx_endpoints_board_changed(struct omx_board *board);
/* RCU read lock held. */
struct omx_endpoint *omx_endpoint_find(struct omx_board *board, u16 index);

/* The account that the requests of its program are charged to. */
static inline struct omx_account *omx_endpoint_user(const struct omx_endpoint *ep)
{
	return ep->budget.user.account;
}

/* Does the program want peers to announce messages instead of sending them eagerly? */
static inline bool omx_endpoint_wants_announcements(const struct omx_endpoint *ep)
{
	return READ_ONCE(ep->ring.user->uannounce) & OMX_ANNOUNCE_PEERS;
}

/* Can its library announce a message that the peer does not accept eagerly? */
static inline bool omx_endpoint_can_announce(const struct omx_endpoint *ep)
{
	return READ_ONCE(ep->ring.user->uannounce) & OMX_ANNOUNCE_OWN;
}

/*
 * May the program leave its messages here until receives match them?  How many does not matter:
 * most of them are in the ring still, and when they close windows, it is told to fetch them.
 */
static inline bool omx_endpoint_may_keep(const struct omx_endpoint *ep)
{
	return omx_budget_has_room(&ep->budget, OMX_ACCOUNT_KEEP);
}

/* Is there memory for another message that waits until the program fetches it? */
static inline bool omx_endpoint_may_hold(const struct omx_endpoint *ep)
{
	return atomic_read(&ep->unfetched) < OMX_HELD_MIN ||
	       omx_budget_has_room(&ep->budget, OMX_ACCOUNT_RECEIVE);
}

/* Do messages that the program has left here keep others from arriving? */
static inline bool omx_endpoint_is_to_fetch(const struct omx_endpoint *ep)
{
	return atomic_read(&ep->closed_windows) && atomic_read(&ep->unfetched) >= OMX_HELD_MIN;
}

static inline bool omx_endpoint_is_dead(const struct omx_endpoint *ep)
{
	return READ_ONCE(ep->dead);
}

#endif
