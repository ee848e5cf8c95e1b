// SPDX-License-Identifier: GPL-2.0
/* What a device receives long frames into, see rx_pages.h. */
#include <linux/skbuff.h>

#include "net/path_mtu.h"
#include "net/rx_pages.h"

bool omx_rx_is_in_pages(const struct sk_buff *skb)
{
	const struct skb_shared_info *info = skb_shinfo(skb);
	u32 linear = skb_tail_pointer(skb) - skb_mac_header(skb);

	/* The network stack has copied headers from the first page. */
	return info->nr_frags > 1 && linear + skb_frag_size(&info->frags[0]) == OMX_RX_PAGE;
}
