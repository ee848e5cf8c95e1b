// SPDX-License-Identifier: BSD-2-Clause
/*
 * The engine's own TLB: a translation that the IOMMU has given (ATS) is used until
 * the IOMMU invalidates it.  There is one table for each PASID.  The invalidations
 * and the responses to page requests come from the IOMMU's queue, that is in the
 * thread of a virtual processor that has written to the IOMMU's registers.
 *
 * QEMU's IOMMU may still translate for a PASID after Linux has invalidated everything of
 * it, because its program has ended (README.md, limits).  Such a translation must not be
 * kept for the program that gets the PASID next.  So nothing is kept from an invalidation
 * of all pages on, until a page request has been answered with success, because then the
 * PASID is in use.
 */
#include <stdlib.h>
#include <string.h>

#include "engine.h"

#define TLB_ENTRIES	64

/* What is known of one PASID.  QEMU keeps pointers to the notifiers. */
struct space {
	struct space *next;
	struct engine *engine;
	uint32_t pasid;
	bool is_in_doubt;		/* may be ending, so no translation is kept */
	struct page_notifier responses;
	_Alignas(16) char invalidations[256];	/* QEMU's, which is smaller */
	struct iommu_entry tlb[TLB_ENTRIES];	/* of one page each; perm 0: free */
};

#define container_of(pointer, type, member) \
	((type *)((char *)(pointer) - offsetof(type, member)))

static void space_respond(struct page_notifier *notifier, struct page_response *response)
{
	struct space *space = container_of(notifier, struct space, responses);

	if (response->code == PAGE_SUCCESS)
		space->is_in_doubt = false;
	page_respond(space->engine, space->pasid, response);
}

/* ---- the TLB ---- */

static struct iommu_entry *tlb_slot(struct space *space, uint64_t page)
{
	return &space->tlb[page / PAGE % TLB_ENTRIES];
}

static void tlb_invalidate(IOMMUNotifier *notifier, struct iommu_entry *range)
{
	struct space *space = container_of(notifier, struct space, invalidations);
	unsigned int n;

	if (range->addr_mask == UINT64_MAX)
		space->is_in_doubt = true;
	for (n = 0; n < TLB_ENTRIES; n++)
		if ((space->tlb[n].iova & ~range->addr_mask) == (range->iova & ~range->addr_mask))
			space->tlb[n].perm = 0;
}

void pasid_forget_translations(struct engine *engine)
{
	struct space *space;

	for (space = engine->spaces; space; space = space->next)
		memset(space->tlb, 0, sizeof(space->tlb));
}

/* ---- PASIDs ---- */

static bool space_register(struct space *space)
{
	PCIDevice *device = space->engine->device;
	IOMMUNotifier *notifier = (IOMMUNotifier *)space->invalidations;

	space->responses.notify = space_respond;
	if (pci_iommu_init_iotlb_notifier(device, notifier, tlb_invalidate, space) ||
	    pci_iommu_register_iotlb_notifier(device, space->pasid, notifier))
		return false;
	if (!pci_pri_register_notifier(device, space->pasid, &space->responses))
		return true;
	pci_iommu_unregister_iotlb_notifier(device, space->pasid, notifier);
	return false;
}

/* NULL: the function may not use PASIDs, or not ask for pages. */
static struct space *space_add(struct engine *engine, uint32_t pasid)
{
	struct space *space = calloc(1, sizeof(*space));

	if (!space)
		return NULL;
	space->engine = engine;
	space->pasid = pasid;
	if (!space_register(space)) {
		free(space);
		return NULL;
	}
	space->next = engine->spaces;
	engine->spaces = space;
	return space;
}

static struct space *space_of(struct engine *engine, uint32_t pasid)
{
	struct space *space;

	for (space = engine->spaces; space; space = space->next)
		if (space->pasid == pasid)
			return space;
	return space_add(engine, pasid);
}

/* Not freed: QEMU may not have forgotten them, if the driver has disabled PASIDs before. */
void pasid_exit(struct engine *engine)
{
	struct space *space;

	for (space = engine->spaces; space; space = space->next) {
		pci_pri_unregister_notifier(engine->device, space->pasid);
		pci_iommu_unregister_iotlb_notifier(engine->device, space->pasid,
						    (IOMMUNotifier *)space->invalidations);
	}
}

/* ---- translations ---- */

/* The page of what the IOMMU has translated, which may be larger. */
static void narrow(struct iommu_entry *entry, uint64_t page)
{
	entry->translated_addr = (entry->translated_addr & ~entry->addr_mask) |
				 (page & entry->addr_mask);
	entry->iova = page;
	entry->addr_mask = PAGE - 1;
}

/* Reading asks for a translation to read, or the page would become dirty. */
static bool ask_iommu(struct space *space, uint64_t page, bool is_write,
		      struct iommu_entry *entry)
{
	uint32_t untranslated = 0;

	if (pci_ats_request_translation(space->engine->device, space->pasid, false, false, page,
					PAGE, !is_write, entry, 1, &untranslated) != 1)
		return false;
	narrow(entry, page);
	return !untranslated;
}

bool pasid_translate(struct engine *engine, struct target target, bool is_write,
		     struct iommu_entry *entry)
{
	struct space *space = space_of(engine, target.pasid);
	uint64_t page = target.address & ~(uint64_t)(PAGE - 1);
	int needed = is_write ? IOMMU_WO : IOMMU_RO;
	struct iommu_entry *slot;

	if (!space)
		return false;
	slot = tlb_slot(space, page);
	if (slot->iova == page && (slot->perm & needed)) {
		*entry = *slot;
		return true;
	}
	if (!ask_iommu(space, page, is_write, entry) || !(entry->perm & needed))
		return false;
	if (!space->is_in_doubt)
		*slot = *entry;
	return true;
}
