/* SPDX-License-Identifier: BSD-2-Clause */
/* A file system whose files have names, lengths, and contents that never come. */
#ifndef TESTS_MEMORY_FUSE_H
#define TESTS_MEMORY_FUSE_H

#include <stdbool.h>
#include <stddef.h>

/* Whether the kernel supports FUSE. */
bool has_fuse(void);
/*
 * Mounts it there.  Every name in it is a file of `length` bytes.  Returns the
 * server's descriptor; when that is closed, reads that wait fail.
 */
int mount_fuse(const char *directory, size_t length);
/*
 * Serves requests until a new file is read, and returns true then; returns
 * false after this many seconds without a request.
 */
bool serve_until_read(int server, unsigned int seconds);

#endif
