/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The order of the driver's locks, for lockdep.  Whoever initializes a lock of
 * an object gives it the class below in a debug build (make module OMX_DEBUG=1).
 * omx_selftest() then takes one lock of each class in the order of this list,
 * so that lockdep knows the order before the first frame arrives and reports
 * the first place that takes two of them the other way round.  driver/LOCKING
 * explains the order, and the locks that are not here because there is only
 * one of each.
 */
#ifndef OMX_LOCK_ORDER_H
#define OMX_LOCK_ORDER_H

enum omx_lock_class {
	/* mutexes */
	OMX_LOCK_OPEN,
	OMX_LOCK_ACCOUNT,
	OMX_LOCK_ACTIVE,
	OMX_LOCK_SPACE,
	/* spinlocks, taken with BH off */
	OMX_LOCK_ENDPOINTS,
	OMX_LOCK_PULL,
	OMX_LOCK_CHANNEL,
	OMX_LOCK_CHANNELS,
	OMX_LOCK_RNDV,
	OMX_LOCK_SCHEDULE,
	OMX_LOCK_PATH,
	OMX_LOCK_INCOMING,
	OMX_LOCK_SMALL_QUEUE,
	OMX_LOCK_CORK,
	OMX_LOCK_EXTENT,
	OMX_LOCK_PAGER,
	OMX_LOCK_RING,
	OMX_LOCK_LOG,
	OMX_LOCK_TABLE,
	OMX_LOCK_BUDGET,
	OMX_LOCK_CLASSES
};

#ifdef OMX_DEBUG
#include <linux/lockdep.h>

extern struct lock_class_key omx_lock_keys[OMX_LOCK_CLASSES];
extern const char *const omx_lock_names[OMX_LOCK_CLASSES];

#define omx_lock_set_class(lock, class)	\
	lockdep_set_class_and_name(lock, &omx_lock_keys[class], omx_lock_names[class])
#else
#define omx_lock_set_class(lock, class)	do { } while (0)
#endif

#define omx_spin_lock_init(lock, class) do {	\
	spin_lock_init(lock);			\
	omx_lock_set_class(lock, class);	\
} while (0)

#define omx_mutex_init(lock, class) do {	\
	mutex_init(lock);			\
	omx_lock_set_class(lock, class);	\
} while (0)

#endif
