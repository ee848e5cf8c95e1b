// SPDX-License-Identifier: GPL-2.0
#include "channel/channel.h"
#include "memory/region.h"

#define CREATE_TRACE_POINTS
#include "observe/trace.h"
