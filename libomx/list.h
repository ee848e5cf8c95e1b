/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Doubly linked lists whose nodes are embedded in the objects, as in the kernel.
 *
 * Every file of the library uses them, under the lock that protects the objects.
 */
#ifndef OMX_LIST_H
#define OMX_LIST_H

#include <stdbool.h>
#include <stddef.h>

/* For functions that run rarely: the compiler keeps them away from the others. */
#define cold	__attribute__((cold, noinline))

struct list {
	struct list *next, *prev;
};

#define list_entry(node, type, member) \
	((type *)((char *)(node) - offsetof(type, member)))

/* The body may remove `pos` and no other node. */
#define list_for_each(pos, tmp, head) \
	for (pos = (head)->next, tmp = pos->next; pos != (head); \
	     pos = tmp, tmp = pos->next)

static inline void list_init(struct list *head)
{
	head->next = head->prev = head;
}

static inline bool list_empty(const struct list *head)
{
	return head->next == head;
}

static inline void list_append(struct list *head, struct list *node)
{
	node->next = head;
	node->prev = head->prev;
	head->prev->next = node;
	head->prev = node;
}

static inline void list_remove(struct list *node)
{
	node->prev->next = node->next;
	node->next->prev = node->prev;
}

#endif
