/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The memory control group of the program that opened an endpoint.
 *
 * Each endpoint has a struct sock, which the kernel ties to the control group
 * of the program that makes it.  What is charged to it appears as "sock" in the
 * group's memory.stat, and in memory.current.
 *
 * The kernel never refuses a charge that is made with BH off: the group would
 * exceed its limit, and its programs would be killed for that.  Whoever wants
 * memory there asks omx_group_fits() first.  Reclaiming page cache of the
 * group takes a context that may sleep: omx_group_make_room().
 */
#ifndef OMX_GROUP_H
#define OMX_GROUP_H

#include <linux/types.h>

struct net;
struct sock;

int omx_group_init(void);
void omx_group_exit(void);

/* ---- process context ---- */
/* Charges the caller's control group, if it has one.  NULL: out of memory. */
struct sock *omx_group_open(struct net *net);
void omx_group_close(struct sock *sk);
/*
 * Has the group reclaim what it can until this much fits.  False: it does not
 * fit.  Nobody is killed for it.  One caller at a time for each sock, which is
 * used for nothing else.
 */
bool omx_group_make_room(struct sock *sk, unsigned long bytes);

/* ---- any context ---- */
/* What tells groups apart; NULL: no group is charged. */
const void *omx_group_id(const struct sock *sk);
/* Bytes that the group and those above it may have at most; LONG_MAX: no limit. */
long omx_group_limit(const struct sock *sk);
/* Could so many bytes be charged now? */
bool omx_group_fits(const struct sock *sk, unsigned long bytes);
/*
 * Multiples of the page size.  The caller has a lock with BH off, the same for
 * both.  False: nothing is charged (control groups of version 1 only).
 */
bool omx_group_charge(struct sock *sk, unsigned long bytes);
void omx_group_uncharge(struct sock *sk, unsigned long bytes);

#endif
