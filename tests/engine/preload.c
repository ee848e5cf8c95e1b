// SPDX-License-Identifier: BSD-2-Clause
/*
 * Makes "-device omx-engine" known to an unmodified QEMU that was started with this
 * shared object in LD_PRELOAD.  The executable exports its functions.  The places of
 * the members of its structures are found out at run time; where that cannot be done,
 * they hold for the versions in the list.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine.h"

static const struct {
	int major, minor;
} known_versions[] = { { 7, 2 }, { 11, 1 } };

static const char *const functions[] = {
	"register_module_init", "type_register_static", "object_class_by_name",
	"qmp_query_version",
	"pci_register_bar", "pci_default_read_config", "pci_default_write_config",
	"pcie_endpoint_cap_init", "pcie_cap_flr_init", "pcie_cap_flr_write_config",
	"msix_init_exclusive_bar", "msix_uninit_exclusive_bar", "msix_vector_use", "msix_notify",
	"memory_region_init_io", "pci_device_iommu_address_space", "address_space_access_valid",
	"address_space_rw", "memory_region_name", "memory_region_find", "get_system_memory",
	"qemu_clock_get_ns", "timer_init_full", "timer_mod_ns", "timer_del",
};

/* With all of these the engine has PASID and page requests. */
static const char *const pasid_functions[] = {
	"pcie_pasid_init", "pcie_ats_init", "pcie_pri_init", "pci_ats_request_translation",
	"pci_iommu_init_iotlb_notifier", "pci_iommu_register_iotlb_notifier",
	"pci_iommu_unregister_iotlb_notifier", "pci_pri_register_notifier",
	"pci_pri_unregister_notifier", "pci_pri_request_page",
};

#define LENGTH(array)	(sizeof(array) / sizeof((array)[0]))

#define die(...)							\
	do {								\
		fprintf(stderr, "omx-engine: " __VA_ARGS__);		\
		fputc('\n', stderr);					\
		exit(1);						\
	} while (0)

/* ---- life of a device ---- */

#define MSIX_BAR		4
#define MEMORY_64		4	/* PCI_BASE_ADDRESS_MEM_TYPE_64 */
#define CAPABILITY_OFFSET	0x80

/* Extended ones; and how many page requests may be under way. */
#define PASID_OFFSET		0x100
#define ATS_OFFSET		0x108
#define PRI_OFFSET		0x110
#define PASID_BITS		20
#define PAGE_REQUESTS		32

/* All there have been: QEMU's notifiers of one may outlive it. */
static struct engine *engines;

static struct engine *engine_of(const void *device)
{
	struct engine *engine;

	for (engine = engines; engine; engine = engine->next)
		if (engine->device == device)
			return engine;
	return NULL;
}

static struct engine *engine_add(PCIDevice *device)
{
	struct engine *engine = calloc(1, sizeof(*engine));
	unsigned int n;

	if (!engine)
		die("no memory");
	engine->device = device;
	for (n = 0; n < CHANNELS; n++) {
		engine->channels[n].engine = engine;
		engine->channels[n].number = n;
	}
	engine->next = engines;
	engines = engine;
	return engine;
}

/* The name of the first that this QEMU does not have, or NULL. */
static const char *missing_function(const char *const *names, size_t length)
{
	size_t n;

	for (n = 0; n < length; n++)
		if (!dlsym(RTLD_DEFAULT, names[n]))
			return names[n];
	return NULL;
}

static void pasid_init(struct engine *engine)
{
	if (missing_function(pasid_functions, LENGTH(pasid_functions)))
		return;
	pcie_pasid_init(engine->device, PASID_OFFSET, PASID_BITS, false, false);
	pcie_ats_init(engine->device, ATS_OFFSET, true);
	pcie_pri_init(engine->device, PRI_OFFSET, PAGE_REQUESTS, true);
	iommu_complete_capabilities((MemoryRegion *)engine->region, &engine_registers);
	engine->has_pasid = true;
}

static void device_realize(PCIDevice *device, Error **error)
{
	struct engine *engine = engine_add(device);
	MemoryRegion *region = (MemoryRegion *)engine->region;
	unsigned int n;

	timer_init_full((QEMUTimer *)engine->timer, NULL, QEMU_CLOCK_VIRTUAL, 1, 0, engine_run,
			engine);
	memory_region_init_io(region, (Object *)device, &engine_registers, engine,
			      "omx-engine-registers", ENGINE_BAR_SIZE);
	pci_register_bar(device, ENGINE_BAR, MEMORY_64, region);
	if (pcie_endpoint_cap_init(device, CAPABILITY_OFFSET) < 0)
		die("no room for the PCI Express capability");
	pcie_cap_flr_init(device);
	pasid_init(engine);
	if (msix_init_exclusive_bar(device, CHANNEL_VECTOR(CHANNELS), MSIX_BAR, error))
		return;
	for (n = 0; n < CHANNEL_VECTOR(CHANNELS); n++)
		msix_vector_use(device, n);
}

