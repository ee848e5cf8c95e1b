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
#include "endpoint/budget.h"
#include "endpoint/endpoint.h"
#include "endpoint/user_buffer.h"
#include "net/board.h"
#include "net/frame.h"
#include "net/tx_page_pool.h"

/* A page of a long bundle has room for so many messages like its first one, or so many bytes. */
#define PAGE_MESSAGES	16
#define PAGE_BYTES	32768
/* A longer one is copied without the lock, into as much memory as it takes. */
#define PAGE_MESSAGE_MAX 8192

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
static_assert(2 * (sizeof(struct omx_wire_bundled) + OMX_WIRE_LONG_BUNDLED_MAX) <=
	      OMX_WIRE_EAGER_MAX);
static_assert(2 * (sizeof(struct omx_wire_bundled) + PAGE_MESSAGE_MAX) <= PAGE_BYTES);
static_assert(PAGE_BYTES <= OMX_WIRE_EAGER_MAX);

static u32 bundle_align(u32 length)
{
	return ALIGN(length, OMX_WIRE_BUNDLE_ALIGN);
}

/* Of a bundle of `used` bytes, with another message. */
static u32 bundle_with(u32 used, u32 length)
{
	return bundle_align(used) + sizeof(struct omx_wire_bundled) + length;
}

