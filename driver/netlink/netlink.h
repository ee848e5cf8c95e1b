/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The generic netlink family of omx_netlink.h, for main.c.  Process context, rtnl not
 * held.
 */
#ifndef OMX_DRIVER_NETLINK_H
#define OMX_DRIVER_NETLINK_H

#include <linux/types.h>

/* Before the first board is attached, and after the last one is detached. */
int omx_netlink_init(void);
void omx_netlink_exit(void);
/*
 * May boards be attached?  Not at first; when this returns after it was forbidden, no
 * request attaches one any more.
 */
void omx_netlink_allow_changes(bool allow);

#endif
