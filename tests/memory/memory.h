/* SPDX-License-Identifier: BSD-2-Clause */
/* What the programs about memory share. */
#ifndef TESTS_MEMORY_H
#define TESTS_MEMORY_H

#include "omx.h"
#include "pattern.h"

/*
 * --mode of the arguments becomes the library's, before omx_init; one that
 * does not exist ends the program.
 */
void memory_mode(int argc, char **argv);
extern omx_memory_mode_t mode;
/* The endpoint works as asked. */
void check_mode(omx_endpoint_t ep);

/* Anonymous, or of a file: at `at` if that is not NULL, readable and writable. */
uint8_t *map_anonymous(void *at, size_t size);
uint8_t *map_file(void *at, size_t size, int file, int flags);
int memory_file(size_t size);

/* A number of /proc/vmstat, 0 if it is not there. */
uint64_t vmstat(const char *name);
/* false: there is no such file, or it does not take that. */
bool write_file(const char *path, const char *text);

#endif
