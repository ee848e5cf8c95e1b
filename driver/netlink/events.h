/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Events for those who listen to the netlink family.  They cost next to nothing while
 * nobody does.  `command` is one of the events of omx_netlink.h.
 */
#ifndef OMX_EVENTS_H
#define OMX_EVENTS_H

#include "omx_netlink.h"

struct omx_board;
struct omx_endpoint;
struct omx_peer;

/* ---- process context, rtnl held ---- */
void omx_event_board(struct omx_board *board, enum omx_netlink_command command);

/* ---- any context, board->endpoints_lock held: in the order in which they happen ---- */
void omx_event_endpoint(struct omx_endpoint *ep, enum omx_netlink_command command);

/* ---- any context, table->lock held ---- */
/* Before the peer leaves the table. */
void omx_event_peer(struct omx_board *board, const struct omx_peer *peer,
		    enum omx_netlink_command command);

#endif
