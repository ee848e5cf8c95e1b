/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Frames.  The bytes of each are in one piece, and it has no fragments; clones share them.
 * Only bursts that are to be sent (absent/burst.c) count as if their payload, data_len bytes,
 * were on pages.  A frame that travels is an event of the network, which uses the fields at
 * the end.
 */
#ifndef SIM_SKBUFF_H
#define SIM_SKBUFF_H

#include <sys/uio.h>
#define __LINUX_UIO_H			/* the C library has struct iovec */

#include "memory.h"
#include "time.h"

struct net_device;
struct sock;

struct sim_bytes {
	int refs;
	u32 size;
	struct sim_bytes *next;		/* while it is unused */
	u8 start[];
};

/* There are none. */
typedef struct {
	void *bytes;
	u32 length;
} skb_frag_t;

static inline void *skb_frag_address(const skb_frag_t *frag)
{
	return frag->bytes;
}

static inline u32 skb_frag_size(const skb_frag_t *frag)
{
	return frag->length;
}

/* Of a burst: where its payload would be. */
struct sim_pages {
	u32 count;
	u32 memory;			/* bytes of all of them */
	u32 end;			/* of the last one, counted as the payload is */
};

struct sk_buff {
	struct sk_buff *next, *prev;	/* first: as in struct sk_buff_head */
	refcount_t users;
	struct net_device *dev;
	struct sock *sk;
	void (*destructor)(struct sk_buff *skb);
	char cb[48] __aligned(8);
	unsigned int len, data_len;
	unsigned int truesize;
	u32 hash;
	u32 priority;
	u16 queue_mapping;
	u8 fclone;
	u8 pkt_type;
	u8 l4_hash, sw_hash;
	__be16 protocol;
	u16 mac_header, network_header, transport_header;	/* from head */
	u16 gso_size, gso_segs;
	u32 gso_type;
	u8 nr_frags;			/* 0 */
	u8 flags;
	struct sk_buff *frag_list;
	skb_frag_t frags[0];
	u8 *head, *data;
	struct sim_bytes *bytes;
	struct sim_node *owner;		/* is charged for it */
	struct sim_pages pages;
	struct sim_event event;
	struct sim_node *to;
	u32 length;			/* on the link */
	u64 sent;
};

struct sk_buff_head {
	struct sk_buff *next, *prev;
	u32 qlen;
	spinlock_t lock;
};

enum { SKB_FCLONE_UNAVAILABLE, SKB_FCLONE_ORIG, SKB_FCLONE_CLONE };
#define SKB_ALLOC_FCLONE	1
#define NUMA_NO_NODE		(-1)
#define NET_SKB_PAD		64
#define SIM_SKB_OVERHEAD	(256 + 320)
#define SKB_WITH_OVERHEAD(x)	((x) - 320)
#define SKB_TRUESIZE(x)		((x) + SIM_SKB_OVERHEAD)
#define MAX_SKB_FRAGS		17

struct sk_buff *__alloc_skb(unsigned int size, gfp_t gfp, int flags, int node);
static inline struct sk_buff *alloc_skb(unsigned int size, gfp_t gfp)
{
	return __alloc_skb(size, gfp, 0, NUMA_NO_NODE);
}

struct sk_buff *skb_clone(struct sk_buff *skb, gfp_t gfp);
struct sk_buff *skb_copy(const struct sk_buff *skb, gfp_t gfp);
void kfree_skb(struct sk_buff *skb);
#define consume_skb(skb)		kfree_skb(skb)
#define napi_consume_skb(skb, budget)	kfree_skb(skb)
#define dev_kfree_skb_any(skb)		kfree_skb(skb)
#define skb_has_frag_list(skb)		false
#define SKB_GSO_FRAGLIST		1
#define skb_shinfo(skb)			(skb)
#define skb_is_gso(skb)			((skb)->gso_size != 0)
void skb_orphan(struct sk_buff *skb);

static inline struct sk_buff *skb_get(struct sk_buff *skb)
{
	refcount_inc(&skb->users);
	return skb;
}

static inline bool skb_shared(const struct sk_buff *skb)
{
	return refcount_read(&skb->users) != 1;
}

/* As they arrive, nobody else knows them. */
static inline struct sk_buff *skb_share_check(struct sk_buff *skb, gfp_t gfp)
{
	SIM_REQUIRE(!skb_shared(skb));
	return skb;
}

/* There is no fragmentation here: whoever asks for pages has no memory. */
static inline struct sk_buff *alloc_skb_with_frags(unsigned long header, unsigned long data,
						   int order, int *error, gfp_t gfp)
{
	*error = -ENOBUFS;
	return NULL;
}

#define SKBFL_SHARED_FRAG		0x02

static inline bool skb_has_shared_frag(const struct sk_buff *skb)
{
	return skb->nr_frags && skb->flags & SKBFL_SHARED_FRAG;
}

static inline bool skb_cloned(const struct sk_buff *skb)
{
	return skb->bytes->refs > 1;
}

