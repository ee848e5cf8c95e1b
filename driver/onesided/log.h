/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Logs of active access: rings, mapped into the program, in which the driver enters
 * accesses of peers.  active.c decides which of them, perform.c performs them.
 *
 * An entry is reserved before its access changes anything, which gives it its place,
 * and committed when the access has been performed.  The program consumes entries in
 * the order of the ring and stops at one that is not complete.  As with the event
 * ring, its tail is only used to compute how much is free.
 */
#ifndef OMX_LOG_H
#define OMX_LOG_H

#include <linux/atomic.h>
#include <linux/rcupdate.h>
#include <linux/refcount.h>
#include <linux/spinlock.h>
#include <linux/wait.h>

#include "omx_abi.h"

struct omx_account;
struct omx_endpoint;
struct vm_area_struct;

/*
 * References: one of ep->logs, one of each access that has an entry reserved, one of
 * each mapping, and one of each call that waits.  Accesses may outlive the endpoint.
 */
struct omx_log {
	refcount_t ref;
	struct omx_account *user;	/* charged for it */
	u32 slots;			/* a power of two */
	struct omx_log_kernel *kernel;	/* one page, then the slots */
	struct omx_log_user *program;	/* one page */
	struct omx_log_record *entry;	/* the slots */
	u32 ranges;			/* of windows that name it; under ep->active_lock */
	bool is_destroyed;		/* set once; whoever waits returns */
	spinlock_t lock;		/* of producers: head and statistics */
	u32 head;
	wait_queue_head_t wait;		/* programs in OMX_IOC_LOG_WAIT */
};

/* What an endpoint needs for its logs. */
struct omx_logs {
	struct omx_log __rcu *log[OMX_LOGS_MAX];	/* written under ep->active_lock */
	atomic64_t clock;		/* stamp of the newest entry */
	bool are_used;			/* windows have had active pages; under ep->active_lock */
};

/* ---- process context ---- */
/* OMX_IOC_LOG_CREATE, OMX_IOC_LOG_DESTROY, OMX_IOC_LOG_WAIT */
long omx_log_create(struct omx_endpoint *ep, void __user *arg);
long omx_log_destroy(struct omx_endpoint *ep, void __user *arg);
long omx_log_wait(struct omx_endpoint *ep, void __user *arg);
/* -EINVAL: no log is mapped at this offset of the file.  The mmap lock is held. */
int omx_log_map(struct omx_endpoint *ep, struct vm_area_struct *vma, unsigned long offset);
/* The endpoint closes: no access, ioctl or window uses the logs any more. */
void omx_logs_destroy(struct omx_endpoint *ep);

/* ---- any context ---- */
/* Whoever waits for a log looks again: OMX_IOC_WAKEUP was called or the endpoint died. */
void omx_logs_wake(struct omx_endpoint *ep);
/* NULL: there is no such log.  Referenced. */
struct omx_log *omx_log_get(struct omx_endpoint *ep, u32 number);
void omx_log_put(struct omx_log *log);

/* Can an entry with so much data ever have room? */
bool omx_log_may_hold(const struct omx_log *log, u32 data_length);
/* ---- BH off ---- */
/*
 * Reserves an entry, whose state is OMX_RECORD_RESERVED, with room for so much data.  The
 * caller fills in all but its state, slots and stamp.  NULL: there is no room now.
 */
struct omx_log_record *omx_log_reserve(struct omx_log *log, struct omx_logs *logs,
				      u32 data_length);
/* Completes an entry, whose data is in place: OMX_RECORD_COMMITTED or OMX_RECORD_VOID. */
void omx_log_commit(struct omx_log *log, struct omx_log_record *entry,
		    enum omx_record_state state, u32 data_length);
/* Has the program consumed all entries up to this stamp? */
bool omx_log_is_consumed(struct omx_log *log, u64 stamp);

static inline void *omx_log_data(struct omx_log_record *entry)
{
	return entry + 1;
}

#endif
