/* SPDX-License-Identifier: BSD-2-Clause */
/* Are bundles right that drivers send? */
#ifndef SIM_BUNDLE_H
#define SIM_BUNDLE_H

struct sk_buff;

/* Of any type, as it leaves: its Ethernet header is there. */
void sim_check_bundle(const struct sk_buff *skb);
/* Of any message, as its channel keeps it when a part of it leaves. */
void sim_check_long_bundle(struct sk_buff *burst);

#endif
