// SPDX-License-Identifier: GPL-2.0
/*
 * Receiving bundles: their messages are delivered one by one, as far as there is room for them.
 * bundle.c is the other side of it.
 *
 * The channel calls this for a packet, and eager_receive.c for several, mostly in softirq.
 */
#include <linux/align.h>
#include <linux/minmax.h>
#include <linux/skbuff.h>

#include "channel/channel.h"
#include "eager/bundle.h"
#include "eager/eager_receive.h"
#include "endpoint/endpoint.h"
#include "net/board.h"
#include "net/frame.h"
#include "net/gso_skb.h"

/* The messages of a BUNDLE do not stay in it. */
static_assert(OMX_WIRE_BUNDLED_MAX <= OMX_SMALL_MAX);

/* The bytes of a bundle, behind a header of the same length in each of its frames. */
struct bundle {
	const struct sk_buff *frame;	/* where it is being read; others follow by skb->next */
	u32 before;			/* bytes in frames that have been read */
	u32 header;
	u32 length;			/* of all without the headers */
	u32 message_max;
};

/*
 * The frame that has byte *at of the bundle, which becomes an offset into the frame.  Goes on
 * from where the bundle was read before, as a peer may send many messages in many frames.
 */
static const struct sk_buff *bundle_seek(struct bundle *bundle, u32 *at)
{
	u32 payload = bundle->frame->len - bundle->header;

	while (*at - bundle->before >= payload) {
		bundle->before += payload;
		bundle->frame = bundle->frame->next;
		payload = bundle->frame->len - bundle->header;
	}
	*at += bundle->header - bundle->before;
	return bundle->frame;
}

/* The bundle has so many bytes there. */
static void bundle_copy(struct bundle *bundle, u32 at, void *to, u32 length)
{
	const struct sk_buff *frame = bundle_seek(bundle, &at);

	while (length) {
		u32 n = min(length, frame->len - at);

		skb_copy_bits(frame, at, to, n);
		to += n;
		length -= n;
		at = bundle->header;
		frame = frame->next;
	}
}

/* The header of the message there.  False: its bytes are not all in the bundle. */
static bool bundle_read(struct bundle *bundle, u32 at, struct omx_wire_bundled *message)
{
	u32 left = bundle->length - at, length;

	if (left < sizeof(*message))
		return false;
	bundle_copy(bundle, at, message, sizeof(*message));
	length = be32_to_cpu(message->msg_length);
	return length <= bundle->message_max && length <= left - sizeof(*message);
}

/* A message whose bytes are in several frames.  False: there is no room, or no memory. */
static bool push_copy(struct omx_channel *ch, u64 match_info, struct bundle *bundle, u32 at,
		      u32 length)
{
	struct sk_buff *copy = alloc_skb(length, GFP_ATOMIC | __GFP_NOWARN);
	bool pushed;

	if (!copy)
		return false;
	bundle_copy(bundle, at, __skb_put(copy, length), length);
	pushed = omx_eager_push(ch, match_info, copy, 0, length);
	kfree_skb(copy);
	return pushed;
}

static bool bundle_push(struct omx_channel *ch, u64 match_info, struct bundle *bundle, u32 at,
			u32 length)
{
	const struct sk_buff *frame;
	u32 offset = at;

	if (!length)	/* there may be no frame behind its header */
		return omx_eager_push(ch, match_info, bundle->frame, 0, 0);
	frame = bundle_seek(bundle, &offset);
	if (length > OMX_SMALL_MAX)
		return omx_eager_keep(ch, match_info, frame, offset, length);
	if (offset + length > frame->len)
		return push_copy(ch, match_info, bundle, at, length);
	return omx_eager_push(ch, match_info, frame, offset, length);
}

static bool bundle_deliver(struct omx_channel *ch, struct bundle *bundle, u32 *delivered)
{
	u32 at = *delivered;

	lockdep_assert_held(&ch->lock);
	while (at < bundle->length) {
		struct omx_wire_bundled message;
		u32 length;

		if (!bundle_read(bundle, at, &message)) {
			/* The peer violates the protocol: drop what follows. */
			omx_count(ch->ep->board, DROP_FRAGMENT);
			break;
		}
		length = be32_to_cpu(message.msg_length);
		if (!bundle_push(ch, be64_to_cpu(message.match_info), bundle,
				 at + sizeof(message), length)) {
			*delivered = at;
			return false;
		}
		at = ALIGN(at + sizeof(message) + length, OMX_WIRE_BUNDLE_ALIGN);
	}
	return true;
}

bool omx_receive_bundle(struct omx_channel *ch, struct sk_buff *skb, u32 *delivered)
{
	struct bundle bundle = {
		.frame = skb,
		.header = OMX_BUNDLE_HEADER,
		.length = skb->len - OMX_BUNDLE_HEADER,
		.message_max = OMX_WIRE_BUNDLED_MAX,
	};

	if (!bundle_deliver(ch, &bundle, delivered))
		return false;
	omx_gro_free(skb);
	return true;
}

bool omx_receive_long_bundle(struct omx_channel *ch, const struct sk_buff *frames, u32 length,
			     u32 *delivered)
{
	struct bundle bundle = {
		.frame = frames,
		.header = OMX_EAGER_HEADER,
		.length = length,
		.message_max = OMX_WIRE_LONG_BUNDLED_MAX,
	};

	return bundle_deliver(ch, &bundle, delivered);
}
