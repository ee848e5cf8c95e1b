/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A query searches an endpoint by match info for completed requests
 * (completion.c) or unexpected messages (probe.c).
 *
 * The public functions of these two files call omx__query_run() without any
 * lock.  It is inline so that the condition can be, too: programs poll it.
 */
#ifndef OMX_QUERY_H
#define OMX_QUERY_H

#include "match.h"
#include "progress.h"
#include "wait.h"

struct message;

struct query {
	uint64_t match_info;
	uint64_t match_mask;
	struct omx__request *req;	/* found by completion.c */
	struct message *message;	/* found by probe.c */
};

/*
 * Evaluates a condition whose argument is the query: once, then after progress
 * or, if it may block, until it is true or the timeout is over.  On success the
 * endpoint's lock is held, so that the caller can use what was found.
 * BAD_MATCH_MASK, and the errors of omx__enter and omx__wait.
 */
static inline omx_return_t omx__query_run(struct omx__endpoint *ep, wait_condition condition,
					  struct query *query, uint32_t *found,
					  uint32_t timeout, bool may_block)
{
	omx_return_t ret = omx__match_check(query->match_info, query->match_mask);

	if (unlikely(ret))
		return ret;
	ret = omx__enter(ep);
	if (unlikely(ret))
		return ret;
	*found = condition(ep, query);
	if (*found)
		return OMX_SUCCESS;
	if (may_block) {
		ret = omx__wait(ep, condition, query, true, found, timeout);
	} else {
		omx__progress_until(ep, condition, query);
		*found = condition(ep, query);
		if (!*found)
			omx__progress_uncork(ep);
	}
	if (unlikely(ret))
		omx__leave(ep);
	return ret;
}

#endif
