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

typedef struct AddressSpace AddressSpace;
typedef struct DeviceClass DeviceClass;
typedef struct DeviceState DeviceState;
typedef struct Error Error;
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

/* ---- types ---- */
enum { MODULE_INIT_MIGRATION = 0 };
void register_module_init(void (*fn)(void), int phase);
void *type_register_static(const struct type_info *info);
ObjectClass *object_class_by_name(const char *name);
size_t object_type_get_instance_size(const char *name);
void device_class_set_parent_reset(DeviceClass *class, void (*reset)(DeviceState *device),
				   void (**parent)(DeviceState *device));
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

/* ---- time ---- */
enum { QEMU_CLOCK_VIRTUAL = 1 };
int64_t qemu_clock_get_ns(int clock);
void timer_init_full(QEMUTimer *timer, QEMUTimerListGroup *group, int clock, int scale,
		     int attributes, void (*callback)(void *opaque), void *opaque);
void timer_mod_ns(QEMUTimer *timer, int64_t when);
void timer_del(QEMUTimer *timer);

#endif
