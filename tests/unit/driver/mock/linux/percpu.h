/* SPDX-License-Identifier: BSD-2-Clause */
/* Nothing of it is called: counters.h only has to be readable. */
#include <linux/types.h>
