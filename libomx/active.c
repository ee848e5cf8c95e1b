/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The program says what accesses of peers do to the pages of a window: whether they are
 * performed, and in which log they are entered.  The driver does all of it.
 *
 * Any thread may call the public function, which acquires the endpoint's lock; it is
 * dropped while the driver waits for accesses that have begun.
 */
#include <errno.h>

#include "driver.h"
#include "error.h"
#include "log.h"
#include "window.h"

_Static_assert(OMX_ACTIVE_W == OMX_PAGE_W && OMX_ACTIVE_WL == OMX_PAGE_WL &&
	       OMX_ACTIVE_WLD == OMX_PAGE_WLD && OMX_ACTIVE_R == OMX_PAGE_R &&
	       OMX_ACTIVE_RL == OMX_PAGE_RL && OMX_ACTIVE_RLD == OMX_PAGE_RLD &&
	       OMX_ACTIVE_E == OMX_PAGE_E, "flags differ");
_Static_assert(OMX_ACTIVE_PAGE_SIZE == OMX_ACTIVE_PAGE, "pages differ");

static int activate_in_driver(struct omx__endpoint *ep, struct omx_ioc_activate *ioc)
{
	int err;

	ep->users++;
	omx__unlock(&ep->lock);
	err = omx__driver_ioctl(ep->fd, OMX_IOC_ACTIVATE, ioc);
	omx__lock(&ep->lock);
	ep->users--;
	if (ep->state != ENDPOINT_OPEN)
		omx__lock_changed(&ep->lock);
	return err;
}

static omx_return_t activate_error(int err)
{
	switch (err) {
	case -EINVAL:
		return OMX_SEGMENTS_BAD_COUNT;
	case -EACCES:
	case -ENOENT:
		return OMX_BAD_REQUEST;
	default:
		return omx__error_from_errno(err);
	}
}

static omx_return_t window_activate(struct omx__endpoint *ep, omx_window_t window,
				    struct omx_ioc_activate *ioc, omx_log_t handle)
{
	struct omx_key key;
	struct log *log;

	if (!omx__window_key(ep, window, &key))
		return OMX_BAD_REQUEST;
	ioc->window = key.window;
	if (ioc->flags & ~(uint32_t)OMX_PAGE_FLAGS)
		return OMX_ENDPOINT_PARAM_BAD_VALUE;
	if (ioc->flags & OMX_PAGE_E) {
		log = omx__log_find(ep, handle);
		if (!log)
			return OMX_BAD_REQUEST;
		ioc->log = log->number;
	}
	return activate_error(activate_in_driver(ep, ioc));
}

omx_return_t omx_window_activate(omx_endpoint_t ep, omx_window_t window, uint64_t offset,
				 uint64_t length, uint32_t flags, omx_log_t log)
{
	struct omx_ioc_activate ioc = { .offset = offset, .length = length, .flags = flags };
	omx_return_t ret = omx__enter(ep);

	if (ret)
		return omx__return(NULL, ret, __func__);
	ret = window_activate(ep, window, &ioc, log);
	omx__leave(ep);
	return omx__return(ep, ret, __func__);
}
