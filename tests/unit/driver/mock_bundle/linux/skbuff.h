/* SPDX-License-Identifier: BSD-2-Clause */
/* A packet in one piece: data + len <= end. */
#ifndef MOCK_LINUX_SKBUFF_H
#define MOCK_LINUX_SKBUFF_H

#include <stdlib.h>
#include <string.h>

#include <linux/kernel.h>

#include "asm/byteorder.h"

#define __user

struct sk_buff {
	unsigned char *head, *data, *end;
	unsigned int len;
	char cb[48] __attribute__((aligned(8)));
};

/* Of one packet at most. */
struct sk_buff_head {
	struct sk_buff *last;
};

void mock_require(bool condition, const char *what);

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
