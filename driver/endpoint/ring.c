// SPDX-License-Identifier: GPL-2.0
/*
 * The event ring of an endpoint: how events are written, and what waits while the
 * ring is full.
 *
 * The receiving halves of channels and pulls write events in softirq, ioctls and
 * works in process context.  The program reads them from its mapping.
 */
#include <linux/mm.h>
#include <linux/skbuff.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "endpoint/account.h"
#include "endpoint/ring.h"
#include "observe/lock_order.h"

/* Slots that messages leave to completions, so that these are not delayed. */
#define SLOTS_FOR_COMPLETIONS	(OMX_RING_SLOTS / 16)

static_assert(sizeof(struct omx_event) == OMX_SLOT_SIZE);
static_assert(sizeof(struct omx_ring_kernel) <= PAGE_SIZE);
static_assert((OMX_RING_SLOTS & (OMX_RING_SLOTS - 1)) == 0);

#define KERNEL_BYTES	(OMX_RING_BYTES - PAGE_SIZE)

/* As vmalloc_user(), but charged to the program's control group. */
static void *ring_alloc(unsigned long size)
{
	return __vmalloc(size, GFP_KERNEL_ACCOUNT | __GFP_ZERO);
}

int omx_ring_init(struct omx_ring *ring)
{
	omx_spin_lock_init(&ring->lock, OMX_LOCK_RING);
	INIT_LIST_HEAD(&ring->backlog);
	ring->kernel = ring_alloc(KERNEL_BYTES);
	ring->user = ring_alloc(PAGE_SIZE);
	if (!ring->kernel || !ring->user) {
		omx_ring_destroy(ring);
		return -ENOMEM;
	}
	ring->slot = (void *)ring->kernel + PAGE_SIZE;
	return 0;
}

void omx_completion_free(struct omx_completion *completion)
{
	if (!completion || !completion->user)
		return;
	omx_account_uncharge_object(completion->user, completion);
	kfree(completion);
}

void omx_ring_destroy(struct omx_ring *ring)
{
	struct omx_completion *completion, *next;

	list_for_each_entry_safe(completion, next, &ring->backlog, link) {
		list_del_init(&completion->link);
		omx_completion_free(completion);
	}
	vfree(ring->user);
	vfree(ring->kernel);
}

static int ring_map(struct vm_area_struct *vma, void *memory, unsigned long size)
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

int omx_ring_map_kernel(struct omx_ring *ring, struct vm_area_struct *vma)
{
	return ring_map(vma, ring->kernel, KERNEL_BYTES);
}

int omx_ring_map_user(struct omx_ring *ring, struct vm_area_struct *vma)
{
	return ring_map(vma, ring->user, PAGE_SIZE);
}

struct omx_completion *omx_completion_alloc(struct omx_account *user, enum omx_event_type type,
					    u64 cookie, gfp_t gfp)
{
	struct omx_completion *completion = omx_account_alloc(user, sizeof(*completion), gfp);

	if (!completion)
		return NULL;
	INIT_LIST_HEAD(&completion->link);
	completion->user = user;
	completion->event.type = type;
	completion->event.cookie = cookie;
	return completion;
}

void omx_completion_reset(struct omx_completion *completion, enum omx_event_type type, u64 cookie)
{
	completion->event = (struct omx_event){ .type = type, .cookie = cookie };
}

void omx_completion_init(struct omx_completion *completion, enum omx_event_type type)
{
	INIT_LIST_HEAD(&completion->link);
	completion->event.type = type;
}

void omx_ring_forget(struct omx_ring *ring, struct omx_completion *completion)
{
	spin_lock_bh(&ring->lock);
	list_del_init(&completion->link);
	spin_unlock_bh(&ring->lock);
}

/*
 * Reserves slots for an entry, which must not wrap: pads the ring up to its end
 * if necessary.  NULL: there is not enough room.
 */
static struct omx_event *ring_reserve(struct omx_ring *ring, u32 slots)
{
	u32 index = ring->head & (OMX_RING_SLOTS - 1);
	u32 to_end = OMX_RING_SLOTS - index;
	u32 pad = to_end < slots ? to_end : 0;

