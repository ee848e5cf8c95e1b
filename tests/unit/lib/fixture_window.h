/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory of endpoint b that endpoint a accesses.
 */
#ifndef FIXTURE_WINDOW_H
#define FIXTURE_WINDOW_H

#include "fixture.h"

#define WINDOW_SIZE	300000
#define RIGHTS		(OMX_WINDOW_RIGHT_GET | OMX_WINDOW_RIGHT_PUT | OMX_WINDOW_RIGHT_ATOMIC)

extern unsigned char memory[WINDOW_SIZE], local[WINDOW_SIZE];

/* A window and its key, for any peer. */
omx_window_t make_window(omx_endpoint_t ep, void *address, size_t length, uint32_t rights,
			 omx_key_t *key);

/* All of `memory`, with all rights, of b. */
omx_key_t memory_key(struct pair *pair);

/* An access of a, to its end. */
omx_status_t put(struct pair *pair, omx_key_t key, const void *buffer, size_t length,
		 uint64_t offset);
omx_status_t get(struct pair *pair, omx_key_t key, void *buffer, size_t length,
		 uint64_t offset);
omx_status_t change(struct pair *pair, omx_key_t key, omx_atomic_t operation, uint32_t size,
		    uint64_t offset, uint64_t operand, uint64_t compare, void *before);

/* Are all accesses of a done that it has posted, to b or to all? */
bool flushed(struct pair *pair, uint32_t timeout);
bool all_flushed(omx_endpoint_t ep, uint32_t timeout);

#endif
