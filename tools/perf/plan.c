/* SPDX-License-Identifier: BSD-2-Clause */
#include "settings.h"

#define ITERATIONS_MAX		1000
#define ITERATIONS_MIN		10
#define BYTES_PER_LENGTH	(32u << 20)	/* above: fewer iterations */
#define HUGE_LENGTH		(64u << 20)	/* above: the smallest number of iterations */
#define HUGE_ITERATIONS		2

#define WINDOW_MAX		64
#define WINDOW_MIN		2
#define BYTES_PER_WINDOW	(16u << 20)

#define WARMUP_MAX		10

static uint64_t plan_clamp(uint64_t value, uint64_t low, uint64_t high)
{
	return value < low ? low : value > high ? high : value;
}

/* How many of this length make up so many bytes. */
static uint64_t plan_fit(uint64_t bytes, uint64_t length, uint64_t low, uint64_t high)
{
	return length ? plan_clamp(bytes / length, low, high) : high;
}

/* As in Open-MX, 0 is followed by the increment, or by 1. */
static uint64_t next_length(const struct settings *settings, uint64_t length)
{
	uint64_t product;

	if (!length)
		return settings->increment ? settings->increment : 1;
	if (__builtin_mul_overflow(length, settings->multiplier, &product) ||
	    __builtin_add_overflow(product, settings->increment, &product))
		return UINT64_MAX;
	return product;
}

/* The end is excluded, but the start is always measured. */
bool plan_length(const struct settings *settings, size_t step, uint64_t *length)
{
	uint64_t next;

	if (settings->size_count) {
		if (step >= settings->size_count)
			return false;
		*length = settings->sizes[step];
		return true;
	}
	if (step == 0) {
		*length = settings->start;
		return true;
	}
	next = next_length(settings, *length);
	if (next >= settings->end || next <= *length)
		return false;
	*length = next;
	return true;
}

uint64_t plan_iterations(const struct settings *settings, uint64_t length)
{
	if (settings->iterations != AUTOMATIC)
		return settings->iterations;
	if (length > HUGE_LENGTH)
		return HUGE_ITERATIONS;
	return plan_fit(BYTES_PER_LENGTH, length, ITERATIONS_MIN, ITERATIONS_MAX);
}

uint64_t plan_warmup(const struct settings *settings, uint64_t length)
{
	if (settings->warmup != AUTOMATIC)
		return settings->warmup;
	return plan_clamp(plan_iterations(settings, length) / 10, 1, WARMUP_MAX);
}

uint64_t plan_window(const struct settings *settings, uint64_t length)
{
	if (settings->access && settings->mode == PERF_PINGPONG)
		return 1;
	if (settings->window != AUTOMATIC)
		return settings->window;
	return plan_fit(BYTES_PER_WINDOW, length, WINDOW_MIN, WINDOW_MAX);
}