	lockdep_assert_held(&ring->lock);
	if (omx_ring_room(ring) < slots + pad)
		return NULL;
	if (pad) {
		ring->slot[index] = (struct omx_event){
			.type = OMX_EVENT_SKIP,
			.slots = pad,
		};
		ring->head += pad;
		index = 0;
	}
	return &ring->slot[index];
}

static void ring_publish(struct omx_ring *ring, u32 slots)
{
	lockdep_assert_held(&ring->lock);
	ring->head += slots;
	/* Pairs with the program's acquire: the slots are complete. */
	smp_store_release(&ring->kernel->khead, ring->head);
}

static void ring_copy(void *to, const struct sk_buff *skb, int offset, u32 length)
{
	if (offset + length <= skb_headlen(skb))
		memcpy(to, skb->data + offset, length);
	else
		skb_copy_bits(skb, offset, to, length);
}

bool omx_ring_push(struct omx_ring *ring, struct omx_event *event,
		   const struct sk_buff *skb, int offset, u32 length)
{
	bool inside = length <= OMX_TINY_MAX;
	struct omx_event *slot = NULL;

	event->slots = omx_ring_slots(length);

	spin_lock(&ring->lock);
	/* Messages overtake no completion, and leave room for some. */
	if (list_empty(&ring->backlog) &&
	    omx_ring_room(ring) >= event->slots + SLOTS_FOR_COMPLETIONS)
		slot = ring_reserve(ring, event->slots);
	if (slot) {
		*slot = *event;
		if (length)
			ring_copy(inside ? slot->data : (void *)(slot + 1), skb, offset, length);
		ring_publish(ring, event->slots);
	} else {
		WRITE_ONCE(ring->kernel->kbacklog, 1);
	}
	spin_unlock(&ring->lock);
	return slot;
}

static bool ring_write_completion(struct omx_ring *ring, struct omx_completion *completion)
{
	struct omx_event *slot = ring_reserve(ring, 1);

	if (!slot)
		return false;
	completion->event.slots = 1;
	*slot = completion->event;
	ring_publish(ring, 1);
	return true;
}

/* Appends it, or has the program kick when it makes room.  False: it has to wait. */
static bool ring_append_completion(struct omx_ring *ring, struct omx_completion *completion)
{
	lockdep_assert_held(&ring->lock);
	/* kbacklog is set since the first of them came. */
	if (!list_empty(&ring->backlog))
		return false;
	if (ring_write_completion(ring, completion))
		return true;
	WRITE_ONCE(ring->kernel->kbacklog, 1);
	/*
	 * The program may have made room just before, and sleeps if it did not see
	 * kbacklog.  Pairs with the barrier between its utail and its look at kbacklog:
	 * it sees that it has to kick, or we see the room.
	 */
	smp_mb();
	return ring_write_completion(ring, completion);
}

bool omx_ring_post(struct omx_ring *ring, struct omx_completion *completion)
{
	bool waits;

	spin_lock_bh(&ring->lock);
	waits = !ring_append_completion(ring, completion);
	if (!waits)
		omx_completion_free(completion);
	else if (list_empty(&completion->link))
		list_add_tail(&completion->link, &ring->backlog);
	spin_unlock_bh(&ring->lock);
	return waits;
}

bool omx_ring_try_post(struct omx_ring *ring, struct omx_completion *completion)
{
	bool written;

	spin_lock_bh(&ring->lock);
	written = list_empty(&ring->backlog) && ring_write_completion(ring, completion);
	spin_unlock_bh(&ring->lock);
	return written;
}

bool omx_ring_is_backlogged(struct omx_ring *ring)
{
	bool waits;

	spin_lock_bh(&ring->lock);
	/* kbacklog is set since the first of them came. */
	waits = !list_empty(&ring->backlog);
	spin_unlock_bh(&ring->lock);
	return waits;
}

bool omx_ring_flush(struct omx_ring *ring)
{
	struct omx_completion *completion, *next;
	bool empty;

	spin_lock_bh(&ring->lock);
	list_for_each_entry_safe(completion, next, &ring->backlog, link) {
		if (!ring_write_completion(ring, completion))
			break;
		list_del_init(&completion->link);
		omx_completion_free(completion);
	}
	empty = list_empty(&ring->backlog);
	WRITE_ONCE(ring->kernel->kbacklog, !empty);
	spin_unlock_bh(&ring->lock);
	return empty;
}
