/* SPDX-License-Identifier: BSD-2-Clause */
/* Absent pages for which the kernel asks the program. */
#ifndef TESTS_MEMORY_USERFAULT_H
#define TESTS_MEMORY_USERFAULT_H

#include <stddef.h>

/* A userfaultfd, with these flags besides; -1 and errno: the kernel gives none. */
int open_userfault(int flags);
/* From now on `faults`, which must be there, is asked for what is absent here. */
void watch(int faults, void *memory, size_t length);
/* Waits until it is, then supplies zeros for all of it. */
void supply_zeros(int faults, void *memory, size_t length);

#endif
