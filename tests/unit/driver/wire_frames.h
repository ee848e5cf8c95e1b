/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Frames for the tests of omx_wire_validate(), and what it says of them.  Frames lie in
 * memory of exactly their readable length, so that ASan sees a byte too many.
 */
#ifndef WIRE_FRAMES_H
#define WIRE_FRAMES_H

#include "test.h"

#include "net/wire.c"

#define HEAD		16
#define TYPE_LAST	20
#define FRAME_MAX	(65535 + 64)

/* Offsets of fields, counted by hand: a struct that changes must be noticed. */
enum {
	VERSION = 0, TYPE = 1, LENGTH = 2,
	HELLO_NAME_LENGTH = HEAD + 7,
	EAGER_MSG_LENGTH = HEAD + 24, EAGER_OFFSET = HEAD + 28,
	PULL_OFFSET = HEAD, PULL_LENGTH = HEAD + 8, PULL_WANTED = HEAD + 20,
	PULL_FRAME_LENGTH = HEAD + 24,
	REPLY_OFFSET = HEAD,
	PUT_OFFSET = HEAD + 32, PUT_LENGTH = HEAD + 52,
	PUT_RNDV_OFFSET = HEAD + 32, PUT_RNDV_LENGTH = HEAD + 48,
	GET_OFFSET = HEAD + 32, GET_LENGTH = HEAD + 40, GET_FLAGS = HEAD + 52,
	KEY_OFFSET = HEAD + 32, KEY_LENGTH = HEAD + 40,
	ATOMIC_OPERATION = HEAD + 60, ATOMIC_SIZE = HEAD + 61,
};

static const u32 body_bytes[] = {
	0, 8, 8, 8, 8, 32, 40, 32, 20, 28, 16, 8, 16, 64, 64, 56, 64, 32, 64, 32,
	16
};

struct frame {
	u32 length;		/* as built; the field may say something else */
	u8 bytes[FRAME_MAX];
};

static void put(struct frame *frame, u32 at, u32 bytes, u64 value)
{
	while (bytes--) {
		frame->bytes[at + bytes] = value;
		value >>= 8;
	}
}

static bool has_payload(u32 type)
{
	return type == OMX_WIRE_HELLO || type == OMX_WIRE_BYE ||
	       type == OMX_WIRE_EAGER || type == OMX_WIRE_PULL_RESPONSE ||
	       type == OMX_WIRE_PUT || type == OMX_WIRE_ACCESS_RESPONSE ||
	       type == OMX_WIRE_BUNDLE;
}

static u32 header_bytes(u32 type)
{
	return HEAD + body_bytes[type];
}

/* A valid frame; payload must be 0 for types that have none. */
static void build(struct frame *frame, u32 type, u32 payload)
{
	memset(frame->bytes, 0, header_bytes(type));
	memset(frame->bytes + header_bytes(type), 'x', payload);
	frame->length = header_bytes(type) + payload;
	put(frame, VERSION, 1, 2);
	put(frame, TYPE, 1, type);
	put(frame, LENGTH, 2, frame->length);
	switch (type) {
	case OMX_WIRE_HELLO:
	case OMX_WIRE_BYE:
		put(frame, HELLO_NAME_LENGTH, 1, payload);
		break;
	case OMX_WIRE_EAGER:
		put(frame, EAGER_MSG_LENGTH, 4, payload);
		break;
	case OMX_WIRE_PULL_REQUEST:
		put(frame, PULL_LENGTH, 4, 1);
		put(frame, PULL_WANTED, 4, 1);
		put(frame, PULL_FRAME_LENGTH, 2, 1);
		break;
	case OMX_WIRE_PUT:
		put(frame, PUT_LENGTH, 4, payload);
		break;
	case OMX_WIRE_ATOMIC:
		put(frame, ATOMIC_SIZE, 1, 8);
		break;
	}
}

static int judge(const void *bytes, u32 linear, u32 total)
{
	u8 *data = malloc(linear ? linear : 1);
	int verdict;

	memcpy(data, bytes, linear);
	verdict = omx_wire_validate(linear ? data : data + 1, linear, total);
	free(data);
	return verdict;
}

#endif
