/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Of Myricom's interface to its driver: what MPI libraries use.
 */
#ifndef MX_IO_H
#define MX_IO_H

#include <myriexpress.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif

/* A board, to ask about it; holds nothing that would have to be closed. */
typedef struct mx__board *mx_endpt_handle_t;

/* BOARD_UNKNOWN; NOT_INITIALIZED.  Does not block. */
mx_return_t mx_open_board(uint32_t board, mx_endpt_handle_t *handle);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#ifdef __cplusplus
}
#endif

#endif
