// SPDX-License-Identifier: BSD-2-Clause
/*
 * Bundles, short and long: what is added to one is what is delivered, and of those that nobody
 * should send as much as a second opinion of them says.  The receiver's ring is full now and
 * then, so that a bundle is delivered in parts.
 *
 * Packets lie in memory of exactly their length, so that ASan sees a byte too many.
 */
#include "test.h"

#include "mock.h"

#include "eager/bundle.c"
#include "eager/bundle_receive.c"

#define MESSAGES_MAX	2100
#define ROUNDS		10000
#define LONG_ROUNDS	5000
#define HEADER		(16 + 16)	/* of a frame of ours: head, sequence part */
#define EAGER_HEADER	(HEADER + 16)	/* and of an EAGER */
#define LONG_MOST	32768
#define MATCH		7000000000u	/* of the first message */

static struct omx_board board;
static struct omx_endpoint endpoint = { .board = &board };
static struct omx_channel channel = { .ep = &endpoint };

struct message {
	u64 match;
	u32 length;
	u8 bytes[OMX_WIRE_BUNDLED_MAX];
};

static struct message sent[MESSAGES_MAX], got[MESSAGES_MAX];
static u32 sent_count, got_count;
static u32 full_percent;		/* how often the ring is full */
static u32 no_memory_percent;
static u32 freed;

/* ---- what the driver calls ---- */

bool omx_eager_push(struct omx_channel *ch, u64 match_info, const struct sk_buff *skb, int offset,
		    u32 length)
{
	struct message *message = &got[got_count];

	assert_true(ch->lock.held);
	assert_true(length <= OMX_WIRE_BUNDLED_MAX);
	if (random_percent(full_percent))
		return false;
	assert_true(got_count < MESSAGES_MAX);
	message->match = match_info;
	message->length = length;
	skb_copy_bits(skb, offset, message->bytes, length);
	got_count++;
	return true;
}

void omx_gro_free(struct sk_buff *skb)
{
	(void)skb;
	freed++;
}

/* ---- packets ---- */

static struct sk_buff *skb_make(u32 length)
{
	struct sk_buff *skb = calloc(1, sizeof(*skb));

	skb->head = skb->data = malloc(length);
	skb->end = skb->head + length;
	return skb;
}

struct sk_buff *alloc_skb(unsigned int length, gfp_t gfp)
{
	(void)gfp;
	return random_percent(no_memory_percent) ? NULL : skb_make(length);
}

void kfree_skb(struct sk_buff *skb)
{
	if (!skb)
		return;
	free(skb->payload);
	free(skb->head);
	free(skb);
}

/* With room for this many bytes behind the Ethernet header, of which some are used. */
static struct sk_buff *packet_make(u32 used, u32 room)
{
	struct sk_buff *skb = skb_make(ETH_HLEN + room);

	skb->len = ETH_HLEN + used;
	memset(skb->head, 0xee, ETH_HLEN + room);
	return skb;
}

/* As it arrives: without the Ethernet header, and with no byte behind it. */
static struct sk_buff *packet_arrived(const u8 *frame, u32 length)
{
	struct sk_buff *skb = packet_make(length, length);

	memcpy(skb->head + ETH_HLEN, frame, length);
	skb->data += ETH_HLEN;
	skb->len -= ETH_HLEN;
	return skb;
}

/* Tries again and again until there is room.  Returns in how many parts it was delivered. */
static u32 deliver(const u8 *frame, u32 length)
{
	struct sk_buff *skb = packet_arrived(frame, length);
	u32 delivered = 0, parts = 1, before = freed;

	got_count = 0;
	spin_lock_bh(&channel.lock);
	while (!omx_receive_bundle(&channel, skb, &delivered)) {
		assert_int_equal(freed, before);
		parts++;
	}
	spin_unlock_bh(&channel.lock);
	assert_int_equal(freed, before + 1);
	kfree_skb(skb);
	return parts;
}

static void check_delivered(void)
{
	u32 i;

	assert_int_equal(got_count, sent_count);
	for (i = 0; i < sent_count; i++) {
		assert_int_equal(got[i].match, sent[i].match);
		assert_int_equal(got[i].length, sent[i].length);
		assert_memory_equal(got[i].bytes, sent[i].bytes, sent[i].length);
	}
}

