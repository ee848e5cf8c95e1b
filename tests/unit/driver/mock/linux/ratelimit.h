/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef MOCK_LINUX_RATELIMIT_H
#define MOCK_LINUX_RATELIMIT_H

struct ratelimit_state {
	int unused;
};

#endif
