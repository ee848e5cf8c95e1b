// SPDX-License-Identifier: BSD-2-Clause
#include "ahead.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

static struct {
	omx_endpoint_t ep;
	const struct ahead *ahead;
	struct arena *arena;
	atomic_bool stop;
	pthread_t thread;
} beside;

void ahead_draw(struct ahead *ahead, struct random *random)
{
	static const uint32_t directions[] = {
		OMX_PREFETCH_SEND, OMX_PREFETCH_RECV, OMX_PREFETCH_SEND | OMX_PREFETCH_RECV,
	};

	switch (random_below(random, 10)) {
	case 0: ahead->when = BEFORE_ACT; break;
	case 1:
	case 2: ahead->when = BESIDE_ACT; break;
	case 3: ahead->when = AFTER_ACT; break;
	default: ahead->when = NEVER;
	}
	ahead->all = random_chance(random, 50);
	ahead->flags = directions[random_below(random, 3)] |
		       (random_chance(random, 50) ? OMX_PREFETCH_WAIT : 0);
}

/* The range begins anywhere in the first page. */
static omx_return_t prefetch_arena(omx_endpoint_t ep, const struct ahead *ahead,
				   const struct arena *arena)
{
	size_t from = (ahead->all ? 0 : arena->from) + arena->key[OLD] % PAGE;
	size_t to = ahead->all ? arena->size : arena->to;

	return omx_prefetch(ep, ARENA + from, to - from, ahead->flags);
}

/*
 * With WAIT the call reports whether the program itself can access the pages.
 */
void ahead_once(omx_endpoint_t ep, const struct ahead *ahead, struct arena *arena, enum when when)
{
	bool denied = arena->access == NONE ||
		      (arena->access == READ_ONLY && ahead->flags & OMX_PREFETCH_RECV);
	omx_return_t code;

	if (ahead->when != when)
		return;
	code = prefetch_arena(ep, ahead, arena);
	if (code == OMX_BAD_ERROR && arena->may_fail_after)
		return;
	RETURNS(code, denied && ahead->flags & OMX_PREFETCH_WAIT ? OMX_BAD_ERROR : OMX_SUCCESS);
}

static void *again_and_again(void *unused)
{
	omx_return_t code;

	while (!atomic_load(&beside.stop)) {
		code = prefetch_arena(beside.ep, beside.ahead, beside.arena);
		CHECK(code == OMX_SUCCESS ||
		      (code == OMX_BAD_ERROR && beside.ahead->flags & OMX_PREFETCH_WAIT),
		      "%s", omx_strerror(code));
		usleep(200);
	}
	return unused;
}

void ahead_begin(omx_endpoint_t ep, const struct ahead *ahead, struct arena *arena)
{
	if (ahead->when != BESIDE_ACT)
		return;
	beside.ep = ep;
	beside.ahead = ahead;
	beside.arena = arena;
	atomic_store(&beside.stop, false);
	CHECK(!pthread_create(&beside.thread, NULL, again_and_again, NULL));
}

void ahead_end(const struct ahead *ahead)
{
	if (ahead->when != BESIDE_ACT)
		return;
	atomic_store(&beside.stop, true);
	CHECK(!pthread_join(beside.thread, NULL));
}
