// SPDX-License-Identifier: BSD-2-Clause
/*
 * Looks at each bundle that a driver sends: its messages are whole, short and in their
 * places, they are not more than the receiver's ring is sure to take, and the bytes between
 * them are 0, not what was in the memory before.
 */
#include "channel/channel.h"
#include "eager/bundle.h"
#include "endpoint/ring.h"
#include "net/frame.h"
#include "omx_wire.h"
#include "sim.h"

#include "bundle.h"

/* Where the next message begins; counts the slots that this one, of `most` bytes, takes. */
static u32 check_message(const u8 *head, u32 at, u32 end, u32 most, u32 *slots)
{
	const struct omx_wire_bundled *message = (const void *)(head + at);
	u32 length;

	SIM_REQUIRE(at + sizeof(*message) <= end);
	length = be32_to_cpu(message->msg_length);
	SIM_REQUIRE(!message->reserved && length <= most);
	*slots += omx_bundle_slots(length);
	at += sizeof(*message) + length;
	SIM_REQUIRE(at <= end);
	for (; at < end && at % OMX_WIRE_BUNDLE_ALIGN; at++)
		SIM_REQUIRE(!head[at]);
	return at;
}

void sim_check_long_bundle(struct sk_buff *burst)
{
	const struct omx_wire_eager *eager = omx_packet_body(burst);
	const struct omx_pending_cb *cb = omx_pending_cb(burst);
	u32 at = OMX_EAGER_HEADER, end = burst->len - ETH_HLEN, slots = 0, messages = 0;

	if (!(eager->sequence.flags & OMX_SEQUENCE_BUNDLE))
		return;
	SIM_REQUIRE(be32_to_cpu(eager->msg_length) == end - at);
	SIM_REQUIRE(cb->packets == burst->gso_segs);
	for (; at < end; messages++)
		at = check_message((const u8 *)omx_packet_head(burst), at, end,
				   OMX_WIRE_LONG_BUNDLED_MAX, &slots);
	SIM_REQUIRE(messages == cb->messages && slots <= cb->packets * OMX_PACKET_SLOTS_MAX);
	if (messages > 1 && cb->sent == cb->packets) {
		sim.bundles++;
		sim.bundled += messages;
	}
}

void sim_check_bundle(const struct sk_buff *skb)
{
	const u8 *data = skb_mac_header(skb) + ETH_HLEN;
	const struct omx_wire_head *head = (const void *)data;
	u32 at = OMX_BUNDLE_HEADER, end, slots = 0, messages = 0;

	if (head->type != OMX_WIRE_BUNDLE)
		return;
	end = be16_to_cpu(head->length);
	SIM_REQUIRE(end == skb->len - ETH_HLEN);
	for (; at < end; messages++)
		at = check_message(data, at, end, OMX_WIRE_BUNDLED_MAX, &slots);
	/* One message would be an EAGER. */
	SIM_REQUIRE(messages > 1 && slots <= OMX_PACKET_SLOTS_MAX);
	sim.bundles++;
	sim.bundled += messages;
}
