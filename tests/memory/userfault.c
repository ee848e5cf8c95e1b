// SPDX-License-Identifier: BSD-2-Clause
#include "userfault.h"

#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "endpoints.h"

int open_userfault(int flags)
{
	struct uffdio_api api = { .api = UFFD_API };
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC | flags);

	if (fd >= 0 && ioctl(fd, UFFDIO_API, &api)) {
		close(fd);
		fd = -1;
	}
	return fd;
}

void watch(int faults, void *memory, size_t length)
{
	struct uffdio_register range = {
		.range = { (uintptr_t)memory, length },
		.mode = UFFDIO_REGISTER_MODE_MISSING,
	};

	CHECK(faults >= 0 && !ioctl(faults, UFFDIO_REGISTER, &range), "%m");
}

void take_fault(int faults)
{
	struct uffd_msg fault;

	EQUAL(read(faults, &fault, sizeof(fault)), sizeof(fault));
	EQUAL(fault.event, UFFD_EVENT_PAGEFAULT);
}

void supply_zeros(int faults, void *memory, size_t length)
{
	struct uffdio_zeropage zero = { .range = { (uintptr_t)memory, length } };

	take_fault(faults);
	CHECK(!ioctl(faults, UFFDIO_ZEROPAGE, &zero));
}
