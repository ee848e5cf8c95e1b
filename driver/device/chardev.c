// SPDX-License-Identifier: GPL-2.0
/*
 * /dev/omx: an open file asks questions, and may become one endpoint or serve one.
 */
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/nospec.h>
#include <linux/nsproxy.h>
#include <linux/poll.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "channel/channel.h"
#include "channel/close.h"
#include "channel/connect.h"
#include "compat.h"
#include "device/chardev.h"
#include "device/query.h"
#include "eager/eager_receive.h"
#include "eager/eager_send.h"
#include "endpoint/endpoint.h"
#include "endpoint/wakeup.h"
#include "memory/prefetch.h"
#include "memory/region.h"
#include "memory/space.h"
#include "observe/lock_order.h"
#include "onesided/access.h"
#include "onesided/when.h"
#include "onesided/active.h"
#include "onesided/log.h"
#include "onesided/window.h"
#include "pager/pager.h"
#include "pager/threads.h"
#include "pager/worker.h"
#include "pull/pull.h"
#include "pull/rndv.h"

static const struct file_operations omx_file_operations;

struct omx_file {
	struct net *net;
	struct mutex open_lock;		/* one OMX_IOC_OPEN or OMX_IOC_PAGER wins */
	struct omx_endpoint *ep;	/* set once; pairs: endpoint_of() */
	/* Or this: referenced, what the threads of the file serve; pairs: pager_of() */
	struct omx_pager *pager;
};

static int omx_file_open(struct inode *inode, struct file *file)
{
	struct omx_file *of = kzalloc(sizeof(*of), GFP_KERNEL);

	if (!of)
		return -ENOMEM;
	omx_mutex_init(&of->open_lock, OMX_LOCK_OPEN);
	of->net = get_net(current->nsproxy->net_ns);
	file->private_data = of;
	return 0;
}

static int omx_file_release(struct inode *inode, struct file *file)
{
	struct omx_file *of = file->private_data;

	if (of->ep)
		omx_endpoint_close(of->ep);
	if (of->pager) {
		omx_pager_unattend(of->pager, of);
		omx_pager_put(of->pager);
	}
	put_net(of->net);
	mutex_destroy(&of->open_lock);
	kfree(of);
	return 0;
}

static struct omx_endpoint *endpoint_of(struct file *file)
{
	struct omx_file *of = file->private_data;

	/* Pairs with the release in become_endpoint(). */
	return smp_load_acquire(&of->ep);
}

static long become_endpoint(struct omx_file *of, void __user *arg)
{
	struct omx_ioc_open open;
	struct omx_endpoint *ep;

	if (copy_from_user(&open, arg, sizeof(open)))
		return -EFAULT;

	mutex_lock(&of->open_lock);
	ep = of->ep || of->pager ? ERR_PTR(-EBUSY) : omx_endpoint_open(of->net, &open);
	if (!IS_ERR(ep))
		smp_store_release(&of->ep, ep);	/* pairs: endpoint_of() */
	mutex_unlock(&of->open_lock);
	if (IS_ERR(ep))
		return PTR_ERR(ep);
	/* On failure the program closes the file: there is nothing to undo. */
	return copy_to_user(arg, &open, sizeof(open)) ? -EFAULT : 0;
}

/*
 * Who pages in keeps the program's memory, which keeps this file mapped: a worker, or
 * the kernel for the IOMMU.  release() is too late to end the worker's wait once the
 * program is killed, and, if the kernel waits for a page that never comes, to tell peers
 * and to give others the endpoint's share of the board.
 * The program closes its descriptors as it exits, after it has given up its
 * memory, and in exec after it has got a new one.  The caller may be another
 * program that has the file, too.
 */
static int omx_file_flush(struct file *file, fl_owner_t id)
{
	struct omx_endpoint *ep = endpoint_of(file);

	if (ep && omx_pager_program_ended(ep->space->pager)) {
		omx_pager_close(ep->space->pager);
		omx_endpoint_retire(ep);
	}
	return 0;
}

/* ---- threads that page in ---- */

static struct omx_pager *pager_of(struct omx_file *of)
{
	/* Pairs with the release in bind_pager(). */
	return smp_load_acquire(&of->pager);
}

static long bind_pager(struct omx_file *of, struct omx_endpoint *ep)
{
	struct omx_pager *pager = ep->space->pager;
	long error;

	mutex_lock(&of->open_lock);
	error = of->ep || of->pager ? -EBUSY : omx_pager_attend(pager, of);
	if (!error)
		smp_store_release(&of->pager, omx_pager_ref(pager));	/* pairs: pager_of() */
	mutex_unlock(&of->open_lock);
	return error;
}

