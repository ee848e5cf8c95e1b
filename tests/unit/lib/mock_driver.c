/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The driver's files: opened, made an endpoint, mapped, closed, there after
 * fork(); and how a test begins.
 */
#include "mock_private.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FD_BASE		1000

pthread_mutex_t mock_lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t mock_changed = PTHREAD_COND_INITIALIZER;
struct file mock_files[FILES];
static uint32_t sessions, ring_slots;
static int open_error, map_skip;

struct file *mock_file_of(int fd)
{
	assert(fd >= FD_BASE && fd < FD_BASE + FILES && mock_files[fd - FD_BASE].used);
	return &mock_files[fd - FD_BASE];
}

int mock_index_of(const struct file *file)
{
	return (int)(file - mock_files);
}

struct file *mock_find_endpoint(uint32_t board, uint32_t endpoint)
{
	for (int i = 0; i < FILES; i++) {
		if (mock_files[i].open && mock_files[i].board == board &&
		    mock_files[i].endpoint == endpoint)
			return &mock_files[i];
	}
	return NULL;
}

int omx__driver_open(void)
{
	int i, err;

	pthread_mutex_lock(&mock_lock);
	err = open_error;
	open_error = 0;
	for (i = 0; mock_files[i].used; i++)
		assert(i + 1 < FILES);
	if (!err) {
		memset(&mock_files[i], 0, sizeof(mock_files[i]));
		mock_files[i].used = true;
	}
	pthread_mutex_unlock(&mock_lock);
	return err ? err : FD_BASE + i;
}

int mock_do_open(struct file *file, struct omx_ioc_open *open)
{
	if (open->board == OMX_ANY)
		open->board = 0;
	if (!mock_board_exists(open->board))
		return -ENODEV;
	if (open->endpoint == OMX_ANY) {
		for (open->endpoint = 0; mock_find_endpoint(open->board, open->endpoint);)
			open->endpoint++;
	}
	if (mock_find_endpoint(open->board, open->endpoint))
		return -EBUSY;

	file->open = true;
	file->board = open->board;
	file->endpoint = open->endpoint;
	file->key = open->key;
	file->session = ++sessions;
	file->slots = ring_slots;
	file->user = calloc(1, PAGE);
	file->kernel = calloc(1, PAGE + (size_t)file->slots * OMX_SLOT_SIZE);
	file->ring = (unsigned char *)file->kernel + PAGE;
	file->kernel->kboard_flags = OMX_BOARD_UP;
	/* So that the indices wrap during the tests. */
	file->kernel->khead = file->user->utail = 0u - file->slots;
	file->notes = file->messages = NULL;
	open->session = file->session;
	open->ring_slots = file->slots;
	open->mac = MOCK_MAC(file->board);
	return 0;
}

void *omx__driver_map(int fd, uint64_t offset, size_t length, bool writable)
{
	struct file *file = mock_file_of(fd);

	assert(file->open);
	if (map_skip >= 0 && map_skip-- == 0)
		return NULL;
	if (offset == OMX_MAP_USER) {
		assert(length == PAGE && writable);
		return file->user;
	}
	assert(offset == OMX_MAP_RING && !writable);
	assert(length == PAGE + (size_t)file->slots * OMX_SLOT_SIZE);
	return file->kernel;
}

void omx__driver_unmap(const void *map, size_t length)
{
	(void)map, (void)length;
}

void omx__driver_close(int fd)
{
	struct file *file;

	pthread_mutex_lock(&mock_lock);
	file = mock_file_of(fd);
	if (file->open) {
		file->open = false;
		mock_leave_peers(file);
		mock_forget_windows(file);
		mock_forget_whens(file);
		mock_forget_messages(file);
		mock_forget_regions(file);
		mock_forget_events(file);
		free(file->user);
		free(file->kernel);
	}
	file->used = false;
	pthread_mutex_unlock(&mock_lock);
}

/* ---- fork() ---------------------------------------------------------------- */

/* A helper may have the lock, or sleep, at that moment: the child has no helper. */
static void before_fork(void)
{
	pthread_mutex_lock(&mock_lock);
}

static void after_fork(void)
{
	pthread_mutex_unlock(&mock_lock);
}

static void in_child(void)
{
	mock_changed = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
	pthread_mutex_unlock(&mock_lock);
}

/* Before the library does the same: its part in the child comes after ours. */
static __attribute__((constructor)) void prepare_for_fork(void)
{
	pthread_atfork(before_fork, after_fork, in_child);
}

/* ---- for the tests --------------------------------------------------------- */

void mock_reset(void)
{
	for (int i = 0; i < FILES; i++)
		assert(!mock_files[i].used);
	mock_check_no_messages();
	mock_reset_windows();
	mock_reset_whens();
	mock_reset_regions();
	mock_reset_answers();
	mock_reset_ioctls();
	mock_reset_room();
	ring_slots = 256;
	map_skip = -1;
	open_error = 0;
}

void mock_set_ring_slots(uint32_t slots)
{
	ring_slots = slots;
}

void mock_fail_open(int err)
{
	open_error = err;
}

void mock_fail_map(int skip)
{
	map_skip = skip;
}
