/* SPDX-License-Identifier: BSD-2-Clause */
/* As much of the queue of a device as a path sees. */
#ifndef OMX_SMALL_QUEUE_H
#define OMX_SMALL_QUEUE_H

#include <stdbool.h>

struct omx_small_queue {
	bool is_full;
};

static inline bool omx_small_queue_delays(const struct omx_small_queue *queue)
{
	return queue && queue->is_full;
}

#endif
