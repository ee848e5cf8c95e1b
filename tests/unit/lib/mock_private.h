/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the parts of the mock driver share.  Who comes from outside, the
 * library or a test, takes the lock; functions here do not.
 */
#ifndef MOCK_PRIVATE_H
#define MOCK_PRIVATE_H

#include <pthread.h>
#include <unistd.h>

#include "driver.h"
#include "mock_driver.h"

#define FILES		64
#define CHANNELS	64
#define OBJECTS		4096
#define PAGE		((uint32_t)sysconf(_SC_PAGESIZE))

struct channel {
	bool used, dead, starved;
	uint32_t number;
	int peer;		/* index of its file */
	uint32_t peer_channel;
	uint64_t mac;
	uint32_t endpoint, session;
};

struct entry;

struct file {
	bool used, open, window_closed;
	uint32_t board, endpoint, key, session;
	uint32_t slots;
	struct omx_ring_user *user;
	struct omx_ring_kernel *kernel;
	unsigned char *ring;
	struct channel channels[CHANNELS];
	struct entry *notes;	/* events that wait for room in the ring */
	struct entry *messages;	/* and messages, which leave some to the former */
};

/* ---- mock_driver.c: files ---- */

extern pthread_mutex_t mock_lock;
extern pthread_cond_t mock_changed;	/* rings, or who is to wake up */
extern struct file mock_files[FILES];

/* The open file of a descriptor, and what others remember it by. */
struct file *mock_file_of(int fd);
int mock_index_of(const struct file *file);

/* The file that is this endpoint now, if one is. */
struct file *mock_find_endpoint(uint32_t board, uint32_t endpoint);

int mock_do_open(struct file *file, struct omx_ioc_open *open);

/* ---- mock_ioctls.c ---- */

bool mock_board_exists(uint32_t board);

/* No faults, no calls so far, the ABI of today. */
void mock_reset_ioctls(void);

/* ---- mock_ring.c: events ---- */

/* An event for the ring, or the backlog while that is full. */
void mock_post_to(struct file *file, const struct omx_event *event, const void *payload,
		  uint32_t length);

/* The same for an answer, which mock_hold may hold back. */
void mock_answer_to(struct file *file, const struct omx_event *event);
void mock_answer_with(struct file *file, const struct omx_event *event, const void *payload,
		      uint32_t length);

/* What fits now moves from the backlog to the ring. */
void mock_flush_backlog(struct file *file);

/* Nothing is delivered behind CHANNEL_DEAD. */
void mock_drop_messages(struct file *file, uint32_t channel);

/* The file is closed: its backlog goes. */
void mock_forget_events(struct file *file);

/* No answers are held, nor will be. */
void mock_reset_answers(void);

int mock_do_wait(struct file *file, struct omx_ioc_wait *wait);
int mock_do_uncork(struct file *file);
int mock_do_wakeup(struct file *file);

/* ---- mock_channels.c ---- */

/* NULL with an error if it does not exist or is dead. */
struct channel *mock_live_channel(struct file *file, uint32_t number, int *err);

/* For one more message?  If not, the channel is told when there is. */
bool mock_take_room(struct channel *channel);

/* The file is closed: its peers lose it. */
void mock_leave_peers(struct file *file);

/* Room for all. */
void mock_reset_room(void);

int mock_do_connect(struct file *file, struct omx_ioc_connect *connect);
int mock_do_channel_info(struct file *file, struct omx_ioc_channel_info *info);
int mock_do_disconnect(struct file *file, struct omx_ioc_disconnect *disconnect);

/* ---- mock_messages.c ---- */

/* All large sends on this channel end. */
void mock_end_sends(const struct file *file, uint32_t channel, enum omx_status status);

/* The file is closed: what it has not fetched and what it sends goes. */
void mock_forget_messages(const struct file *file);

/* Asserts that there are none. */
void mock_check_no_messages(void);

/* A message of `length` bytes of the peer's window, for the file to pull: its number. */
uint32_t mock_announce_window(const struct channel *channel, int receiver, uint32_t region,
			      uint64_t address, uint64_t skip, uint64_t length);

int mock_do_send(struct file *file, struct omx_ioc_send *send);
int mock_do_fetch(struct file *file, struct omx_ioc_fetch *fetch);
int mock_do_send_rndv(struct file *file, struct omx_ioc_send_rndv *send);
int mock_do_pull(struct file *file, struct omx_ioc_pull *pull);
int mock_do_withdraw(const struct file *file, const struct omx_ioc_withdraw *withdraw);

/* ---- mock_memory.c ---- */

struct region;

/* Copies between a buffer and plain memory, out of the buffer or into it. */
void mock_move_buffer(const struct omx_buffer *buffer, unsigned char *plain, uint64_t length,
		      bool out);

/* The same for a region of the file's, or for memory in none. */
void mock_move_memory(const struct file *file, uint32_t number, uint64_t address,
		      unsigned char *data, uint64_t length, bool out);

/* The region if it exists and is the file's. */
struct region *mock_region_of(const struct file *file, uint32_t number);

/* Asserts that a request may use the memory it names. */
void mock_check_memory(const struct file *file, uint32_t number, uint64_t address,
		       uint64_t length, uint32_t access);

/* The file is closed: its regions go. */
void mock_forget_regions(const struct file *file);

/* Asserts that there are none; the flags are forgotten. */
void mock_reset_regions(void);

int mock_do_region_create(struct file *file, struct omx_ioc_region *region);
int mock_do_region_destroy(struct file *file, struct omx_ioc_region *region);
int mock_do_prefetch(struct omx_ioc_prefetch *prefetch);

/* ---- mock_onesided.c ---- */

/* The file is closed: its windows go. */
void mock_forget_windows(const struct file *file);

/* Asserts that there are none; gets of any length of one frame are answered. */
void mock_reset_windows(void);

bool mock_region_has_window(const struct file *file, uint32_t region);

int mock_do_flush_active(struct file *file, struct omx_ioc_flush_active *flush);
int mock_do_window_create(struct file *file, struct omx_ioc_window *window);
int mock_do_window_revoke(const struct file *file, const struct omx_ioc_window *window);
int mock_do_put(struct file *file, struct omx_ioc_put *put);
int mock_do_put_rndv(struct file *file, struct omx_ioc_put_rndv *put);
int mock_do_get(struct file *file, struct omx_ioc_get *get);
int mock_do_atomic(struct file *file, struct omx_ioc_atomic *atomic);

/* A get whose bytes the driver pulls into this memory. */
void mock_pull_get(struct file *file, const struct omx_ioc_get *get, uint32_t region,
		   uint64_t address);
uint64_t mock_longest_get(void);

/* ---- mock_when.c ---- */

/* The file is closed: its conditional accesses and the keys for them go. */
void mock_forget_whens(const struct file *file);

/* Asserts that there are none. */
void mock_reset_whens(void);

int mock_do_put_when(struct file *file, struct omx_ioc_put_when *put);
int mock_do_get_when(struct file *file, struct omx_ioc_get_when *get);
int mock_do_post_key(struct file *file, struct omx_ioc_post_key *key);
int mock_withdraw_when(const struct file *file, const struct omx_ioc_withdraw *withdraw);

#endif
