/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The settings from environment variables.
 *
 * omx_init reads them, with its own lock held.  Afterwards they do not change, so
 * any thread reads them without a lock.
 */
#ifndef OMX_ENVIRONMENT_H
#define OMX_ENVIRONMENT_H

#include <stdbool.h>
#include <stdint.h>

struct omx__settings {
	uint64_t rndv_threshold;	/* OMX_RNDV_THRESHOLD: longest eager message */
	uint64_t local_rndv_threshold;	/* OMX_SHARED_RNDV_THRESHOLD: the same on one host */
	uint64_t wait_spin;		/* OMX_WAITSPIN: blocking calls never sleep */
	uint64_t poll_us;		/* OMX_POLL_US: how long they poll before they do */
	uint64_t ctxid_bits;		/* OMX_CTXIDS=bits,shift */
	uint64_t ctxid_shift;
	uint64_t fatal_errors;		/* OMX_FATAL_ERRORS: the default handler exits */
	uint64_t verbose;		/* OMX_VERBOSE: report on stderr what happens */
	uint64_t any_endpoint;		/* OMX_ANY_ENDPOINT: the number that ANY means */
	uint64_t timeout_ms;		/* OMX_TIMEOUT_MS: for silent peers */
	uint64_t progress_thread;	/* OMX_PROGRESS_THREAD */
	uint64_t unexp_queue_max;	/* OMX_UNEXP_QUEUE_MAX: bytes */
	uint64_t memory;		/* OMX_MEMORY: enum omx_memory */
	uint64_t rcache;		/* OMX_RCACHE: cache declared regions */
	uint64_t rcache_count;		/* OMX_RCACHE_COUNT: how many at most */
	uint64_t rcache_bytes;		/* OMX_RCACHE_BYTES: how much at most */
};

extern struct omx__settings omx__settings;

void omx__environment_read(void);

/* Prints with the prefix "omx: " if OMX_VERBOSE is set. */
void omx__verbose(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
