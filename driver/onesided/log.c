// SPDX-License-Identifier: GPL-2.0
/*
 * The rings of active access: creating, mapping and destroying them in process
 * context, and writing entries, mostly in softirq.
 *
 * Many channels write entries of one log at the same time.  The lock gives each its
 * place; they are filled and committed in any order.
 */
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/nospec.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>

#include "compat.h"
#include "endpoint/account.h"
#include "endpoint/endpoint.h"
#include "observe/lock_order.h"
#include "onesided/log.h"

/* Where logs are mapped: each has a stride of the file, its ring and then its page. */
#define MAP_LOGS	0x10000000ul
#define MAP_STRIDE	0x02000000ul
#define MAP_USER	0x01800000ul

static_assert(sizeof(struct omx_log_record) == OMX_SLOT_SIZE);
static_assert(sizeof(struct omx_log_kernel) <= PAGE_SIZE);
static_assert(PAGE_SIZE + OMX_LOG_SLOTS_MAX * OMX_SLOT_SIZE <= MAP_USER);
static_assert(OMX_LOGS_MAX <= BITS_PER_TYPE(u64));

/* ---- creating and destroying ---- */

static unsigned long log_kernel_bytes(const struct omx_log *log)
{
	return PAGE_SIZE + (unsigned long)log->slots * OMX_SLOT_SIZE;
}

/* What the user is charged for its rings. */
static unsigned long log_bytes(const struct omx_log *log)
{
	return log_kernel_bytes(log) + PAGE_SIZE;
}

static void log_free(struct omx_log *log)
{
	vfree(log->program);
	vfree(log->kernel);
	omx_account_uncharge_object(log->user, log);
	kfree(log);
}

void omx_log_put(struct omx_log *log)
{
	if (!refcount_dec_and_test(&log->ref))
		return;
	omx_account_uncharge(log->user, log_bytes(log));
	log_free(log);
}

/* As vmalloc_user(), but charged to the program's control group. */
static void *log_alloc_ring(unsigned long size)
{
	return __vmalloc(size, GFP_KERNEL_ACCOUNT | __GFP_ZERO | __GFP_NOWARN);
}

static struct omx_log *log_alloc(struct omx_endpoint *ep, u32 slots)
{
	struct omx_account *user = omx_endpoint_user(ep);
	struct omx_log *log = omx_account_alloc(user, sizeof(*log), GFP_KERNEL_ACCOUNT);

	if (!log)
		return NULL;
	refcount_set(&log->ref, 1);
	omx_spin_lock_init(&log->lock, OMX_LOCK_LOG);
	init_waitqueue_head(&log->wait);
	log->user = user;
	log->slots = slots;
	log->kernel = log_alloc_ring(log_kernel_bytes(log));
	log->program = log_alloc_ring(PAGE_SIZE);
	if (!log->kernel || !log->program) {
		log_free(log);
		return NULL;
	}
	log->entry = (void *)log->kernel + PAGE_SIZE;
	omx_account_charge(user, log_bytes(log));
	return log;
}

/* Under a free number, or OMX_LOGS_MAX: there is none. */
static u32 logs_add(struct omx_endpoint *ep, struct omx_log *log)
{
	u32 i;

	mutex_lock(&ep->active_lock);
	for (i = 0; i < OMX_LOGS_MAX; i++) {
		if (rcu_access_pointer(ep->logs.log[i]))
			continue;
		rcu_assign_pointer(ep->logs.log[i], log);
		break;
	}
	mutex_unlock(&ep->active_lock);
	return i;
}

long omx_log_create(struct omx_endpoint *ep, void __user *arg)
{
	struct omx_ioc_log ioc;
	struct omx_log *log;

	if (copy_from_user(&ioc, arg, sizeof(ioc)))
		return -EFAULT;
	if (!is_power_of_2(ioc.slots) || ioc.slots < OMX_LOG_SLOTS_MIN ||
	    ioc.slots > OMX_LOG_SLOTS_MAX)
		return -EINVAL;
	if (!omx_budget_has_room(&ep->budget, OMX_ACCOUNT_REGION))
		return -EDQUOT;
	log = log_alloc(ep, ioc.slots);
	if (!log)
		return -ENOMEM;
	ioc.log = logs_add(ep, log);
	if (ioc.log == OMX_LOGS_MAX) {
		omx_log_put(log);
		return -EBUSY;
	}
	ioc.ring = MAP_LOGS + ioc.log * MAP_STRIDE;
	ioc.user = ioc.ring + MAP_USER;
	/* If this fails the log stays until the endpoint closes. */
	return copy_to_user(arg, &ioc, sizeof(ioc)) ? -EFAULT : 0;
}

/* Takes the reference of the table.  -ENOENT; -EBUSY: pages name it. */
static long logs_remove(struct omx_endpoint *ep, u32 number, struct omx_log **removed)
{
	struct omx_log *log;
	long error = 0;

	mutex_lock(&ep->active_lock);
	log = rcu_dereference_protected(ep->logs.log[number],
					lockdep_is_held(&ep->active_lock));
	if (!log)
		error = -ENOENT;
	else if (log->ranges)
		error = -EBUSY;
	else
		RCU_INIT_POINTER(ep->logs.log[number], NULL);
	mutex_unlock(&ep->active_lock);
	*removed = log;
	return error;
}

