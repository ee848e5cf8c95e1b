// SPDX-License-Identifier: GPL-2.0
#include "channel.h"
#include "region.h"

#define CREATE_TRACE_POINTS
#include "trace.h"
