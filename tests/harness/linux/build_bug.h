/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef FUZZ_LINUX_BUILD_BUG_H
#define FUZZ_LINUX_BUILD_BUG_H

#undef static_assert
#define static_assert(expr)	_Static_assert(expr, #expr)

#endif
