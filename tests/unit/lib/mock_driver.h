/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A driver in the test's own process: implements libomx/driver.h by passing
 * messages between the endpoints that are open, at once and without loss.
 * The functions here make it fail, hold back, or say odd things.
 *
 * Board 0 is node1:0 (eth0), board 2 is node1:2 (eth2), there is no board 1.
 * node2:0 is a peer that never answers.
 */
#ifndef MOCK_DRIVER_H
#define MOCK_DRIVER_H

#include <stdbool.h>
#include <stdint.h>

#include "omx_abi.h"

#define MOCK_MAC(board)		(0x020000000000ull + (board))
#define MOCK_SILENT_MAC		0x020000000099ull
#define MOCK_COUNTERS		5

/* Back to the beginning; asserts that nothing was left open or pinned. */
void mock_reset(void);

/* Slots of the rings of endpoints opened from now on. */
void mock_set_ring_slots(uint32_t slots);

/* After `skip` calls of the command, the next `times` fail with err. */
void mock_fail(unsigned long command, int err, int skip, int times);
void mock_fail_no_more(void);
void mock_fail_open(int err);
void mock_fail_map(int skip);
void mock_set_abi(uint32_t oldest, uint32_t version);

/* Calls so far. */
uint32_t mock_calls(unsigned long command);
uint32_t mock_all_calls(void);
uint32_t mock_regions(void);	/* that exist now */
uint32_t mock_device_regions(void);	/* how often OMX_REGION_DEVICE was named */
uint32_t mock_region_flags(void);	/* of the region, and the prefetch, that was last */
uint32_t mock_prefetch_flags(void);

uint32_t mock_windows(void);	/* that exist now */

/* Revokes wait, as for an access that takes long. */
void mock_hold_revokes(bool hold);

/* Gets of more bytes than this do not fit a frame. */
void mock_set_longest_get(uint32_t length);
/* The next accesses of windows find a log full. */
void mock_refuse_accesses(int count);
/* How often a peer's consumer has not finished when it is asked. */
void mock_set_pending(int count);

/* Of the access that was accepted last. */
uint64_t mock_last_cookie(void);

/* How many more messages or accesses are taken before EAGAIN; -1: all. */
void mock_set_room(int messages);
/* The same and tells those that met EAGAIN. */
void mock_grant_room(int messages);

/* Connects, pulls and accesses are answered when mock_answer says so. */
void mock_hold(bool hold);
void mock_answer(void);

/* An entry for the ring of the endpoint, payload behind it. */
void mock_post(int fd, const struct omx_event *event, const void *payload, uint32_t length);

/* All peers are lost for this endpoint. */
void mock_kill_channels(int fd, enum omx_status status);

/* The number of one of its channels. */
uint32_t mock_channel(int fd);

void mock_remove_board(uint32_t board);

/* Slots of the ring that the library has not given back. */
uint32_t mock_unread(int fd);

/* Events that wait for room in the ring. */
uint32_t mock_backlog(int fd);

/* It waits for the program to fetch messages, until it is opened. */
void mock_close_window(int fd);
void mock_open_window(int fd);

/* There is little memory for medium messages. */
void mock_set_memory_low(bool low);

/* Messages of the endpoint wait for more of them, until the driver is told to send them. */
void mock_cork(int fd);
bool mock_is_corked(int fd);

#endif
