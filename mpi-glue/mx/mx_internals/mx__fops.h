/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Where programs look for mx_open_board.
 */
#ifndef MX__FOPS_H
#define MX__FOPS_H

#include <mx_io.h>

#endif
