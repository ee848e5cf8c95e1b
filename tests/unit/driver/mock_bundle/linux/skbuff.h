/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A packet in one piece: data + len <= end.  A burst has a head of its headers only, and its
 * payload on pages, each in memory of its own.
 */
#ifndef MOCK_LINUX_SKBUFF_H
#define MOCK_LINUX_SKBUFF_H

#include <stdlib.h>
#include <string.h>

#include <linux/gfp.h>
#include <linux/kernel.h>

#include "asm/byteorder.h"

#define __user

#define MOCK_PAGES	32
#define MAX_SKB_FRAGS	mock_max_frags

extern unsigned int mock_max_frags;	/* the test's; less than MOCK_PAGES */

struct mock_page {
	unsigned char *bytes;
	unsigned int size, used;
};

struct sk_buff {
	struct sk_buff *next;
	unsigned char *head, *data, *end;
	struct mock_page page[MOCK_PAGES];
	unsigned int pages;
	unsigned int len, data_len, truesize;
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

static inline unsigned int skb_headlen(const struct sk_buff *skb)
{
	return skb->len - skb->data_len;
}

static inline unsigned char *skb_tail_pointer(const struct sk_buff *skb)
{
	return skb->data + skb_headlen(skb);
}

static inline unsigned int skb_tailroom(const struct sk_buff *skb)
{
	return skb->pages ? 0 : skb->end - skb_tail_pointer(skb);
}

static inline void *__skb_put(struct sk_buff *skb, unsigned int length)
{
	mock_require(length <= skb_tailroom(skb), "__skb_put() beyond the end");
	skb->len += length;
	return skb->data + skb->len - length;
}

/* Where this byte of it is, and how many there are from there to the end of the piece. */
static inline unsigned char *mock_skb_at(const struct sk_buff *skb, unsigned int offset,
					 unsigned int *left)
{
	const struct mock_page *page = skb->page;

	*left = skb_headlen(skb) - offset;
	if (offset < skb_headlen(skb))
		return skb->data + offset;
	offset -= skb_headlen(skb);
	for (; offset >= page->used; page++)
		offset -= page->used;
	*left = page->used - offset;
	return page->bytes + offset;
}

static inline unsigned char *mock_skb_piece(const struct sk_buff *skb, int offset, int length,
					    int *n)
{
	unsigned char *at;
	unsigned int left;

	mock_require(offset >= 0 && length >= 0 &&
		     (unsigned int)offset + (unsigned int)length <= skb->len,
		     "bytes beyond the packet");
	at = mock_skb_at(skb, offset, &left);
	*n = (unsigned int)length < left ? length : (int)left;
	return at;
}

static inline int skb_copy_bits(const struct sk_buff *skb, int offset, void *to, int length)
{
	int n;

	for (; length; offset += n, to += n, length -= n) {
		const unsigned char *from = mock_skb_piece(skb, offset, length, &n);

		memcpy(to, from, n);
	}
	return 0;
}

static inline int skb_store_bits(struct sk_buff *skb, int offset, const void *from, int length)
{
	int n;

	for (; length; offset += n, from += n, length -= n) {
		unsigned char *to = mock_skb_piece(skb, offset, length, &n);

		memcpy(to, from, n);
	}
	return 0;
}

#endif
