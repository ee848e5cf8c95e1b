/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef MOCK_LINUX_JIFFIES_H
#define MOCK_LINUX_JIFFIES_H

#define HZ	250

extern unsigned long jiffies;	/* the test's */

#define time_after(a, b)	((long)((b) - (a)) < 0)
#define time_before(a, b)	time_after(b, a)
#define time_after_eq(a, b)	((long)((a) - (b)) >= 0)

#endif
