/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef OMX_CONNECT_H
#define OMX_CONNECT_H

#include "endpoint.h"

/* Makes our own address usable; sends to it wait in its queue.  0 or -errno. */
int omx__connect_self(struct omx__endpoint *ep);

#endif
