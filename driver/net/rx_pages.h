/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a device receives long frames into, as a frame that has arrived shows it.
 */
#ifndef OMX_RX_PAGES_H
#define OMX_RX_PAGES_H

#include <linux/skbuff.h>

/*
 * Is the frame in several pages of 4 KiB, of which the first one is full?  False as well if it is
 * not known: a frame that is shorter, or that another host on this machine has made.
 */
bool omx_rx_is_in_pages(const struct sk_buff *skb);

#endif
