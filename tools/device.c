/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "complain.h"
#include "config.h"
#include "device.h"

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

int device_open(struct device *device)
{
	device->fd = open(DEVICE_PATH, O_RDWR | O_CLOEXEC);
	if (device->fd < 0) {
		complain_errno(open_hint(errno), "cannot open " DEVICE_PATH);
		return -1;
	}
	if (ioctl(device->fd, OMX_IOC_INFO, &device->info) < 0) {
		complain_errno(errno == ENOTTY ? "module and tools are of different versions" :
						 NULL, "cannot ask " DEVICE_PATH " what it is");
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
