/* SPDX-License-Identifier: BSD-2-Clause */
/* The threads of the program, those of the library included. */
#ifndef TESTS_MEMORY_THREADS_H
#define TESTS_MEMORY_THREADS_H

unsigned int threads(void);
/* Waits until no more than these are left. */
void wait_for_threads(unsigned int left);

#endif
