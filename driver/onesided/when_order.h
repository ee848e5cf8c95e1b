/* SPDX-License-Identifier: GPL-2.0 */
/* What when.c and when_ioctl.c share and no other file uses. */
#ifndef OMX_WHEN_ORDER_H
#define OMX_WHEN_ORDER_H

#include "onesided/access_order.h"

/* What an ioctl wants: exactly one of `small` and `large` is set. */
struct omx_when_order {
	const struct omx_access_order *small;
	const struct omx_rndv_order *large;
	const struct omx_ioc_pull *pull;	/* beside `small`: of a large get, or NULL */
	u64 tag;
	u64 length;
	u64 cookie;
	u32 channel;
	u32 timeout_ms;
	u8 type;			/* OMX_WIRE_PUT, _PUT_RNDV, _GET */
};

/* Process context. */
long omx_when_post(struct omx_endpoint *ep, const struct omx_when_order *order);

#endif