/* Puts a message behind `used` bytes, which end there.  False: it cannot be read now. */
static bool message_add(void *end, u32 used, u64 match_info, struct omx_buffer_iter *data,
			u32 length)
{
	u32 gap = bundle_align(used) - used;
	struct omx_wire_bundled *message = end + gap;

	if (!omx_buffer_read_now(data, message + 1, length))
		return false;
	memset(end, 0, gap);
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
 * The memory of one that begins with a message of this length: a page for several of them, or
 * what a long one takes alone.  0: it would have no room for a second one, or a packet has
 * enough, which takes fewer instructions for each message.  All of it is charged to the user, so
 * little of it should be in vain.
 */
static u32 long_size(const struct omx_channel *ch, u32 packet_payload, u32 length)
{
	u32 one = bundle_with(0, length), two = bundle_with(one, length);
	u32 wanted = PAGE_MESSAGES * one;
	/* A hint, without the lock. */
	u32 most = min_t(u32, OMX_WIRE_EAGER_MAX, data_race(long_packets(ch)) * packet_payload);

	if (wanted <= packet_payload || most < two)
		return 0;
	if (length > PAGE_MESSAGE_MAX)
		return one;
	return omx_page_pool_page_size(min3(wanted, most, (u32)PAGE_BYTES));
}

/* Copies the first message into it, and leaves the rest of a page to others. */
static int long_begin(struct sk_buff *bundle, u64 match_info, struct omx_buffer_iter *data,
		      u32 length)
{
	struct omx_wire_bundled *message = omx_burst_start(bundle);
	struct omx_wire_eager *eager = omx_packet_body(bundle);
	u32 used = bundle_with(0, length);

	*message = (struct omx_wire_bundled){
		.match_info = cpu_to_be64(match_info),
		.msg_length = cpu_to_be32(length),
	};
	eager->sequence.flags = OMX_SEQUENCE_BUNDLE;
	long_set_used(bundle, used);
	if (!omx_burst_is_in_one_piece(bundle))
		return omx_buffer_read_skb(data, bundle, ETH_HLEN + OMX_EAGER_HEADER +
					   sizeof(*message), length);
	omx_burst_move_end(bundle, used - bundle->data_len);
	return omx_buffer_read_whole(data, message + 1);
}

struct sk_buff *omx_bundle_make_long(struct omx_channel *ch, u32 packet_payload, u64 match_info,
				     struct omx_buffer_iter *data, u32 length)
{
	const u32 size = long_size(ch, packet_payload, length);
	struct sk_buff *bundle = size ? omx_burst_make(ch, size, packet_payload) : NULL;

	/* Memory is short if a page for several messages is in pieces. */
	if (!bundle || (!omx_burst_is_in_one_piece(bundle) && size > bundle_with(0, length))) {
		kfree_skb(bundle);
		return NULL;
	}
	if (long_begin(bundle, match_info, data, length)) {
		kfree_skb(bundle);
		return ERR_PTR(-EFAULT);
	}
	return bundle;
}

/* May it become so long, with messages that take so many slots more? */
static bool long_may_become(const struct omx_channel *ch, struct sk_buff *bundle, u32 length,
			    u32 slots)
{
	const struct omx_pending_cb *cb = omx_pending_cb(bundle);
	u32 packets = DIV_ROUND_UP(length, skb_shinfo(bundle)->gso_size);

	return !cb->sent && length <= OMX_WIRE_EAGER_MAX &&
	       (packets <= cb->packets || packets <= long_packets(ch)) &&
	       cb->slots + slots <= packets * OMX_PACKET_SLOTS_MAX;
}

static bool long_takes_another(const struct omx_channel *ch, struct sk_buff *bundle)
{
	const struct omx_pending_cb *cb = omx_pending_cb(bundle);
	u32 used = long_used(bundle);

	return long_may_become(ch, bundle, bundle_align(used) + used / cb->messages,
			       cb->slots / cb->messages);
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

static void long_grow(struct omx_channel *ch, struct sk_buff *bundle, u32 length)
{
	long_set_used(bundle, length);
	long_count_packets(ch, bundle);
}

static bool long_add(struct omx_channel *ch, struct sk_buff *bundle, u32 mtu, u64 match_info,
		     struct omx_buffer_iter *data, u32 length)
{
	u32 used = long_used(bundle), all = bundle_with(used, length);

	if (!long_may_become(ch, bundle, all, omx_bundle_slots(length)) ||
	    all - used > omx_burst_room(bundle) ||
	    OMX_EAGER_HEADER + skb_shinfo(bundle)->gso_size > mtu ||
	    !message_add(omx_burst_end(bundle), used, match_info, data, length))
		return false;
	omx_burst_move_end(bundle, all - used);
	long_grow(ch, bundle, all);
	return true;
}

static bool long_join(struct omx_channel *ch, struct sk_buff *bundle, struct sk_buff *other,
		      u32 length)
{
	u32 used = long_used(bundle), start = bundle_align(used);
	u32 all = start + long_used(other), memory;

	if (!long_may_become(ch, bundle, all, omx_bundle_slots(length)) ||
	    !omx_burst_may_join(bundle, other))
		return false;
	/* Its page ends at a multiple of the alignment. */
	memset(omx_burst_end(bundle), 0, start - used);
	omx_burst_move_end(bundle, start - used);
	memory = omx_burst_join(bundle, other);
	omx_budget_charge(&ch->ep->budget, memory);
	ch->pending_bytes += memory;
	WRITE_ONCE(ch->own_bytes, ch->own_bytes + memory);
	long_grow(ch, bundle, all);
	return true;
}

/* ---- short ones ---- */

u32 omx_bundle_room(u32 length, u32 mtu)
{
	u32 message = bundle_align(sizeof(struct omx_wire_bundled) + length);
	u32 most;

	if (length > OMX_WIRE_BUNDLED_MAX || OMX_BUNDLE_HEADER + 2 * message > mtu)
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
	    !message_add(skb_tail_pointer(packet), used, match_info, data, length))
		return false;
	__skb_put(packet, all - used);
	head->type = OMX_WIRE_BUNDLE;
	head->length = cpu_to_be16(all);
	return true;
}

/* ---- any ---- */

bool omx_bundle_takes_another(const struct omx_channel *ch, struct sk_buff *packet)
{
	return packet_is_long(packet) ? long_takes_another(ch, packet) :
					packet_takes_another(packet);
}

static void bundle_count_message(struct omx_channel *ch, struct sk_buff *packet, u32 length)
{
	omx_count(ch->ep->board, SEND_BUNDLED);
	omx_pending_cb(packet)->slots += omx_bundle_slots(length);
	omx_pending_cb(packet)->messages++;
	WRITE_ONCE(ch->own_messages, ch->own_messages + 1);
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
		added = length <= PAGE_MESSAGE_MAX &&
			long_add(ch, packet, mtu, match_info, data, length);
	else
		added = length <= OMX_WIRE_BUNDLED_MAX &&
			packet_add(packet, mtu, match_info, data, length);
	if (added)
		bundle_count_message(ch, packet, length);
	return added;
}

bool omx_bundle_join(struct omx_channel *ch, struct sk_buff *bundle, u32 length)
{
	struct sk_buff *packet = skb_peek_tail(&ch->pending);

	lockdep_assert_held(&ch->lock);
	if (!packet || !packet_is_long(packet) || !packet_is_long(bundle) ||
	    !long_join(ch, packet, bundle, length))
		return false;
	bundle_count_message(ch, packet, length);
	return true;
}