long omx_log_destroy(struct omx_endpoint *ep, void __user *arg)
{
	struct omx_ioc_log ioc;
	struct omx_log *log;
	long error;

	if (copy_from_user(&ioc, arg, sizeof(ioc)))
		return -EFAULT;
	if (ioc.log >= OMX_LOGS_MAX)
		return -ENOENT;
	error = logs_remove(ep, array_index_nospec(ioc.log, OMX_LOGS_MAX), &log);
	if (error)
		return error;
	WRITE_ONCE(log->is_destroyed, true);
	wake_up_all(&log->wait);
	/* Somebody may be about to take a reference. */
	synchronize_rcu();
	omx_log_put(log);
	return 0;
}

void omx_logs_destroy(struct omx_endpoint *ep)
{
	struct omx_log *log;
	u32 i;

	for (i = 0; i < OMX_LOGS_MAX; i++) {
		/* Nobody else knows the endpoint any more. */
		log = rcu_dereference_protected(ep->logs.log[i], true);
		if (log)
			omx_log_put(log);
	}
}

struct omx_log *omx_log_get(struct omx_endpoint *ep, u32 number)
{
	struct omx_log *log;

	if (number >= OMX_LOGS_MAX)
		return NULL;
	rcu_read_lock();
	log = rcu_dereference(ep->logs.log[array_index_nospec(number, OMX_LOGS_MAX)]);
	if (log && !refcount_inc_not_zero(&log->ref))
		log = NULL;
	rcu_read_unlock();
	return log;
}

/* ---- mapping ---- */

static int log_map_memory(struct vm_area_struct *vma, void *memory, unsigned long size)
{
	unsigned long address;
	int error = 0;

	if (vma->vm_end - vma->vm_start > size)
		return -EINVAL;
	for (address = vma->vm_start; address < vma->vm_end && !error; address += PAGE_SIZE) {
		error = vm_insert_page(vma, address, vmalloc_to_page(memory));
		memory += PAGE_SIZE;
	}
	return error;
}

static int log_map_ring(struct vm_area_struct *vma, struct omx_log *log)
{
	if (vma->vm_flags & VM_WRITE)
		return -EPERM;
	omx_vm_flags_clear(vma, VM_MAYWRITE);
	return log_map_memory(vma, log->kernel, log_kernel_bytes(log));
}

static void log_vma_open(struct vm_area_struct *vma)
{
	struct omx_log *log = vma->vm_private_data;

	refcount_inc(&log->ref);
}

static void log_vma_close(struct vm_area_struct *vma)
{
	omx_log_put(vma->vm_private_data);
}

/* The user is charged for a log that was destroyed as long as it is mapped. */
static const struct vm_operations_struct log_vm_ops = {
	.open	= log_vma_open,
	.close	= log_vma_close,
};

int omx_log_map(struct omx_endpoint *ep, struct vm_area_struct *vma, unsigned long offset)
{
	unsigned long part = (offset - MAP_LOGS) % MAP_STRIDE;
	struct omx_log *log;
	int error = -EINVAL;

	if (offset < MAP_LOGS || (part && part != MAP_USER))
		return -EINVAL;
	log = omx_log_get(ep, min((offset - MAP_LOGS) / MAP_STRIDE, (ulong)OMX_LOGS_MAX));
	if (!log)
		return -EINVAL;
	error = part ? log_map_memory(vma, log->program, PAGE_SIZE) : log_map_ring(vma, log);
	if (error) {
		omx_log_put(log);
		return error;
	}
	vma->vm_private_data = log;	/* has the reference */
	vma->vm_ops = &log_vm_ops;
	return 0;
}

/* ---- waiting ---- */

static bool log_has_news(struct omx_endpoint *ep, const struct omx_log *log,
			 const struct omx_ioc_log_wait *wait)
{
	return READ_ONCE(log->kernel->kcommits) != wait->commits ||
	       READ_ONCE(ep->ring.kernel->kwakeups) != wait->wakeups ||
	       READ_ONCE(log->is_destroyed) || omx_endpoint_is_dead(ep);
}

static long log_wait_for_news(struct omx_endpoint *ep, struct omx_log *log,
			      const struct omx_ioc_log_wait *wait)
{
	long error;

	if (wait->timeout_ms == OMX_ANY)
		error = wait_event_interruptible(log->wait, log_has_news(ep, log, wait));
	else
		error = wait_event_interruptible_hrtimeout(log->wait, log_has_news(ep, log, wait),
							   ms_to_ktime(wait->timeout_ms));
	if (error == -ETIME)
		return -ETIMEDOUT;
	/* No restart: the program decides whether a signal ends its wait. */
	return error == -ERESTARTSYS ? -EINTR : error;
}

