/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef MOCK_LINUX_WORKQUEUE_H
#define MOCK_LINUX_WORKQUEUE_H

#include <linux/types.h>

struct workqueue_struct;

struct delayed_work {
	bool is_queued;
	unsigned long due;
};

/* The test's. */
bool mod_delayed_work(struct workqueue_struct *queue, struct delayed_work *work,
		      unsigned long delay);

#endif
