// SPDX-License-Identifier: GPL-2.0
/*
 * The arithmetic of a pull.  The other files of pull/ call it with the pull's lock
 * held; unit tests compile it in user space.
 */
#include <linux/bitops.h>
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/string.h>

#include "pull/pull_window.h"

static struct omx_pull_block *block_at(struct omx_pull_window *window, u64 block)
{
	return &window->block[block % OMX_PULL_BLOCKS];
}

/* For any length: rounding it up first could exceed 64 bits. */
static u64 message_frames(u64 length, u32 frame_length)
{
	u32 rest;
	u64 frames = div_u64_rem(length, frame_length, &rest);

	return rest ? frames + 1 : frames;
}

/*
 * All frames if one request can name them.  Otherwise a multiple of what one GSO frame
 * carries, so that the sender makes no shorter one, unless a block becomes much shorter.
 */
static u32 frames_of_a_block(u64 frames, u32 frame_length)
{
	u32 rest = OMX_BLOCK_FRAMES % omx_gso_frames_max(frame_length);

	if (frames <= OMX_BLOCK_FRAMES || rest > OMX_BLOCK_FRAMES / 8)
		return OMX_BLOCK_FRAMES;
	return OMX_BLOCK_FRAMES - rest;
}

void omx_pull_window_init(struct omx_pull_window *window, u64 length,
			  u32 frame_length)
{
	memset(window, 0, sizeof(*window));
	window->length = length;
	window->frame_length = frame_length;
	window->frames = message_frames(length, frame_length);
	window->frames_left = window->frames;
	window->block_frames = frames_of_a_block(window->frames, frame_length);
	window->blocks = div_u64(window->frames_left + window->block_frames - 1,
				 window->block_frames);
	window->limit = OMX_PULL_FRAMES_MIN;
	window->most = OMX_PULL_FRAMES_MAX;
	window->part = window->block_frames;
}

/* Frames that are on their way, or lost. */
static u32 awaited(const struct omx_pull_block *block)
{
	return block->missing & block->asked;
}

static void request_for(struct omx_pull_window *window, u64 block, u32 wanted, u32 now,
			struct omx_pull_request *request)
{
	u64 block_length = omx_pull_window_block_length(window);

	request->offset = block * block_length;
	request->length = min(block_length, window->length - request->offset);
	request->wanted = wanted;
	request->held = block_at(window, block)->held;
	block_at(window, block)->requested_at = now;
	block_at(window, block)->held = false;
}

static u32 frames_in(const struct omx_pull_window *window, u64 block)
{
	return min_t(u64, window->block_frames, window->frames - block * window->block_frames);
}

static void window_begin_block(struct omx_pull_window *window, u32 now)
{
	struct omx_pull_block *block = block_at(window, window->next_block);

	block->frames = frames_in(window, window->next_block);
	block->missing = U32_MAX >> (OMX_BLOCK_FRAMES - block->frames);
	block->asked = 0;
	block->begun_at = now;
	block->again = false;
	block->pushed = false;
	block->held = false;
	window->unasked = block->frames;
	window->next_block++;
}

u32 omx_pull_window_next_frames(const struct omx_pull_window *window)
{
	u32 frames = window->unasked ?: frames_in(window, window->next_block);

	return min(frames, window->part);
}

void omx_pull_window_request(struct omx_pull_window *window, u32 now,
			     struct omx_pull_request *request)
{
	u32 frames = omx_pull_window_next_frames(window), wanted, held_until;
	struct omx_pull_block *block;
	bool is_held;

	if (!omx_pull_window_is_in_block(window))
		window_begin_block(window, now);
	block = block_at(window, window->next_block - 1);
	wanted = U32_MAX >> (OMX_BLOCK_FRAMES - frames) << (block->frames - window->unasked);
	block->asked |= wanted;
	window->unasked -= frames;
	window->outstanding += frames;
	held_until = block->requested_at;
	is_held = block->held;
	request_for(window, window->next_block - 1, wanted, now, request);
	if (is_held)
		block->requested_at = held_until;
	block->held = is_held;
}

void omx_pull_window_take_no_samples(struct omx_pull_window *window)
{
	block_at(window, window->next_block - 1)->again = true;
}

void omx_pull_window_expect(struct omx_pull_window *window, u32 frames, u32 now)
{
	struct omx_pull_request request;

	while (frames && (omx_pull_window_is_in_block(window) ||
			  omx_pull_window_has_block(window))) {
		window->part = min(frames, window->block_frames);
		frames -= omx_pull_window_next_frames(window);
		omx_pull_window_request(window, now, &request);
		omx_pull_window_take_no_samples(window);
		block_at(window, window->next_block - 1)->pushed = true;
	}
}

enum omx_pull_verdict omx_pull_window_judge(struct omx_pull_window *window,
					    u64 offset, u32 length, u64 *block)
{
	u32 remainder, index;
	u64 frame;

	if (offset >= window->length)
		return OMX_PULL_MISFIT;
	frame = div_u64_rem(offset, window->frame_length, &remainder);
	if (remainder ||
	    length != min_t(u64, window->frame_length, window->length - offset))
		return OMX_PULL_MISFIT;
	*block = div_u64_rem(frame, window->block_frames, &index);
	if (*block >= window->next_block)
		return OMX_PULL_MISFIT;
	if (*block < window->first_block ||
	    !(block_at(window, *block)->missing >> index & 1))
		return OMX_PULL_DUPLICATE;
	return block_at(window, *block)->asked >> index & 1 ? OMX_PULL_NEW : OMX_PULL_MISFIT;
}

