/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Windows, and accesses to them.  The mock performs an access at once; its answer
 * can be held back like that of a connect.
 */
#include "mock_private.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SECRET(number)	(0x5ec0e700u + (number))

/* The low bits of all numbers are the same: whoever hashes them must cope. */
#define NUMBER(i)	((i) << 6)
#define INDEX(number)	((number) >> 6)

struct window {
	bool used;
	int file;
	uint32_t region, rights;
	int peer;		/* index of the only file that may use it; -1: any */
	uint64_t start;		/* address, or offset in the declared region */
	uint64_t length;
};

static struct window windows[OBJECTS];
static uint64_t longest_get, last_cookie;
static bool holding_revokes;
static int refusals, questions;

/* ---- windows --------------------------------------------------------------- */

int mock_do_window_create(struct file *file, struct omx_ioc_window *window)
{
	struct channel *channel = NULL;
	uint32_t i;
	int err;

	assert(window->rights && window->rights < 16 && !window->reserved && window->length);
	assert(window->region == OMX_REGION_IMPLICIT ? !window->offset : !window->address);
	if (window->region != OMX_REGION_IMPLICIT && !mock_region_of(file, window->region))
		return -ENOENT;
	if (window->channel != OMX_ANY) {
		channel = mock_live_channel(file, window->channel, &err);
		if (!channel)
			return -ENOENT;
	}
	for (i = 1; windows[i].used; i++)
		assert(i + 1 < OBJECTS);
	windows[i] = (struct window){
		.used = true, .file = mock_index_of(file), .region = window->region,
		.rights = window->rights, .peer = channel ? channel->peer : -1,
		.start = window->address + window->offset, .length = window->length,
	};
	window->key.window = NUMBER(i);
	for (uint32_t j = 0; j < 3; j++)
		window->key.secret[j] = SECRET(NUMBER(i)) + j;
	if (window->rights & OMX_WINDOW_ACTIVE)
		window->key.secret[2] |= OMX_KEY_ACTIVE;
	return 0;
}

static struct window *window_numbered(uint32_t number)
{
	uint32_t i = INDEX(number);

	return i < OBJECTS && number == NUMBER(i) && windows[i].used ? &windows[i] : NULL;
}

int mock_do_window_revoke(const struct file *file, const struct omx_ioc_window *window)
{
	struct window *gone = window_numbered(window->key.window);

	if (!gone || gone->file != mock_index_of(file))
		return -ENOENT;
	while (holding_revokes)
		pthread_cond_wait(&mock_changed, &mock_lock);
	gone->used = false;
	return 0;
}

void mock_hold_revokes(bool hold)
{
	pthread_mutex_lock(&mock_lock);
	holding_revokes = hold;
	pthread_cond_broadcast(&mock_changed);
	pthread_mutex_unlock(&mock_lock);
}

void mock_forget_windows(const struct file *file)
{
	for (uint32_t i = 1; i < OBJECTS; i++) {
		if (windows[i].used && windows[i].file == mock_index_of(file))
			windows[i].used = false;
	}
}

bool mock_region_has_window(const struct file *file, uint32_t region)
{
	for (uint32_t i = 1; i < OBJECTS; i++) {
		if (windows[i].used && windows[i].file == mock_index_of(file) &&
		    windows[i].region == region)
			return true;
	}
	return false;
}

void mock_reset_windows(void)
{
	for (uint32_t i = 1; i < OBJECTS; i++)
		assert(!windows[i].used);
	longest_get = OMX_SMALL_MAX;
}

uint32_t mock_windows(void)
{
	uint32_t count = 0;

	pthread_mutex_lock(&mock_lock);
	for (uint32_t i = 1; i < OBJECTS; i++)
		count += windows[i].used;
	pthread_mutex_unlock(&mock_lock);
	return count;
}

void mock_set_longest_get(uint32_t length)
{
	pthread_mutex_lock(&mock_lock);
	longest_get = length;
	pthread_mutex_unlock(&mock_lock);
}