/* ---- adding ---- */

static void make_message(struct message *message, u32 length)
{
	u32 i;

	message->match = MATCH + random_below(1000);
	message->length = length;
	for (i = 0; i < length; i++)
		message->bytes[i] = random_u64();
}

/* The first one, as eager_send.c makes it: an EAGER with room for others. */
static struct sk_buff *packet_begin(u32 length, u32 room)
{
	struct sk_buff *skb = packet_make(OMX_EAGER_HEADER + length, room);
	struct omx_wire_head *head = omx_packet_head(skb);
	struct omx_wire_eager *eager = omx_packet_body(skb);

	memset(head, 0, sizeof(*head));
	memset(eager, 0, sizeof(*eager));
	head->type = OMX_WIRE_EAGER;
	head->length = cpu_to_be16(OMX_EAGER_HEADER + length);
	make_message(&sent[0], length);
	eager->match_info = cpu_to_be64(sent[0].match);
	eager->msg_length = cpu_to_be32(length);
	memcpy(eager + 1, sent[0].bytes, length);
	sent_count = 1;
	channel.pending.last = skb;
	*omx_pending_cb(skb) = (struct omx_pending_cb){ 1, omx_ring_slots(length), 1, 0 };
	channel.own_messages = 1;
	return skb;
}

static bool add(u32 length, u32 mtu, bool absent)
{
	struct message *message = &sent[sent_count];
	struct omx_buffer_iter data = { .at = message->bytes, .absent = absent };
	bool added;

	make_message(message, length);
	spin_lock_bh(&channel.lock);
	added = omx_bundle_add(&channel, mtu, message->match, &data, length);
	spin_unlock_bh(&channel.lock);
	sent_count += added;
	return added;
}

static u32 any_length(u32 shape)
{
	switch (shape) {
	case 0:
		return 0;
	case 1:
		return random_below(40);
	case 2:
		return OMX_WIRE_BUNDLED_MAX - random_below(3);
	}
	return random_percent(80) ? random_below(200) : random_below(OMX_WIRE_BUNDLED_MAX + 1);
}

static u32 slots_of_all(void)
{
	u32 slots = 0, i;

	for (i = 0; i < sent_count; i++)
		slots += sent[i].length <= 32 ? 1 : 1 + (sent[i].length + 63) / 64;
	return slots;
}

/* Whatever is added comes out again, within the limits, with zeros in between. */
static void what_is_added_is_delivered(void **state)
{
	u32 round, full = 0, split = 0;

	(void)state;
	for (round = 0; round < ROUNDS; round++) {
		u32 mtu = random_percent(50) ? 1500 : 576 + random_below(8500);
		u32 shape = random_below(4), first = any_length(shape), tries;
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
		assert_true(omx_bundle_takes_another(skb));
		for (tries = 0; tries < 200; tries++) {
			u32 before = skb->len;
			bool absent = random_percent(5);

			if (!add(any_length(shape), now, absent)) {
				assert_int_equal(skb->len, before);
				continue;
			}
			assert_false(absent);
			assert_int_equal(head->type, OMX_WIRE_BUNDLE);
		}
		assert_true(sent_count == 1 || skb->len - ETH_HLEN <= now);
		assert_true(skb->len - ETH_HLEN <= mtu);
		assert_true(slots_of_all() <= OMX_PACKET_SLOTS_MAX);
		assert_int_equal(slots_of_all(), omx_pending_cb(skb)->slots);
		assert_int_equal(sent_count, omx_pending_cb(skb)->messages);
		assert_int_equal(sent_count, channel.own_messages);
		full += slots_of_all() == OMX_PACKET_SLOTS_MAX;
		if (sent_count > 1) {
			assert_int_equal(be16_to_cpu(head->length), skb->len - ETH_HLEN);
			full_percent = random_percent(50) ? 0 : 30;
			split += deliver((const u8 *)head, skb->len - ETH_HLEN) > 1;
			check_delivered();
		}
		kfree_skb(skb);
	}
	assert_int_equal(board.counted.DROP_FRAGMENT, 0);
	assert_true(full > ROUNDS / 100 && split > ROUNDS / 10);
}

