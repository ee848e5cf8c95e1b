/* SPDX-License-Identifier: BSD-2-Clause */
/* An array of pointers, which is all that is needed of it. */
#ifndef MOCK_LINUX_XARRAY_H
#define MOCK_LINUX_XARRAY_H

#define MOCK_XARRAY_SIZE	1024

struct xarray {
	void *entry[MOCK_XARRAY_SIZE];
};

#define xa_for_each(xa, index, p)					\
	for ((index) = 0; (index) < MOCK_XARRAY_SIZE; (index)++)	\
		if (((p) = (xa)->entry[index]))

#endif