static void device_exit(PCIDevice *device)
{
	struct engine *engine = engine_of(device);

	engine_reset(engine);
	pasid_exit(engine);
	msix_uninit_exclusive_bar(device);
	engine->device = NULL;
}

static void (*parent_reset)(DeviceState *device);

/* A reset of the bus, of the machine, and of the function. */
static void device_reset(DeviceState *device)
{
	struct engine *engine = engine_of(device);

	if (parent_reset)
		parent_reset(device);
	if (!engine)
		return;
	engine_reset(engine);
	page_forget_requests(engine);
}

static void device_write_config(PCIDevice *device, uint32_t address, uint32_t value, int size)
{
	pci_default_write_config(device, address, value, size);
	pcie_cap_flr_write_config(device, address, value, size);
}

/* ---- its class ---- */

/* How PCIDeviceClass goes on behind DeviceClass. */
struct pci_class {
	void (*realize)(PCIDevice *device, Error **error);
	void (*exit)(PCIDevice *device);
	uint32_t (*config_read)(PCIDevice *device, uint32_t address, int size);
	void (*config_write)(PCIDevice *device, uint32_t address, uint32_t value, int size);
	uint16_t vendor_id;
	uint16_t device_id;
	uint8_t revision;
	uint16_t class_id;
};

#define CLASS_SYSTEM_OTHER	0x0880

/* By the IDs of a device that every version has, which are written down in its class. */
static struct pci_class *find_pci_class(ObjectClass *class)
{
	static const struct pci_class edu = {
		.vendor_id = 0x1234, .device_id = 0x11e8, .revision = 0x10, .class_id = 0xff
	};
	char *known = (char *)object_class_by_name("edu");
	size_t at;

	for (at = 64; known && at < 256; at += sizeof(void *)) {
		struct pci_class *found = (struct pci_class *)(known + at);

		if (found->vendor_id == edu.vendor_id && found->device_id == edu.device_id &&
		    found->revision == edu.revision && found->class_id == edu.class_id &&
		    found->realize && found->exit)
			return (struct pci_class *)((char *)class + at);
	}
	die("PCIDeviceClass of this QEMU is not as expected");
}

static void set_reset(DeviceClass *class)
{
	if (device_class_set_parent_reset)
		device_class_set_parent_reset(class, device_reset, &parent_reset);
	else if (device_class_set_legacy_reset)
		device_class_set_legacy_reset(class, device_reset);
	else
		die("this QEMU has no reset that is known");
}

static void class_init(ObjectClass *class, void *data)
{
	struct pci_class *pci = find_pci_class(class);

	(void)data;
	pci->realize = device_realize;
	pci->exit = device_exit;
	pci->config_write = device_write_config;
	pci->vendor_id = ENGINE_PCI_VENDOR;
	pci->device_id = ENGINE_PCI_DEVICE;
	pci->revision = ENGINE_VERSION_VALUE;
	pci->class_id = CLASS_SYSTEM_OTHER;
	set_reset((DeviceClass *)class);
}

/* ---- registration ---- */

static void check_version(void)
{
	const struct version_triple *is = qmp_query_version(NULL)->qemu;
	size_t n;

	for (n = 0; n < LENGTH(known_versions); n++)
		if (is->major == known_versions[n].major && is->minor == known_versions[n].minor)
			return;
	die("not known to work with QEMU %d.%d; see known_versions in preload.c", (int)is->major,
	    (int)is->minor);
}

static void engine_register(void)
{
	static const struct type_interface interfaces[] = { { "pci-express-device" }, { NULL } };
	/* A device is as large as its parent; the engine is elsewhere. */
	static const struct type_info info = {
		.name = "omx-engine",
		.parent = "pci-device",
		.class_init = class_init,
		.interfaces = interfaces,
	};

	check_version();
	type_register_static(&info);
}

/* At the time of other types, those that this one refers to may be missing. */
__attribute__((constructor)) static void preloaded(void)
{
	const char *missing = missing_function(functions, LENGTH(functions));

	if (missing)
		die("%s has no function %s, so it is no QEMU known to work",
		    program_invocation_name, missing);
	register_module_init(engine_register, MODULE_INIT_MIGRATION);
}
