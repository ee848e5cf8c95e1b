// SPDX-License-Identifier: GPL-2.0
/*
 * Sending bundles: see bundle.h.  eager_send.c adds messages, in process context.
 * bundle_receive.c is the other side of it.
 */
#include <linux/align.h>
#include <linux/err.h>
#include <linux/if_ether.h>
#include <linux/minmax.h>
#include <linux/skbuff.h>
#include <linux/string.h>

#include "channel/channel.h"
#include "eager/bundle.h"
#include "eager/burst.h"
#include "endpoint/endpoint.h"
#include "endpoint/user_buffer.h"
#include "net/board.h"
#include "net/frame.h"
#include "net/tx_page_pool.h"

/* A long bundle has room for so many messages like its first one, or for so many bytes. */
#define LONG_MESSAGES	16
#define LONG_BYTES	32768

/* A packet with one message becomes a bundle without being moved. */
static_assert(sizeof(struct omx_wire_eager) - offsetof(struct omx_wire_eager, match_info) ==
	      sizeof(struct omx_wire_bundled));
static_assert(offsetof(struct omx_wire_eager, msg_length) -
	      offsetof(struct omx_wire_eager, match_info) ==
	      offsetof(struct omx_wire_bundled, msg_length));
static_assert(OMX_BUNDLE_HEADER % OMX_WIRE_BUNDLE_ALIGN == 0);
static_assert(OMX_EAGER_HEADER % OMX_WIRE_BUNDLE_ALIGN == 0);
/* The longest ones are not alone. */
static_assert(2 * (1 + OMX_WIRE_BUNDLED_MAX / OMX_SLOT_SIZE) <= OMX_PACKET_SLOTS_MAX);
static_assert(2 * (sizeof(struct omx_wire_bundled) + OMX_WIRE_BUNDLED_MAX) <= LONG_BYTES);
static_assert(LONG_BYTES <= OMX_WIRE_EAGER_MAX);

static u32 bundle_align(u32 length)
{
	return ALIGN(length, OMX_WIRE_BUNDLE_ALIGN);
}

/* Of a bundle of `used` bytes, with another message. */
static u32 bundle_with(u32 used, u32 length)
{
	return bundle_align(used) + sizeof(struct omx_wire_bundled) + length;
}

/* Puts a message behind `used` bytes.  False: the program's memory cannot be read now. */
static bool message_add(void *bundle, u32 used, u64 match_info, struct omx_buffer_iter *data,
			u32 length)
{
	u32 start = bundle_align(used);
	struct omx_wire_bundled *message = bundle + start;

	if (!omx_buffer_read_now(data, message + 1, length))
		return false;
	memset(bundle + used, 0, start - used);
	*message = (struct omx_wire_bundled){
		.match_info = cpu_to_be64(match_info),
		.msg_length = cpu_to_be32(length),
	};
	return true;
}

/* ---- long ones ---- */

static bool packet_is_long(const struct sk_buff *packet)
{
	const struct omx_wire_eager *eager = omx_packet_body(packet);

	return omx_packet_head(packet)->type == OMX_WIRE_EAGER &&
	       eager->sequence.flags & OMX_SEQUENCE_BUNDLE;
}

static u32 long_used(const struct sk_buff *bundle)
{
	const struct omx_wire_eager *eager = omx_packet_body(bundle);

	return be32_to_cpu(eager->msg_length);
}

static void long_set_used(struct sk_buff *bundle, u32 used)
{
	struct omx_wire_eager *eager = omx_packet_body(bundle);

	eager->msg_length = cpu_to_be32(used);
	omx_burst_set_length(bundle, used);
}

/*
 * How many packets a long bundle may have.  In a crowd of senders the peer admits a few at a
 * time, and the first message is not to wait for more than these.
 */
static u32 long_packets(const struct omx_channel *ch)
{
	s32 window = ch->tx.limit - ch->tx.acked;

	if (window > 0)
		return window;
	return ch->tx.waits ? 1 : OMX_WINDOW;
}

/*
 * The memory of one that begins with a message of this length; 0: it would have no room for a
 * second one, or a packet has enough, which takes fewer instructions for each message.  All of
 * it is charged to the user, so little of it should be in vain.
 */
static u32 long_size(const struct omx_channel *ch, u32 packet_payload, u32 length)
{
	u32 wanted = LONG_MESSAGES * bundle_with(0, length);
	/* A hint, without the lock. */
	u32 most = min_t(u32, LONG_BYTES, data_race(long_packets(ch)) * packet_payload);

	if (wanted <= packet_payload || most < bundle_with(bundle_with(0, length), length))
		return 0;
	return omx_page_pool_page_size(min(wanted, most));
}

static u32 long_room(const struct sk_buff *bundle)
{
	return min_t(u32, omx_burst_room(bundle), OMX_WIRE_EAGER_MAX);
}

struct sk_buff *omx_bundle_make_long(struct omx_channel *ch, u32 packet_payload, u64 match_info,
				     struct omx_buffer_iter *data, u32 length)
{
	const u32 size = long_size(ch, packet_payload, length);
	struct sk_buff *bundle = size ? omx_burst_make(ch, size, packet_payload) : NULL;
	struct omx_wire_bundled *message = bundle ? omx_burst_bytes(bundle) : NULL;
	struct omx_wire_eager *eager;