static long become_pager(struct omx_file *of, u32 fd)
{
	struct file *file = fget(fd);
	struct omx_endpoint *ep;
	long error = -EINVAL;

	if (!file)
		return -EBADF;
	if (file->f_op == &omx_file_operations) {
		ep = endpoint_of(file);
		error = ep ? bind_pager(of, ep) : -EBADFD;
	}
	fput(file);
	return error;
}

static long ioctl_pager(struct omx_file *of, void __user *arg)
{
	struct omx_ioc_pager ioc;

	if (copy_from_user(&ioc, arg, sizeof(ioc)))
		return -EFAULT;
	if (ioc.flags)
		return -EINVAL;
	if (ioc.fd != OMX_ANY)
		return become_pager(of, ioc.fd);
	if (!pager_of(of))
		return -EBADFD;
	omx_pager_unattend(of->pager, of);
	return 0;
}

static long ioctl_page_in(struct omx_file *of, void __user *arg)
{
	struct omx_pager *pager = pager_of(of);
	struct omx_ioc_pager ioc;

	if (copy_from_user(&ioc, arg, sizeof(ioc)))
		return -EFAULT;
	if (ioc.fd || ioc.flags & ~OMX_PAGER_ALONE)
		return -EINVAL;
	if (!pager)
		return -EBADFD;
	return omx_pager_serve(pager, of, !(ioc.flags & OMX_PAGER_ALONE));
}

/* ---- ioctls ---- */

static long ioctl_wakeup(struct omx_endpoint *ep, void __user *arg)
{
	return omx_endpoint_wakeup(ep);
}

static long ioctl_kick(struct omx_endpoint *ep, void __user *arg)
{
	return omx_endpoint_kick(ep);
}

static long ioctl_uncork(struct omx_endpoint *ep, void __user *arg)
{
	omx_uncork(ep);
	return 0;
}

struct handler {
	unsigned int cmd;
	long (*serve)(struct omx_file *of, void __user *arg);
	int (*query)(struct net *net, void __user *arg);
	long (*run)(struct omx_endpoint *ep, void __user *arg);
};

#define SERVE(cmd, function)	[_IOC_NR(cmd)] = { cmd, .serve = function }
#define QUERY(cmd, function)	[_IOC_NR(cmd)] = { cmd, .query = function }
#define RUN(cmd, function)	[_IOC_NR(cmd)] = { cmd, .run = function }

static const struct handler handlers[] = {
	SERVE(OMX_IOC_OPEN,		become_endpoint),
	SERVE(OMX_IOC_PAGER,		ioctl_pager),
	SERVE(OMX_IOC_PAGE_IN,		ioctl_page_in),
	QUERY(OMX_IOC_INFO,		omx_query_info),
	QUERY(OMX_IOC_ENGINE,		omx_query_engine),
	QUERY(OMX_IOC_BOARD,		omx_query_board),
	QUERY(OMX_IOC_BOARD_NAME,	omx_query_board_name),
	QUERY(OMX_IOC_ENDPOINT_INFO,	omx_query_endpoint_info),
	QUERY(OMX_IOC_COUNTERS,		omx_query_counters),
	QUERY(OMX_IOC_COUNTER_LABEL,	omx_query_counter_label),
	QUERY(OMX_IOC_COUNTERS_CLEAR,	omx_query_counters_clear),
	QUERY(OMX_IOC_PEER,		omx_query_peer),
	QUERY(OMX_IOC_PEER_BY_MAC,	omx_query_peer_by_mac),
	QUERY(OMX_IOC_PEER_BY_NAME,	omx_query_peer_by_name),
	QUERY(OMX_IOC_PEER_ADD,		omx_query_peer_add),
	QUERY(OMX_IOC_PEER_REMOVE,	omx_query_peer_remove),
	QUERY(OMX_IOC_UDP_PEER,		omx_query_udp_peer),
	QUERY(OMX_IOC_UDP_PEER_ADD,	omx_query_udp_peer_add),
	QUERY(OMX_IOC_UDP_PEER_REMOVE,	omx_query_udp_peer_remove),
	RUN(OMX_IOC_CONNECT,		omx_connect),
	RUN(OMX_IOC_CHANNEL_INFO,	omx_channel_info),
	RUN(OMX_IOC_DISCONNECT,		omx_channel_disconnect),
	RUN(OMX_IOC_SEND,		omx_send_eager),
	RUN(OMX_IOC_SEND_RNDV,		omx_rndv_send),
	RUN(OMX_IOC_WITHDRAW,		omx_rndv_withdraw),
	RUN(OMX_IOC_PULL,		omx_pull),
	RUN(OMX_IOC_REGION_CREATE,	omx_region_create),
	RUN(OMX_IOC_REGION_DESTROY,	omx_region_destroy),
	RUN(OMX_IOC_FETCH,		omx_fetch),
	RUN(OMX_IOC_WAIT,		omx_endpoint_wait),
	RUN(OMX_IOC_WAKEUP,		ioctl_wakeup),
	RUN(OMX_IOC_KICK,		ioctl_kick),
	RUN(OMX_IOC_PREFETCH,		omx_prefetch),
	RUN(OMX_IOC_WINDOW_CREATE,	omx_window_create),
	RUN(OMX_IOC_WINDOW_REVOKE,	omx_window_revoke),
	RUN(OMX_IOC_PUT,		omx_put),
	RUN(OMX_IOC_PUT_RNDV,		omx_put_rndv),
	RUN(OMX_IOC_GET,		omx_get),
	RUN(OMX_IOC_ATOMIC,		omx_atomic),
	RUN(OMX_IOC_PUT_WHEN,		omx_put_when),
	RUN(OMX_IOC_GET_WHEN,		omx_get_when),
	RUN(OMX_IOC_POST_KEY,		omx_post_key),
	RUN(OMX_IOC_LOG_CREATE,		omx_log_create),
	RUN(OMX_IOC_LOG_DESTROY,	omx_log_destroy),
	RUN(OMX_IOC_LOG_WAIT,		omx_log_wait),
	RUN(OMX_IOC_ACTIVATE,		omx_window_activate),
	RUN(OMX_IOC_FLUSH_ACTIVE,	omx_flush_active),
	RUN(OMX_IOC_PUT_LOCAL,		omx_put_local),
	RUN(OMX_IOC_GET_LOCAL,		omx_get_local),
	RUN(OMX_IOC_UNCORK,		ioctl_uncork),
};

