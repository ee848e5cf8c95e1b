/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef OMX_GSO_SKB_H
#define OMX_GSO_SKB_H

struct sk_buff;

void omx_gro_free(struct sk_buff *skb);

#endif
