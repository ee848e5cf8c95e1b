/* SPDX-License-Identifier: BSD-2-Clause */
/* As much of bursts as bundles see, on pages of mock_bundle/linux/skbuff.h; the test makes them. */
#ifndef OMX_BURST_H
#define OMX_BURST_H

#include <linux/skbuff.h>

struct omx_channel;

struct sk_buff *omx_burst_make(struct omx_channel *ch, u32 length, u32 packet_payload);

static inline u32 omx_burst_count(const struct sk_buff *skb)
{
	return skb->gso_segs ?: 1;
}

static inline bool omx_burst_is_in_one_piece(const struct sk_buff *burst)
{
	return burst->pages == 1;
}

static inline const struct mock_page *mock_last_page(const struct sk_buff *burst)
{
	mock_require(burst->pages, "a burst without pages");
	return &burst->page[burst->pages - 1];
}

static inline void *omx_burst_start(const struct sk_buff *burst)
{
	return burst->page[0].bytes;
}

static inline void *omx_burst_end(const struct sk_buff *burst)
{
	return mock_last_page(burst)->bytes + mock_last_page(burst)->used;
}

static inline u32 omx_burst_room(const struct sk_buff *burst)
{
	return mock_last_page(burst)->size - mock_last_page(burst)->used;
}

static inline void mock_burst_change_length(struct sk_buff *burst, int change)
{
	burst->len += change;
	burst->data_len += change;
	burst->gso_segs = DIV_ROUND_UP(burst->data_len, burst->gso_size);
}

static inline void omx_burst_move_end(struct sk_buff *burst, int change)
{
	struct mock_page *last = &burst->page[burst->pages - 1];

	mock_require(change <= (int)omx_burst_room(burst) && (int)last->used + change >= 0,
		     "the end is moved out of the last page");
	last->used += change;
	mock_burst_change_length(burst, change);
}

static inline bool omx_burst_may_join(const struct sk_buff *burst, const struct sk_buff *other)
{
	return burst->gso_size == other->gso_size && burst->pages + other->pages <= MAX_SKB_FRAGS;
}

static inline u32 omx_burst_join(struct sk_buff *burst, struct sk_buff *other)
{
	u32 memory = 0, i;

	mock_require(omx_burst_may_join(burst, other), "bursts that may not be joined");
	for (i = 0; i < other->pages; i++) {
		memory += other->page[i].size;
		burst->page[burst->pages++] = other->page[i];
	}
	mock_burst_change_length(burst, other->data_len);
	burst->truesize += memory;
	other->pages = 0;
	other->len -= other->data_len;
	other->data_len = 0;
	other->truesize -= memory;
	return memory;
}

#endif