static long omx_file_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	struct omx_file *of = file->private_data;
	const struct handler *handler;
	struct omx_endpoint *ep;
	unsigned int nr = _IOC_NR(cmd);

	if (nr >= ARRAY_SIZE(handlers))
		return -ENOTTY;
	handler = &handlers[array_index_nospec(nr, ARRAY_SIZE(handlers))];
	if (!handler->cmd || handler->cmd != cmd)
		return -ENOTTY;
	if (handler->query)
		return handler->query(of->net, (void __user *)arg);
	if (handler->serve)
		return handler->serve(of, (void __user *)arg);

	ep = endpoint_of(file);
	if (!ep)
		return -EBADFD;
	if (omx_endpoint_is_dead(ep))
		return -ENODEV;
	return handler->run(ep, (void __user *)arg);
}

static int omx_file_mmap(struct file *file, struct vm_area_struct *vma)
{
	struct omx_endpoint *ep = endpoint_of(file);
	unsigned long offset = vma->vm_pgoff << PAGE_SHIFT;

	if (!ep)
		return -EBADFD;
	omx_vm_flags_set(vma, VM_DONTCOPY | VM_DONTEXPAND | VM_DONTDUMP);
	vma->vm_pgoff = 0;
	switch (offset) {
	case OMX_MAP_USER:
		return omx_ring_map_user(&ep->ring, vma);
	case OMX_MAP_RING:
		if (vma->vm_flags & VM_WRITE)
			return -EPERM;
		omx_vm_flags_clear(vma, VM_MAYWRITE);
		return omx_ring_map_kernel(&ep->ring, vma);
	default:
		return omx_log_map(ep, vma, offset);
	}
}

static __poll_t omx_file_poll(struct file *file, poll_table *table)
{
	struct omx_endpoint *ep = endpoint_of(file);

	if (!ep)
		return EPOLLERR;
	poll_wait(file, &ep->wait, table);
	omx_uncork(ep);
	if (omx_endpoint_is_dead(ep))
		return EPOLLIN | EPOLLRDNORM | EPOLLHUP;
	/* In this order: see uunseen. */
	if (omx_ring_room(&ep->ring) < OMX_RING_SLOTS ||
	    READ_ONCE(ep->ring.user->uunseen) || omx_endpoint_is_to_fetch(ep))
		return EPOLLIN | EPOLLRDNORM;
	return 0;
}

static const struct file_operations omx_file_operations = {
	.owner		= THIS_MODULE,
	.open		= omx_file_open,
	.flush		= omx_file_flush,
	.release	= omx_file_release,
	.unlocked_ioctl	= omx_file_ioctl,
	.compat_ioctl	= compat_ptr_ioctl,
	.mmap		= omx_file_mmap,
	.poll		= omx_file_poll,
	.llseek		= noop_llseek,
};

static struct miscdevice omx_device = {
	.minor	= MISC_DYNAMIC_MINOR,
	.name	= "omx",
	.mode	= 0666,
	.fops	= &omx_file_operations,
};

int omx_chardev_init(void)
{
	return misc_register(&omx_device);
}

void omx_chardev_exit(void)
{
	misc_deregister(&omx_device);
}
