/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The registers, descriptors and completion records of omx-engine: for the device
 * that tests/engine emulates, for the driver, and for the drivers of tests.
 * tests/engine/README.md says what they mean.  Everything is little endian.
 */
#ifndef OMX_ENGINE_REGISTERS_H
#define OMX_ENGINE_REGISTERS_H

#include <linux/types.h>

#define ENGINE_PCI_VENDOR	0x1234
#define ENGINE_PCI_DEVICE	0x6f6d
#define ENGINE_BAR		0
#define ENGINE_BAR_SIZE		0x10000

/* ---- of the device, at the start of the BAR ---- */

#define ENGINE_ID		0x00
#define ENGINE_ID_VALUE		0x45786d6f	/* "omxE" */
#define ENGINE_VERSION		0x04
#define ENGINE_VERSION_VALUE	1
#define ENGINE_CAPS		0x08
#define ENGINE_CAPS_CHANNELS	0x000000ff
#define ENGINE_CAPS_RING_ORDER	0x0000ff00
#define ENGINE_CAPS_PASID	0x00010000
#define ENGINE_CAPS_PAGE_REQUEST 0x00020000
#define ENGINE_MAX_LENGTH	0x0c
#define ENGINE_CONTROL		0x10
#define ENGINE_CONTROL_RESET	0x00000001
#define ENGINE_BUSY		0x14
#define ENGINE_ERRORS		0x18

/* ---- of channel N, at ENGINE_CHANNEL(N) ---- */

#define ENGINE_CHANNEL(n)	(0x1000 * ((n) + 1))
#define ENGINE_RING_LOW		0x00
#define ENGINE_RING_HIGH	0x04
#define ENGINE_RING_SIZE	0x08
#define ENGINE_RING_PASID	0x0c
#define ENGINE_RING_PASID_VALID	0x80000000
#define ENGINE_PASID		0x000fffff	/* of that, and in descriptors */
#define ENGINE_ENABLE		0x10
#define ENGINE_STATUS		0x14
#define ENGINE_STATUS_ENABLED	0x00000001
#define ENGINE_STATUS_BUSY	0x00000002
#define ENGINE_STATUS_HALTED	0x00000004
#define ENGINE_STATUS_DRAINING	0x00000008
#define ENGINE_STATUS_ABORTING	0x00000010
#define ENGINE_TAIL		0x18
#define ENGINE_HEAD		0x1c
#define ENGINE_COMMAND		0x20
#define ENGINE_COMMAND_DRAIN	1
#define ENGINE_COMMAND_ABORT	2
#define ENGINE_ERROR		0x24
#define ENGINE_ERROR_SETTINGS	0x00000001
#define ENGINE_ERROR_TAIL	0x00000002
#define ENGINE_ERROR_RING	0x00000004
#define ENGINE_ERROR_RECORD	0x00000008
#define ENGINE_FAULT_LOW	0x28
#define ENGINE_FAULT_HIGH	0x2c
#define ENGINE_FAULTS		0x30
#define ENGINE_PAGE_REQUESTS	0x34
#define ENGINE_OVERFLOWS	0x38
#define ENGINE_PENDING		0x3c

#define ENGINE_TEST_DELAY	0x80
#define ENGINE_TEST_HANG	0x84
#define ENGINE_TEST_FLOOD	0x88

/* ---- a descriptor, at RING + 64 * (number % RING_SIZE) ---- */

#define ENGINE_OPERATION_NOP	0
#define ENGINE_OPERATION_COPY	1

#define ENGINE_FLAG_RECORD		0x01
#define ENGINE_FLAG_INTERRUPT		0x02
#define ENGINE_FLAG_SOURCE_PASID	0x04
#define ENGINE_FLAG_DESTINATION_PASID	0x08
#define ENGINE_FLAG_RECORD_PASID	0x10

struct engine_descriptor {
	__u8 operation;
	__u8 flags;
	__le16 reserved;
	__le32 length;
	__le64 source;
	__le64 destination;
	__le64 record;
	__le32 source_pasid;
	__le32 destination_pasid;
	__le32 record_pasid;
	__le32 reserved2;
	__le64 cookie;
	__le64 reserved3;
};

/* ---- a completion record ---- */

#define ENGINE_RECORD_ALIGNMENT	32

#define ENGINE_STATUS_SUCCESS		1
#define ENGINE_STATUS_INVALID		2
#define ENGINE_STATUS_SOURCE_FAULT	3
#define ENGINE_STATUS_DESTINATION_FAULT	4
#define ENGINE_STATUS_ABORTED		5

struct engine_record {
	__le32 status;
	__le32 done;
	__le64 fault;
	__le64 cookie;
	__le64 reserved;
};

_Static_assert(sizeof(struct engine_descriptor) == 64, "as the engine reads it");
_Static_assert(sizeof(struct engine_record) == 32, "as the engine writes it");

#endif
