// SPDX-License-Identifier: BSD-2-Clause
/*
 * Long bundles: what is added to one, or joins it in a page of its own, is what is delivered, as
 * far as windows, slots, pages and lengths allow it.
 */
#include "bundles.h"

#define ROUNDS		3000

/* One that is being filled. */
struct long_one {
	struct sk_buff *skb;
	u32 payload;			/* of its packets */
	u32 window;			/* the peer's */
	u32 shape;			/* of any_length() */
	bool alike;			/* all messages have the length of the first one */
	u32 length;
	u64 bundled;			/* messages before */
	u32 joined;
};

/* As eager_send.c makes one of the next message.  NULL: it cannot be made. */
static struct sk_buff *long_make(u32 payload, u32 length)
{
	struct message *message = make_message(length);
	struct omx_buffer_iter data = { message->bytes, length, random_percent(10) };
	struct sk_buff *skb = omx_bundle_make_long(&channel, payload, message->match, &data,
						   length);

	if (!skb)
		return NULL;
	/* A packet has not enough of them. */
	assert_true(16 * (16 + length) > payload);
	assert_int_equal(skb == ERR_PTR(-EFAULT), data.absent);
	if (data.absent)
		return NULL;
	/* Little memory is in vain if others need pages of their own. */
	if (length > PAGE_MOST)
		assert_true(skb->truesize - ETH_HLEN - EAGER_HEADER < 16 + length + page_size);
	return skb;
}

/* As channel/send.c appends one to its queue, with the message that has just been made. */
static void long_queue(struct sk_buff *skb, bool is_corked)
{
	message_count(&sent);
	assert_int_equal(omx_bundle_slots(sent.of[0].length), sent.slots);
	*omx_pending_cb(skb) = (struct omx_pending_cb){ 1, sent.slots, omx_burst_count(skb), 0 };
	channel.pending.last = skb;
	channel.own_messages = 1;
	channel.pending_packets = omx_burst_count(skb);
	channel.corked = is_corked ? omx_burst_count(skb) : 0;
	channel.pending_bytes = channel.own_bytes = skb->truesize;
	endpoint.budget.used = skb->truesize;
}

static u32 packets_of(const struct long_one *one, u32 bytes)
{
	return DIV_ROUND_UP(bytes, one->payload);
}

/* Of the bundle, with another message. */
static u32 bundle_length_with(u32 length)
{
	return align8(sent.bundle) + 16 + length;
}

/* A second opinion, which knows nothing of pages. */
static bool long_may_have(const struct long_one *one, u32 length)
{
	u32 all = bundle_length_with(length), packets = packets_of(one, all);

	return !omx_pending_cb(one->skb)->sent && all <= 65536 &&
	       (packets == packets_of(one, sent.bundle) || packets <= one->window) &&
	       sent.slots + slots_of(length) <= packets * OMX_PACKET_SLOTS_MAX;
}

/* What a message that is refused leaves alone; the bytes are compared in the end. */
struct snapshot {
	struct omx_channel channel;
	struct omx_endpoint endpoint;
	struct omx_board board;
	struct sk_buff skb;
	u8 head[ETH_HLEN + EAGER_HEADER];
};

static void snapshot_take(struct snapshot *snapshot, const struct sk_buff *skb)
{
	memcpy(&snapshot->channel, &channel, sizeof(channel));
	memcpy(&snapshot->endpoint, &endpoint, sizeof(endpoint));
	memcpy(&snapshot->board, &board, sizeof(board));
	memcpy(&snapshot->skb, skb, sizeof(*skb));
	memcpy(snapshot->head, skb->head, sizeof(snapshot->head));
}

static void snapshot_check(const struct snapshot *snapshot, const struct sk_buff *skb)
{
	assert_memory_equal(&snapshot->channel, &channel, sizeof(channel));
	assert_memory_equal(&snapshot->endpoint, &endpoint, sizeof(endpoint));
	assert_memory_equal(&snapshot->board, &board, sizeof(board));
	assert_memory_equal(&snapshot->skb, skb, sizeof(*skb));
	assert_memory_equal(snapshot->head, skb->head, sizeof(snapshot->head));
}