u32 omx_pull_window_rtt(const struct omx_pull_window *window, u64 block, u32 now)
{
	return max(1U, now - window->block[block % OMX_PULL_BLOCKS].begun_at);
}

u32 omx_pull_window_took(const struct omx_pull_window *window, u64 block, u32 now)
{
	return max(1U, now - window->block[block % OMX_PULL_BLOCKS].requested_at);
}

u32 omx_pull_window_age(const struct omx_pull_window *window, u32 now)
{
	const struct omx_pull_block *block;
	u64 i;

	for (i = window->first_block; i < window->next_block; i++) {
		block = &window->block[i % OMX_PULL_BLOCKS];
		if (awaited(block))
			return block->held ? 0 : now - block->requested_at;
	}
	return 0;
}

/* Ends the hold: from now on this block becomes overdue like any other. */
static void window_release_blocks(struct omx_pull_block *block)
{
	block->held = false;
	block->requested_at -= OMX_PULL_HOLD_US;
}

static u32 index_in(const struct omx_pull_window *window, u64 offset, u64 block)
{
	return div_u64(offset, window->frame_length) - block * window->block_frames;
}

u32 omx_pull_window_contiguous(const struct omx_pull_window *window, u64 offset, u32 length,
			       u64 block, u32 *bytes)
{
	u32 missing = awaited(&window->block[block % OMX_PULL_BLOCKS]);
	u32 others = ~(missing >> index_in(window, offset, block));
	u32 frames = others ? __ffs(others) : OMX_BLOCK_FRAMES;
	u64 left = window->length - offset;

	frames = min_t(u32, frames, DIV_ROUND_UP(length, window->frame_length));
	*bytes = min_t(u64, frames * window->frame_length, left);
	if (*bytes > length)
		*bytes = --frames * window->frame_length;
	return frames;
}

void omx_pull_window_received(struct omx_pull_window *window, u64 offset, u64 number,
			      u32 frames)
{
	struct omx_pull_block *block = block_at(window, number);
	u32 row = U32_MAX >> (OMX_BLOCK_FRAMES - frames);

	block->missing &= ~(row << index_in(window, offset, number));
	if (block->held)
		window_release_blocks(block);
	window->outstanding -= frames;
	window->frames_left -= frames;
	while (window->first_block < window->next_block &&
	       !block_at(window, window->first_block)->missing)
		window->first_block++;
}

static bool half_arrived(const struct omx_pull_block *block)
{
	return 2 * hweight32(block->missing) <= block->frames;
}

/* Patience doubles for a block that has been requested again already; a hold is patience. */
static s32 due_in(const struct omx_pull_block *block, u32 now, u32 patience)
{
	if (block->held)
		patience = 0;
	return block->requested_at + (patience << block->again) - now;
}

static bool is_overdue(const struct omx_pull_block *block, u32 now, u32 patience)
{
	return awaited(block) && due_in(block, now, patience) <= 0;
}

static bool ask_again(struct omx_pull_window *window, u64 end, u32 now,
		      u32 patience, struct omx_pull_request *request)
{
	u64 i;

	for (i = window->first_block; i < end; i++) {
		struct omx_pull_block *block = block_at(window, i);

		if (!is_overdue(block, now, patience))
			continue;
		block->again = true;
		request_for(window, i, awaited(block), now, request);
		return true;
	}
	return false;
}

bool omx_pull_window_gap(struct omx_pull_window *window, u64 block, u32 now,
			 u32 patience, struct omx_pull_request *request)
{
	if (block <= window->first_block || !half_arrived(block_at(window, block)))
		return false;
	return ask_again(window, block, now, patience, request);
}

bool omx_pull_window_late(struct omx_pull_window *window, u32 now, u32 patience,
			  struct omx_pull_request *request)
{
	return ask_again(window, window->next_block, now, patience, request);
}

u32 omx_pull_window_due(const struct omx_pull_window *window, u32 now, u32 patience)
{
	s32 first = S32_MAX;
	u64 i;

	for (i = window->first_block; i < window->next_block; i++) {
		const struct omx_pull_block *block = &window->block[i % OMX_PULL_BLOCKS];

		if (awaited(block))
			first = min(first, due_in(block, now, patience));
	}
	return max(first, 0);
}

bool omx_pull_window_find(const struct omx_pull_window *window, u64 offset, u64 *block)
{
	*block = div_u64(offset, omx_pull_window_block_length(window));
	return *block >= window->first_block && *block < window->next_block &&
	       awaited(&window->block[*block % OMX_PULL_BLOCKS]);
}

void omx_pull_window_hold(struct omx_pull_window *window, u64 number, u32 now)
{
	struct omx_pull_block *block = block_at(window, number);

	block->held = true;
	block->again = true;
	block->requested_at = now + OMX_PULL_HOLD_US;
}

void omx_pull_window_request_again(struct omx_pull_window *window, u64 block, u32 now,
				   struct omx_pull_request *request)
{
	block_at(window, block)->again = true;
	request_for(window, block, awaited(block_at(window, block)), now, request);
}
