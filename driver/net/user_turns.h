/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Turns: users who want the same thing get it in equal shares of bytes.  Whoever has been
 * served least is the next one (start-time fair queueing, [Goyal96]).
 *
 * Plain data; the caller has the lock of what is shared.  Whoever overdraws its turn,
 * because a frame has to be sent in one piece, waits so much longer for the next one.
 * A user that wants nothing for a moment, since something else holds it up, is served first
 * when it returns, until it has caught up; but it has missed one turn at most.
 */
#ifndef OMX_USER_TURNS_H
#define OMX_USER_TURNS_H

#include <linux/list.h>
#include <linux/minmax.h>
#include <linux/types.h>

struct omx_user_turns {
	struct list_head waiting;	/* the one that was served least is the first */
	u64 served;			/* what that one has had, or had when somebody waited */
	s32 bytes;			/* of one turn */
};

/* One user's. */
struct omx_user_turn {
	struct list_head in_turns;
	u64 served;			/* bytes, as if it had always wanted them */
};

static inline void omx_user_turns_init(struct omx_user_turns *turns, s32 bytes)
{
	INIT_LIST_HEAD(&turns->waiting);
	turns->served = bytes;
	turns->bytes = bytes;
}

static inline void omx_user_turn_init(struct omx_user_turn *turn)
{
	INIT_LIST_HEAD(&turn->in_turns);
	turn->served = 0;
}

static inline bool omx_user_turns_are_empty(const struct omx_user_turns *turns)
{
	return list_empty(&turns->waiting);
}

/* Behind all that have had no more. */
static inline void omx_user_turn_queue(struct omx_user_turns *turns, struct omx_user_turn *turn)
{
	struct omx_user_turn *before;

	list_for_each_entry_reverse(before, &turns->waiting, in_turns)
		if (before->served <= turn->served)
			break;
	list_add(&turn->in_turns, &before->in_turns);
}

/* Its user wants something, and may have wanted something before. */
static inline void omx_user_turn_begin(struct omx_user_turns *turns, struct omx_user_turn *turn)
{
	if (!list_empty(&turn->in_turns))
		return;
	turn->served = max(turn->served, turns->served - turns->bytes);
	omx_user_turn_queue(turns, turn);
}

/* Its user wants nothing any more. */
static inline void omx_user_turn_end(struct omx_user_turn *turn)
{
	list_del_init(&turn->in_turns);
}

/* Whose turn it is, and may take the bytes of one turn.  NULL: nobody's. */
static inline struct omx_user_turn *omx_user_turns_next(struct omx_user_turns *turns)
{
	struct omx_user_turn *turn;

	turn = list_first_entry_or_null(&turns->waiting, struct omx_user_turn, in_turns);
	if (turn)
		turns->served = max(turns->served, turn->served);
	return turn;
}

/* It has taken so many bytes, perhaps the last that it wants. */
static inline void omx_user_turn_take(struct omx_user_turns *turns,
				      struct omx_user_turn *turn, u32 bytes)
{
	turn->served += bytes;
	if (list_empty(&turn->in_turns))
		return;
	list_del(&turn->in_turns);
	omx_user_turn_queue(turns, turn);
}

#endif