/* The window of the channel's peer that the key names. */
static enum omx_status find_window(const struct file *file, const struct channel *channel,
				   const struct omx_key *key, uint32_t right, uint64_t offset,
				   uint64_t length, struct window **found)
{
	struct window *window = window_numbered(key->window);

	*found = window;
	if (!window || window->file != channel->peer ||
	    (window->peer >= 0 && window->peer != mock_index_of(file)))
		return OMX_STATUS_BAD_WINDOW;
	for (uint32_t i = 0; i < 3; i++) {
		if ((key->secret[i] & ~OMX_KEY_ACTIVE) !=
		    ((SECRET(key->window) + i) & ~OMX_KEY_ACTIVE))
			return OMX_STATUS_BAD_WINDOW;
	}
	if (!(window->rights & right))
		return OMX_STATUS_NO_RIGHT;
	if (offset > window->length || length > window->length - offset)
		return OMX_STATUS_BAD_RANGE;
	if (refusals) {
		refusals--;
		return OMX_STATUS_LOG_FULL;
	}
	return OMX_STATUS_OK;
}

void mock_refuse_accesses(int count)
{
	pthread_mutex_lock(&mock_lock);
	refusals = count;
	pthread_mutex_unlock(&mock_lock);
}

/* Copies out of the window or into it. */
static void move_window(const struct window *window, uint64_t offset, void *data,
			uint64_t length, bool out)
{
	const struct file *file = &mock_files[window->file];
	uint64_t skip = window->start + offset;
	unsigned char *all;

	if (window->region == OMX_REGION_IMPLICIT) {
		mock_move_memory(file, OMX_REGION_IMPLICIT, skip, data, length, out);
		return;
	}
	all = malloc(skip + length + 1);
	mock_move_memory(file, window->region, 0, all, skip + length, true);
	memcpy(out ? data : all + skip, out ? all + skip : data, length);
	if (!out)
		mock_move_memory(file, window->region, 0, all, skip + length, false);
	free(all);
}

/* ---- accesses -------------------------------------------------------------- */

uint64_t mock_last_cookie(void)
{
	return last_cookie;
}

/* NULL with an error if the access is not accepted. */
static struct channel *channel_of_access(struct file *file, uint32_t number, uint64_t cookie,
					 int *err)
{
	struct channel *channel = mock_live_channel(file, number, err);

	assert(cookie);
	last_cookie = cookie;
	if (channel && !mock_take_room(channel)) {
		*err = -EAGAIN;
		return NULL;
	}
	return channel;
}

static void tell_target(const struct channel *channel, const struct omx_key *key,
			uint64_t immediate, uint64_t length)
{
	const struct omx_event event = {
		.type = OMX_EVENT_PUT, .channel = channel->peer_channel,
		.immediate = immediate, .length = length, .window = key->window,
	};

	mock_post_to(&mock_files[channel->peer], &event, NULL, 0);
}

int mock_do_put(struct file *file, struct omx_ioc_put *put)
{
	struct omx_event event = {
		.type = OMX_EVENT_ACCESS_DONE, .channel = put->channel, .cookie = put->cookie,
	};
	uint64_t length = put->buffer.length;
	struct channel *channel;
	struct window *window;
	unsigned char *data;
	int err;

	assert(!(put->flags & ~(uint32_t)OMX_ACCESS_EVENT));
	assert(put->flags || !put->immediate);
	if (length > OMX_MEDIUM_MAX || put->offset + length < length)
		return -EINVAL;
	channel = channel_of_access(file, put->channel, put->cookie, &err);
	if (!channel)
		return err;
	event.status = (uint8_t)find_window(file, channel, &put->key, OMX_WINDOW_PUT,
					    put->offset, length, &window);
	if (!event.status) {
		data = malloc(length + 1);
		mock_move_buffer(&put->buffer, data, length, true);
		move_window(window, put->offset, data, length, false);
		free(data);
		event.length = length;
		if (put->flags & OMX_ACCESS_EVENT)
			tell_target(channel, &put->key, put->immediate, length);
	}
	mock_answer_to(file, &event);
	return 0;
}

