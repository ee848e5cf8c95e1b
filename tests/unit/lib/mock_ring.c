/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The rings of events, those that wait for room in them, answers held back
 * till the test says so, and who waits for all that.
 */
#include "mock_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define HELPER_DELAY_MS	2

struct entry {
	struct entry *next;
	struct omx_event event;
	uint32_t length;
	unsigned char payload[];
};

struct held {		/* an answer that waits for mock_answer */
	struct held *next;
	int file;
	struct omx_event event;
	uint32_t length;
	unsigned char payload[];
};

static struct held *held, **held_end = &held;
static bool holding;

static uint32_t slots_for(uint32_t length)
{
	return 1 + (length + OMX_SLOT_SIZE - 1) / OMX_SLOT_SIZE;
}

static bool is_message(const struct entry *entry)
{
	return entry->event.type == OMX_EVENT_RECV || entry->event.type == OMX_EVENT_RNDV;
}

static bool put(struct file *file, const struct entry *entry)
{
	uint32_t tail = __atomic_load_n(&file->user->utail, __ATOMIC_ACQUIRE);
	uint32_t head = file->kernel->khead;
	uint32_t slots = slots_for(entry->length);
	uint32_t to_end = file->slots - (head & (file->slots - 1));
	uint32_t pad = slots > to_end ? to_end : 0;
	uint32_t reserve = is_message(entry) ? file->slots / 16 : 0;
	struct omx_event *event;

	if (head - tail + pad + slots + reserve > file->slots)
		return false;
	if (pad) {
		event = (void *)(file->ring + (size_t)(head & (file->slots - 1)) * OMX_SLOT_SIZE);
		memset(event, 0, sizeof(*event));
		event->slots = (uint16_t)pad;
		head += pad;
	}
	event = (void *)(file->ring + (size_t)(head & (file->slots - 1)) * OMX_SLOT_SIZE);
	*event = entry->event;
	if (!event->slots)
		event->slots = (uint16_t)slots;
	memcpy(event + 1, entry->payload, entry->length);
	__atomic_store_n(&file->kernel->khead, head + slots, __ATOMIC_RELEASE);
	pthread_cond_broadcast(&mock_changed);
	return true;
}

static bool flush_list(struct file *file, struct entry **list)
{
	while (*list && put(file, *list)) {
		struct entry *first = *list;

		*list = first->next;
		free(first);
	}
	return !*list;
}

void mock_flush_backlog(struct file *file)
{
	bool empty = flush_list(file, &file->notes) && flush_list(file, &file->messages);

	__atomic_store_n(&file->kernel->kbacklog, !empty || file->window_closed, __ATOMIC_SEQ_CST);
}

void mock_post_to(struct file *file, const struct omx_event *event, const void *payload,
		  uint32_t length)
{
	struct entry *entry = malloc(sizeof(*entry) + length);
	struct entry **end;

	entry->next = NULL;
	entry->event = *event;
	entry->length = length;
	if (length)
		memcpy(entry->payload, payload, length);
	for (end = is_message(entry) ? &file->messages : &file->notes; *end;)
		end = &(*end)->next;
	*end = entry;
	mock_flush_backlog(file);
}

void mock_post(int fd, const struct omx_event *event, const void *payload, uint32_t length)
{
	pthread_mutex_lock(&mock_lock);
	mock_post_to(mock_file_of(fd), event, payload, length);
	pthread_mutex_unlock(&mock_lock);
}

uint32_t mock_unread(int fd)
{
	const struct file *file;
	uint32_t slots;

	pthread_mutex_lock(&mock_lock);
	file = mock_file_of(fd);
	slots = file->kernel->khead - __atomic_load_n(&file->user->utail, __ATOMIC_ACQUIRE);
	pthread_mutex_unlock(&mock_lock);
	return slots;
}

uint32_t mock_backlog(int fd)
{
	const struct entry *entry;
	uint32_t length = 0;

	pthread_mutex_lock(&mock_lock);
	for (entry = mock_file_of(fd)->messages; entry; entry = entry->next)
		length++;
	for (entry = mock_file_of(fd)->notes; entry; entry = entry->next)
		length++;
	pthread_mutex_unlock(&mock_lock);
	return length;
}

void mock_drop_messages(struct file *file, uint32_t channel)
{
	struct entry **link = &file->messages;

	while (*link) {
		struct entry *entry = *link;

		if (entry->event.channel == channel) {
			*link = entry->next;
			free(entry);
		} else {
			link = &entry->next;
		}
	}
}

static void free_list(struct entry *list)
{
	while (list) {
		struct entry *first = list;

		list = first->next;
		free(first);
	}
}

void mock_forget_events(struct file *file)
{
	free_list(file->notes);
	free_list(file->messages);
}

/* ---- answers --------------------------------------------------------------- */

