// SPDX-License-Identifier: BSD-2-Clause
/*
 * The engine's accesses to memory, through the IOMMU if the machine has one.
 * channel.c calls this with at most one page.
 *
 * QEMU would translate an access that the IOMMU blocks again for every few bytes
 * and the IOMMU would report each of them.  So ask first, once.
 */
#include "engine.h"

#define CONFIG_COMMAND		4
#define COMMAND_BUS_MASTER	4

static bool is_bus_master(struct engine *engine)
{
	return pci_default_read_config(engine->device, CONFIG_COMMAND, 2) & COMMAND_BUS_MASTER;
}

static bool dma_access(struct engine *engine, struct target target, void *buffer, size_t length,
		       bool is_write)
{
	AddressSpace *space = pci_device_iommu_address_space(engine->device);

	return is_bus_master(engine) && !target.has_pasid &&
	       address_space_access_valid(space, target.address, length, is_write, 0) &&
	       !address_space_rw(space, target.address, 0, buffer, length, is_write);
}

bool dma_read(struct engine *engine, struct target target, void *buffer, size_t length)
{
	return dma_access(engine, target, buffer, length, false);
}

bool dma_write(struct engine *engine, struct target target, void *buffer, size_t length)
{
	return dma_access(engine, target, buffer, length, true);
}