static inline unsigned int skb_headlen(const struct sk_buff *skb)
{
	return skb->len - skb->data_len;
}

static inline bool skb_is_nonlinear(const struct sk_buff *skb)
{
	return skb->data_len;
}

static inline int skb_tailroom(const struct sk_buff *skb)
{
	return skb_is_nonlinear(skb) ? 0 : skb->head + skb->bytes->size - (skb->data + skb->len);
}

static inline unsigned int skb_headroom(const struct sk_buff *skb)
{
	return skb->data - skb->head;
}

static inline unsigned char *skb_tail_pointer(const struct sk_buff *skb)
{
	return skb->data + skb_headlen(skb);
}

static inline void skb_reserve(struct sk_buff *skb, int length)
{
	skb->data += length;
}

static inline void *skb_put(struct sk_buff *skb, unsigned int length)
{
	void *end = skb->data + skb->len;

	SIM_REQUIRE((int)length <= skb_tailroom(skb) && !skb_shared(skb));
	skb->len += length;
	return end;
}

static inline void *skb_put_zero(struct sk_buff *skb, unsigned int length)
{
	return memset(skb_put(skb, length), 0, length);
}

static inline void *skb_pull(struct sk_buff *skb, unsigned int length)
{
	SIM_REQUIRE(length <= skb->len && !skb_shared(skb));
	skb->len -= length;
	return skb->data += length;
}

static inline void *skb_push(struct sk_buff *skb, unsigned int length)
{
	SIM_REQUIRE(length <= skb_headroom(skb) && !skb_shared(skb));
	skb->len += length;
	return skb->data -= length;
}

#define __skb_put	skb_put
#define __skb_pull	skb_pull
#define __skb_push	skb_push

/* A spare skb begins again where its last frame did. */
static inline void __skb_trim(struct sk_buff *skb, unsigned int length)
{
	skb->len = length;
}

static inline bool pskb_may_pull(const struct sk_buff *skb, unsigned int length)
{
	return length <= skb->len;
}

static inline int pskb_trim_rcsum(struct sk_buff *skb, unsigned int length)
{
	if (length < skb->len)
		skb->len = length;
	return 0;
}

static inline void skb_reset_mac_header(struct sk_buff *skb)
{
	skb->mac_header = skb->data - skb->head;
}

static inline void skb_reset_network_header(struct sk_buff *skb)
{
	skb->network_header = skb->data - skb->head;
}

static inline void skb_set_network_header(struct sk_buff *skb, int offset)
{
	skb->network_header = skb->data - skb->head + offset;
}

static inline unsigned char *skb_network_header(const struct sk_buff *skb)
{
	return skb->head + skb->network_header;
}

static inline unsigned char *skb_mac_header(const struct sk_buff *skb)
{
	return skb->head + skb->mac_header;
}

static inline struct ethhdr *eth_hdr(const struct sk_buff *skb)
{
	return (struct ethhdr *)(skb->head + skb->mac_header);
}

static inline int skb_copy_bits(const struct sk_buff *skb, int offset, void *to, int length)
{
	if (offset + length > (int)skb->len)
		return -EFAULT;
	memcpy(to, skb->data + offset, length);
	return 0;
}

static inline void skb_mark_not_on_list(struct sk_buff *skb)
{
	skb->next = NULL;
}

enum { PKT_HASH_TYPE_L4 = 1 };

static inline void skb_set_hash(struct sk_buff *skb, u32 hash, int type)
{
	skb->hash = hash;
	skb->l4_hash = type == PKT_HASH_TYPE_L4;
}

static inline void skb_clear_hash(struct sk_buff *skb)
{
	skb->hash = 0;
	skb->l4_hash = 0;
}

/* ---- queues ---- */

static inline void __skb_queue_head_init(struct sk_buff_head *list)
{
	list->next = list->prev = (struct sk_buff *)list;
	list->qlen = 0;
}

#define skb_queue_head_init	__skb_queue_head_init

static inline bool skb_queue_is_last(const struct sk_buff_head *list, const struct sk_buff *skb)
{
	return skb->next == (const struct sk_buff *)list;
}

static inline bool skb_queue_empty(const struct sk_buff_head *list)
{
	return list->next == (const struct sk_buff *)list;
}

#define skb_queue_empty_lockless	skb_queue_empty

static inline u32 skb_queue_len(const struct sk_buff_head *list)
{
	return list->qlen;
}

static inline struct sk_buff *skb_peek(const struct sk_buff_head *list)
{
	return skb_queue_empty(list) ? NULL : list->next;
}

static inline struct sk_buff *skb_peek_tail(const struct sk_buff_head *list)
{
	return skb_queue_empty(list) ? NULL : list->prev;
}

static inline void skb_insert(struct sk_buff *skb, struct sk_buff *prev, struct sk_buff *next,
			      struct sk_buff_head *list)
{
	skb->next = next;
	skb->prev = prev;
	prev->next = skb;
	next->prev = skb;
	list->qlen++;
}

