/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The system calls on /dev/omx.  See driver.h.
 */
#include "driver.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#define DEVICE "/dev/omx"

int omx__driver_open(void)
{
	int fd = open(DEVICE, O_RDWR | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

void omx__driver_close(int fd)
{
	close(fd);
}

/* Who waits decides whether a signal ends that: begun again, the wait would be as long again. */
static bool ioctl_is_wait(unsigned long command)
{
	return command == OMX_IOC_WAIT || command == OMX_IOC_LOG_WAIT;
}

int omx__driver_ioctl(int fd, unsigned long command, void *argument)
{
	while (ioctl(fd, command, argument) < 0) {
		if (errno != EINTR || ioctl_is_wait(command))
			return -errno;
	}
	return 0;
}

void *omx__driver_map(int fd, uint64_t offset, size_t length, bool writable)
{
	int protection = PROT_READ | (writable ? PROT_WRITE : 0);
	void *map = mmap(NULL, length, protection, MAP_SHARED, fd, (off_t)offset);

	if (map == MAP_FAILED)
		return NULL;
	madvise(map, length, MADV_DONTFORK);
	return map;
}

void omx__driver_unmap(const void *map, size_t length)
{
	munmap((void *)map, length);
}
