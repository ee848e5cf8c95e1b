/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef MOCK_LINUX_LIST_H
#define MOCK_LINUX_LIST_H

#include <linux/kernel.h>

struct list_head {
	struct list_head *next, *prev;
};

static inline void INIT_LIST_HEAD(struct list_head *head)
{
	head->next = head->prev = head;
}

static inline bool list_empty(const struct list_head *head)
{
	return head->next == head;
}

/* Without the lock. */
static inline bool list_empty_careful(const struct list_head *head)
{
	return list_empty(head);
}

static inline void list_add_tail(struct list_head *entry, struct list_head *head)
{
	entry->next = head;
	entry->prev = head->prev;
	head->prev->next = entry;
	head->prev = entry;
}

static inline void list_add(struct list_head *entry, struct list_head *head)
{
	list_add_tail(entry, head->next);
}

static inline void list_del(struct list_head *entry)
{
	entry->next->prev = entry->prev;
	entry->prev->next = entry->next;
}

static inline void list_del_init(struct list_head *entry)
{
	list_del(entry);
	INIT_LIST_HEAD(entry);
}

static inline void list_move_tail(struct list_head *entry, struct list_head *head)
{
	list_del_init(entry);
	list_add_tail(entry, head);
}

#define list_entry(p, type, member) \
	((type *)((char *)(p) - offsetof(type, member)))
#define list_first_entry(head, type, member)	list_entry((head)->next, type, member)
#define list_first_entry_or_null(head, type, member) \
	(list_empty(head) ? NULL : list_first_entry(head, type, member))
#define list_for_each_entry(entry, head, member)					\
	for (entry = list_entry((head)->next, __typeof__(*entry), member);		\
	     &entry->member != (head);							\
	     entry = list_entry(entry->member.next, __typeof__(*entry), member))

#define list_for_each_entry_reverse(entry, head, member)				\
	for (entry = list_entry((head)->prev, __typeof__(*entry), member);		\
	     &entry->member != (head);							\
	     entry = list_entry(entry->member.prev, __typeof__(*entry), member))

#define list_for_each_entry_safe(entry, after, head, member)				\
	for (entry = list_entry((head)->next, __typeof__(*entry), member),		\
	     after = list_entry(entry->member.next, __typeof__(*entry), member);	\
	     &entry->member != (head);							\
	     entry = after,								\
	     after = list_entry(entry->member.next, __typeof__(*entry), member))

#endif
