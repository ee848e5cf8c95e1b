/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Attaching and detaching boards, which the netdevice notifier and the commands
 * of ifnames.c do.
 */
#ifndef OMX_ATTACH_H
#define OMX_ATTACH_H

#include <linux/types.h>

struct net;
struct net_device;
struct omx_board;

/* ---- module init / exit ---- */
int omx_attach_init(void);	/* attaches nothing yet: no namespace is automatic */
void omx_attach_exit(void);	/* detaches every board */

/* ---- process context, rtnl held ---- */
/* `automatic`: not by name, but because "all" is in effect. */
int omx_board_attach(struct net_device *dev, bool automatic);
/* -EBUSY: endpoints are open on it.  With `force` they end. */
int omx_board_detach(struct omx_board *board, bool force);
/* Attaches every suitable device of the namespace if "all" is in effect. */
void omx_attach_all(struct net *net);
/* Detaches every board of the namespace.  -EBUSY: some have open endpoints. */
int omx_detach_all(struct net *net);

/* What an error of these functions means, for the log. */
const char *omx_attach_error(int error);

#endif
