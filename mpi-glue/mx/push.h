/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Lists from which nothing is ever taken: read and extended without a lock.
 * The release pairs with the acquire of whoever reads *head.
 */
#ifndef MX_PUSH_H
#define MX_PUSH_H

#include <stdbool.h>

#define mx__push(head, node) \
	do { \
		(node)->next = __atomic_load_n(head, __ATOMIC_RELAXED); \
	} while (!__atomic_compare_exchange_n(head, &(node)->next, node, true, \
					      __ATOMIC_RELEASE, __ATOMIC_RELAXED))

#endif