/* Not a long message: if it may be, and if there is room behind the end of the last page. */
static bool long_add_one(struct long_one *one, u32 length)
{
	u32 more = bundle_length_with(length) - sent.bundle;
	/* The path takes shorter packets only, now and then. */
	bool absent = random_percent(5), is_short = random_percent(5), expected;
	struct snapshot before;

	expected = !absent && !is_short && length <= PAGE_MOST && long_may_have(one, length) &&
		   more <= omx_burst_room(one->skb);
	snapshot_take(&before, one->skb);
	assert_int_equal(add(length, EAGER_HEADER + one->payload - is_short, absent), expected);
	if (!expected)
		snapshot_check(&before, one->skb);
	return expected;
}

/* It can still be queued by itself. */
static void check_alone(struct sk_buff *skb)
{
	const struct message *message = &sent.of[sent.count];
	const struct omx_wire_eager *eager = omx_packet_body(skb);
	static u8 bytes[16 + LONG_MOST];

	assert_int_equal(be32_to_cpu(eager->msg_length), 16 + message->length);
	assert_int_equal(skb->len, ETH_HLEN + EAGER_HEADER + 16 + message->length);
	skb_copy_bits(skb, ETH_HLEN + EAGER_HEADER, bytes, 16 + message->length);
	assert_int_equal(get32(bytes + 8), message->length);
	assert_memory_equal(bytes + 16, message->bytes, message->length);
}

static void check_empty(const struct sk_buff *skb)
{
	assert_int_equal(skb->pages, 0);
	assert_int_equal(skb->data_len, 0);
	assert_int_equal(skb->len, ETH_HLEN + EAGER_HEADER);
	assert_int_equal(skb->truesize, ETH_HLEN + EAGER_HEADER);
}

static bool join(struct sk_buff *other, u32 length)
{
	bool joined;

	spin_lock_bh(&channel.lock);
	joined = omx_bundle_join(&channel, other, length);
	spin_unlock_bh(&channel.lock);
	return joined;
}

/* If its packets are as long, there are not too many pages, and there is room for the gap. */
static bool pages_may_join(const struct long_one *one, const struct sk_buff *other)
{
	return one->payload == other->gso_size &&
	       one->skb->pages + other->pages <= mock_max_frags &&
	       align8(sent.bundle) - sent.bundle <= omx_burst_room(one->skb);
}

/* As channel/send.c does it with a message that could not be added. */
static bool long_join_one(struct long_one *one, u32 length)
{
	struct sk_buff *other = long_make(one->payload - (random_percent(5) ? 16 : 0), length);
	struct snapshot before, alone;
	bool expected;

	if (!other)
		return false;
	check_alone(other);
	expected = long_may_have(one, length) && pages_may_join(one, other);
	snapshot_take(&before, one->skb);
	snapshot_take(&alone, other);
	assert_int_equal(join(other, length), expected);
	if (expected) {
		message_count(&sent);
		check_empty(other);
		assert_int_equal(endpoint.budget.used - before.endpoint.budget.used,
				 alone.skb.truesize - other->truesize);
		one->joined++;
	} else {
		snapshot_check(&before, one->skb);
		snapshot_check(&alone, other);
		check_alone(other);
	}
	kfree_skb(other);
	return expected;
}

static void check_counts(const struct long_one *one, bool is_corked)
{
	const struct omx_pending_cb *cb = omx_pending_cb(one->skb);
	const struct omx_wire_eager *eager = omx_packet_body(one->skb);

	assert_int_equal(eager->sequence.flags, OMX_SEQUENCE_BUNDLE);
	assert_int_equal(be32_to_cpu(eager->msg_length), sent.bundle);
	assert_int_equal(one->skb->len, ETH_HLEN + EAGER_HEADER + sent.bundle);
	assert_int_equal(cb->packets, packets_of(one, sent.bundle));
	assert_int_equal(cb->packets, omx_burst_count(one->skb));
	assert_int_equal(channel.pending_packets, cb->packets);
	assert_int_equal(channel.corked, is_corked ? cb->packets : 0);
	assert_int_equal(sent.count, cb->messages);
	assert_int_equal(sent.count, channel.own_messages);
	assert_int_equal(sent.count, board.counted.SEND_BUNDLED - one->bundled + 1);
	assert_int_equal(sent.slots, cb->slots);
	assert_true(sent.slots <= cb->packets * OMX_PACKET_SLOTS_MAX);
}

