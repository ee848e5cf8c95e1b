// SPDX-License-Identifier: BSD-2-Clause
/*
 * Bundles of one packet: what is added to one is what is delivered.  The receiver's ring is full
 * now and then, so that a bundle is delivered in parts.
 */
#include "bundles.h"

#define ROUNDS		10000

/* Whatever is added comes out again, within the limits, with zeros in between. */
static void what_is_added_is_delivered(void **state)
{
	u32 round, full = 0, split = 0;

	(void)state;
	for (round = 0; round < ROUNDS; round++) {
		u32 mtu = random_percent(50) ? 1500 : 576 + random_below(8500);
		u32 shape = random_below(4), first = any_length(shape, SHORT_MOST), tries;
		u32 room = omx_bundle_room(first, mtu);
		/* Of the path since the packet was made. */
		u32 now = random_percent(70) ? mtu : 576 + random_below(8500);
		struct sk_buff *skb;
		const struct omx_wire_head *head;

		if (!room)
			continue;
		assert_in_range(room, first, mtu - OMX_EAGER_HEADER);
		skb = packet_begin(first, room + OMX_EAGER_HEADER);
		head = omx_packet_head(skb);
		/* One of the same length fits, or there would have been no room. */
		assert_true(omx_bundle_takes_another(&channel, skb));
		for (tries = 0; tries < 200; tries++) {
			u32 before = skb->len;
			bool absent = random_percent(5);

			if (!add(any_length(shape, SHORT_MOST), now, absent)) {
				assert_int_equal(skb->len, before);
				continue;
			}
			assert_false(absent);
			assert_int_equal(head->type, OMX_WIRE_BUNDLE);
		}
		assert_true(sent.count == 1 || skb->len - ETH_HLEN <= now);
		assert_true(skb->len - ETH_HLEN <= mtu);
		assert_true(sent.slots <= OMX_PACKET_SLOTS_MAX);
		assert_int_equal(sent.slots, omx_pending_cb(skb)->slots);
		assert_int_equal(sent.count, omx_pending_cb(skb)->messages);
		assert_int_equal(sent.count, channel.own_messages);
		full += sent.slots == OMX_PACKET_SLOTS_MAX;
		if (sent.count > 1) {
			assert_int_equal(be16_to_cpu(head->length), skb->len - ETH_HLEN);
			check_bundle((const u8 *)head + HEADER, skb->len - ETH_HLEN - HEADER);
			full_percent = random_percent(50) ? 0 : 30;
			split += deliver((const u8 *)head, skb->len - ETH_HLEN) > 1;
			check_delivered();
		}
		kfree_skb(skb);
	}
	assert_int_equal(board.counted.DROP_FRAGMENT, 0);
	assert_true(full > ROUNDS / 100 && split > ROUNDS / 10);
}

/* Packets of other types, parts of messages, bursts and long messages stay as they are. */
static void packets_that_take_none(void **state)
{
	struct sk_buff *skb;
	struct omx_wire_head *head;
	struct omx_wire_eager *eager;
	u32 type;

	(void)state;
	channel.pending.last = NULL;
	messages_clear(&sent);
	assert_false(add(1, 9000, false));
	skb = packet_begin(10, 9000);
	head = omx_packet_head(skb);
	eager = omx_packet_body(skb);
	for (type = 0; type < OMX_WIRE_TYPES; type++) {
		bool takes = type == OMX_WIRE_EAGER || type == OMX_WIRE_BUNDLE;

		head->type = type;
		assert_int_equal(omx_bundle_takes_another(&channel, skb), takes);
		if (!takes)
			assert_false(add(1, 9000, false));
	}
	head->type = OMX_WIRE_EAGER;
	eager->msg_length = cpu_to_be32(11);	/* the first fragment of a message */
	assert_false(omx_bundle_takes_another(&channel, skb));
	assert_false(add(1, 9000, false));
	eager->msg_length = cpu_to_be32(10);
	omx_pending_cb(skb)->packets = 2;	/* a burst */
	assert_false(add(1, 9000, false));
	omx_pending_cb(skb)->packets = 1;
	assert_false(add(SHORT_MOST + 1, 9000, false));
	assert_true(add(SHORT_MOST, 9000, false));
	assert_true(add(1, 9000, false));
	kfree_skb(skb);
	assert_int_not_equal(omx_bundle_room(SHORT_MOST, 65535), 0);
	assert_int_equal(omx_bundle_room(SHORT_MOST + 1, 65535), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(what_is_added_is_delivered, setup),
		cmocka_unit_test_setup(packets_that_take_none, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