/* ---- long ones ---- */

struct sk_buff *omx_burst_make(struct omx_channel *ch, u32 length, u32 packet_payload)
{
	struct sk_buff *burst;

	assert_ptr_equal(ch, &channel);
	assert_true(length == 4096 || length == 16384 || length == LONG_MOST);
	if (random_percent(10))
		return NULL;
	burst = skb_make(ETH_HLEN + EAGER_HEADER);
	burst->len = ETH_HLEN + EAGER_HEADER + length;
	burst->room = length;
	memset(burst->head, 0, ETH_HLEN + EAGER_HEADER);
	omx_packet_head(burst)->type = OMX_WIRE_EAGER;
	if (!random_percent(10)) {
		burst->payload = malloc(length);
		memset(burst->payload, 0xee, length);
	}
	burst->gso_size = packet_payload;
	burst->gso_segs = DIV_ROUND_UP(length, packet_payload);
	return burst;
}

unsigned int omx_page_pool_page_size(unsigned int length)
{
	return length <= 4096 ? 4096 : length <= 16384 ? 16384 : LONG_MOST;
}

void *omx_burst_bytes(const struct sk_buff *burst)
{
	return burst->payload;
}

u32 omx_burst_room(const struct sk_buff *burst)
{
	return burst->room;
}

void omx_burst_set_length(struct sk_buff *burst, u32 length)
{
	assert_true(length <= burst->room);
	burst->len = ETH_HLEN + EAGER_HEADER + length;
	burst->gso_segs = DIV_ROUND_UP(length, burst->gso_size);
}

/* As eager_send.c queues it, with its first message.  NULL: it cannot be made. */
static struct sk_buff *long_begin(u32 payload, u32 length, bool is_corked)
{
	struct omx_buffer_iter data = { .at = sent[0].bytes, .length = length,
					.absent = random_percent(10) };
	struct sk_buff *skb;

	make_message(&sent[0], length);
	sent_count = 1;
	skb = omx_bundle_make_long(&channel, payload, sent[0].match, &data, length);
	if (!skb)
		return NULL;
	/* A packet has not enough of them. */
	assert_true(16 * (16 + length) > payload);
	assert_int_equal(skb == ERR_PTR(-EFAULT), data.absent);
	if (data.absent)
		return NULL;
	assert_true(omx_bundle_takes_another(skb));
	channel.pending.last = skb;
	*omx_pending_cb(skb) = (struct omx_pending_cb){ 1, omx_ring_slots(length),
							omx_burst_count(skb), 0 };
	channel.own_messages = 1;
	channel.pending_packets = omx_burst_count(skb);
	channel.corked = is_corked ? omx_burst_count(skb) : 0;
	return skb;
}

/* Frames of `each` bytes behind a header, the last one shorter, in memory of their length. */
static struct sk_buff *frames_make(const u8 *bytes, u32 length, u32 each)
{
	struct sk_buff *first = NULL, **end = &first;
	u32 n;

	for (; length; length -= n, bytes += n, end = &(*end)->next) {
		n = min(length, each);
		*end = skb_make(EAGER_HEADER + n);
		(*end)->len = EAGER_HEADER + n;
		memset((*end)->data, 0xdd, EAGER_HEADER);
		memcpy((*end)->data + EAGER_HEADER, bytes, n);
	}
	return first;
}

static void frames_free(struct sk_buff *skb)
{
	while (skb) {
		struct sk_buff *next = skb->next;

		kfree_skb(skb);
		skb = next;
	}
}

/* Returns in how many parts it was delivered. */
static u32 deliver_long(const u8 *bytes, u32 length, u32 each)
{
	struct sk_buff *frames = frames_make(bytes, length, each);
	u32 delivered = 0, parts = 1;

	got_count = 0;
	spin_lock_bh(&channel.lock);
	while (!omx_receive_long_bundle(&channel, frames, length, &delivered))
		parts++;
	spin_unlock_bh(&channel.lock);
	frames_free(frames);
	return parts;
}

static void be_short_of_room(void)
{
	full_percent = random_percent(50) ? 0 : 30;
	no_memory_percent = random_percent(50) ? 0 : 30;
}

