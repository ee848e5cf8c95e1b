/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef OMX_UDP_CARRIER_H
#define OMX_UDP_CARRIER_H

#include <linux/types.h>

struct omx_udp_path {
	u32 mtu, limit;
};

#endif