/* All memory of it is charged, once. */
static void check_memory(const struct long_one *one)
{
	u32 memory = ETH_HLEN + EAGER_HEADER, i;

	for (i = 0; i < one->skb->pages; i++)
		memory += one->skb->page[i].size;
	assert_int_equal(one->skb->truesize, memory);
	assert_int_equal(endpoint.budget.used, memory);
	assert_int_equal(channel.pending_bytes, memory);
	assert_int_equal(channel.own_bytes, memory);
}

/* A window, or none, of a peer that is full or has a crowd of senders. */
static u32 any_window(void)
{
	u32 packets = random_percent(50) ? 64 : random_below(random_percent(50) ? 5 : 40);

	channel.tx.acked = random_u64();
	channel.tx.limit = channel.tx.acked + (packets ? packets : -random_below(3));
	channel.tx.waits = !packets && random_percent(50);
	return packets ? packets : channel.tx.waits ? 1 : 64;
}

/* With its first message.  False: it cannot be made. */
static bool long_begin_one(struct long_one *one, bool is_corked)
{
	*one = (struct long_one){
		.payload = (500 + random_below(8500)) & ~15u,
		.window = any_window(),
		.shape = random_below(6),
		.alike = random_percent(20),
		.bundled = board.counted.SEND_BUNDLED,
	};
	page_size = random_percent(80) ? 4096 : random_percent(50) ? 16384 : 65536;
	mock_max_frags = random_percent(50) ? 17 : 1 + random_below(8);
	one->length = any_length(one->shape, LONG_MOST) & ~(one->alike ? 7u : 0);
	messages_clear(&sent);
	one->skb = long_make(one->payload, one->length);
	if (!one->skb)
		return false;
	long_queue(one->skb, is_corked);
	assert_true(omx_bundle_takes_another(&channel, one->skb));
	/* Many short ones behind a long one take more slots than packets. */
	if (random_percent(50))
		one->shape = random_below(6);
	return true;
}

/* One with which a limit is reached, missed, or exceeded by a byte. */
static u32 length_to_edge(const struct long_one *one)
{
	u32 edge = random_percent(40) ? 65536 :
		   random_percent(50) ? one->window * one->payload :
					sent.bundle + omx_burst_room(one->skb);
	s32 length = edge - bundle_length_with(0) + random_below(3) - 1;

	return length < 0 || length > LONG_MOST ? any_length(one->shape, LONG_MOST) : length;
}

static u32 long_length(const struct long_one *one)
{
	if (one->alike)
		return one->length;
	return random_percent(20) ? length_to_edge(one) : any_length(one->shape, LONG_MOST);
}

/* While some packets have left, it stays as it is. */
static void check_that_none_is_added_once_sent(struct long_one *one)
{
	omx_pending_cb(one->skb)->sent = 1;
	assert_false(omx_bundle_takes_another(&channel, one->skb));
	assert_false(long_add_one(one, 0));
	assert_false(long_join_one(one, random_below(LONG_MOST + 1)));
	omx_pending_cb(one->skb)->sent = 0;
}

static void long_fill(struct long_one *one, bool is_corked)
{
	u32 tries = random_below(3000), refused = 0;

	while (tries-- && refused < 20) {
		u32 length = long_length(one);

		if (one->alike)
			assert_int_equal(omx_bundle_takes_another(&channel, one->skb),
					 long_may_have(one, length));
		if (long_add_one(one, length) || long_join_one(one, length)) {
			check_counts(one, is_corked);
			check_memory(one);
		} else {
			refused++;
		}
		if (random_percent(1))
			one->window = any_window();
	}
}

static u32 long_deliver(const struct long_one *one)
{
	static u8 bytes[OMX_WIRE_EAGER_MAX];

	assert_true(sent.bundle <= sizeof(bytes));
	skb_copy_bits(one->skb, ETH_HLEN + EAGER_HEADER, bytes, sent.bundle);
	check_bundle(bytes, sent.bundle);
	be_short_of_room();
	return deliver_long(bytes, sent.bundle,
			    random_percent(50) ? one->payload : 16 + random_below(9000));
}

