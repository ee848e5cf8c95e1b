/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Turns: users who want the same thing get it one after the other, in equal shares
 * of bytes (deficit round robin, [Shreedhar95]).
 *
 * Plain data; the caller has the lock of what is shared.  Whoever overdraws its turn,
 * because a frame has to be sent in one piece, waits so much longer for the next one.
 */
#ifndef OMX_USER_TURNS_H
#define OMX_USER_TURNS_H

#include <linux/list.h>
#include <linux/types.h>

struct omx_user_turns {
	struct list_head waiting;
	s32 bytes;		/* of one turn */
};

/* One user's. */
struct omx_user_turn {
	struct list_head in_turns;
	s32 credit;		/* bytes; at most those of one turn */
};

static inline void omx_user_turns_init(struct omx_user_turns *turns, s32 bytes)
{
	INIT_LIST_HEAD(&turns->waiting);
	turns->bytes = bytes;
}

static inline void omx_user_turn_init(struct omx_user_turn *turn)
{
	INIT_LIST_HEAD(&turn->in_turns);
	turn->credit = 0;
}

static inline bool omx_user_turns_are_empty(const struct omx_user_turns *turns)
{
	return list_empty(&turns->waiting);
}

/* Its user wants something, and may have wanted something before. */
static inline void omx_user_turn_begin(struct omx_user_turns *turns, struct omx_user_turn *turn)
{
	if (list_empty(&turn->in_turns))
		list_add_tail(&turn->in_turns, &turns->waiting);
}

/* Its user wants nothing any more.  What it has overdrawn stays. */
static inline void omx_user_turn_end(struct omx_user_turn *turn)
{
	list_del_init(&turn->in_turns);
	if (turn->credit > 0)
		turn->credit = 0;
}

/* Whose turn it is, and may take as many bytes as its credit says.  NULL: nobody's. */
static inline struct omx_user_turn *omx_user_turns_next(struct omx_user_turns *turns)
{
	struct omx_user_turn *turn;

	while (!list_empty(&turns->waiting)) {
		turn = list_first_entry(&turns->waiting, struct omx_user_turn, in_turns);
		if (turn->credit <= 0)
			turn->credit += turns->bytes;
		if (turn->credit > 0)
			return turn;
		list_move_tail(&turn->in_turns, &turns->waiting);
	}
	return NULL;
}

/* It has taken so many bytes, perhaps the last that it wants. */
static inline void omx_user_turn_take(struct omx_user_turns *turns,
				      struct omx_user_turn *turn, u32 bytes)
{
	turn->credit -= bytes;
	if (turn->credit <= 0 && !list_empty(&turn->in_turns))
		list_move_tail(&turn->in_turns, &turns->waiting);
}

#endif
