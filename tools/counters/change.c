/* SPDX-License-Identifier: BSD-2-Clause */
/* Arithmetic on two readings, which asks nobody. */
#include <string.h>

#include "counters/counters.h"

static bool ends_in(const char *text, const char *end)
{
	size_t length = strlen(text), tail = strlen(end);

	return length >= tail && !strcmp(text + length - tail, end);
}

/* The driver's words for what is not counted since the beginning. */
bool label_is_gauge(const char *label)
{
	return ends_in(label, " now") || ends_in(label, " at most");
}

/* Numbers of boards are given again; a MAC is that of one board at a time. */
static const uint64_t *find_board(const struct labels *labels, const struct reading *reading,
				  const struct omx_ioc_board *wanted)
{
	unsigned int i;

	for (i = 0; i < reading->boards.count; i++) {
		const struct omx_ioc_board *board = &reading->boards.board[i];

		if (board->board == wanted->board && board->mac == wanted->mac)
			return reading_values(reading, labels, i);
	}
	return NULL;
}

static bool became_smaller(const struct labels *labels, const uint64_t *before,
			   const uint64_t *now)
{
	uint32_t i;

	for (i = 0; i < labels->count; i++)
		if (now[i] < before[i] && !label_is_gauge(labels->label[i]))
			return true;
	return false;
}

static bool is_other_boot(const struct origin *before, const struct origin *now)
{
	return *before->boot && *now->boot && strcmp(before->boot, now->boot);
}

static bool is_other_module(const struct origin *before, const struct origin *now)
{
	return before->module && now->module && before->module != now->module;
}

/* The monotonic clock begins anew when the host boots. */
static double seconds_between(const struct reading *before, const struct reading *now)
{
	if (strcmp(before->origin.boot, now->origin.boot) || now->monotonic <= before->monotonic)
		return 0;
	return (now->monotonic - before->monotonic) / 1e9;
}

static enum restart find_restart(const struct labels *labels, const struct reading *before,
				 const struct reading *now, const struct board_change *change)
{
	if (is_other_boot(&before->origin, &now->origin))
		return RESTART_HOST;
	if (is_other_module(&before->origin, &now->origin))
		return RESTART_MODULE;
	if (!change->before)
		return RESTART_BOARD;
	return became_smaller(labels, change->before, change->now) ?
		RESTART_CLEARED : RESTART_NONE;
}

/*
 * The driver clears all counters of a board together.  If one became smaller, the
 * others count since then as well, although they may be larger than before already.
 */
void board_change_find(const struct labels *labels, const struct reading *before,
		       const struct reading *now, unsigned int index,
		       struct board_change *change)
{
	memset(change, 0, sizeof(*change));
	change->board = &now->boards.board[index];
	change->now = reading_values(now, labels, index);
	change->before = find_board(labels, before, change->board);
	change->restart = find_restart(labels, before, now, change);
	if (change->restart == RESTART_NONE)
		change->seconds = seconds_between(before, now);
}

/* Clearing does not change gauges. */
static uint64_t base_of(const struct board_change *board, uint32_t counter, bool gauge)
{
	if (board->restart == RESTART_NONE || (board->restart == RESTART_CLEARED && gauge))
		return board->before[counter];
	return 0;
}

void change_find(const struct labels *labels, const struct board_change *board,
		 uint32_t counter, struct change *change)
{
	uint64_t now = board->now[counter];

	memset(change, 0, sizeof(*change));
	change->gauge = label_is_gauge(labels->label[counter]);
	if (change->gauge) {
		change->difference = now - base_of(board, counter, true);
		return;
	}
	change->increase = now - base_of(board, counter, false);
	if (board->seconds)
		change->per_second = change->increase / board->seconds;
}

bool change_is_none(const struct change *change)
{
	return !change->increase && !change->difference;
}

const char *restart_text(enum restart restart)
{
	static const char *const text[] = {
		[RESTART_HOST] = "the host was booted",
		[RESTART_MODULE] = "the module was loaded again",
		[RESTART_BOARD] = "the board was attached",
		[RESTART_CLEARED] = "the counters were cleared or the board was attached again",
	};

	return text[restart];
}
