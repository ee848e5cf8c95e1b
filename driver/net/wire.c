// SPDX-License-Identifier: GPL-2.0
/*
 * Validation of received frames: the only place that checks the fields of their
 * headers.  net/receive.c calls it once for each frame, in softirq.  It needs no
 * state of the kernel, so unit tests and the fuzzer compile it in user space.
 */
#include <asm/byteorder.h>
#include <linux/kernel.h>

#include "observe/counters.h"
#include "omx_abi.h"
#include "omx_wire.h"

#define HEADER(body)	(sizeof(struct omx_wire_head) + sizeof(body))

const u8 omx_wire_header_lengths[OMX_WIRE_TYPES] = {
	[OMX_WIRE_HELLO]	 = HEADER(struct omx_wire_hello),
	[OMX_WIRE_BYE]		 = HEADER(struct omx_wire_hello),
	[OMX_WIRE_CONNECT]	 = HEADER(struct omx_wire_connect),
	[OMX_WIRE_CONNECT_RESPONSE] = HEADER(struct omx_wire_connect_response),
	[OMX_WIRE_EAGER]	 = HEADER(struct omx_wire_eager),
	[OMX_WIRE_RNDV]		 = HEADER(struct omx_wire_rndv),
	[OMX_WIRE_NOTIFY]	 = HEADER(struct omx_wire_notify),
	[OMX_WIRE_ACK]		 = HEADER(struct omx_wire_ack),
	[OMX_WIRE_PULL_REQUEST]		 = HEADER(struct omx_wire_pull_request),
	[OMX_WIRE_PULL_RESPONSE]	 = HEADER(struct omx_wire_pull_response),
	[OMX_WIRE_NACK]		 = HEADER(struct omx_wire_nack),
	[OMX_WIRE_HOLD]		 = HEADER(struct omx_wire_hold),
	[OMX_WIRE_PUT]		 = HEADER(struct omx_wire_put),
	[OMX_WIRE_PUT_RNDV]	 = HEADER(struct omx_wire_put_rndv),
	[OMX_WIRE_GET]		 = HEADER(struct omx_wire_get),
	[OMX_WIRE_ATOMIC]	 = HEADER(struct omx_wire_atomic),
	[OMX_WIRE_ACCESS_RESPONSE]	 = HEADER(struct omx_wire_access_response),
	[OMX_WIRE_POST_KEY]	 = HEADER(struct omx_wire_post_key),
	[OMX_WIRE_FLUSH]	 = HEADER(struct omx_wire_flush),
	[OMX_WIRE_BUNDLE]	 = HEADER(struct omx_wire_bundle),
};

static bool bye_fits(const struct omx_wire_hello *bye, unsigned int payload)
{
	return bye->name_length && bye->name_length < OMX_WIRE_NAME_LEN &&
	       payload == bye->name_length;
}

/* A probe is longer than its name. */
static bool hello_fits(const struct omx_wire_hello *hello, unsigned int payload)
{
	if (hello->flags & OMX_HELLO_PROBE && payload > hello->name_length)
		payload = hello->name_length;
	return bye_fits(hello, payload);
}

static bool eager_fits(const struct omx_wire_eager *eager, unsigned int payload)
{
	u32 length = be32_to_cpu(eager->msg_length);
	u32 offset = be32_to_cpu(eager->offset);

	if (length > OMX_WIRE_EAGER_MAX || offset > length ||
	    payload > length - offset)
		return false;
	return payload || !length;
}

static bool pull_fits(const struct omx_wire_pull_request *pull)
{
	u64 offset = be64_to_cpu(pull->offset);
	u32 length = be32_to_cpu(pull->length);
	u32 frame = be16_to_cpu(pull->frame_length);
	u32 wanted = be32_to_cpu(pull->wanted);
	u32 frames;

	if (!frame || !length || length > frame * OMX_BLOCK_FRAMES ||
	    offset + length < offset)
		return false;
	frames = DIV_ROUND_UP(length, frame);
	return wanted && (frames == 32 || !(wanted >> frames));
}

static bool response_fits(const struct omx_wire_pull_response *response,
			  unsigned int payload)
{
	u64 offset = be64_to_cpu(response->offset);

	return payload && offset + payload > offset;
}

/* A put is as long as an eager message at most, and so are its packets. */
static bool put_fits(const struct omx_wire_put *put, unsigned int payload)
{
	u64 offset = be64_to_cpu(put->offset);
	u32 length = be32_to_cpu(put->length);

	return length <= OMX_WIRE_EAGER_MAX && payload <= length &&
	       (payload || !length) && offset + payload >= offset;
}

static bool put_rndv_fits(const struct omx_wire_put_rndv *put)
{
	u64 offset = be64_to_cpu(put->offset);

	return offset + be64_to_cpu(put->length) >= offset;
}

static bool get_fits(const struct omx_wire_get *get)
{
	u64 offset = be64_to_cpu(get->offset);
	u64 length = be64_to_cpu(get->length);

	return (get->flags & OMX_GET_ANNOUNCE || length <= OMX_WIRE_GET_MAX) &&
	       offset + length >= offset;
}

/* Whether the word is aligned depends on where the window is. */
static bool atomic_fits(const struct omx_wire_atomic *atomic)
{
	return atomic->operation < OMX_WIRE_OPERATIONS &&
	       (atomic->size == 4 || atomic->size == 8);
}

static bool post_key_fits(const struct omx_wire_post_key *key)
{
	u64 offset = be64_to_cpu(key->offset);

	return offset + be64_to_cpu(key->length) >= offset;
}

static bool body_fits(unsigned int type, const void *body, unsigned int payload)
{
	/* Nearly all bytes arrive in these. */
	if (likely(type == OMX_WIRE_PULL_RESPONSE))
		return response_fits(body, payload);
	switch (type) {
	case OMX_WIRE_HELLO:
		return hello_fits(body, payload);
	case OMX_WIRE_BYE:
		return bye_fits(body, payload);
	case OMX_WIRE_EAGER:
		return eager_fits(body, payload);
	case OMX_WIRE_BUNDLE:	/* its messages are checked where they are delivered */
		return payload >= sizeof(struct omx_wire_bundled);
	case OMX_WIRE_PULL_REQUEST:
		return !payload && pull_fits(body);
	case OMX_WIRE_PUT:
		return put_fits(body, payload);
	case OMX_WIRE_PUT_RNDV:
		return !payload && put_rndv_fits(body);
	case OMX_WIRE_GET:
		return !payload && get_fits(body);
	case OMX_WIRE_ATOMIC:
		return !payload && atomic_fits(body);
	case OMX_WIRE_ACCESS_RESPONSE:
		return payload <= OMX_WIRE_GET_MAX;
	case OMX_WIRE_POST_KEY:
		return !payload && post_key_fits(body);
	default:
		return !payload;
	}
}

int omx_wire_validate(const void *data, unsigned int linear, unsigned int total)
{
	const struct omx_wire_head *head = data;
	unsigned int header, length;

	if (linear < sizeof(*head))
		return OMX_COUNTER_DROP_LENGTH;
	if (head->version != OMX_WIRE_VERSION)
		return OMX_COUNTER_DROP_VERSION;
	header = omx_wire_header_length(head->type);
	if (!header)
		return OMX_COUNTER_DROP_TYPE;
	length = be16_to_cpu(head->length);
	if (length < header || length > total || linear < header)
		return OMX_COUNTER_DROP_LENGTH;
	if (!body_fits(head->type, head + 1, length - header))
		return OMX_COUNTER_DROP_FIELD;
	return 0;
}
