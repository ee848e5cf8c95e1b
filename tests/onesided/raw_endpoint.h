/* SPDX-License-Identifier: BSD-2-Clause */
/* An endpoint without the library, which would keep from the driver what it refuses. */
#ifndef TESTS_ONESIDED_RAW_ENDPOINT_H
#define TESTS_ONESIDED_RAW_ENDPOINT_H

#include <stdint.h>

#include "omx_abi.h"

struct raw_endpoint {
	int fd;
	struct omx_ioc_open open;
	const struct omx_ring_kernel *ring;
	struct omx_ring_user *user;
};

void raw_endpoint_open(struct raw_endpoint *ep, uint32_t key, uint32_t timeout_ms);
/* Its memory stays mapped. */
void raw_endpoint_close(struct raw_endpoint *ep);
/* 0 or errno. */
int raw_endpoint_call(const struct raw_endpoint *ep, unsigned long command, void *argument);
/* The next event of this type; those before it are consumed. */
struct omx_event raw_endpoint_await(struct raw_endpoint *ep, uint8_t type);

#endif
