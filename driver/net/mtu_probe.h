/* SPDX-License-Identifier: GPL-2.0 */
/* Probes for the path MTU: hellos as long as the frames whose way they test. */
#ifndef OMX_MTU_PROBE_H
#define OMX_MTU_PROBE_H

#include <linux/types.h>

struct omx_board;
struct omx_peer;

/* ---- process context ---- */
/* Sends the probes that are due; returns when the next ones are, `next` at the latest. */
unsigned long omx_mtu_probe_peers(struct omx_board *board, unsigned long next);

/* ---- any context ---- */
/* jiffies between two probes: hosts that have met at the same time do not go on so. */
unsigned long omx_probe_interval(void);

/* ---- any context, table->lock held ---- */
/* What the peer accepts, or whether it is there, has changed. */
void omx_mtu_probe_soon(struct omx_board *board, struct omx_peer *peer);
/* A probe of this length was answered. */
void omx_mtu_probe_answered(struct omx_board *board, struct omx_peer *peer, u32 length);
/* May a probe of the peer be answered now?  Anybody can send them. */
bool omx_mtu_probe_may_answer(struct omx_peer *peer);

/* ---- any context; a lock of a channel or pull may be held ---- */
/* A frame of this length to the peer was lost more than once: is it too long? */
void omx_mtu_probe_doubt(struct omx_board *board, u64 mac, u32 length);

#endif
