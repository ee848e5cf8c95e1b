// SPDX-License-Identifier: BSD-2-Clause
/*
 * Allocation.  Each object knows the node whose kernel has allocated it, and where; at
 * the end of a run none may be left.  What is freed is overwritten, so that whoever
 * uses it goes wrong soon.  With AddressSanitizer the memory is malloc()'s.
 */
#include <stdio.h>
#include <sys/mman.h>

#include "sim.h"

#define MAGIC		0x51a110c8u
#define STEP		64		/* sizes are multiples of it */
#define CLASSES		64		/* up to 4 KiB; others are malloc()'s */
#define POISON		0x6b

struct object {
	struct list_head link;
	struct sim_node *node;
	const void *caller;
	u32 size;			/* of what follows */
	u32 magic;
	u64 mapped;			/* by mmap(): its length */
};

static LIST_HEAD(objects);
static struct object *unused[CLASSES + 1];

#ifdef __SANITIZE_ADDRESS__
static const bool keep;
#else
static const bool keep = true;
#endif

void sim_charge(struct sim_node *node, long bytes)
{
	if (!node)
		return;
	node->bytes += bytes;
	if (node->bytes > node->peak)
		node->peak = node->bytes;
}

static bool allocation_fails(gfp_t gfp)
{
	if (gfp & GFP_KERNEL)
		sim_require_sleep("kmalloc(GFP_KERNEL)");
	return sim_millionths(gfp & GFP_KERNEL ? sim.fail_kernel : sim.fail_atomic);
}

static void *object_begin(struct object *object, size_t size, const void *caller)
{
	object->size = size;
	object->magic = MAGIC;
	object->node = sim_current;
	object->caller = caller;
	object->mapped = 0;
	list_add_tail(&object->link, &objects);
	if (sim_current)
		sim_current->objects++;
	sim_charge(sim_current, size);
	return object + 1;
}

static void *allocate(size_t size, gfp_t gfp, const void *caller)
{
	u32 class = DIV_ROUND_UP(size ?: 1, STEP);
	struct object *object;

	if (allocation_fails(gfp))
		return NULL;
	if (keep && class <= CLASSES && unused[class]) {
		object = unused[class];
		unused[class] = *(struct object **)(object + 1);
	} else {
		object = malloc(sizeof(*object) + class * STEP);
	}
	return object_begin(object, class * STEP, caller);
}

void *kmalloc(size_t size, gfp_t gfp)
{
	return allocate(size, gfp, __builtin_return_address(0));
}

void *kzalloc(size_t size, gfp_t gfp)
{
	void *p = allocate(size, gfp, __builtin_return_address(0));

	return p ? memset(p, 0, size) : NULL;
}

void *kmemdup(const void *from, size_t size, gfp_t gfp)
{
	void *p = allocate(size, gfp, __builtin_return_address(0));

	return p ? memcpy(p, from, size) : NULL;
}

static struct object *object_of(const void *p)
{
	struct object *object = (struct object *)p - 1;

	if (object->magic != MAGIC)
		SIM_FAIL("%p is not allocated", p);
	return object;
}

size_t ksize(const void *p)
{
	return object_of(p)->size;
}

static struct object *object_end(const void *p)
{
	struct object *object = object_of(p);

	object->magic = 0;
	list_unlink(&object->link);
	if (object->node)
		object->node->objects--;
	sim_charge(object->node, -(long)object->size);
	return object;
}

void kfree(const void *p)
{
	struct object *object;
	u32 class;

	if (!p)
		return;
	object = object_end(p);
	class = object->size / STEP;
	if (!keep || class > CLASSES) {
		free(object);
		return;
	}
	memset(object + 1, POISON, object->size);
	*(struct object **)(object + 1) = unused[class];
	unused[class] = object;
}

void *__vmalloc(unsigned long size, gfp_t gfp)
{
	u64 mapped = PAGE_ALIGN(size + sizeof(struct object));
	void *p;

	if (allocation_fails(gfp))
		return NULL;
	p = mmap(NULL, mapped, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (p == MAP_FAILED)
		SIM_FAIL("out of memory");
	p = object_begin(p, size, __builtin_return_address(0));
	((struct object *)p - 1)->mapped = mapped;
	return p;
}

void vfree(const void *p)
{
	struct object *object;

	if (!p)
		return;
	object = object_end(p);
	munmap(object, object->mapped);
}

void sim_memory_require_empty(void)
{
	struct object *object;

	if (sim_skbs())
		SIM_FAIL("%u frames are left", sim_skbs());
	if (list_empty(&objects))
		return;
	list_for_each_entry(object, &objects, link)
		fprintf(stderr, "node %d: %u bytes are left, allocated at %p\n",
			object->node ? (int)object->node->index : -1, object->size,
			object->caller);
	SIM_FAIL("memory is left");
}

/* ---- the program's memory ---- */

static bool faults_are_disabled;

void pagefault_disable(void)
{
	SIM_REQUIRE(!faults_are_disabled);
	faults_are_disabled = true;
}

void pagefault_enable(void)
{
	SIM_REQUIRE(faults_are_disabled);
	faults_are_disabled = false;
}

unsigned long copy_from_user(void *to, const void *from, size_t length)
{
	size_t copied = length;

	if (!faults_are_disabled)
		sim_require_sleep("copy_from_user()");
	else if (length && sim_chance(sim.absent))
		copied = sim_below(length);
	sim.unread += copied < length;
	memcpy(to, from, copied);
	return length - copied;
}

/* ---- arrays ---- */

static bool xa_grow(struct xarray *xa, unsigned long size, gfp_t gfp)
{
	unsigned long room = max(size, xa->size * 2);
	void **slot = kzalloc(room * sizeof(*slot), gfp);

	if (!slot)
		return false;
	if (xa->slot)
		memcpy(slot, xa->slot, xa->size * sizeof(*slot));
	kfree(xa->slot);
	xa->slot = slot;
	xa->size = room;
	return true;
}

int xa_alloc(struct xarray *xa, u32 *id, void *entry, struct xa_limit limit, gfp_t gfp)
{
	unsigned long i = limit.min;

	while (i < xa->size && xa->slot[i])
		i++;
	if (i > limit.max)
		return -EBUSY;
	if (i >= xa->size && !xa_grow(xa, i + 8, gfp))
		return -ENOMEM;
	xa->slot[i] = entry;
	*id = i;
	return 0;
}

void *xa_store(struct xarray *xa, unsigned long index, void *entry, gfp_t gfp)
{
	if (index >= xa->size && !xa_grow(xa, index + 1, gfp))
		return ERR_PTR(-ENOMEM);
	return xchg(&xa->slot[index], entry);
}

void *xa_erase(struct xarray *xa, unsigned long index)
{
	return index < xa->size ? xchg(&xa->slot[index], NULL) : NULL;
}

void *xa_load(struct xarray *xa, unsigned long index)
{
	return index < xa->size ? xa->slot[index] : NULL;
}

void *xa_find(struct xarray *xa, unsigned long *index, unsigned long max, unsigned int mark)
{
	unsigned long i;

	for (i = *index; i < xa->size && i <= max; i++) {
		if (!xa->slot[i])
			continue;
		*index = i;
		return xa->slot[i];
	}
	return NULL;
}

void xa_destroy(struct xarray *xa)
{
	kfree(xa->slot);
	xa->slot = NULL;
	xa->size = 0;
}
