// SPDX-License-Identifier: GPL-2.0
/*
 * The trace events that trace.h declares are defined here, once.  The code that
 * traces includes trace.h; nobody calls this file.
 */
#include "channel/channel.h"
#include "memory/region.h"

#define CREATE_TRACE_POINTS
#include "observe/trace.h"
