/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A packet in one piece: data + len <= end.  A burst has a payload of its own, and a head of
 * its headers only.
 */
#ifndef MOCK_LINUX_SKBUFF_H
#define MOCK_LINUX_SKBUFF_H

#include <stdlib.h>
#include <string.h>

#include <linux/gfp.h>
#include <linux/kernel.h>

#include "asm/byteorder.h"

#define __user

struct sk_buff {
	struct sk_buff *next;
	unsigned char *head, *data, *end;
	unsigned char *payload;
	unsigned int len, room;		/* room: in the payload */
	unsigned short gso_size, gso_segs;
	char cb[48] __attribute__((aligned(8)));
};

/* Of one packet at most. */
struct sk_buff_head {
	struct sk_buff *last;
};

#define skb_shinfo(skb)	(skb)

void mock_require(bool condition, const char *what);
/* NULL now and then. */
struct sk_buff *alloc_skb(unsigned int length, gfp_t gfp);
void kfree_skb(struct sk_buff *skb);

static inline struct sk_buff *skb_peek_tail(const struct sk_buff_head *list)
{
	return list->last;
}

static inline unsigned int skb_tailroom(const struct sk_buff *skb)
{
	return skb->end - skb->data - skb->len;
}

static inline void *__skb_put(struct sk_buff *skb, unsigned int length)
{
	mock_require(length <= skb_tailroom(skb), "__skb_put() beyond the end");
	skb->len += length;
	return skb->data + skb->len - length;
}

static inline int skb_copy_bits(const struct sk_buff *skb, int offset, void *to, int length)
{
	mock_require(offset >= 0 && length >= 0 &&
		     (unsigned int)offset + (unsigned int)length <= skb->len,
		     "skb_copy_bits() beyond the packet");
	memcpy(to, skb->data + offset, length);
	return 0;
}

#endif
