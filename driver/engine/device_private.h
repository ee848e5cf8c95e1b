/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The engine of memory mode `device`.  This header is shared by the files that make it
 * up and by nobody else:
 *
 *   device_engine.c   copies: started, put on rings, found complete, given up
 *   device_turns.c    whose domain is attached to the function
 *   device_life.c     the function and the programs come and go
 *   domain.c          translations that the driver makes
 *   sva.c             address spaces of programs that the function uses by PASID
 *
 * The function is of one of two kinds.  A function with PASIDs and page requests has the
 * addresses of all programs at once and pages of its own accord (SVA); the domain
 * `shared` is always attached to it, for rings and frames.  For any other function the
 * driver makes a domain for each program, which are attached in turn.
 */
#ifndef OMX_DEVICE_PRIVATE_H
#define OMX_DEVICE_PRIVATE_H

#include <linux/list.h>
#include <linux/lockdep.h>
#include <linux/mutex.h>
#include <linux/pci.h>
#include <linux/spinlock.h>

#include "engine/device_engine.h"
#include "engine/domain.h"
#include "engine/engine.h"
#include "engine/function.h"

struct omx_device {
	/* The first three are written under both omx_function_lock and the engine's lock. */
	struct omx_function *function;
	struct omx_domain *attached;
	bool has_sva;

	/* Under omx_function_lock. */
	struct list_head domains;	/* of programs */
	struct omx_domain *shared;
	const char *why;		/* it is not used; NULL: it is */
	bool suspended;			/* nobody touches the function, or attaches a domain */

	/* Under the engine's lock. */
	struct list_head waiting;	/* domains with copies that are not attached */
	bool turning;			/* nothing is put on rings */
	unsigned int put;		/* copies, since the domain was attached */
	unsigned int silent;		/* looks of the watch during which nothing landed ... */
	u64 watched;			/* ... and what had landed when it last looked */
};

extern struct omx_device omx_device;
extern struct mutex omx_function_lock;

static inline struct device *omx_device_dev(void)
{
	return &omx_device.function->pdev->dev;
}

/* ---- device_engine.c, engine->lock held ---- */
/* Puts copies on the rings, or has work see to it that others have their turn. */
void omx_device_feed(void);
void omx_device_complete(void);
/* No descriptor is on a ring. */
bool omx_device_is_idle(void);
/* The processor does what has not been put on a ring. */
void omx_device_end_copy(struct omx_copy *copy);

/* ---- device_engine.c, process context ---- */
/* The work of the engine is not running and will not run. */
void omx_device_cancel_watch(void);

/* ---- device_turns.c, engine->lock held ---- */
/* Others wait, and the attached domain has had its turn or needs none. */
bool omx_device_should_turn(void);
void omx_device_schedule_turn(void);

/* ---- device_turns.c, process context, omx_function_lock held ---- */
/* Attaches another domain, or none. */
int omx_device_attach(struct omx_domain *next);
/* The processor does what waits for this domain. */
void omx_device_end_queue(struct omx_domain *domain);

/* ---- device_life.c, process context, omx_function_lock held ---- */
/*
 * Removes the domains of programs that have left, and those that have been spoiled, whose
 * programs can get new ones.
 */
void omx_device_drop_unused(void);

/* ---- device_turns.c, process context ---- */
void omx_device_cancel_turn(void);

#endif
