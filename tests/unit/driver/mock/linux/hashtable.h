/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef MOCK_LINUX_HASHTABLE_H
#define MOCK_LINUX_HASHTABLE_H

#include <string.h>

#include <linux/list.h>

struct hlist_node {
	struct hlist_node *next, **pprev;
};

struct hlist_head {
	struct hlist_node *first;
};

static inline void hlist_add_head(struct hlist_node *node, struct hlist_head *head)
{
	node->next = head->first;
	node->pprev = &head->first;
	if (node->next)
		node->next->pprev = &node->next;
	head->first = node;
}

static inline void hash_del(struct hlist_node *node)
{
	*node->pprev = node->next;
	if (node->next)
		node->next->pprev = node->pprev;
}

#define MOCK_BUCKET(table, key) \
	(&(table)[(key) % (sizeof(table) / sizeof((table)[0]))])

#define DECLARE_HASHTABLE(name, bits)	struct hlist_head name[1 << (bits)]
#define hash_init(table)		memset(table, 0, sizeof(table))
#define hash_add(table, node, key)	hlist_add_head(node, MOCK_BUCKET(table, key))

#define MOCK_ENTRY(p, type, member) \
	((p) ? list_entry(p, type, member) : NULL)
#define hash_for_each_possible(table, entry, member, key)				\
	for (entry = MOCK_ENTRY(MOCK_BUCKET(table, key)->first, __typeof__(*entry), member); \
	     entry;									\
	     entry = MOCK_ENTRY(entry->member.next, __typeof__(*entry), member))

#endif
