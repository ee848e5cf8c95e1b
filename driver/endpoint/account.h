/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Who pays for the kernel memory that grows with what programs do or leave
 * undone, and how much of it they may have.  Two kinds of accounts, shared by
 * all endpoints of their owner:
 *
 * - A user ID, in all namespaces: `user_memory_mb`, by default a quarter of the
 *   memory.  It is charged rings as well, and limits the number of endpoints.
 * - A memory control group, if its programs are in one that charges sockets:
 *   its memory.max, or a lower one above it.  The kernel charges the group for
 *   all that is counted here, too (group.h), and for rings on its own.
 *
 * Counted are channels, packets until the peer has acknowledged them, and
 * frames that wait for the program that they are for.  A frame that was
 * received belongs to the owner of the receiving endpoint.  Endpoints reserve
 * in steps what they are charged (budget.h): reservations are what is counted.
 *
 * What a program requests (regions, large sends, pulls, connects, and the
 * completions that report how these end) is charged to the user one by one, by
 * what the allocator gives, until it is freed, which may be after its endpoint.
 * The kernel itself charges the group for it (GFP_KERNEL_ACCOUNT).
 *
 * The uses below are refused at different levels, so that whatever releases
 * memory still works when what takes it is refused:
 *
 *	user	group, of what its rings leave
 *	1/2		rings: no more endpoints open (-EDQUOT)
 *	1/2	1/4	messages that no receive has matched: the program is to fetch
 *			them at once, so that they do not keep what is below from resuming
 *	5/8	1/2	declared regions, which may stay for ever (-EDQUOT)
 *			and windows; conditional accesses (-EBUSY); pulls and
 *			large sends that peers begin by accesses to windows, and
 *			keys that they post (NO_MEMORY at the peer)
 *	3/4	1/2	sends: -EAGAIN, and OMX_EVENT_SEND_SPACE when less than 5/8,
 *			or 3/8, is used; large sends (-EBUSY), connects (-EAGAIN)
 *	all	3/4	receives: windows close and peers wait, until less than 7/8,
 *			or 5/8, is used; pulls (-EBUSY)
 *
 * The last quarter stays with the group's programs.  Both are also refused
 * while the group is so full, with whatever, that a step would exceed its
 * limit, until the kernel has reclaimed something: packets kill nobody.
 *
 * Never refused, though counted, is what keeps every program going when others
 * have taken all that there is:
 * - answers to peers, and the rest of a message that has begun to arrive;
 * - one region, one large send, one pull and one connect of each endpoint;
 * - one message of each channel that has nothing in flight: 64 KiB, which are
 *   up to 200 KiB of memory in short frames;
 * - messages received while the endpoint holds less than OMX_HELD_MIN of them: the
 *   program is woken when others are refused, and fetches those that it has left here;
 * - one access of each channel that waits to be performed;
 * - the packet that is next in order on each channel: it stays there, and with
 *   the part of a message before it takes 64 KiB at most.
 */
#ifndef OMX_ACCOUNT_H
#define OMX_ACCOUNT_H

#include <linux/atomic.h>
#include <linux/gfp.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/uidgid.h>
#include <linux/workqueue.h>

struct sock;

enum omx_account_use {
	OMX_ACCOUNT_SEND,
	OMX_ACCOUNT_RECEIVE,
	OMX_ACCOUNT_REGION,		/* nobody waits for room for this and the next */
	OMX_ACCOUNT_KEEP,
	OMX_ACCOUNT_USES
};

struct omx_account {
	atomic_long_t memory;		/* bytes */
	/* Bytes by use; a user's are written under accounts_lock, a group's under lock. */
	long refuse[OMX_ACCOUNT_USES];
	long resume_below[OMX_ACCOUNT_USES];
	unsigned long waiting;		/* bits by use: somebody is to be told of room */
	bool is_full;			/* the group, and reclaiming did not help */
	struct sock *sk;		/* of a control group: to make room; NULL: a user's */
	long rings;			/* bytes that the group is charged for them; under lock */
	kuid_t uid;
	struct delayed_work review;
	struct mutex lock;		/* of members, and of the levels of a group */
	struct list_head members;	/* struct omx_share */
	struct list_head in_all;	/* this and the next under accounts_lock */
	unsigned int endpoints;		/* including those that open or close now */
};

/* ---- process context ---- */
/*
 * The caller's account, with one more endpoint that takes this much memory as
 * long as it is open.  -EDQUOT: that is more than a user may have; -ENOMEM.
 */
struct omx_account *omx_account_get(unsigned long endpoint_bytes);
/* The account of the socket's control group; NULL: it is in none.  -ENOMEM. */
struct omx_account *omx_account_get_group(const struct sock *sk, unsigned long endpoint_bytes);
void omx_account_put(struct omx_account *account, unsigned long endpoint_bytes);
/* No endpoint is open, and nothing is charged any more. */
void omx_account_exit(void);

/* ---- any context ---- */
/* Zeroed memory, charged to the user.  NULL: there is none. */
void *omx_account_alloc(struct omx_account *user, size_t size, gfp_t gfp);
static inline void omx_account_charge(struct omx_account *account, unsigned long bytes)
{
	atomic_long_add(bytes, &account->memory);
}

void omx_account_uncharge(struct omx_account *account, unsigned long bytes);
/* Before what omx_account_alloc() gave is freed. */
void omx_account_uncharge_object(struct omx_account *user, const void *object);

static inline bool omx_account_has_room(const struct omx_account *account,
					enum omx_account_use use)
{
	return atomic_long_read(&account->memory) < READ_ONCE(account->refuse[use]);
}

/* May what was refused begin?  This takes a little more. */
bool omx_account_may_resume(const struct omx_account *account, enum omx_account_use use);

/*
 * Once that is so, omx_channels_resume() is called for all members.  The
 * caller has noted before where it was refused.
 */
void omx_account_wait(struct omx_account *account, enum omx_account_use use);
static inline bool omx_account_is_waited_for(const struct omx_account *account)
{
	return READ_ONCE(account->waiting);
}

/* Has the group reclaim memory soon: it is full, or nearly. */
void omx_account_make_room(struct omx_account *account);

#endif
