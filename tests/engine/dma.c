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

static enum access access_in(AddressSpace *space, uint64_t address, void *buffer, size_t length,
			     bool is_write)
{
	if (address_space_access_valid(space, address, length, is_write, 0) &&
	    !address_space_rw(space, address, 0, buffer, length, is_write))
		return ACCESS_DONE;
	return ACCESS_FAULT;
}

static enum access access_with_pasid(struct channel *channel, struct target target, void *buffer,
				     size_t length, bool is_write)
{
	struct iommu_entry entry;

	if (!pasid_translate(channel->engine, target, is_write, &entry))
		return page_await(channel, target, is_write);
	page_forget(channel);
	return access_in(entry.target_as, entry.translated_addr + target.address % PAGE, buffer,
			 length, is_write);
}

static enum access dma_access(struct channel *channel, struct target target, void *buffer,
			      size_t length, bool is_write)
{
	PCIDevice *device = channel->engine->device;

	if (!is_bus_master(channel->engine))
		return ACCESS_FAULT;
	if (target.has_pasid)
		return access_with_pasid(channel, target, buffer, length, is_write);
	return access_in(pci_device_iommu_address_space(device), target.address, buffer, length,
			 is_write);
}

enum access dma_read(struct channel *channel, struct target target, void *buffer, size_t length)
{
	return dma_access(channel, target, buffer, length, false);
}

enum access dma_write(struct channel *channel, struct target target, void *buffer, size_t length)
{
	return dma_access(channel, target, buffer, length, true);
}
