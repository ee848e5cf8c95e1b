// SPDX-License-Identifier: BSD-2-Clause
#include "raw_log.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

int raw_log_create(struct raw_log *log, omx_endpoint_t ep, uint32_t slots)
{
	*log = (struct raw_log){ .ioc.slots = slots };
	MUST(omx_get_endpoint_fd(ep, &log->fd));
	log->length = PAGE + slots * OMX_SLOT_SIZE;
	return ioctl(log->fd, OMX_IOC_LOG_CREATE, &log->ioc) ? errno : 0;
}

void raw_log_map(struct raw_log *log)
{
	log->kernel = mmap(NULL, log->length, PROT_READ, MAP_SHARED, log->fd, log->ioc.ring);
	log->user = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, log->fd, log->ioc.user);
	CHECK(log->kernel != MAP_FAILED && log->user != MAP_FAILED);
}

void raw_log_unmap(struct raw_log *log)
{
	CHECK(!munmap((void *)log->kernel, log->length) && !munmap(log->user, PAGE));
}

void raw_log_destroy(struct raw_log *log)
{
	CHECK(!ioctl(log->fd, OMX_IOC_LOG_DESTROY, &log->ioc), "%m");
}

void raw_log_activate(const struct raw_log *log, omx_endpoint_t ep, omx_window_t window,
		      uint64_t offset, uint64_t length, uint32_t flags)
{
	struct omx_ioc_activate ioc = {
		.offset = offset,
		.length = length,
		.flags = flags,
		.log = log->ioc.log,
	};
	omx_key_t key;

	MUST(omx_window_key(ep, window, &key));
	memcpy(&ioc.window, &key, sizeof(ioc.window));
	ioc.window = ntohl(ioc.window);
	CHECK(!ioctl(log->fd, OMX_IOC_ACTIVATE, &ioc), "%m");
}