int mock_do_put_rndv(struct file *file, struct omx_ioc_put_rndv *put)
{
	struct omx_event event = {
		.type = OMX_EVENT_SEND_DONE, .channel = put->channel, .cookie = put->cookie,
	};
	struct channel *channel;
	struct window *window;
	unsigned char *data;
	int err;

	assert(!(put->flags & ~(uint32_t)OMX_ACCESS_EVENT) && !put->reserved);
	assert(put->flags || !put->immediate);
	assert(put->length);
	if (put->offset + put->length < put->length)
		return -EINVAL;
	channel = channel_of_access(file, put->channel, put->cookie, &err);
	if (!channel)
		return err;
	mock_check_memory(file, put->region, put->address, put->length, OMX_REGION_READ);
	event.status = (uint8_t)find_window(file, channel, &put->key, OMX_WINDOW_PUT,
					    put->offset, put->length, &window);
	if (!event.status) {
		data = malloc(put->length);
		mock_move_memory(file, put->region, put->address, data, put->length, true);
		move_window(window, put->offset, data, put->length, false);
		free(data);
		event.length = put->length;
		if (put->flags & OMX_ACCESS_EVENT)
			tell_target(channel, &put->key, put->immediate, put->length);
	}
	mock_answer_to(file, &event);
	return 0;
}

static void announce(const struct file *file, const struct channel *channel,
		     const struct window *window, const struct omx_ioc_get *get,
		     struct omx_event *event)
{
	uint64_t start = window->start + get->offset;
	bool implicit = window->region == OMX_REGION_IMPLICIT;

	event->length = get->length;
	event->remote_message = mock_announce_window(channel, mock_index_of(file), window->region,
						     implicit ? start : 0,
						     implicit ? 0 : start, get->length);
}

int mock_do_get(struct file *file, struct omx_ioc_get *get)
{
	struct omx_event event = {
		.type = OMX_EVENT_ACCESS_DONE, .channel = get->channel, .cookie = get->cookie,
	};
	unsigned char data[OMX_SMALL_MAX];
	struct channel *channel;
	struct window *window;
	int err;

	assert(!(get->flags & ~(uint32_t)OMX_ACCESS_ANNOUNCE));
	if (get->offset + get->length < get->length)
		return -EINVAL;
	if (!get->flags && get->length > longest_get)
		return -EMSGSIZE;
	channel = channel_of_access(file, get->channel, get->cookie, &err);
	if (!channel)
		return err;
	event.status = (uint8_t)find_window(file, channel, &get->key, OMX_WINDOW_GET,
					    get->offset, get->length, &window);
	if (event.status) {
		mock_answer_to(file, &event);
	} else if (get->flags) {
		announce(file, channel, window, get, &event);
		mock_answer_to(file, &event);
	} else {
		event.length = get->length;
		move_window(window, get->offset, data, get->length, true);
		if (get->length <= OMX_TINY_MAX)
			memcpy(event.data, data, get->length);
		mock_answer_with(file, &event, data,
				 get->length <= OMX_TINY_MAX ? 0 : (uint32_t)get->length);
	}
	return 0;
}

uint64_t mock_longest_get(void)
{
	return longest_get;
}

void mock_pull_get(struct file *file, const struct omx_ioc_get *get, uint32_t region,
		   uint64_t address)
{
	struct omx_event event = {
		.type = OMX_EVENT_ACCESS_DONE, .channel = get->channel, .cookie = get->cookie,
	};
	struct channel *channel;
	struct window *window;
	unsigned char *data;
	int err;

	channel = channel_of_access(file, get->channel, get->cookie, &err);
	assert(channel);
	mock_check_memory(file, region, address, get->length, OMX_REGION_WRITE);
	event.status = (uint8_t)find_window(file, channel, &get->key, OMX_WINDOW_GET,
					    get->offset, get->length, &window);
	if (!event.status) {
		data = malloc(get->length + 1);
		move_window(window, get->offset, data, get->length, true);
		mock_move_memory(file, region, address, data, get->length, false);
		free(data);
		event.type = OMX_EVENT_PULL_DONE;
		event.length = get->length;
	}
	mock_answer_to(file, &event);
}

