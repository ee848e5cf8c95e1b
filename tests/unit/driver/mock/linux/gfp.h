/* SPDX-License-Identifier: BSD-2-Clause */
#include <linux/slab.h>