static inline void __skb_queue_tail(struct sk_buff_head *list, struct sk_buff *skb)
{
	skb_insert(skb, list->prev, (struct sk_buff *)list, list);
}

static inline void __skb_queue_head(struct sk_buff_head *list, struct sk_buff *skb)
{
	skb_insert(skb, (struct sk_buff *)list, list->next, list);
}

static inline void __skb_unlink(struct sk_buff *skb, struct sk_buff_head *list)
{
	list->qlen--;
	skb->next->prev = skb->prev;
	skb->prev->next = skb->next;
	skb->next = skb->prev = NULL;
}

static inline struct sk_buff *__skb_dequeue(struct sk_buff_head *list)
{
	struct sk_buff *skb = skb_peek(list);

	if (skb)
		__skb_unlink(skb, list);
	return skb;
}

static inline struct sk_buff *__skb_dequeue_tail(struct sk_buff_head *list)
{
	struct sk_buff *skb = skb_peek_tail(list);

	if (skb)
		__skb_unlink(skb, list);
	return skb;
}

static inline void skb_queue_splice_tail_init(struct sk_buff_head *list,
					      struct sk_buff_head *head)
{
	if (skb_queue_empty(list))
		return;
	list->next->prev = head->prev;
	head->prev->next = list->next;
	list->prev->next = (struct sk_buff *)head;
	head->prev = list->prev;
	head->qlen += list->qlen;
	__skb_queue_head_init(list);
}

static inline void skb_queue_splice_init(struct sk_buff_head *list, struct sk_buff_head *head)
{
	if (skb_queue_empty(list))
		return;
	list->prev->next = head->next;
	head->next->prev = list->prev;
	list->next->prev = (struct sk_buff *)head;
	head->next = list->next;
	head->qlen += list->qlen;
	__skb_queue_head_init(list);
}

static inline void __skb_queue_purge(struct sk_buff_head *list)
{
	struct sk_buff *skb;

	while ((skb = __skb_dequeue(list)))
		kfree_skb(skb);
}

#define skb_queue_walk(list, skb)						\
	for (skb = (list)->next; skb != (struct sk_buff *)(list); skb = skb->next)
#define skb_queue_reverse_walk(list, skb)					\
	for (skb = (list)->prev; skb != (struct sk_buff *)(list); skb = skb->prev)
#define skb_queue_walk_safe(list, skb, tmp)					\
	for (skb = (list)->next, tmp = skb->next;				\
	     skb != (struct sk_buff *)(list); skb = tmp, tmp = skb->next)

/* ---- buffers of programs ---- */

enum { ITER_DEST, ITER_SOURCE };

struct iov_iter {
	const struct iovec *iov;
	size_t offset, count;
};

static inline void iov_iter_init(struct iov_iter *iter, unsigned int direction,
				 const struct iovec *iov, unsigned long segments, size_t count)
{
	*iter = (struct iov_iter){ .iov = iov, .count = count };
}

static inline size_t iov_iter_count(const struct iov_iter *iter)
{
	return iter->count;
}

static inline void iov_iter_truncate(struct iov_iter *iter, size_t count)
{
	iter->count = min(iter->count, count);
}

/* The next contiguous bytes of the buffer, at most *length. */
static inline void *iov_iter_next(struct iov_iter *iter, size_t *length)
{
	void *at;

	while (iter->offset == iter->iov->iov_len) {
		iter->iov++;
		iter->offset = 0;
	}
	at = (char *)iter->iov->iov_base + iter->offset;
	*length = min(*length, iter->iov->iov_len - iter->offset);
	iter->offset += *length;
	iter->count -= *length;
	return at;
}

static inline void iov_iter_advance(struct iov_iter *iter, size_t length)
{
	size_t part;

	for (length = min(length, iter->count); length; length -= part) {
		part = length;
		iov_iter_next(iter, &part);
	}
}

static inline size_t _copy_from_iter(void *to, size_t length, struct iov_iter *iter)
{
	size_t done = 0, part;

	for (length = min(length, iter->count); done < length; done += part) {
		const void *from;

		part = length - done;
		from = iov_iter_next(iter, &part);
		memcpy((char *)to + done, from, part);
	}
	return done;
}

static inline size_t _copy_to_iter(const void *from, size_t length, struct iov_iter *iter)
{
	size_t done = 0, part;

	for (length = min(length, iter->count); done < length; done += part) {
		void *to;

		part = length - done;
		to = iov_iter_next(iter, &part);
		memcpy(to, (const char *)from + done, part);
	}
	return done;
}

/* Into what counts as pages. */
static inline int skb_copy_datagram_from_iter(struct sk_buff *skb, int offset,
					      struct iov_iter *from, int length)
{
	SIM_REQUIRE(offset + length <= (int)skb->len);
	return _copy_from_iter(skb->data + offset, length, from) == length ? 0 : -EFAULT;
}

/* No frame that is received has pages: never called. */
static inline int skb_copy_datagram_iter(const struct sk_buff *skb, int offset,
					 struct iov_iter *to, int length)
{
	return -EFAULT;
}

#endif
