/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef OMX_UNIT_TOOLS_EXPECT_H
#define OMX_UNIT_TOOLS_EXPECT_H

#include <stdio.h>
#include <stdlib.h>

#define EXPECT(condition) do { \
	if (!(condition)) { \
		fprintf(stderr, "%s:%d: %s: expected: %s\n", __FILE__, __LINE__, \
			__func__, #condition); \
		exit(1); \
	} \
} while (0)

#endif
