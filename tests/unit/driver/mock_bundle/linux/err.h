/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef MOCK_LINUX_ERR_H
#define MOCK_LINUX_ERR_H

#define ERR_PTR(error)	((void *)(long)(error))

#endif
