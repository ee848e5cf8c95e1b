/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Posted receives wait for a message that matches.  A message goes to the receive
 * posted first among those that it matches, each by the receive's own mask.
 *
 * A message looks at the first few receives.  If it matches none of them and there
 * are more, all receives go into indexes, one for each mask, until none is posted
 * any more.  Numbers say which one was posted first if it matches in several
 * indexes.  So receives posted for other messages cost nothing where there are
 * many, and no index costs anything where there are few.
 *
 * Programs use few masks.  Receives with further ones, while POSTED_MASKS others
 * have receives, are in a list that each message walks along.
 *
 * Called by receive.c and progress.c, and by request.c when a receive is aborted.
 * Must hold the endpoint's lock.
 */
#ifndef OMX_POSTED_H
#define OMX_POSTED_H

#include "match_index.h"
#include "request.h"

#define POSTED_MASKS	8
#define POSTED_WALK	8	/* receives that are looked at without indexes */

struct posted {
	struct list receives;	/* all, the one posted first first */
	bool indexed;		/* all are in indexes or in others; false when there are none */
	uint32_t filled;	/* bit i: indexes[i] has receives */
	uint64_t numbers;	/* of receives in indexes or in others, so far */
	struct list others;	/* by links[0].same */
	struct match_index indexes[POSTED_MASKS];
};

void omx__posted_init(struct posted *posted);
void omx__posted_free(struct posted *posted);

/* The parts that are needed only while many receives are posted. */
void omx__posted_index(struct posted *posted, struct omx__request *req);
void omx__posted_unindex(struct posted *posted, struct omx__request *req);
struct omx__request *omx__posted_search(struct posted *posted, uint64_t match_info);

static inline void omx__posted_append(struct posted *posted, struct omx__request *req)
{
	list_append(&posted->receives, &req->node);
	if (__builtin_expect(posted->indexed, 0))
		omx__posted_index(posted, req);
}

static inline void omx__posted_remove(struct posted *posted, struct omx__request *req)
{
	list_remove(&req->node);
	if (__builtin_expect(posted->indexed, 0))
		omx__posted_unindex(posted, req);
}

/* The receive posted first that matches; NULL: none does. */
static inline struct omx__request *omx__posted_find(struct posted *posted, uint64_t match_info)
{
	struct list *node = posted->receives.next;
	uint32_t walked;

	for (walked = 0; node != &posted->receives && walked < POSTED_WALK; walked++) {
		struct omx__request *req = list_entry(node, struct omx__request, node);

		if (omx__matches(match_info, req->item.match_info, req->match_mask))
			return req;
		if (posted->indexed)
			break;
		node = node->next;
	}
	if (__builtin_expect(node == &posted->receives, 1))
		return NULL;
	return omx__posted_search(posted, match_info);
}

#endif