void mock_answer_with(struct file *file, const struct omx_event *event, const void *payload,
		      uint32_t length)
{
	struct held *later;

	if (!holding) {
		mock_post_to(file, event, payload, length);
		return;
	}
	later = calloc(1, sizeof(*later) + length);
	later->file = mock_index_of(file);
	later->event = *event;
	later->length = length;
	if (length)
		memcpy(later->payload, payload, length);
	*held_end = later;
	held_end = &later->next;
}

void mock_answer_to(struct file *file, const struct omx_event *event)
{
	mock_answer_with(file, event, NULL, 0);
}

void mock_reset_answers(void)
{
	while (held) {
		struct held *first = held;

		held = first->next;
		free(first);
	}
	held_end = &held;
	holding = false;
}

void mock_hold(bool hold)
{
	pthread_mutex_lock(&mock_lock);
	holding = hold;
	pthread_mutex_unlock(&mock_lock);
}

void mock_answer(void)
{
	pthread_mutex_lock(&mock_lock);
	while (held) {
		struct held *first = held;

		held = first->next;
		if (mock_files[first->file].open)
			mock_post_to(&mock_files[first->file], &first->event,
				     first->payload, first->length);
		free(first);
	}
	held_end = &held;
	pthread_mutex_unlock(&mock_lock);
}

/* ---- corks: here they hold nothing back ---------------------------------------- */

static void set_corked(struct file *file, uint32_t corked)
{
	__atomic_store_n(&file->kernel->kcorked, corked, __ATOMIC_RELAXED);
}

int mock_do_uncork(struct file *file)
{
	set_corked(file, 0);
	return 0;
}

void mock_cork(int fd)
{
	pthread_mutex_lock(&mock_lock);
	set_corked(mock_file_of(fd), 1);
	pthread_mutex_unlock(&mock_lock);
}

bool mock_is_corked(int fd)
{
	bool corked;

	pthread_mutex_lock(&mock_lock);
	corked = mock_file_of(fd)->kernel->kcorked;
	pthread_mutex_unlock(&mock_lock);
	return corked;
}

/* ---- a window that waits for memory --------------------------------------------- */

void mock_close_window(int fd)
{
	struct file *file;

	pthread_mutex_lock(&mock_lock);
	file = mock_file_of(fd);
	file->window_closed = true;
	__atomic_store_n(&file->kernel->kbacklog, 1, __ATOMIC_SEQ_CST);
	mock_do_wakeup(file);
	pthread_mutex_unlock(&mock_lock);
}

void mock_open_window(int fd)
{
	pthread_mutex_lock(&mock_lock);
	mock_file_of(fd)->window_closed = false;
	pthread_mutex_unlock(&mock_lock);
}

/* ---- waiting --------------------------------------------------------------- */

static struct timespec after_ms(uint32_t milliseconds)
{
	struct timespec time;

	clock_gettime(CLOCK_REALTIME, &time);
	time.tv_sec += milliseconds / 1000;
	time.tv_nsec += (long)(milliseconds % 1000) * 1000000;
	if (time.tv_nsec >= 1000000000) {
		time.tv_sec++;
		time.tv_nsec -= 1000000000;
	}
	return time;
}

static bool rendezvous_lies(struct file *file)
{
	uint32_t i = __atomic_load_n(&file->user->utail, __ATOMIC_ACQUIRE);

	while (i != file->kernel->khead) {
		const struct omx_event *event = (void *)(file->ring +
			(size_t)(i & (file->slots - 1)) * OMX_SLOT_SIZE);

		if (event->type == OMX_EVENT_RNDV)
			return true;
		i += event->slots ? event->slots : 1;
	}
	return false;
}

static int wait_as_helper(struct file *file, const struct omx_ioc_wait *wait)
{
	while (file->kernel->kwakeups == wait->wakeups) {
		struct timespec time = after_ms(HELPER_DELAY_MS);
		bool before = rendezvous_lies(file);

		while (pthread_cond_timedwait(&mock_changed, &mock_lock, &time) != ETIMEDOUT)
			;
		if (before && rendezvous_lies(file))
			return 0;
	}
	return 0;
}

int mock_do_wait(struct file *file, struct omx_ioc_wait *wait)
{
	struct timespec time = after_ms(wait->timeout_ms);

	mock_flush_backlog(file);
	if (wait->flags & OMX_WAIT_HELPER)
		return wait_as_helper(file, wait);
	mock_do_uncork(file);
	while (file->kernel->khead == wait->head && file->kernel->kwakeups == wait->wakeups) {
		if (wait->timeout_ms == OMX_ANY)
			pthread_cond_wait(&mock_changed, &mock_lock);
		else if (pthread_cond_timedwait(&mock_changed, &mock_lock, &time) == ETIMEDOUT)
			return -ETIMEDOUT;
	}
	return 0;
}

int mock_do_wakeup(struct file *file)
{
	file->kernel->kwakeups++;
	pthread_cond_broadcast(&mock_changed);
	return 0;
}
