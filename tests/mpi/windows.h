/* SPDX-License-Identifier: BSD-2-Clause */
/* The window that the parts of mpi_windows use: of each rank, the same size. */
#ifndef TESTS_MPI_WINDOWS_H
#define TESTS_MPI_WINDOWS_H

#include "common.h"

#define ELEMENTS	20000	/* that each rank may put to another one */

extern int64_t *memory;		/* this rank's part of the window, ranks * ELEMENTS */
extern MPI_Win window;

/* Where the word is, for a call that names the target. */
MPI_Aint displacement_of(int target, size_t element);
/* Sets all parts of the window to 0. */
void clear_window(void);

/* Synchronization, windows.c. */
void check_fences(void);
void check_locks(void);
void check_all_locks(void);
void check_posts(void);

/* Accumulations, accumulate.c. */
void check_operations(void);
void check_sums(void);
void check_fetches(void);
void check_swaps(void);

/* Several threads of each process; needs MPI_THREAD_MULTIPLE.  rma_threads.c */
void check_threads(void);

#endif
