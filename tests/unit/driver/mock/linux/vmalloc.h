/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef MOCK_LINUX_VMALLOC_H
#define MOCK_LINUX_VMALLOC_H

#include <linux/slab.h>

#define __vmalloc	kzalloc
#define vfree		kfree

#endif