	if (!message) {
		kfree_skb(bundle);
		return NULL;
	}
	*message = (struct omx_wire_bundled){
		.match_info = cpu_to_be64(match_info),
		.msg_length = cpu_to_be32(length),
	};
	if (omx_buffer_read_whole(data, message + 1)) {
		kfree_skb(bundle);
		return ERR_PTR(-EFAULT);
	}
	eager = omx_packet_body(bundle);
	eager->sequence.flags = OMX_SEQUENCE_BUNDLE;
	long_set_used(bundle, sizeof(*message) + length);
	return bundle;
}

static bool long_takes_another(const struct sk_buff *bundle)
{
	u32 used = long_used(bundle);

	return bundle_with(used, used - sizeof(struct omx_wire_bundled)) <= long_room(bundle);
}

/* In more packets now, perhaps. */
static void long_count_packets(struct omx_channel *ch, struct sk_buff *bundle)
{
	struct omx_pending_cb *cb = omx_pending_cb(bundle);
	u32 more = omx_burst_count(bundle) - cb->packets;

	cb->packets += more;
	ch->pending_packets += more;
	if (ch->corked)
		ch->corked += more;
}

static bool long_add(struct omx_channel *ch, struct sk_buff *bundle, u32 mtu, u64 match_info,
		     struct omx_buffer_iter *data, u32 length)
{
	const struct omx_pending_cb *cb = omx_pending_cb(bundle);
	u32 used = long_used(bundle), all = bundle_with(used, length);
	u32 packets = DIV_ROUND_UP(all, skb_shinfo(bundle)->gso_size);

	if (cb->sent || all > long_room(bundle) ||
	    OMX_EAGER_HEADER + skb_shinfo(bundle)->gso_size > mtu ||
	    (packets > cb->packets && packets > long_packets(ch)) ||
	    cb->slots + omx_ring_slots(length) > packets * OMX_PACKET_SLOTS_MAX ||
	    !message_add(omx_burst_bytes(bundle), used, match_info, data, length))
		return false;
	long_set_used(bundle, all);
	long_count_packets(ch, bundle);
	return true;
}

/* ---- short ones ---- */

u32 omx_bundle_room(u32 length, u32 mtu)
{
	u32 message = bundle_align(sizeof(struct omx_wire_bundled) + length);
	u32 most;

	if (OMX_BUNDLE_HEADER + 2 * message > mtu)
		return 0;
	most = OMX_BUNDLE_HEADER + OMX_PACKET_SLOTS_MAX / omx_ring_slots(length) * message;
	return min(most, mtu) - OMX_EAGER_HEADER;
}

/* Is it a bundle, or can it become one? */
static bool packet_has_messages(const struct sk_buff *packet)
{
	const struct omx_wire_eager *eager = omx_packet_body(packet);
	u32 length;

	switch (omx_packet_head(packet)->type) {
	case OMX_WIRE_BUNDLE:
		return true;
	case OMX_WIRE_EAGER:
		length = be32_to_cpu(eager->msg_length);
		return length <= OMX_WIRE_BUNDLED_MAX &&
		       packet->len == ETH_HLEN + OMX_EAGER_HEADER + length;
	default:
		return false;
	}
}

/* Of the frame, without the Ethernet header. */
static u32 packet_used(const struct sk_buff *packet)
{
	return packet->len - ETH_HLEN;
}

static bool packet_has_room(const struct sk_buff *packet, u32 length)
{
	u32 used = packet_used(packet);

	return bundle_with(used, length) - used <= skb_tailroom(packet);
}

static bool packet_takes_another(const struct sk_buff *packet)
{
	const struct omx_wire_eager *eager = omx_packet_body(packet);

	return packet_has_messages(packet) &&
	       packet_has_room(packet, be32_to_cpu(eager->msg_length));
}

static bool packet_add(struct sk_buff *packet, u32 mtu, u64 match_info,
		       struct omx_buffer_iter *data, u32 length)
{
	u32 used = packet_used(packet), all = bundle_with(used, length);
	struct omx_wire_head *head = omx_packet_head(packet);

	if (omx_pending_cb(packet)->packets > 1 || !packet_has_messages(packet) ||
	    !packet_has_room(packet, length) || all > mtu ||
	    omx_pending_cb(packet)->slots + omx_ring_slots(length) > OMX_PACKET_SLOTS_MAX ||
	    !message_add(head, used, match_info, data, length))
		return false;
	__skb_put(packet, all - used);
	head->type = OMX_WIRE_BUNDLE;
	head->length = cpu_to_be16(all);
	return true;
}

/* ---- any ---- */

bool omx_bundle_takes_another(const struct sk_buff *packet)
{
	return packet_is_long(packet) ? long_takes_another(packet) : packet_takes_another(packet);
}

bool omx_bundle_add(struct omx_channel *ch, u32 mtu, u64 match_info, struct omx_buffer_iter *data,
		    u32 length)
{
	struct sk_buff *packet = skb_peek_tail(&ch->pending);
	bool added = false;

	lockdep_assert_held(&ch->lock);
	if (!packet)
		return false;
	if (packet_is_long(packet))
		added = long_add(ch, packet, mtu, match_info, data, length);
	else
		added = packet_add(packet, mtu, match_info, data, length);
	if (!added)
		return false;
	omx_count(ch->ep->board, SEND_BUNDLED);
	omx_pending_cb(packet)->slots += omx_ring_slots(length);
	omx_pending_cb(packet)->messages++;
	WRITE_ONCE(ch->own_messages, ch->own_messages + 1);
	return true;
}
