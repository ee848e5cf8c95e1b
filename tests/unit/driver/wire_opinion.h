/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A second opinion of frames: accepts() reads a frame byte by byte and judges by the
 * promises of omx_wire.h.
 */
#ifndef WIRE_OPINION_H
#define WIRE_OPINION_H

#include "wire_frames.h"

static u64 get(const u8 *data, u32 at, u32 bytes)
{
	u64 value = 0;

	while (bytes--)
		value = value << 8 | data[at++];
	return value;
}

static bool is_inside(u64 offset, u64 length, unsigned __int128 end)
{
	return (unsigned __int128)offset + length <= end;
}

static bool pull_agrees(const u8 *data)
{
	u64 frame_length = get(data, PULL_FRAME_LENGTH, 2);
	u64 length = get(data, PULL_LENGTH, 4);
	u64 wanted = get(data, PULL_WANTED, 4);
	u32 i;

	if (!frame_length || !length || !wanted)
		return false;
	/* Every wanted frame starts inside the block; 32 of them cover it. */
	for (i = 0; i < 32; i++)
		if (wanted >> i & 1 && i * frame_length >= length)
			return false;
	return length <= 32 * frame_length &&
	       is_inside(get(data, PULL_OFFSET, 8), length, UINT64_MAX);
}

static bool body_agrees(const u8 *data, u32 type, u32 payload)
{
	u64 length, offset;

	switch (type) {
	case OMX_WIRE_HELLO:
		if (data[HELLO_NAME_LENGTH - 1] & OMX_HELLO_PROBE &&
		    payload > data[HELLO_NAME_LENGTH])
			payload = data[HELLO_NAME_LENGTH];
		/* fall through */
	case OMX_WIRE_BYE:
		return payload >= 1 && payload <= 79 &&
		       data[HELLO_NAME_LENGTH] == payload;
	case OMX_WIRE_EAGER:
		length = get(data, EAGER_MSG_LENGTH, 4);
		offset = get(data, EAGER_OFFSET, 4);
		return length <= 65536 && is_inside(offset, payload, length) &&
		       (payload > 0 || length == 0);
	case OMX_WIRE_PULL_REQUEST:
		return !payload && pull_agrees(data);
	case OMX_WIRE_PULL_RESPONSE:
		return payload &&
		       is_inside(get(data, REPLY_OFFSET, 8), payload, UINT64_MAX);
	case OMX_WIRE_PUT:
		length = get(data, PUT_LENGTH, 4);
		return length <= 65536 && payload <= length &&
		       (payload > 0 || length == 0) &&
		       is_inside(get(data, PUT_OFFSET, 8), payload, UINT64_MAX);
	case OMX_WIRE_PUT_RNDV:
		return !payload && is_inside(get(data, PUT_RNDV_OFFSET, 8),
					     get(data, PUT_RNDV_LENGTH, 8), UINT64_MAX);
	case OMX_WIRE_GET:
		length = get(data, GET_LENGTH, 8);
		return !payload && (length <= 4096 || data[GET_FLAGS] & 1) &&
		       is_inside(get(data, GET_OFFSET, 8), length, UINT64_MAX);
	case OMX_WIRE_ATOMIC:
		return !payload && data[ATOMIC_OPERATION] <= 9 &&
		       (data[ATOMIC_SIZE] == 4 || data[ATOMIC_SIZE] == 8);
	case OMX_WIRE_BUNDLE:
		return payload >= 16;
	case OMX_WIRE_ACCESS_RESPONSE:
		return payload <= 4096;
	case OMX_WIRE_POST_KEY:
		return !payload && is_inside(get(data, KEY_OFFSET, 8),
					     get(data, KEY_LENGTH, 8), UINT64_MAX);
	}
	return !payload;
}

static bool accepts(const u8 *data, u32 linear, u32 total)
{
	u32 type, length;

	if (linear < HEAD || data[VERSION] != 2)
		return false;
	type = data[TYPE];
	if (type < 1 || type > TYPE_LAST)
		return false;
	length = get(data, LENGTH, 2);
	return linear >= header_bytes(type) && length >= header_bytes(type) &&
	       length <= total &&
	       body_agrees(data, type, length - header_bytes(type));
}

#endif
