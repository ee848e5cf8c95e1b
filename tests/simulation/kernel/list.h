/* SPDX-License-Identifier: BSD-2-Clause */
/* Lists, hash tables, and the array that the table of peers needs. */
#ifndef SIM_LIST_H
#define SIM_LIST_H

#include "base.h"

struct list_head {
	struct list_head *next, *prev;
};

#define LIST_HEAD_INIT(name)	{ &(name), &(name) }
#define LIST_HEAD(name)		struct list_head name = LIST_HEAD_INIT(name)

static inline void INIT_LIST_HEAD(struct list_head *head)
{
	head->next = head->prev = head;
}

static inline bool list_empty(const struct list_head *head)
{
	return head->next == head;
}

#define list_empty_careful	list_empty

static inline bool list_is_singular(const struct list_head *head)
{
	return !list_empty(head) && head->next == head->prev;
}

static inline bool list_is_last(const struct list_head *entry, const struct list_head *head)
{
	return entry->next == head;
}

static inline void list_insert(struct list_head *entry, struct list_head *prev,
			       struct list_head *next)
{
	SIM_REQUIRE(prev->next == next && next->prev == prev);
	entry->next = next;
	entry->prev = prev;
	prev->next = entry;
	next->prev = entry;
}

static inline void list_add(struct list_head *entry, struct list_head *head)
{
	list_insert(entry, head, head->next);
}

static inline void list_add_tail(struct list_head *entry, struct list_head *head)
{
	list_insert(entry, head->prev, head);
}

static inline void list_unlink(struct list_head *entry)
{
	SIM_REQUIRE(entry->next->prev == entry && entry->prev->next == entry);
	entry->next->prev = entry->prev;
	entry->prev->next = entry->next;
}

/* Whoever uses its links again finds addresses that are not mapped. */
static inline void list_del(struct list_head *entry)
{
	list_unlink(entry);
	entry->next = (void *)0x100;
	entry->prev = (void *)0x122;
}

static inline void list_del_init(struct list_head *entry)
{
	list_unlink(entry);
	INIT_LIST_HEAD(entry);
}

static inline void list_move(struct list_head *entry, struct list_head *head)
{
	list_unlink(entry);
	list_add(entry, head);
}

static inline void list_move_tail(struct list_head *entry, struct list_head *head)
{
	list_unlink(entry);
	list_add_tail(entry, head);
}

static inline void list_splice_tail_init(struct list_head *list, struct list_head *head)
{
	while (!list_empty(list))
		list_move_tail(list->next, head);
}

#define list_splice_init(list, head)	do {					\
	while (!list_empty(list))						\
		list_move((list)->prev, head);					\
} while (0)

#define list_entry(p, type, member)	container_of(p, type, member)
#define list_first_entry(head, type, member)	list_entry((head)->next, type, member)
#define list_last_entry(head, type, member)	list_entry((head)->prev, type, member)
#define list_first_entry_or_null(head, type, member) \
	(list_empty(head) ? NULL : list_first_entry(head, type, member))
#define list_next_entry(entry, member) \
	list_entry((entry)->member.next, __typeof__(*(entry)), member)
#define list_entry_is_head(entry, head, member)	(&(entry)->member == (head))
#define list_for_each_entry(entry, head, member)				\
	for (entry = list_entry((head)->next, __typeof__(*entry), member);	\
	     &entry->member != (head);						\
	     entry = list_entry(entry->member.next, __typeof__(*entry), member))
#define list_for_each_entry_reverse(entry, head, member)			\
	for (entry = list_entry((head)->prev, __typeof__(*entry), member);	\
	     &entry->member != (head);						\
	     entry = list_entry(entry->member.prev, __typeof__(*entry), member))
#define list_for_each_entry_safe(entry, after, head, member)			\
	for (entry = list_entry((head)->next, __typeof__(*entry), member),	\
	     after = list_entry(entry->member.next, __typeof__(*entry), member); \
	     &entry->member != (head);						\
	     entry = after,							\
	     after = list_entry(entry->member.next, __typeof__(*entry), member))
#define list_for_each_entry_rcu(entry, head, member, ...) \
	list_for_each_entry(entry, head, member)
#define list_add_rcu		list_add
#define list_add_tail_rcu	list_add_tail
#define list_del_rcu		list_unlink

struct llist_node {
	struct llist_node *next;
};

struct llist_head {
	struct llist_node *first;
};

/* ---- hash lists ---- */

struct hlist_node {
	struct hlist_node *next, **pprev;
};

struct hlist_head {
	struct hlist_node *first;
};

static inline void INIT_HLIST_NODE(struct hlist_node *node)
{
	node->next = NULL;
	node->pprev = NULL;
}

static inline bool hlist_empty(const struct hlist_head *head)
{
	return !head->first;
}

static inline bool hlist_unhashed(const struct hlist_node *node)
{
	return !node->pprev;
}

static inline void hlist_add_head(struct hlist_node *node, struct hlist_head *head)
{
	node->next = head->first;
	if (node->next)
		node->next->pprev = &node->next;
	head->first = node;
	node->pprev = &head->first;
}

/* As list_del_rcu(): a reader that is at the node goes on. */
static inline void hlist_del_rcu(struct hlist_node *node)
{
	*node->pprev = node->next;
	if (node->next)
		node->next->pprev = node->pprev;
	node->pprev = (void *)0x122;
}

