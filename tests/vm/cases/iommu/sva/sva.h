/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * /dev/sva copies memory of the process that has opened it: the engine (tests/engine)
 * reads the page tables of the process and asks the kernel for pages that are absent.
 */
#ifndef SVA_H
#define SVA_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define SVA_WAIT	1	/* until the copy is complete; else it goes on without the caller */

struct sva_copy {
	__u64 source;
	__u64 destination;
	__u64 record;		/* where in the process the record goes; 0: the driver has it */
	__u32 length;
	__u32 channel;
	__u32 flags;
	__u32 delay;		/* as the engine's register TEST_DELAY, */
	__u32 flood;		/* TEST_FLOOD */
	/* The answer, if the call waited and the driver has the record. */
	__u32 status;
	__u32 done;
	__u32 page_requests;	/* of the channel meanwhile */
	__u32 overflows;
	__u32 reserved;
	__u64 fault;
};

#define SVA_COPY	_IOWR('S', 1, struct sva_copy)
#define SVA_PASID	_IOR('S', 2, __u32)

#endif
