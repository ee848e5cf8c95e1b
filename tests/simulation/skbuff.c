// SPDX-License-Identifier: BSD-2-Clause
/*
 * Frames.  The bytes of those that are freed are used for the next ones of the same
 * size.  A frame is charged to the node that has it; on a link it is nobody's.
 */
#include "sim.h"

static struct sk_buff *unused_skbs;
static u32 count;
static struct sim_bytes *unused_bytes[3];
static const u32 sizes[] = { 320, 2048, 9600 };

#ifdef __SANITIZE_ADDRESS__
static const bool keep;
#else
static const bool keep = true;
#endif

static int size_class(u32 size)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(sizes); i++)
		if (size <= sizes[i])
			return i;
	return -1;
}

static struct sim_bytes *bytes_alloc(u32 size)
{
	int class = size_class(size);
	struct sim_bytes *bytes;

	if (keep && class >= 0 && unused_bytes[class]) {
		bytes = unused_bytes[class];
		unused_bytes[class] = bytes->next;
	} else {
		bytes = malloc(sizeof(*bytes) + (class < 0 ? size : sizes[class]));
	}
	bytes->size = size;
	bytes->refs = 1;
	return bytes;
}

static void bytes_put(struct sim_bytes *bytes)
{
	int class = size_class(bytes->size);

	SIM_REQUIRE(bytes->refs > 0);
	if (--bytes->refs)
		return;
	if (!keep || class < 0) {
		free(bytes);
		return;
	}
	memset(bytes->start, 0x6b, min(bytes->size, 160u));
	bytes->next = unused_bytes[class];
	unused_bytes[class] = bytes;
}

void sim_skb_set_owner(struct sk_buff *skb, struct sim_node *node)
{
	sim_charge(skb->owner, -(long)skb->truesize);
	skb->owner = node;
	sim_charge(skb->owner, skb->truesize);
}

void sim_skb_set_truesize(struct sk_buff *skb, u32 truesize)
{
	sim_charge(skb->owner, (long)truesize - (long)skb->truesize);
	skb->truesize = truesize;
}

static bool skb_allocation_fails(gfp_t gfp)
{
	if (gfp & GFP_KERNEL)
		sim_require_sleep("alloc_skb(GFP_KERNEL)");
	return sim_millionths(gfp & GFP_KERNEL ? sim.fail_kernel : sim.fail_atomic);
}

u32 sim_skbs(void)
{
	return count;
}

static struct sk_buff *skb_take(void)
{
	struct sk_buff *skb = unused_skbs;

	count++;
	if (!keep || !skb)
		return malloc(sizeof(*skb));
	unused_skbs = skb->next;
	return skb;
}

struct sk_buff *__alloc_skb(unsigned int size, gfp_t gfp, int flags, int node)
{
	struct sk_buff *skb;

	if (skb_allocation_fails(gfp))
		return NULL;
	skb = skb_take();
	memset(skb, 0, sizeof(*skb));
	refcount_set(&skb->users, 1);
	skb->bytes = bytes_alloc(ALIGN(size, 64));
	skb->head = skb->data = skb->bytes->start;
	skb->truesize = SKB_TRUESIZE(skb->bytes->size);
	skb->fclone = flags & SKB_ALLOC_FCLONE ? SKB_FCLONE_ORIG : SKB_FCLONE_UNAVAILABLE;
	sim_skb_set_owner(skb, sim_current);
	return skb;
}

struct sk_buff *skb_clone(struct sk_buff *skb, gfp_t gfp)
{
	struct sk_buff *clone;

	if (skb_allocation_fails(gfp))
		return NULL;
	clone = skb_take();
	*clone = *skb;
	refcount_set(&clone->users, 1);
	clone->next = clone->prev = NULL;
	clone->destructor = NULL;
	clone->sk = NULL;
	clone->fclone = SKB_FCLONE_UNAVAILABLE;
	memset(&clone->event, 0, sizeof(clone->event));
	clone->bytes->refs++;
	clone->owner = NULL;
	sim_skb_set_owner(clone, sim_current);
	return clone;
}

/* With bytes of its own. */
struct sk_buff *skb_copy(const struct sk_buff *skb, gfp_t gfp)
{
	struct sk_buff *copy = skb_clone((struct sk_buff *)skb, gfp);

	if (!copy)
		return NULL;
	copy->bytes->refs--;
	copy->bytes = bytes_alloc(skb->bytes->size);
	memcpy(copy->bytes->start, skb->bytes->start, skb->bytes->size);
	copy->data = copy->bytes->start + (skb->data - skb->head);
	copy->head = copy->bytes->start;
	return copy;
}

void skb_orphan(struct sk_buff *skb)
{
	void (*destructor)(struct sk_buff *skb) = skb->destructor;

	skb->destructor = NULL;
	if (destructor)
		destructor(skb);
	skb->sk = NULL;
}

void kfree_skb(struct sk_buff *skb)
{
	if (!skb || !refcount_dec_and_test(&skb->users))
		return;
	count--;
	skb_orphan(skb);
	SIM_REQUIRE(!sim_event_is_queued(&skb->event));
	sim_skb_set_owner(skb, NULL);
	bytes_put(skb->bytes);
	if (!keep) {
		free(skb);
		return;
	}
	memset(skb, 0x6b, sizeof(*skb));
	refcount_set(&skb->users, 0);	/* whoever frees it again is noticed */
	skb->next = unused_skbs;
	unused_skbs = skb;
}