/* A window, or none, of a peer that is full or has a crowd of senders. */
static u32 any_window(void)
{
	u32 packets = random_percent(50) ? 64 : random_below(5);

	channel.tx.acked = random_u64();
	channel.tx.limit = channel.tx.acked + packets;
	channel.tx.waits = !packets && random_percent(50);
	return packets || channel.tx.waits ? packets : 64;
}

static void check_counts(struct sk_buff *skb, u32 payload, bool is_corked)
{
	const struct omx_pending_cb *cb = omx_pending_cb(skb);
	const struct omx_wire_eager *eager = omx_packet_body(skb);
	u32 length = be32_to_cpu(eager->msg_length);

	assert_true(eager->sequence.flags & OMX_SEQUENCE_BUNDLE);
	assert_int_equal(skb->len, ETH_HLEN + EAGER_HEADER + length);
	assert_int_equal(cb->packets, DIV_ROUND_UP(length, payload));
	assert_int_equal(cb->packets, omx_burst_count(skb));
	assert_int_equal(channel.pending_packets, cb->packets);
	assert_int_equal(channel.corked, is_corked ? cb->packets : 0);
	assert_int_equal(sent_count, cb->messages);
	assert_int_equal(sent_count, channel.own_messages);
	assert_int_equal(slots_of_all(), cb->slots);
	assert_true(slots_of_all() <= cb->packets * OMX_PACKET_SLOTS_MAX);
}

static void long_ones(void **state)
{
	u32 round, made = 0, split = 0, full = 0;

	(void)state;
	for (round = 0; round < LONG_ROUNDS; round++) {
		u32 payload = (500 + random_below(8500)) & ~15u, shape = random_below(4);
		u32 tries = random_below(2000), refused = 0, length;
		bool is_corked = random_percent(50);
		u32 window = any_window(), first;
		struct sk_buff *skb = long_begin(payload, any_length(shape), is_corked);

		if (!skb)
			continue;
		made++;
		first = omx_burst_count(skb);
		while (tries-- && refused < 20) {
			bool absent = random_percent(5);

			if (!random_below(10))	/* the path takes shorter packets only */
				assert_false(add(0, EAGER_HEADER + payload - 1, absent));
			if (add(any_length(shape), EAGER_HEADER + payload, absent))
				assert_false(absent);
			else
				refused++;
		}
		check_counts(skb, payload, is_corked);
		assert_true(omx_burst_count(skb) <= max(first, window));
		length = skb->len - ETH_HLEN - EAGER_HEADER;
		full += length > skb->room - 100;
		omx_pending_cb(skb)->sent = 1;
		assert_false(add(0, 9000, false));
		be_short_of_room();
		split += deliver_long(skb->payload, length,
				      random_percent(50) ? payload : 16 + random_below(9000)) > 1;
		check_delivered();
		kfree_skb(skb);
	}
	assert_int_equal(board.counted.DROP_FRAGMENT, 0);
	assert_true(made > LONG_ROUNDS / 10 && full > made / 20 && split > made / 10);
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
	sent_count = 0;
	assert_false(add(1, 9000, false));
	skb = packet_begin(10, 9000);
	head = omx_packet_head(skb);
	eager = omx_packet_body(skb);
	for (type = 0; type < OMX_WIRE_TYPES; type++) {
		bool takes = type == OMX_WIRE_EAGER || type == OMX_WIRE_BUNDLE;

		head->type = type;
		assert_int_equal(omx_bundle_takes_another(skb), takes);
		if (!takes)
			assert_false(add(1, 9000, false));
	}
	head->type = OMX_WIRE_EAGER;
	eager->msg_length = cpu_to_be32(11);	/* the first fragment of a message */
	assert_false(omx_bundle_takes_another(skb));
	assert_false(add(1, 9000, false));
	eager->msg_length = cpu_to_be32(10);
	omx_pending_cb(skb)->packets = 2;	/* a burst */
	assert_false(add(1, 9000, false));
	omx_pending_cb(skb)->packets = 1;
	assert_true(add(1, 9000, false));
	kfree_skb(skb);
	assert_int_not_equal(omx_bundle_room(OMX_WIRE_BUNDLED_MAX, 65535), 0);
}

