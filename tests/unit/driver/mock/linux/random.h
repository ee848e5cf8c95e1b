/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef MOCK_LINUX_RANDOM_H
#define MOCK_LINUX_RANDOM_H

#include <linux/types.h>

u32 get_random_u32(void);	/* the test's */

#endif