/* ---- flushes ---------------------------------------------------------------- */

#define STAMP	0x1234567890u

void mock_set_pending(int count)
{
	pthread_mutex_lock(&mock_lock);
	questions = count;
	pthread_mutex_unlock(&mock_lock);
}

/* The consumer has finished when it has been asked so often. */
int mock_do_flush_active(struct file *file, struct omx_ioc_flush_active *flush)
{
	struct omx_event event = {
		.type = OMX_EVENT_ACCESS_DONE, .channel = flush->channel, .cookie = flush->cookie,
	};
	uint64_t stamp = questions ? STAMP : 0;
	int err;

	assert(!flush->stamp || flush->stamp == STAMP);
	assert(!flush->reserved);
	if (!channel_of_access(file, flush->channel, flush->cookie, &err))
		return err;
	questions -= questions > 0;
	memcpy(event.data, &stamp, sizeof(stamp));
	mock_answer_to(file, &event);
	return 0;
}

/* ---- atomic operations ----------------------------------------------------- */

static uint64_t widen(uint64_t word, uint8_t size)
{
	return size == 4 ? (uint64_t)(int32_t)word : word;
}

static uint64_t operate(const struct omx_ioc_atomic *atomic, uint64_t word)
{
	uint64_t operand = atomic->operand;
	int64_t a = (int64_t)widen(word, atomic->size);
	int64_t b = (int64_t)widen(operand, atomic->size);
	uint64_t mask = atomic->size == 4 ? UINT32_MAX : UINT64_MAX;

	switch (atomic->operation) {
	case OMX_OPERATION_ADD: return word + operand;
	case OMX_OPERATION_AND: return word & operand;
	case OMX_OPERATION_OR: return word | operand;
	case OMX_OPERATION_XOR: return word ^ operand;
	case OMX_OPERATION_SWAP: return operand;
	case OMX_OPERATION_MIN: return a < b ? word : operand;
	case OMX_OPERATION_MAX: return a > b ? word : operand;
	case OMX_OPERATION_UMIN: return (word & mask) < (operand & mask) ? word : operand;
	case OMX_OPERATION_UMAX: return (word & mask) > (operand & mask) ? word : operand;
	case OMX_OPERATION_COMPARE_SWAP:
		return (word & mask) == (atomic->compare & mask) ? operand : word;
	}
	abort();
}

static uint64_t change_word(const struct window *window, const struct omx_ioc_atomic *atomic)
{
	uint64_t before = 0, after;
	uint32_t half = 0;

	if (atomic->size == 4) {
		move_window(window, atomic->offset, &half, 4, true);
		before = half;
		half = (uint32_t)operate(atomic, before);
		move_window(window, atomic->offset, &half, 4, false);
	} else {
		move_window(window, atomic->offset, &before, 8, true);
		after = operate(atomic, before);
		move_window(window, atomic->offset, &after, 8, false);
	}
	return before;
}

int mock_do_atomic(struct file *file, struct omx_ioc_atomic *atomic)
{
	struct omx_event event = {
		.type = OMX_EVENT_ACCESS_DONE, .channel = atomic->channel,
		.cookie = atomic->cookie,
	};
	struct channel *channel;
	struct window *window;
	uint64_t before;
	int err;

	assert(atomic->operation < OMX_OPERATIONS);
	assert((atomic->size == 4 || atomic->size == 8) && !atomic->reserved[0] &&
	       !atomic->reserved[1]);
	channel = channel_of_access(file, atomic->channel, atomic->cookie, &err);
	if (!channel)
		return err;
	event.status = (uint8_t)find_window(file, channel, &atomic->key, OMX_WINDOW_ATOMIC,
					    atomic->offset, atomic->size, &window);
	if (!event.status && (atomic->offset | (window->start + atomic->offset)) % atomic->size)
		event.status = OMX_STATUS_BAD_RANGE;
	if (!event.status) {
		before = change_word(window, atomic);
		memcpy(event.data, &before, sizeof(before));
		event.length = atomic->size;
	}
	mock_answer_to(file, &event);
	return 0;
}
