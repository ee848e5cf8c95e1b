/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "complain.h"
#include "config.h"
#include "device.h"

#define DEVICE_PATH "/dev/omx"

/* NULL: there is nothing to advise. */
static const char *open_hint(int error)
{
	switch (error) {
	case ENOENT:
	case ENODEV:
	case ENXIO:
		return "is the module loaded? try: modprobe omx";
	case EACCES:
	case EPERM:
		return "ask the administrator for access to it "
		       "(ls -l " DEVICE_PATH ")";
	default:
		return NULL;
	}
}

static const char *question_hint(int error)
{
	switch (error) {
	case EPERM:
	case EACCES:
		return "only the administrator may (CAP_NET_ADMIN)";
	case ENOTTY:
		return "module and tools are of different versions";
	default:
		return NULL;
	}
}

int device_fail(const char *what, ...)
{
	int error = errno;
	char text[256];
	va_list arguments;

	va_start(arguments, what);
	vsnprintf(text, sizeof(text), what, arguments);
	va_end(arguments);
	complain(question_hint(error), "cannot %s: %s", text, strerror(error));
	return -1;
}

int device_open(struct device *device)
{
	device->fd = open(DEVICE_PATH, O_RDWR | O_CLOEXEC);
	if (device->fd < 0) {
		complain_errno(open_hint(errno), "cannot open " DEVICE_PATH);
		return -1;
	}
	if (ioctl(device->fd, OMX_IOC_INFO, &device->info) < 0) {
		device_fail("ask " DEVICE_PATH " what it is");
		goto close;
	}
	if (!omx_abi_common(&device->info)) {
		complain("load a module that goes with omx " PACKAGE_VERSION,
			 "the driver (omx %.*s) speaks ABI %u, this tool %u to %u",
			 (int)sizeof(device->info.version), device->info.version,
			 device->info.abi_version, OMX_ABI_OLDEST, OMX_ABI_VERSION);
		goto close;
	}
	return 0;

close:
	device_close(device);
	return -1;
}

int device_engine(const struct device *device, struct omx_ioc_engine *engine)
{
	memset(engine, 0, sizeof(*engine));
	return ioctl(device->fd, OMX_IOC_ENGINE, engine);
}

void device_close(struct device *device)
{
	close(device->fd);
	device->fd = -1;
}

static bool is_absent(int error)
{
	return error == ENODEV || error == ENXIO || error == ENOENT;
}

/*
 * Returns 1 if the board exists, 0 if it does not, and -1 after printing an
 * error.
 */
static int board_get(const struct device *device, uint32_t index,
		     struct omx_ioc_board *board)
{
	memset(board, 0, sizeof(*board));
	board->board = index;
	if (ioctl(device->fd, OMX_IOC_BOARD, board) == 0)
		return 1;
	if (is_absent(errno))
		return 0;
	return device_fail("read board %u", index);
}

int device_boards(const struct device *device, uint32_t only,
		  struct board_list *list)
{
	uint32_t first = only == OMX_ANY ? 0 : only;
	uint32_t end = only == OMX_ANY ? OMX_BOARD_MAX : only + 1;
	uint32_t i;

	list->count = 0;
	for (i = first; i < end; i++) {
		int there = board_get(device, i, &list->board[list->count]);

		if (there < 0)
			return -1;
		list->count += there;
	}
	return list->count ? 0 : board_list_is_empty(only);
}

/* An older driver knows no peers but those on Ethernet. */
static int peer_get(const struct device *device, struct omx_ioc_udp_peer *peer)
{
	if (device->info.abi_version < 9)
		return ioctl(device->fd, OMX_IOC_PEER, &peer->peer);
	return ioctl(device->fd, OMX_IOC_UDP_PEER, peer);
}

int device_peers(const struct device *device, uint32_t board,
		 struct peer_list *list)
{
	struct omx_ioc_udp_peer peer;
	uint32_t index = 0;

	for (;;) {
		memset(&peer, 0, sizeof(peer));
		peer.peer.board = board;
		peer.peer.index = index;
		if (peer_get(device, &peer) < 0)
			break;
		if (peer_list_append(list, &peer) < 0)
			return -1;
		index = peer.peer.index + 1;
	}
	return is_absent(errno) ? 0 : device_fail("list peers of board %u", board);
}
