/* SPDX-License-Identifier: BSD-2-Clause */
/* What the programs of tests/memory share. */
#ifndef TESTS_MEMORY_H
#define TESTS_MEMORY_H

#include <stdio.h>

#include "omx.h"
#include "pattern.h"

/*
 * Passes --mode to the library; called before omx_init(). The program ends if
 * there is no such mode.
 */
void memory_mode(int argc, char **argv);
extern omx_memory_mode_t mode;
/* Checks that the endpoint has that mode. */
void check_mode(omx_endpoint_t ep);

/*
 * Map anonymous memory or a file, readable and writable, at `at` if that is
 * not NULL.
 */
uint8_t *map_anonymous(void *at, size_t size);
uint8_t *map_file(void *at, size_t size, int file, int flags);
int memory_file(size_t size);

/*
 * Ends a message for which the post returned `posted` here; the other side
 * calls it, too.  Returns how it ended here; *there: how it ended at the peer.
 * The receive of a message whose send was refused with MESSAGE_ABORTED must end
 * with that, too; after another refusal the receive is cancelled.
 */
omx_return_t conclude(omx_endpoint_t ep, omx_endpoint_addr_t peer, omx_return_t posted,
		      omx_request_t *request, omx_return_t *there);
/*
 * A message of the server's or the client's memory, contiguous there and here:
 * both must call it with the same.
 */
omx_return_t try_message(omx_endpoint_t ep, omx_endpoint_addr_t peer, bool from_server,
			 void *buffer, size_t length, uint64_t match, omx_return_t *there);
/* The same; the message must succeed on both sides. */
void pass(omx_endpoint_t ep, omx_endpoint_addr_t peer, bool from_server, void *buffer,
	  size_t length, uint64_t match);

/* Returns a number of /proc/vmstat, or 0 if the kernel does not have it. */
uint64_t vmstat(const char *name);
/* Reads a counter of this node's board. */
uint64_t read_counter(const char *label);
/*
 * A file of this process's control group, or of the nearest one above that has
 * it, to be read; NULL if none has.
 */
FILE *open_group_file(const char *name);
/* Returns false if there is no such file or the kernel rejects the text. */
bool write_file(const char *path, const char *text);

#endif
