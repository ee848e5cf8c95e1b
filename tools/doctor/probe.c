/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A probe that any driver answers: a CONNECT to an endpoint that cannot be open.  The
 * driver responds by itself that there is none, whoever runs there, and both exchange
 * hellos without broadcasts if they do not know each other's MTU.
 *
 * Speaks to the driver without the library, which may be what is wrong.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "doctor/doctor.h"

#define NO_ENDPOINT	0xffff		/* more than OMX_ENDPOINT_MAX */
#define TIMEOUT_MS	500

struct probe {
	int fd;
	struct omx_ioc_open open;
	const struct omx_ring_kernel *ring;
	size_t page, length;		/* of the mapped ring */
	uint32_t begin;			/* the first slot that is ours */
};

static int probe_open(struct probe *probe, const struct omx_ioc_board *board)
{
	probe->open = (struct omx_ioc_open){ .board = board->board, .endpoint = OMX_ANY };
	probe->page = sysconf(_SC_PAGESIZE);
	probe->fd = open(DEVICE_PATH, O_RDWR | O_CLOEXEC);
	if (probe->fd < 0)
		return -1;
	if (ioctl(probe->fd, OMX_IOC_OPEN, &probe->open) < 0)
		goto close;
	probe->length = probe->page + (size_t)probe->open.ring_slots * OMX_SLOT_SIZE;
	probe->ring = mmap(NULL, probe->length, PROT_READ, MAP_SHARED, probe->fd, OMX_MAP_RING);
	if (probe->ring == MAP_FAILED)
		goto close;
	probe->begin = __atomic_load_n(&probe->ring->khead, __ATOMIC_ACQUIRE);
	return 0;

close:
	close(probe->fd);
	return -1;
}

static void probe_close(struct probe *probe)
{
	munmap((void *)probe->ring, probe->length);
	close(probe->fd);
}

/* The event that ends the connect, or NULL.  Acquire: pairs with the driver's release. */
static const struct omx_event *probe_event(const struct probe *probe)
{
	const char *slots = (const char *)probe->ring + probe->page;
	uint32_t head = __atomic_load_n(&probe->ring->khead, __ATOMIC_ACQUIRE);
	uint32_t at = probe->begin;

	while (at != head) {
		const struct omx_event *event;

		event = (const void *)(slots + (size_t)(at % probe->open.ring_slots) *
				       OMX_SLOT_SIZE);
		if (event->type == OMX_EVENT_CONNECTED)
			return event;
		at += event->slots ? event->slots : 1;
	}
	return NULL;
}

static const struct omx_event *probe_wait(struct probe *probe)
{
	const uint64_t end = clock_ms() + 2 * TIMEOUT_MS;
	const struct omx_event *event;

	while (!(event = probe_event(probe)) && clock_ms() < end) {
		struct omx_ioc_wait wait = {
			.head = __atomic_load_n(&probe->ring->khead, __ATOMIC_ACQUIRE),
			.timeout_ms = TIMEOUT_MS / 10,
			.wakeups = __atomic_load_n(&probe->ring->kwakeups, __ATOMIC_ACQUIRE),
		};

		if (probe_event(probe))
			break;
		if (ioctl(probe->fd, OMX_IOC_WAIT, &wait) < 0 && errno != ETIMEDOUT &&
		    errno != EINTR)
			break;
	}
	return probe_event(probe);
}

bool probe_answers(const struct omx_ioc_board *board, uint64_t mac, uint32_t *peer_abi)
{
	struct omx_ioc_connect connect = {
		.mac = mac,
		.endpoint = NO_ENDPOINT,
		.timeout_ms = TIMEOUT_MS,
	};
	const struct omx_event *event = NULL;
	struct probe probe;
	bool answers;

	if (probe_open(&probe, board) < 0)
		return false;
	if (ioctl(probe.fd, OMX_IOC_CONNECT, &connect) == 0)
		event = probe_wait(&probe);
	answers = event && event->status != OMX_STATUS_UNREACHABLE;
	*peer_abi = answers ? event->peer_abi : 0;
	probe_close(&probe);
	return answers;
}
