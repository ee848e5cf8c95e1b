// SPDX-License-Identifier: GPL-2.0
/*
 * Where the payload of merged frames lies: in pages of one skb, as far as it has room for
 * them, and then in those of frames that are chained to it.  gro.c says which frames belong
 * together.  Softirq.
 */
#include <linux/mm.h>
#include <linux/skbuff.h>
#include <net/gro.h>

#include "net/gso_skb.h"
#include "net/gso_private.h"

/* The payload in the linear part of a frame, behind the headers, as a fragment. */
static void gro_take_head(struct sk_buff *to, const struct sk_buff *skb, unsigned int offset)
{
	struct page *page = virt_to_head_page(skb->head);

	skb_fill_page_desc(to, skb_shinfo(to)->nr_frags, page,
			   skb->data + offset - (unsigned char *)page_address(page),
			   skb_headlen(skb) - offset);
}

/* The fragments of a frame, without the first `skip` bytes, which are headers. */
static void gro_take_fragments(struct sk_buff *to, const struct sk_buff *skb, unsigned int skip)
{
	skb_frag_t *frag = &skb_shinfo(to)->frags[skb_shinfo(to)->nr_frags];
	u8 i, count = skb_shinfo(skb)->nr_frags;

	if (!count)
		return;
	for (i = 0; i < count; i++)
		frag[i] = skb_shinfo(skb)->frags[i];
	skb_frag_off_add(frag, skip);
	skb_frag_size_sub(frag, skip);
	skb_shinfo(to)->nr_frags += count;
}

/* Do the headers end within the linear part, or within the first fragment? */
static bool gro_can_take(const struct sk_buff *skb, unsigned int offset)
{
	unsigned int headlen = skb_headlen(skb);

	if (headlen > offset)
		return skb->head_frag;
	return skb_shinfo(skb)->nr_frags &&
	       skb_frag_size(&skb_shinfo(skb)->frags[0]) > offset - headlen;
}

/* Does nobody else know these frames by their pages, which one pool or none gets back? */
static bool gro_may_take(struct sk_buff *to, struct sk_buff *skb)
{
	return !skb_cloned(to) && !skb_cloned(skb) && !skb_zcopy(to) && !skb_zcopy(skb) &&
	       to->pp_recycle == skb->pp_recycle && !skb_has_frag_list(skb);
}

/*
 * Moves the pages of the payload to a frame in front of this one, as skb_gro_receive() does
 * it for TCP; the stack has what is left of this one for the next frame.  *memory: what they
 * count for.  False: there is no room, or the payload is not in pages.
 */
static bool gro_take_pages(struct sk_buff *to, struct sk_buff *skb, unsigned int offset,
			   unsigned int *memory)
{
	bool takes_head = skb_headlen(skb) > offset;
	unsigned int before = skb->truesize;

	if (!gro_may_take(to, skb) || !gro_can_take(skb, offset) ||
	    skb_shinfo(to)->nr_frags + takes_head + skb_shinfo(skb)->nr_frags > MAX_SKB_FRAGS)
		return false;
	if (takes_head) {
		gro_take_head(to, skb, offset);
		gro_take_fragments(to, skb, 0);
		skb->truesize = SKB_DATA_ALIGN(sizeof(struct sk_buff));
		NAPI_GRO_CB(skb)->free = NAPI_GRO_FREE_STOLEN_HEAD;
	} else {
		gro_take_fragments(to, skb, offset - skb_headlen(skb));
		skb_shinfo(skb)->nr_frags = 0;
		skb->len -= skb->data_len;
		skb->data_len = 0;
		skb->truesize = SKB_TRUESIZE(skb_end_offset(skb));
		NAPI_GRO_CB(skb)->free = NAPI_GRO_FREE;
	}
	skb_shinfo(to)->flags |= skb_shinfo(skb)->flags & SKBFL_SHARED_FRAG;
	*memory = before - skb->truesize;
	return true;
}

/* Chains the frame itself to the held ones, whose last one is `last`. */
static bool gro_chain(struct sk_buff *held, struct sk_buff *last, struct sk_buff *skb,
		      unsigned int offset)
{
	/* The headers may be in a page. */
	if (!pskb_may_pull(skb, offset))
		return false;
	__skb_pull(skb, offset);
	if (last == held)
		skb_shinfo(held)->frag_list = skb;
	else
		last->next = skb;
	NAPI_GRO_CB(held)->last = skb;
	return true;
}

bool omx_gro_append(struct sk_buff *held, struct sk_buff *skb)
{
	struct sk_buff *last = NAPI_GRO_CB(held)->last;
	unsigned int offset = skb_gro_offset(skb), length = skb_gro_len(skb);
	unsigned int memory;

	/* A sender on this host may be charged for what each of them has been so far. */
	skb_orphan(held);
	skb_orphan(skb);
	if (!gro_take_pages(last, skb, offset, &memory)) {
		if (!gro_chain(held, last, skb, offset))
			return false;
		memory = skb->truesize;
	} else if (last != held) {
		last->data_len += length;
		last->len += length;
		last->truesize += memory;
	}
	/* Whoever keeps the frames looks at the first one's flags only. */
	skb_shinfo(held)->flags |= skb_shinfo(skb)->flags & SKBFL_SHARED_FRAG;
	NAPI_GRO_CB(held)->count++;
	held->data_len += length;
	held->len += length;
	held->truesize += memory;
	NAPI_GRO_CB(skb)->same_flow = 1;
	return true;
}

/* Freeing all at once would not keep the heads for the next frames. */
void omx_gro_free_merged(struct sk_buff *skb)
{
	struct sk_buff *frame, *next;

	if (skb_cloned(skb) || skb_shared(skb))
		return;
	frame = skb_shinfo(skb)->frag_list;
	skb_frag_list_init(skb);
	for (; frame; frame = next) {
		next = frame->next;	/* which another holder of the frames may need, too */
		napi_consume_skb(frame, 1);
	}
}
