/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What one user may take of the host: endpoints, and the kernel memory that
 * grows with what its programs do or leave undone.  One account per user ID,
 * shared by all endpoints that this user has opened, in all namespaces.
 *
 * Counted are rings, channels, packets until the peer has acknowledged them,
 * and frames that wait for the program that they are for.  A frame that was
 * received belongs to the owner of the receiving endpoint.
 *
 * The uses below are refused at different levels, so that whatever releases
 * memory still works when what takes it is refused:
 *	1/2	rings: no more endpoints open (-EDQUOT)
 *	3/4	sends: -EAGAIN, and OMX_EVENT_SEND_SPACE when less than 5/8 is used
 *	all	receives: windows close and peers wait, until less than 7/8 is used
 * Answers to peers are counted and never refused.  A message is counted when it
 * is complete: what a channel has of one, and the packet that it keeps while its
 * window is closed, are 64 KiB at most.
 */
#ifndef OMX_ACCOUNT_H
#define OMX_ACCOUNT_H

#include <linux/atomic.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/uidgid.h>
#include <linux/workqueue.h>

struct omx_endpoint;

enum omx_account_use {
	OMX_ACCOUNT_SEND,
	OMX_ACCOUNT_RECEIVE,
	OMX_ACCOUNT_USES
};

struct omx_account {
	atomic_long_t memory;		/* bytes */
	/* Bytes by use, written under accounts_lock. */
	long refuse[OMX_ACCOUNT_USES];
	long resume_below[OMX_ACCOUNT_USES];
	unsigned long waiting;		/* bits by use: somebody is to be told of room */
	kuid_t uid;
	struct work_struct resume;
	struct mutex lock;		/* of members; outside of all locks of an endpoint */
	struct list_head members;	/* endpoints, by in_account */
	struct list_head in_all;	/* this and the next under accounts_lock */
	unsigned int endpoints;		/* including those that open or close now */
};

/* ---- process context ---- */
/*
 * The caller's account, with one more endpoint that takes this much memory as
 * long as it is open.  -EDQUOT: that is more than a user may have; -ENOMEM.
 */
struct omx_account *omx_account_get(unsigned long endpoint_bytes);
void omx_account_put(struct omx_account *account, unsigned long endpoint_bytes);
/*
 * From now on, until no longer: when there is room again, channels of this
 * endpoint that wait for it are told.
 */
void omx_account_add(struct omx_endpoint *ep);
void omx_account_remove(struct omx_endpoint *ep);

/* ---- any context ---- */
static inline void omx_account_charge(struct omx_account *account, unsigned long bytes)
{
	atomic_long_add(bytes, &account->memory);
}

void omx_account_uncharge(struct omx_account *account, unsigned long bytes);

/* May a new use begin? */
static inline bool omx_account_has_room(const struct omx_account *account,
					enum omx_account_use use)
{
	return atomic_long_read(&account->memory) < READ_ONCE(account->refuse[use]);
}

/* ... and may one that was refused?  This takes a little more. */
static inline bool omx_account_may_resume(const struct omx_account *account,
					  enum omx_account_use use)
{
	return atomic_long_read(&account->memory) < READ_ONCE(account->resume_below[use]);
}

/*
 * Once that is so, omx_channels_resume() is called for all members.  The
 * caller has noted before where it was refused.
 */
void omx_account_wait(struct omx_account *account, enum omx_account_use use);

#endif
