/* SPDX-License-Identifier: BSD-2-Clause */
/* userfaultfd: absent pages that the program must supply. */
#ifndef TESTS_MEMORY_USERFAULT_H
#define TESTS_MEMORY_USERFAULT_H

#include <stddef.h>

/*
 * Opens a userfaultfd with these additional flags; returns -1 and errno if
 * the kernel refuses.
 */
int open_userfault(int flags);
/*
 * From now on, faults on absent pages of this memory are reported to
 * `faults`.
 */
void watch(int faults, void *memory, size_t length);
/* Waits for a fault, which stays without an answer. */
void take_fault(int faults);
/* Waits for a fault, then supplies zeros for all of the memory. */
void supply_zeros(int faults, void *memory, size_t length);

#endif
