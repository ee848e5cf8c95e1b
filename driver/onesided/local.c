// SPDX-License-Identifier: GPL-2.0
/*
 * Small puts and gets whose target is on this host: the initiator's system call performs
 * them, so that each byte is copied once, from program to program.
 *
 * It does so only if an access need not wait: the earlier ones of the channel have ended, and
 * so have those that somebody performs; the pages of both sides are present, and the
 * window's pages are not active.  If not, the library posts the access as it does for other
 * hosts, and what may have been copied is copied again.
 */
#include <linux/kernel.h>
#include <linux/uaccess.h>

#include "channel/channel.h"
#include "endpoint/endpoint.h"
#include "endpoint/user_buffer.h"
#include "memory/access.h"
#include "memory/cursor.h"
#include "net/board.h"
#include "observe/trace.h"
#include "onesided/access.h"
#include "onesided/access_order.h"
#include "onesided/access_queue.h"
#include "onesided/active.h"
#include "onesided/perform.h"
#include "onesided/window.h"

struct local_access {
	const struct omx_ioc_local_access *ioc;
	struct omx_buffer_iter *buffer;
	u8 type;			/* OMX_WIRE_PUT or OMX_WIRE_GET */
};

/* ---- performing ---- */

static int local_copy(const struct local_access *access, const struct omx_window *window)
{
	struct omx_cursor cursor;
	int error;

	omx_cursor_init(&cursor, window->region,
			access->type == OMX_WIRE_PUT ? OMX_REGION_WRITE : OMX_REGION_READ);
	error = omx_region_copy_iter(&cursor, window->start + access->ioc->offset,
				     &access->buffer->iter, access->ioc->buffer.length);
	omx_cursor_end(&cursor);
	return error;
}

static void local_count(const struct local_access *access, struct omx_channel *target)
{
	struct omx_board *board = target->ep->board;

	if (access->type == OMX_WIRE_PUT)
		omx_count(board, ACCESS_PUT);
	else
		omx_count(board, ACCESS_GET);
	omx_count(board, ACCESS_LOCAL);
	trace_omx_access_perform(target, access->type, 0, access->ioc->offset,
				 access->ioc->buffer.length);
}

/* Returns OMX_STATUS_* or -EAGAIN.  The caller runs the queue of the target's channel. */
static int local_perform(const struct local_access *access, struct omx_channel *target)
{
	const struct omx_ioc_local_access *ioc = access->ioc;
	u8 right = access->type == OMX_WIRE_PUT ? OMX_WINDOW_PUT : OMX_WINDOW_GET;
	struct omx_window *window;
	struct omx_wire_key key;
	u8 status;

	omx_key_write(&key, &ioc->key);
	status = omx_window_find(target->ep, &key, target, right, ioc->offset,
				 ioc->buffer.length, &window);
	if (status)
		return status;
	if (omx_active_concerns(&target->access_queue.active, window) ||
	    local_copy(access, window))
		return -EAGAIN;
	if (ioc->flags & OMX_ACCESS_EVENT &&
	    !omx_put_push_event(target, window->id, ioc->immediate, ioc->buffer.length))
		return -EAGAIN;
	local_count(access, target);
	return OMX_STATUS_OK;
}

/* In one read-side section of RCU, as every small access: revoking waits for it. */
static int local_run(const struct local_access *access, const struct omx_channel *ch)
{
	struct omx_channel *target;
	int status = -EAGAIN;

	rcu_read_lock();
	local_bh_disable();
	target = omx_channel_other_end(ch);
	/* A channel has at most one that performs its accesses, and their order. */
	if (target && omx_access_queue_enter(target)) {
		status = local_perform(access, target);
		omx_access_queue_leave(target);
	}
	local_bh_enable();
	rcu_read_unlock();
	return status;
}

/* ---- the ioctls ---- */

static bool local_is_valid(const struct omx_ioc_local_access *ioc, u8 type)
{
	u32 flags = type == OMX_WIRE_PUT ? OMX_ACCESS_EVENT : 0;

	return ioc->buffer.length <= OMX_MEDIUM_MAX && !(ioc->flags & ~flags) && !ioc->reserved &&
	       (!ioc->immediate || ioc->flags & OMX_ACCESS_EVENT) &&
	       ioc->offset + ioc->buffer.length >= ioc->offset;
}

/* Returns OMX_STATUS_* or an error. */
static int local_start(const struct omx_channel *ch, const struct omx_ioc_local_access *ioc,
		       u8 type)
{
	struct omx_buffer_iter buffer;
	struct local_access access = { .ioc = ioc, .buffer = &buffer, .type = type };
	int status;

	/* Those that are under way were posted before. */
	if (!ch->local || READ_ONCE(ch->dead) || READ_ONCE(ch->access_count))
		return -EAGAIN;
	status = omx_buffer_start(&buffer, &ioc->buffer,
				  type == OMX_WIRE_PUT ? ITER_SOURCE : ITER_DEST);
	if (status)
		return status;
	status = local_run(&access, ch);
	omx_buffer_end(&buffer);
	return status;
}

static long local_ioctl(struct omx_endpoint *ep, struct omx_ioc_local_access __user *arg, u8 type)
{
	struct omx_ioc_local_access ioc;
	struct omx_channel *ch;
	int status;

	if (copy_from_user(&ioc, arg, sizeof(ioc)))
		return -EFAULT;
	if (!local_is_valid(&ioc, type))
		return -EINVAL;
	ch = omx_channel_get(ep, ioc.channel);
	if (!ch)
		return -ENOENT;
	status = local_start(ch, &ioc, type);
	omx_channel_put(ch);
	return status < 0 ? status : put_user((u32)status, &arg->status);
}

long omx_put_local(struct omx_endpoint *ep, void __user *arg)
{
	return local_ioctl(ep, arg, OMX_WIRE_PUT);
}

long omx_get_local(struct omx_endpoint *ep, void __user *arg)
{
	return local_ioctl(ep, arg, OMX_WIRE_GET);
}
