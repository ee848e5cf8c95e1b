/* SPDX-License-Identifier: BSD-2-Clause */
/* As strict about types as the oldest kernel that we build for. */
#ifndef MOCK_LINUX_MINMAX_H
#define MOCK_LINUX_MINMAX_H

#define mock_compare(x, op, y) ({			\
	__auto_type x_ = (x);				\
	__auto_type y_ = (y);				\
	(void)(&x_ == &y_);				\
	x_ op y_ ? x_ : y_; })
#define min(x, y)		mock_compare(x, <, y)
#define min3(x, y, z)		min(min(x, y), z)
#define max(x, y)		mock_compare(x, >, y)
#define min_t(type, x, y)	min((type)(x), (type)(y))
#define max_t(type, x, y)	max((type)(x), (type)(y))
#define clamp_t(type, x, lo, hi) \
	min_t(type, max_t(type, x, lo), hi)

#endif
