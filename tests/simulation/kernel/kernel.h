/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The kernel that the driver is compiled against here.  It has one processor and one
 * thread, and its time is virtual; every event runs to its end before the next one.
 * All headers of the kernel that the driver includes are this one: the Makefile makes
 * a file for each of their names.
 */
#ifndef SIM_KERNEL_H
#define SIM_KERNEL_H

#include "base.h"
#include "list.h"
#include "lock.h"
#include "memory.h"
#include "time.h"
#include "skbuff.h"
#include "net.h"
#include "task.h"

#endif
