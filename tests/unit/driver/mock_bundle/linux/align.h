/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef MOCK_LINUX_ALIGN_H
#define MOCK_LINUX_ALIGN_H

#define ALIGN(x, a)	(((x) + (a) - 1) / (a) * (a))

#endif
