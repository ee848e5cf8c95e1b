/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef MOCK_LINUX_SKBUFF_H
#define MOCK_LINUX_SKBUFF_H

#include <string.h>

struct sk_buff {
	const unsigned char *data;
	unsigned int length;
};

/* Nothing is put into it. */
struct sk_buff_head {
	int unused;
};

static inline void __skb_queue_head_init(struct sk_buff_head *list)
{
	list->unused = 0;
}

static inline unsigned int skb_headlen(const struct sk_buff *skb)
{
	return skb->length;
}

static inline int skb_copy_bits(const struct sk_buff *skb, int offset, void *to, int length)
{
	memcpy(to, skb->data + offset, length);
	return 0;
}

#endif