long omx_log_wait(struct omx_endpoint *ep, void __user *arg)
{
	struct omx_ioc_log_wait wait;
	struct omx_log *log;
	long error;

	if (copy_from_user(&wait, arg, sizeof(wait)))
		return -EFAULT;
	log = omx_log_get(ep, wait.log);
	if (!log)
		return -ENOENT;
	error = log_wait_for_news(ep, log, &wait);
	if (!error && READ_ONCE(log->is_destroyed))
		error = -ENOENT;
	omx_log_put(log);
	return error;
}

void omx_logs_wake(struct omx_endpoint *ep)
{
	struct omx_log *log;
	u32 i;

	rcu_read_lock();
	for (i = 0; i < OMX_LOGS_MAX; i++) {
		log = rcu_dereference(ep->logs.log[i]);
		if (log)
			wake_up_all(&log->wait);
	}
	rcu_read_unlock();
}

/* ---- entries ---- */

static u32 entry_slots(u32 data_length)
{
	return 1 + DIV_ROUND_UP(data_length, OMX_SLOT_SIZE);
}

/* Wherever the head is, half of the slots are in one piece. */
bool omx_log_may_hold(const struct omx_log *log, u32 data_length)
{
	return entry_slots(data_length) <= log->slots / 2;
}

/* Everything before it has been consumed, if the program is right. */
static u32 log_tail(const struct omx_log *log)
{
	/* Pairs with the program's release: it has read what we overwrite. */
	return smp_load_acquire(&log->program->utail);
}

static struct omx_log_record *log_entry_at(const struct omx_log *log, u32 position)
{
	return &log->entry[position & (log->slots - 1)];
}

static void log_append(struct omx_log *log, struct omx_log_record *slot, u32 slots)
{
	lockdep_assert_held(&log->lock);
	slot->slots = slots;
	log->head += slots;
}

static void log_pad(struct omx_log *log, u32 slots, u64 stamp)
{
	struct omx_log_record *slot = log_entry_at(log, log->head);

	*slot = (struct omx_log_record){
		.state = OMX_RECORD_COMMITTED,
		.kind = OMX_RECORD_PADDING,
		.stamp = stamp,
	};
	log_append(log, slot, slots);
}

/* An entry does not wrap: pads the ring up to its end if necessary. */
static struct omx_log_record *log_take_slots(struct omx_log *log, struct omx_logs *logs,
					    u32 slots)
{
	u32 to_end = log->slots - (log->head & (log->slots - 1));
	u32 pad = to_end < slots ? to_end : 0;
	u32 used = log->head - log_tail(log);
	u64 stamp;

	lockdep_assert_held(&log->lock);
	if (used > log->slots || log->slots - used < slots + pad)
		return NULL;
	stamp = atomic64_inc_return(&logs->clock);
	if (pad)
		log_pad(log, pad, stamp);
	log_entry_at(log, log->head)->stamp = stamp;
	return log_entry_at(log, log->head);
}

struct omx_log_record *omx_log_reserve(struct omx_log *log, struct omx_logs *logs,
				      u32 data_length)
{
	u32 slots = entry_slots(data_length);
	struct omx_log_record *entry;

	spin_lock(&log->lock);
	entry = log_take_slots(log, logs, slots);
	if (entry) {
		entry->state = OMX_RECORD_RESERVED;
		log_append(log, entry, slots);
		/* Pairs with the program's acquire: the entry says that it is reserved. */
		smp_store_release(&log->kernel->khead, log->head);
	} else {
		WRITE_ONCE(log->kernel->krefused, log->kernel->krefused + 1);
	}
	spin_unlock(&log->lock);
	return entry;
}

static void log_count(struct omx_log *log, enum omx_record_state state, u32 data_length)
{
	struct omx_log_kernel *kernel = log->kernel;

	lockdep_assert_held(&log->lock);
	if (state == OMX_RECORD_VOID) {
		WRITE_ONCE(kernel->kvoid, kernel->kvoid + 1);
		return;
	}
	WRITE_ONCE(kernel->kentries, kernel->kentries + 1);
	WRITE_ONCE(kernel->kbytes, kernel->kbytes + data_length);
}

void omx_log_commit(struct omx_log *log, struct omx_log_record *entry,
		    enum omx_record_state state, u32 data_length)
{
	spin_lock(&log->lock);
	log_count(log, state, data_length);
	/* Pairs with the program's acquire: the entry and its data are complete. */
	smp_store_release(&entry->state, state);
	/* ... and whoever sees this sees that state. */
	smp_store_release(&log->kernel->kcommits, log->kernel->kcommits + 1);
	spin_unlock(&log->lock);
	if (wq_has_sleeper(&log->wait))
		wake_up_interruptible(&log->wait);
}

/*
 * Under the lock, because the program may consume the first entry at any time: a producer
 * would then overwrite it between our looks at the tail and at what is there.  The program
 * may have moved its tail anywhere: then the answer is of no use to it.
 */
bool omx_log_is_consumed(struct omx_log *log, u64 stamp)
{
	bool is_consumed;
	u32 tail, used;

	spin_lock(&log->lock);
	tail = log_tail(log);
	used = log->head - tail;
	is_consumed = !used || used > log->slots || log_entry_at(log, tail)->stamp > stamp;
	spin_unlock(&log->lock);
	return is_consumed;
}
