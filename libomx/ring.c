/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The event ring is mapped, and its slots are given back to the driver.  See
 * ring.h.
 */
#include "ring.h"

#include <errno.h>
#include <unistd.h>

#include "driver.h"

static size_t kernel_map_length(const struct ring *ring)
{
	return ring->page + (size_t)ring->slot_count * OMX_SLOT_SIZE;
}

int omx__ring_map(struct ring *ring, int fd, uint32_t slot_count)
{
	*ring = (struct ring) {
		.slot_count = slot_count,
		.page = (uint32_t)sysconf(_SC_PAGESIZE),
	};
	if (!slot_count || (slot_count & (slot_count - 1)))
		return -EPROTO;

	ring->user = omx__driver_map(fd, OMX_MAP_USER, ring->page, true);
	if (!ring->user)
		return -ENOMEM;
	ring->kernel = omx__driver_map(fd, OMX_MAP_RING, kernel_map_length(ring), false);
	if (!ring->kernel) {
		omx__driver_unmap(ring->user, ring->page);
		return -ENOMEM;
	}
	ring->slots = (const unsigned char *)ring->kernel + ring->page;
	ring->head = ring->released = ring->user->utail;
	ring->kicked = ring->released - 1;
	omx__ring_set_announce(ring, false);
	return 0;
}

void omx__ring_unmap(struct ring *ring)
{
	omx__driver_unmap(ring->kernel, kernel_map_length(ring));
	omx__driver_unmap(ring->user, ring->page);
}

void omx__ring_kick(struct ring *ring, int fd)
{
	if (ring->kicked == ring->released || !omx__ring_is_roomy(ring))
		return;
	ring->kicked = ring->released;
	omx__driver_ioctl(fd, OMX_IOC_KICK, NULL);
}

void omx__ring_uncork(int fd)
{
	omx__driver_ioctl(fd, OMX_IOC_UNCORK, NULL);
}

void omx__ring_release(struct ring *ring, int fd, uint32_t tail)
{
	ring->released = tail;
	/* Release: pairs with the driver's acquire before it writes the slots again. */
	__atomic_store_n(&ring->user->utail, tail, __ATOMIC_RELEASE);
	/*
	 * Store utail before loading kbacklog.  Pairs with the driver's full
	 * barrier between setting kbacklog and loading utail again: at least one
	 * of the two sees the other's store.
	 */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (__builtin_expect(omx__ring_backlogged(ring), 0))
		omx__ring_kick(ring, fd);
}
