/* SPDX-License-Identifier: BSD-2-Clause */
/* As much of TCP segments as the probes for them, and for path MTUs, see. */
#ifndef OMX_TCP_SEGMENTS_H
#define OMX_TCP_SEGMENTS_H

#include <linux/types.h>

struct omx_board;
struct omx_peer;

#define OMX_TSO_MTU_MIN		1280
#define OMX_TSO_IP_MTU_MAX		4096

bool omx_tso_is_possible(const struct omx_board *board);
bool omx_tso_prefers_own(const struct omx_board *board);
__be16 omx_tso_probe_is_due(struct omx_board *board, struct omx_peer *peer, unsigned long *next);
void omx_tso_probe_answered(struct omx_board *board, struct omx_peer *peer, __be16 ethertype);
void omx_tso_probe_soon(struct omx_board *board, struct omx_peer *peer);
void omx_tso_doubt(struct omx_board *board, u64 mac);

#endif
