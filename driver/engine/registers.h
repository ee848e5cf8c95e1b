/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The registers, descriptors and completion records of omx-engine, as far as the
 * driver uses them.  tests/engine/README.md says what they mean.  Everything is
 * little endian.
 */
#ifndef OMX_REGISTERS_H
#define OMX_REGISTERS_H

#include <linux/build_bug.h>
#include <linux/types.h>

#define ENGINE_PCI_VENDOR	0x1234
#define ENGINE_PCI_DEVICE	0x6f6d
#define ENGINE_BAR		0

/* ---- of the function ---- */

#define ENGINE_ID		0x00
#define ENGINE_ID_VALUE		0x45786d6f
#define ENGINE_VERSION		0x04
#define ENGINE_VERSION_VALUE	1
#define ENGINE_CAPS		0x08
#define ENGINE_CAPS_CHANNELS	0x000000ff
#define ENGINE_CAPS_RING_ORDER	0x0000ff00
#define ENGINE_MAX_LENGTH	0x0c
#define ENGINE_CONTROL		0x10
#define ENGINE_CONTROL_RESET	0x00000001
#define ENGINE_ERRORS		0x18

/* ---- of channel N, at ENGINE_CHANNEL(N) ---- */

#define ENGINE_CHANNEL(n)	(0x1000 * ((n) + 1))
#define ENGINE_RING_LOW		0x00
#define ENGINE_RING_HIGH	0x04
#define ENGINE_RING_SIZE	0x08
#define ENGINE_ENABLE		0x10
#define ENGINE_STATUS		0x14
#define ENGINE_STATUS_HALTED	0x00000004
#define ENGINE_STATUS_DRAINING	0x00000008
#define ENGINE_TAIL		0x18
#define ENGINE_HEAD		0x1c
#define ENGINE_COMMAND		0x20
#define ENGINE_COMMAND_DRAIN	1
#define ENGINE_ERROR		0x24

/* ---- a descriptor ---- */

#define ENGINE_OPERATION_COPY	1
#define ENGINE_FLAG_RECORD	0x01
#define ENGINE_FLAG_INTERRUPT	0x02

struct engine_descriptor {
	u8 operation;
	u8 flags;
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

#define ENGINE_STATUS_SUCCESS		1
#define ENGINE_STATUS_DESTINATION_FAULT	4

struct engine_record {
	__le32 status;
	__le32 done;
	__le64 fault;
	__le64 cookie;
	__le64 reserved;
};

static_assert(sizeof(struct engine_descriptor) == 64 && sizeof(struct engine_record) == 32);

#endif
