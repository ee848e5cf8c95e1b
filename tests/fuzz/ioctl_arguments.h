/* SPDX-License-Identifier: BSD-2-Clause */
/* The files that the threads of fuzz_ioctl share, and arguments for their calls. */
#ifndef TESTS_FUZZ_IOCTL_ARGUMENTS_H
#define TESTS_FUZZ_IOCTL_ARGUMENTS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "omx_abi.h"

#define FILES		4
#define ARGUMENT_MAX	256
#define MEMORY		(256 * 1024)

/*
 * A file that the threads share. Those with an odd index never become
 * endpoints.
 */
struct shared {
	_Atomic int fd;
	_Atomic(uint32_t *) utail;
	_Atomic uint32_t endpoint;
	_Atomic uint32_t key;
};

extern struct shared files[FILES];
extern int foreign;			/* another program's endpoint */
extern uint8_t *memory;			/* MEMORY bytes, which the calls name */
extern size_t page;

/* Before the threads are started. */
void prepare_arguments(uint64_t mac);
/* Some accesses name this window from now on. */
void keep_key(const struct omx_key *key);
/* Of this program, of nobody, of the kernel. */
uint64_t any_address(void);
/*
 * Fills ARGUMENT_MAX bytes.  Always of a copy: what the driver writes must not land in our
 * own data.
 */
void *argument_for(unsigned int command, uint8_t *own);

#endif
