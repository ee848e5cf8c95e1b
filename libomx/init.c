/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * omx_init opens the driver for queries and checks its ABI version, omx_finalize
 * closes it, and a child made by fork() starts without endpoints.
 *
 * Any thread may call the public functions.  init_lock protects what they share;
 * it is acquired before the lock of the table of endpoints.
 */
#include "init.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>

#include "driver.h"
#include "endpoint_table.h"
#include "environment.h"
#include "error.h"
#include "omx.h"

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif
#ifndef PACKAGE_VERSION
#define PACKAGE_VERSION "unknown"
#endif

#define API_MAJOR(api)	((api) >> 8)

/* Protects the variables below; acquired before the table's lock. */
static pthread_mutex_t init_lock = PTHREAD_MUTEX_INITIALIZER;
static int control_fd = -1;		/* -1: not initialized */
static bool finalizing;			/* a thread is in omx_finalize */
static struct omx_ioc_info driver_info;

static void before_fork(void)
{
	pthread_mutex_lock(&init_lock);
	omx__endpoint_table_before_fork();
}

static void after_fork(void)
{
	omx__endpoint_table_after_fork();
	pthread_mutex_unlock(&init_lock);
}

static void in_child(void)
{
	omx__endpoint_table_in_child();
	if (control_fd >= 0)
		omx__driver_close(control_fd);
	control_fd = -1;
	finalizing = false;
	pthread_mutex_unlock(&init_lock);
}

static void watch_fork(void)
{
	pthread_atfork(before_fork, after_fork, in_child);
}

static omx_return_t open_error(int err)
{
	switch (-err) {
	case ENOENT:
		return OMX_NO_DEVICE_FILE;
	case ENODEV:
	case ENXIO:
		return OMX_NO_DRIVER;
	default:
		return omx__error_from_errno(err);
	}
}

/* Must hold init_lock. */
static omx_return_t open_driver(void)
{
	int fd = omx__driver_open();
	int err;

	if (fd < 0)
		return open_error(fd);
	err = omx__driver_ioctl(fd, OMX_IOC_INFO, &driver_info);
	if (err || !omx_abi_common(&driver_info)) {
		omx__driver_close(fd);
		return OMX_BAD_KERNEL_ABI;
	}
	control_fd = fd;
	return OMX_SUCCESS;
}

static omx_return_t library_initialize(int api)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	omx_return_t ret;

	if (API_MAJOR(api) != API_MAJOR(OMX_API))
		return OMX_BAD_LIB_ABI;
	pthread_once(&once, watch_fork);
	pthread_mutex_lock(&init_lock);
	if (control_fd >= 0) {
		ret = OMX_ALREADY_INITIALIZED;
	} else {
		omx__environment_read();
		ret = open_driver();
	}
	pthread_mutex_unlock(&init_lock);
	return ret;
}

omx_return_t omx__init_api(int api)
{
	return omx__return(NULL, library_initialize(api), "omx_init");
}

/* False: the library is not initialized, or another thread ends it. */
static bool finalize_begin(void)
{
	bool mine;

	pthread_mutex_lock(&init_lock);
	mine = control_fd >= 0 && !finalizing;
	if (mine)
		finalizing = true;
	pthread_mutex_unlock(&init_lock);
	return mine;
}

static void finalize_end(void)
{
	pthread_mutex_lock(&init_lock);
	omx__driver_close(control_fd);
	control_fd = -1;
	finalizing = false;
	pthread_mutex_unlock(&init_lock);
}

/*
 * Closing endpoints waits for handlers, which may ask for names or fork, so the lock is not
 * held meanwhile.
 */
static omx_return_t library_finalize(void)
{
	if (omx__endpoint_table_in_handler())
		return OMX_NOT_SUPPORTED_IN_HANDLER;
	if (!finalize_begin())
		return OMX_NOT_INITIALIZED;
	omx__endpoint_table_close_all();
	finalize_end();
	return OMX_SUCCESS;
}

omx_return_t omx_finalize(void)
{
	return omx__return(NULL, library_finalize(), __func__);
}

int omx__query_driver(unsigned long command, void *argument)
{
	int err = -ENOTCONN;

	pthread_mutex_lock(&init_lock);
	if (control_fd >= 0)
		err = omx__driver_ioctl(control_fd, command, argument);
	pthread_mutex_unlock(&init_lock);
	return err;
}

omx_return_t omx__driver_info(struct omx_ioc_info *info)
{
	omx_return_t ret = OMX_NOT_INITIALIZED;

	pthread_mutex_lock(&init_lock);
	/* No endpoint is opened that omx_finalize does not see. */
	if (control_fd >= 0 && !finalizing) {
		*info = driver_info;
		ret = OMX_SUCCESS;
	}
	pthread_mutex_unlock(&init_lock);
	return ret;
}

const char *omx_version(void)
{
	return PACKAGE_VERSION;
}
