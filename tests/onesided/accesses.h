/* SPDX-License-Identifier: BSD-2-Clause */
/* What the programs of tests/onesided share: keys, and accesses that must end. */
#ifndef TESTS_ONESIDED_ACCESSES_H
#define TESTS_ONESIDED_ACCESSES_H

#include <sys/types.h>

#include "memory.h"

#define RIGHTS_ALL \
	(OMX_WINDOW_RIGHT_GET | OMX_WINDOW_RIGHT_PUT | OMX_WINDOW_RIGHT_ATOMIC)

/* A window of a peer, as an initiator sees it. */
struct remote {
	omx_endpoint_t ep;		/* the initiator's own */
	omx_endpoint_addr_t addr;
	omx_key_t key;
};

/* A window of this memory with all rights, for everybody. */
omx_window_t export_memory(omx_endpoint_t ep, void *memory, size_t length);
/* Sends the window's key to the peer, which calls receive_key. */
void send_key(omx_endpoint_t ep, omx_endpoint_addr_t peer, omx_window_t window);
/* The same for a window of another endpoint than the one that sends. */
void send_key_of(omx_endpoint_t owner, omx_window_t window, omx_endpoint_t ep,
		 omx_endpoint_addr_t peer);
struct remote receive_key(omx_endpoint_t ep, omx_endpoint_addr_t peer);

/*
 * Wait for the end of the access and return the code of its status, or why it was
 * not posted.
 */
omx_return_t try_put(const struct remote *to, uint64_t offset, const void *buffer,
		     size_t length);
omx_return_t try_get(const struct remote *from, uint64_t offset, void *buffer, size_t length);
omx_return_t try_atomic(const struct remote *at, omx_atomic_t operation, uint32_t size,
			uint64_t offset, uint64_t operand, uint64_t compare, void *before);
/* Waits for the end of requests, in success or with this code; returns how many succeeded. */
unsigned int finish_each(omx_endpoint_t ep, omx_request_t *requests, unsigned int count,
			omx_return_t other);
/* Put, or get and verify, the first `length` bytes of the sequence `key`. */
void put_pattern(const struct remote *to, uint64_t offset, size_t length, uint64_t key);
void get_pattern(const struct remote *from, uint64_t offset, size_t length, uint64_t key);

/* Stops all threads of a process, and returns when it is stopped. */
void stop_process(pid_t pid);
bool process_is_stopped(pid_t pid);

/* Checks that this is how an access ends whose peer or window has gone. */
void check_gone(omx_return_t code);
/* The sum of the counters of the endpoint's board whose label has this text in it. */
uint64_t count_of(omx_endpoint_t ep, const char *text);

#endif
