// SPDX-License-Identifier: BSD-2-Clause
#include "raw_endpoint.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "memory.h"

void raw_endpoint_open(struct raw_endpoint *ep, uint32_t key, uint32_t timeout_ms)
{
	size_t size;

	*ep = (struct raw_endpoint){
		.fd = open("/dev/omx", O_RDWR | O_CLOEXEC),
		.open = {
			.board = OMX_ANY,
			.endpoint = OMX_ANY,
			.key = key,
			.timeout_ms = timeout_ms,
		},
	};
	CHECK(ep->fd >= 0 && !ioctl(ep->fd, OMX_IOC_OPEN, &ep->open), "%m");
	size = PAGE + (size_t)ep->open.ring_slots * OMX_SLOT_SIZE;
	ep->ring = mmap(NULL, size, PROT_READ, MAP_SHARED, ep->fd, OMX_MAP_RING);
	ep->user = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, ep->fd, OMX_MAP_USER);
	CHECK(ep->ring != MAP_FAILED && ep->user != MAP_FAILED);
}

void raw_endpoint_close(struct raw_endpoint *ep)
{
	close(ep->fd);
}

int raw_endpoint_call(const struct raw_endpoint *ep, unsigned long command, void *argument)
{
	return ioctl(ep->fd, command, argument) ? errno : 0;
}

static struct omx_event next_event(struct raw_endpoint *ep, uint8_t awaited)
{
	const struct omx_event *slots = (const void *)((const uint8_t *)ep->ring + PAGE);
	struct omx_event event;

	AWAIT(__atomic_load_n(&ep->ring->khead, __ATOMIC_ACQUIRE) != ep->user->utail, PATIENCE_S, 1,
	      "no event of type %u comes", awaited);
	event = slots[ep->user->utail & (ep->open.ring_slots - 1)];
	__atomic_store_n(&ep->user->utail, ep->user->utail + event.slots, __ATOMIC_RELEASE);
	return event;
}

struct omx_event raw_endpoint_await(struct raw_endpoint *ep, uint8_t type)
{
	struct omx_event event;

	do
		event = next_event(ep, type);
	while (event.type != type);
	return event;
}
