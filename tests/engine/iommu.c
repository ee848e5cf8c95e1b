// SPDX-License-Identifier: BSD-2-Clause
/*
 * QEMU's intel-iommu does not announce that it reads page tables through the caches
 * (SMPWC), though it does.  Linux does not give a process's page tables to an IOMMU
 * without that.  So this puts a function of its own in front of the one that reads
 * the registers.
 */
#include <string.h>

#include "engine.h"

#define IOMMU_ADDRESS	0xfed90000
#define IOMMU_ECAP	0x10
#define ECAP_SMPWC	(1ULL << 48)

static const struct memory_operations *iommus;
static struct memory_operations operations;

static uint64_t iommu_read(void *opaque, uint64_t address, unsigned int size)
{
	uint64_t value = iommus->read(opaque, address, size);

	if (address == IOMMU_ECAP && size == 8)
		value |= ECAP_SMPWC;
	if (address == IOMMU_ECAP + 4 && size == 4)
		value |= ECAP_SMPWC >> 32;
	return value;
}

static MemoryRegion *find_iommu(void)
{
	MemoryRegion *region = memory_region_find(get_system_memory(), IOMMU_ADDRESS, 8).region;
	const char *name = region ? memory_region_name(region) : NULL;

	return name && !strcmp(name, "intel_iommu") ? region : NULL;
}

/* Where a region keeps the pointer to its operations, which OWN shows. */
static const struct memory_operations **operations_of(MemoryRegion *region,
						      const MemoryRegion *own,
						      const void *own_operations)
{
	const void *const *member = (const void *const *)own;
	size_t n;

	for (n = 0; n < 64; n++)
		if (member[n] == own_operations)
			return (const struct memory_operations **)region + n;
	return NULL;
}

void iommu_complete_capabilities(const MemoryRegion *own, const void *own_operations)
{
	MemoryRegion *region = find_iommu();
	const struct memory_operations **place;

	if (!region || iommus)
		return;
	place = operations_of(region, own, own_operations);
	if (!place)
		return;
	iommus = *place;
	operations = *iommus;
	operations.read = iommu_read;
	*place = &operations;
}