/* ---- packets that nobody should send ---- */

static u32 get32(const u8 *at)
{
	return (u32)at[0] << 24 | at[1] << 16 | at[2] << 8 | at[3];
}

/* What has to be delivered of a bundle; true if something behind that must be dropped. */
static bool expect(const u8 *frame, u32 header, u32 length)
{
	u64 at = header;

	for (sent_count = 0; at < length; sent_count++) {
		struct message *message = &sent[sent_count];

		if (at + 16 > length)
			return true;
		message->match = (u64)get32(frame + at) << 32 | get32(frame + at + 4);
		message->length = get32(frame + at + 8);
		if (message->length > 4096 || at + 16 + message->length > length)
			return true;
		memcpy(message->bytes, frame + at + 16, message->length);
		at = (at + 16 + message->length + 7) & ~7ull;
	}
	return false;
}

static void put32(u8 *at, u32 value)
{
	at[0] = value >> 24;
	at[1] = value >> 16;
	at[2] = value >> 8;
	at[3] = value;
}

static u32 wrong_length(u32 length)
{
	static const u32 edges[] = { 4095, 4096, 4097, 0x7fffffff, 0x80000000, 0xfffffff0,
				     0xffffffff };

	return random_percent(50) ? length + random_below(40) - 20 :
				    edges[random_below(sizeof(edges) / sizeof(edges[0]))];
}

/* One message at least, as omx_wire_validate() makes sure. */
static u32 build_frame(u8 *frame)
{
	u32 shape = random_below(4), most = 100 + random_below(8800), at = HEADER, i;
	u32 spoiled = random_percent(60) ? random_below(10) : 1000, count;

	for (i = 0; i < 9000; i++)
		frame[i] = random_u64();
	for (count = 0; at < most; count++) {
		u32 length = any_length(shape);

		if (at + 16 + length > 9000)
			break;
		put32(frame + at + 8, count == spoiled ? wrong_length(length) : length);
		at = (at + 16 + length + 7) & ~7u;
	}
	if (random_percent(30))
		at -= random_below(at - HEADER - 15);
	return at < HEADER + 16 ? HEADER + 16 : at;
}

static void malformed_ones(void **state)
{
	static u8 frame[9000 + 8];
	u32 round, split = 0, dropped = 0;

	(void)state;
	for (round = 0; round < ROUNDS; round++) {
		u32 length = build_frame(frame);
		bool drops = expect(frame, HEADER, length);
		u64 before = board.counted.DROP_FRAGMENT;

		full_percent = random_percent(50) ? 0 : 30;
		split += deliver(frame, length) > 1;
		check_delivered();
		assert_int_equal(board.counted.DROP_FRAGMENT, before + drops);
		dropped += drops;
	}
	assert_in_range(dropped, ROUNDS / 4, ROUNDS * 3 / 4);
	assert_true(split > ROUNDS / 10);
}

/* The same bytes in several frames, as a message that has come whole. */
static void malformed_long_ones(void **state)
{
	static u8 frame[9000 + 8];
	u32 round, split = 0, dropped = 0;

	(void)state;
	for (round = 0; round < ROUNDS; round++) {
		u32 length = build_frame(frame) - HEADER;
		bool drops = expect(frame + HEADER, 0, length);
		u64 before = board.counted.DROP_FRAGMENT;

		be_short_of_room();
		split += deliver_long(frame + HEADER, length, 1 + random_below(3000)) > 1;
		check_delivered();
		assert_int_equal(board.counted.DROP_FRAGMENT, before + drops);
		dropped += drops;
	}
	assert_in_range(dropped, ROUNDS / 4, ROUNDS * 3 / 4);
	assert_true(split > ROUNDS / 10);
}

static int setup(void **state)
{
	(void)state;
	random_seed(1);
	board = (struct omx_board){ 0 };
	channel.lock.held = false;
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(what_is_added_is_delivered, setup),
		cmocka_unit_test_setup(packets_that_take_none, setup),
		cmocka_unit_test_setup(long_ones, setup),
		cmocka_unit_test_setup(malformed_ones, setup),
		cmocka_unit_test_setup(malformed_long_ones, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
