/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A file that whoever reads it sees either as it was or with all of the new
 * contents: they are written beside it, and renamed when they are complete.
 */
#ifndef OMX_TOOLS_ATOMIC_FILE_H
#define OMX_TOOLS_ATOMIC_FILE_H

#include <stddef.h>

/* Returns 0, or -1 after printing the reason; the file is as it was then. */
int atomic_file_write(const char *path, const char *text, size_t length);

#endif