static void long_ones(void **state)
{
	u32 round, made = 0, joined = 0, split = 0, full = 0, exact = 0, crowded = 0, many = 0;

	(void)state;
	kept = 0;
	for (round = 0; round < ROUNDS; round++) {
		bool is_corked = random_percent(50);
		struct long_one one;

		if (!long_begin_one(&one, is_corked))
			continue;
		long_fill(&one, is_corked);
		check_that_none_is_added_once_sent(&one);
		split += long_deliver(&one) > 1;
		check_delivered();
		made++;
		joined += one.joined;
		full += sent.bundle > 65536 - 100;
		exact += sent.bundle == 65536;
		crowded += one.joined && one.skb->pages == mock_max_frags;
		many += sent.slots == omx_pending_cb(one.skb)->packets * OMX_PACKET_SLOTS_MAX;
		kfree_skb(one.skb);
	}
	assert_int_equal(board.counted.DROP_FRAGMENT, 0);
	assert_true(made > ROUNDS / 10 && split > made / 10);
	assert_true(joined > made && kept > made);
	assert_true(full > made / 20 && exact > made / 100 && crowded > made / 50 &&
		    many > made / 400);
}

/* Memory may be short. */
static struct sk_buff *long_make_surely(u32 payload, u32 length)
{
	struct sk_buff *skb;

	do {
		skb = long_make(payload, length);
	} while (!skb);
	return skb;
}

static void check_that_it_does_not_join(struct sk_buff *waiting, struct sk_buff *other, u32 length)
{
	struct snapshot before, alone;

	snapshot_take(&before, waiting);
	snapshot_take(&alone, other);
	assert_false(join(other, length));
	snapshot_check(&before, waiting);
	snapshot_check(&alone, other);
}

/* There is none, it is a packet, or one of them is the burst of a message. */
static void what_does_not_join(void **state)
{
	struct sk_buff *packet = packet_begin(1000, 9000), *first, *other;
	struct omx_wire_eager *eager;

	(void)state;
	other = long_make_surely(1024, 5000);
	check_that_it_does_not_join(packet, other, 5000);
	omx_packet_head(packet)->type = OMX_WIRE_BUNDLE;
	check_that_it_does_not_join(packet, other, 5000);
	channel.pending.last = NULL;
	check_that_it_does_not_join(packet, other, 5000);
	kfree_skb(packet);
	kfree_skb(other);
	channel.tx.limit = channel.tx.acked + 64;
	messages_clear(&sent);
	first = long_make_surely(1024, 9000);
	long_queue(first, false);
	other = long_make_surely(1024, 5000);
	eager = omx_packet_body(first);
	eager->sequence.flags = 0;
	check_that_it_does_not_join(first, other, 5000);
	eager->sequence.flags = OMX_SEQUENCE_BUNDLE;
	eager = omx_packet_body(other);
	eager->sequence.flags = 0;
	check_that_it_does_not_join(first, other, 5000);
	eager->sequence.flags = OMX_SEQUENCE_BUNDLE;
	assert_true(join(other, 5000));
	kfree_skb(first);
	kfree_skb(other);
}

/* Two messages would fill the only packet that the window has, but for the gap between them. */
static void gap_that_is_too_long(void **state)
{
	struct sk_buff *skb;

	(void)state;
	channel.tx.limit = channel.tx.acked + 2;
	messages_clear(&sent);
	skb = long_make_surely(2 * (16 + 1005), 1005);
	long_queue(skb, false);
	assert_true(omx_bundle_takes_another(&channel, skb));
	channel.tx.limit = channel.tx.acked + 1;
	assert_false(omx_bundle_takes_another(&channel, skb));
	assert_false(add(1005, 9000, false));
	assert_true(add(1002, 9000, false));
	kfree_skb(skb);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(what_does_not_join, setup),
		cmocka_unit_test_setup(gap_that_is_too_long, setup),
		cmocka_unit_test_setup(long_ones, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
