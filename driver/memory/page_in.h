/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Paging in makes addresses of a space present, translated or pinned.
 */
#ifndef OMX_PAGE_IN_H
#define OMX_PAGE_IN_H

#include <linux/types.h>

struct omx_space;

/* How omx_space_page_in() does it. */
#define OMX_PAGES_WRITE		0x1	/* for writing to them */
#define OMX_PAGES_PIN		0x2
#define OMX_PAGES_FAULT		0x4	/* otherwise only resident pages, without waiting */
#define OMX_PAGES_AHEAD		0x8	/* nobody needs them yet: for the counters */
#define OMX_PAGES_DEVICE	0x10	/* for an engine, too, if there is one */

/*
 * Makes these addresses present.  Process context, any process or kernel thread;
 * sleeps for as long as the pages take.  -EFAULT: the addresses are not mapped,
 * or not with that right, or the program has ended or closed the endpoint;
 * -ENOMEM: out of memory, or more than the program may pin; -EINTR: the thread
 * was killed.
 */
int omx_space_page_in(struct omx_space *space, u64 address, u64 length,
		      unsigned int how);

#endif