static inline void hlist_del_init(struct hlist_node *node)
{
	if (hlist_unhashed(node))
		return;
	hlist_del_rcu(node);
	INIT_HLIST_NODE(node);
}

static inline void hlist_replace_rcu(struct hlist_node *old, struct hlist_node *new)
{
	new->next = old->next;
	new->pprev = old->pprev;
	*new->pprev = new;
	if (new->next)
		new->next->pprev = &new->next;
	old->pprev = (void *)0x122;
}

#define hlist_add_head_rcu	hlist_add_head
#define hlist_del		hlist_del_rcu
#define hlist_del_init_rcu	hlist_del_init
#define hlist_entry_safe(p, type, member) ({					\
	__typeof__(p) p_ = (p);							\
	p_ ? container_of(p_, type, member) : NULL; })
#define hlist_for_each_entry(pos, head, member)					\
	for (pos = hlist_entry_safe((head)->first, __typeof__(*pos), member);	\
	     pos; pos = hlist_entry_safe(pos->member.next, __typeof__(*pos), member))
#define hlist_for_each_entry_rcu(pos, head, member, ...) \
	hlist_for_each_entry(pos, head, member)
#define hlist_for_each_entry_safe(pos, n, head, member)				\
	for (pos = hlist_entry_safe((head)->first, __typeof__(*pos), member);	\
	     pos && ({ n = pos->member.next; 1; });				\
	     pos = hlist_entry_safe(n, __typeof__(*pos), member))

#define DECLARE_HASHTABLE(name, bits)	struct hlist_head name[1 << (bits)]
#define HASH_SIZE(name)			ARRAY_SIZE(name)
#define hash_bucket(name, key) \
	(&(name)[((u32)(key) * 0x61c88647u >> 8) % HASH_SIZE(name)])
#define hash_init(name)			memset(name, 0, sizeof(name))
#define hash_add(name, node, key)	hlist_add_head(node, hash_bucket(name, key))
#define hash_add_rcu			hash_add
#define hash_del(node)			hlist_del_init(node)
#define hash_del_rcu(node)		hlist_del_init_leave(node)
#define hash_for_each_possible(name, obj, member, key) \
	hlist_for_each_entry(obj, hash_bucket(name, key), member)
#define hash_for_each_possible_rcu	hash_for_each_possible
#define hash_for_each_safe(name, bucket, tmp, obj, member)			\
	for ((bucket) = 0; (size_t)(bucket) < HASH_SIZE(name); (bucket)++)	\
		hlist_for_each_entry_safe(obj, tmp, &(name)[bucket], member)
#define hash_for_each(name, bucket, obj, member)				\
	for ((bucket) = 0; (size_t)(bucket) < HASH_SIZE(name); (bucket)++)	\
		hlist_for_each_entry(obj, &(name)[bucket], member)
#define hash_for_each_rcu	hash_for_each

/* Twice is allowed, and `next` stays for readers. */
static inline void hlist_del_init_leave(struct hlist_node *node)
{
	if (hlist_unhashed(node))
		return;
	hlist_del_rcu(node);
	node->pprev = NULL;
}

static inline u32 jhash_2words(u32 a, u32 b, u32 seed)
{
	u64 x = ((u64)a << 32 | b) + seed * 0x9e3779b97f4a7c15ull;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
	return (x ^ x >> 27) * 0x94d049bb133111ebull >> 32;
}

static inline u32 jhash_1word(u32 a, u32 seed)
{
	return jhash_2words(a, 0, seed);
}

static inline u32 jhash_3words(u32 a, u32 b, u32 c, u32 seed)
{
	return jhash_2words(jhash_2words(a, b, seed), c, seed);
}

static inline u32 jhash(const void *key, u32 length, u32 seed)
{
	const u8 *byte = key;

	while (length--)
		seed = jhash_1word(*byte++, seed);
	return seed;
}

static inline u32 hash_32(u32 value, unsigned int bits)
{
	return value * 0x61c88647u >> (32 - bits);
}

static inline u32 hash_64(u64 value, unsigned int bits)
{
	return value * 0x61c8864680b583ebull >> (64 - bits);
}

/* ---- an array that grows; in memory.c ---- */

struct xarray {
	void **slot;
	unsigned long size;
};

#define XA_FLAGS_ALLOC1		1
#define XA_PRESENT		0
#define XA_LIMIT(low, high)	((struct xa_limit){ high, low })

struct xa_limit {
	u32 max, min;
};

static inline void xa_init_flags(struct xarray *xa, unsigned int flags)
{
	xa->slot = NULL;
	xa->size = 0;
}

int xa_alloc(struct xarray *xa, u32 *id, void *entry, struct xa_limit limit, gfp_t gfp);
void *xa_store(struct xarray *xa, unsigned long index, void *entry, gfp_t gfp);
void *xa_erase(struct xarray *xa, unsigned long index);
void *xa_load(struct xarray *xa, unsigned long index);
void *xa_find(struct xarray *xa, unsigned long *index, unsigned long max, unsigned int mark);
void xa_destroy(struct xarray *xa);
static inline void *xa_find_after(struct xarray *xa, unsigned long *index, unsigned long max,
				  unsigned int mark)
{
	++*index;
	return xa_find(xa, index, max, mark);
}

#define xa_for_each(xa, index, entry)						\
	for (index = 0, entry = xa_find(xa, &index, ULONG_MAX, XA_PRESENT);	\
	     entry; index++, entry = xa_find(xa, &index, ULONG_MAX, XA_PRESENT))

#endif
