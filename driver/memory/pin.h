/* SPDX-License-Identifier: GPL-2.0 */
/*
 * This pins pages of a program.  page_in.c calls it in process context.
 */
#ifndef OMX_PIN_H
#define OMX_PIN_H

struct omx_wanted;

/*
 * Pins pages from this one on and makes them present.  -EAGAIN: they have changed
 * meanwhile, repeat; -ENOMEM: also if a limit on pinned memory is reached.
 */
int omx_pages_pin(const struct omx_wanted *wanted, unsigned int from);

#endif
