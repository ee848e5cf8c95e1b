/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The functions of QEMU's executable that the engine calls, and the two structures
 * that it fills in.  There is no package with QEMU's headers; what stands here
 * holds for the versions that preload.c accepts.  All other objects of QEMU are
 * opaque; preload.c finds out at run time how large they are.
 */
#ifndef OMX_ENGINE_QEMU_H
#define OMX_ENGINE_QEMU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

typedef struct AddressSpace AddressSpace;
typedef struct DeviceClass DeviceClass;
typedef struct DeviceState DeviceState;
typedef struct Error Error;
typedef struct IOMMUNotifier IOMMUNotifier;
typedef struct MemoryRegion MemoryRegion;
typedef struct ObjectClass ObjectClass;
typedef struct Object Object;
typedef struct PCIDevice PCIDevice;
typedef struct QEMUTimer QEMUTimer;
typedef struct QEMUTimerListGroup QEMUTimerListGroup;

/* MemTxAttrs, a structure of bits that is passed in one register; 0: none. */
typedef uint64_t MemTxAttrs;

struct type_interface {
	const char *type;
};

struct type_info {
	const char *name;
	const char *parent;
	size_t instance_size;
	size_t instance_align;
	void (*instance_init)(Object *object);
	void (*instance_post_init)(Object *object);
	void (*instance_finalize)(Object *object);
	bool abstract;
	size_t class_size;
	void (*class_init)(ObjectClass *class, void *data);
	void (*class_base_init)(ObjectClass *class, void *data);
	void *class_data;
	const struct type_interface *interfaces;
};

enum { DEVICE_LITTLE_ENDIAN = 2 };

struct memory_operations {
	uint64_t (*read)(void *opaque, uint64_t address, unsigned int size);
	void (*write)(void *opaque, uint64_t address, uint64_t value, unsigned int size);
	void *read_with_attrs;
	void *write_with_attrs;
	int endianness;
	struct {
		unsigned int min_access_size;
		unsigned int max_access_size;
		bool unaligned;
		void *accepts;
	} valid;
	struct {
		unsigned int min_access_size;
		unsigned int max_access_size;
		bool unaligned;
	} implementation;
};

struct version_triple {
	int64_t major, minor, micro;
};

struct version_info {
	struct version_triple *qemu;
	char *package;
};

/* What IOMMUTLBEntry is; of IOMMUAccessFlags the two that matter. */
enum { IOMMU_RO = 1, IOMMU_WO = 2 };

struct iommu_entry {
	AddressSpace *target_as;
	uint64_t iova;
	uint64_t translated_addr;
	uint64_t addr_mask;
	int perm;
	uint32_t pasid;
};

enum page_response_code { PAGE_SUCCESS = 0, PAGE_INVALID = 1, PAGE_FAILURE = 2 };

struct page_response {
	int code;
	uint16_t group;
};

struct page_notifier {
	void (*notify)(struct page_notifier *notifier, struct page_response *response);
};

/* The start of MemoryRegionSection, and more room than the rest of it takes. */
struct memory_section {
	__int128 size;
	MemoryRegion *region;
	void *rest[13];
};

/* A function that not all of these versions have; 0 is its address in the others. */
#define SOME_VERSIONS	__attribute__((weak))

/* ---- types ---- */
enum { MODULE_INIT_MIGRATION = 0 };
void register_module_init(void (*fn)(void), int phase);
void *type_register_static(const struct type_info *info);
ObjectClass *object_class_by_name(const char *name);
SOME_VERSIONS
void device_class_set_parent_reset(DeviceClass *class, void (*reset)(DeviceState *device),
				   void (**parent)(DeviceState *device));
SOME_VERSIONS
void device_class_set_legacy_reset(DeviceClass *class, void (*reset)(DeviceState *device));
struct version_info *qmp_query_version(Error **error);

/* ---- a PCI function ---- */
void pci_register_bar(PCIDevice *device, int number, uint8_t type, MemoryRegion *region);
uint32_t pci_default_read_config(PCIDevice *device, uint32_t address, int size);
void pci_default_write_config(PCIDevice *device, uint32_t address, uint32_t value, int size);
int pcie_endpoint_cap_init(PCIDevice *device, uint8_t offset);
void pcie_cap_flr_init(PCIDevice *device);
void pcie_cap_flr_write_config(PCIDevice *device, uint32_t address, uint32_t value, int size);
int msix_init_exclusive_bar(PCIDevice *device, unsigned short vectors, uint8_t bar,
			    Error **error);
void msix_uninit_exclusive_bar(PCIDevice *device);
int msix_vector_use(PCIDevice *device, unsigned int vector);
void msix_notify(PCIDevice *device, unsigned int vector);

/* ---- memory ---- */
void memory_region_init_io(MemoryRegion *region, Object *owner,
			   const struct memory_operations *operations, void *opaque,
			   const char *name, uint64_t size);
AddressSpace *pci_device_iommu_address_space(PCIDevice *device);
bool address_space_access_valid(AddressSpace *space, uint64_t address, uint64_t length,
				bool is_write, MemTxAttrs attributes);
uint32_t address_space_rw(AddressSpace *space, uint64_t address, MemTxAttrs attributes,
			  void *buffer, uint64_t length, bool is_write);

const char *memory_region_name(const MemoryRegion *region);
MemoryRegion *get_system_memory(void);
struct memory_section memory_region_find(MemoryRegion *region, uint64_t address, uint64_t size);

/* ---- PASID, ATS and PRI ---- */
SOME_VERSIONS
void pcie_pasid_init(PCIDevice *device, uint16_t offset, uint8_t width, bool execute,
		     bool privileged);
SOME_VERSIONS
void pcie_ats_init(PCIDevice *device, uint16_t offset, bool aligned);
SOME_VERSIONS
void pcie_pri_init(PCIDevice *device, uint16_t offset, uint32_t outstanding,
		   bool pasid_in_response);
SOME_VERSIONS
ssize_t pci_ats_request_translation(PCIDevice *device, uint32_t pasid, bool privileged,
				    bool execute, uint64_t address, size_t length,
				    bool no_write, struct iommu_entry *entries, size_t room,
				    uint32_t *untranslated);
SOME_VERSIONS
int pci_iommu_init_iotlb_notifier(PCIDevice *device, IOMMUNotifier *notifier,
				  void (*notify)(IOMMUNotifier *notifier,
						 struct iommu_entry *entry),
				  void *opaque);
SOME_VERSIONS
int pci_iommu_register_iotlb_notifier(PCIDevice *device, uint32_t pasid,
				      IOMMUNotifier *notifier);
SOME_VERSIONS
int pci_iommu_unregister_iotlb_notifier(PCIDevice *device, uint32_t pasid,
					IOMMUNotifier *notifier);
SOME_VERSIONS
int pci_pri_register_notifier(PCIDevice *device, uint32_t pasid, struct page_notifier *notifier);
SOME_VERSIONS
void pci_pri_unregister_notifier(PCIDevice *device, uint32_t pasid);
SOME_VERSIONS
int pci_pri_request_page(PCIDevice *device, uint32_t pasid, bool privileged, bool execute,
			 uint64_t address, bool last, uint16_t group, bool read, bool write);

/* ---- time ---- */
enum { QEMU_CLOCK_VIRTUAL = 1 };
int64_t qemu_clock_get_ns(int clock);
void timer_init_full(QEMUTimer *timer, QEMUTimerListGroup *group, int clock, int scale,
		     int attributes, void (*callback)(void *opaque), void *opaque);
void timer_mod_ns(QEMUTimer *timer, int64_t when);
void timer_del(QEMUTimer *timer);

#endif
