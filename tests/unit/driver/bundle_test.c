// SPDX-License-Identifier: BSD-2-Clause
/*
 * Bundles, short and long: what is added to one, or joins it in a page of its own, is what is
 * delivered, and of those that nobody should send as much as a second opinion of them says.
 * The receiver's ring is full now and then, so that a bundle is delivered in parts.
 *
 * Packets, and pages, lie in memory of exactly their length, so that ASan sees a byte too many.
 */
#include "test.h"

#include "mock.h"

#include "eager/bundle.c"
#include "eager/bundle_receive.c"

/* So many without bytes fill the longest bundle. */
#define MESSAGES_MAX	(OMX_WIRE_EAGER_MAX / 16 + 1)
#define BYTES_MAX	(OMX_WIRE_EAGER_MAX + 2 * OMX_WIRE_LONG_BUNDLED_MAX)
#define ROUNDS		10000
#define LONG_ROUNDS	3000
#define HEADER		(16 + 16)	/* of a frame of ours: head, sequence part */
#define EAGER_HEADER	(HEADER + 16)	/* and of an EAGER */
#define PAGE_MOST	8192		/* bytes of a message that is added to a page */
#define SHORT_MOST	4096		/* bytes of a message in a BUNDLE */
#define LONG_MOST	16384		/* and in a long bundle */
#define MATCH		7000000000u	/* of the first message */

static struct omx_board board;
static struct omx_endpoint endpoint = { .board = &board };
static struct omx_channel channel = { .ep = &endpoint };

struct message {
	u64 match;
	u32 length;
	u8 *bytes;
};

struct messages {
	u32 count;
	u32 used;			/* of `bytes` */
	u32 bundle, slots;		/* what they take together, without a header */
	struct message of[MESSAGES_MAX + 1];
	u8 bytes[BYTES_MAX];
};

static struct messages sent, got;
static u32 full_percent;		/* how often the ring is full */
static u32 no_memory_percent;
static u32 freed, kept;
static const struct sk_buff *arrived;	/* the frames of a long bundle, else NULL */

/* ---- messages ---- */

static u32 align8(u32 length)
{
	return (length + 7) & ~7u;
}

/* In the receiver's ring; a longer one stays in its frames. */
static u32 slots_of(u32 length)
{
	return length <= 32 || length > 4096 ? 1 : 1 + (length + 63) / 64;
}

static void messages_clear(struct messages *list)
{
	list->count = list->used = list->bundle = list->slots = 0;
}

/* The place of another one, which is none of them yet. */
static struct message *message_next(struct messages *list, u64 match, u32 length)
{
	struct message *message = &list->of[list->count];

	assert_true(list->count <= MESSAGES_MAX && length <= BYTES_MAX - list->used);
	*message = (struct message){ match, length, list->bytes + list->used };
	return message;
}

static void message_count(struct messages *list)
{
	u32 length = list->of[list->count++].length;

	list->used += length;
	list->bundle = align8(list->bundle) + 16 + length;
	list->slots += slots_of(length);
}

static void any_bytes(u8 *bytes, u32 length)
{
	u64 some;

	for (; length >= sizeof(some); bytes += sizeof(some), length -= sizeof(some)) {
		some = random_u64();
		memcpy(bytes, &some, sizeof(some));
	}
	some = random_u64();
	memcpy(bytes, &some, length);
}

static struct message *make_message(u32 length)
{
	struct message *message = message_next(&sent, MATCH + random_below(1000), length);

	any_bytes(message->bytes, length);
	return message;
}

static void check_delivered(void)
{
	u32 i;

	assert_int_equal(got.count, sent.count);
	for (i = 0; i < sent.count; i++) {
		assert_int_equal(got.of[i].match, sent.of[i].match);
		assert_int_equal(got.of[i].length, sent.of[i].length);
		assert_memory_equal(got.of[i].bytes, sent.of[i].bytes, sent.of[i].length);
	}
}

static u32 get32(const u8 *at)
{
	return (u32)at[0] << 24 | at[1] << 16 | at[2] << 8 | at[3];
}

/* Nothing but what has been sent, with zeros in between. */
static void check_bundle(const u8 *bytes, u32 length)
{
	u32 at = 0, i;

	assert_int_equal(length, sent.bundle);
	for (i = 0; i < sent.count; i++) {
		const struct message *message = &sent.of[i];

		for (; at % 8; at++)
			assert_int_equal(bytes[at], 0);
		assert_int_equal((u64)get32(bytes + at) << 32 | get32(bytes + at + 4),
				 message->match);
		assert_int_equal(get32(bytes + at + 8), message->length);
		assert_int_equal(get32(bytes + at + 12), 0);
		assert_memory_equal(bytes + at + 16, message->bytes, message->length);
		at += 16 + message->length;
	}
	assert_int_equal(at, length);
}

/* ---- what the driver calls ---- */

bool omx_eager_push(struct omx_channel *ch, u64 match_info, const struct sk_buff *skb, int offset,
		    u32 length)
{
	assert_true(ch->lock.held);
	assert_true(length <= 4096);
	if (random_percent(full_percent))
		return false;
	skb_copy_bits(skb, offset, message_next(&got, match_info, length)->bytes, length);
	message_count(&got);
	return true;
}

/* Is it one of those that eager_receive.c knows? */
static bool has_arrived(const struct sk_buff *frame)
{
	const struct sk_buff *skb;

	for (skb = arrived; skb && skb != frame; skb = skb->next)
		;
	return skb;
}

/* The bytes may be in several frames, as eager_receive.c finds them when they are fetched. */
bool omx_eager_keep(struct omx_channel *ch, u64 match_info, const struct sk_buff *frame,
		    u32 offset, u32 length)
{
	u32 left = length, n;
	u8 *to;

	assert_true(ch->lock.held && has_arrived(frame));
	assert_in_range(length, 4097, LONG_MOST);
	if (random_percent(full_percent))
		return false;
	to = message_next(&got, match_info, length)->bytes;
	for (; left; left -= n, to += n, frame = frame->next, offset = EAGER_HEADER) {
		assert_non_null(frame);
		assert_in_range(offset, EAGER_HEADER, frame->len - 1);
		n = min(left, frame->len - offset);
		skb_copy_bits(frame, offset, to, n);
	}
	message_count(&got);
	kept++;
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
	skb->truesize = length;
	return skb;
}

struct sk_buff *alloc_skb(unsigned int length, gfp_t gfp)
{
	(void)gfp;
	return random_percent(no_memory_percent) ? NULL : skb_make(length);
}

void kfree_skb(struct sk_buff *skb)
{
	u32 i;

	if (!skb)
		return;
	for (i = 0; i < skb->pages; i++)
		free(skb->page[i].bytes);
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

	messages_clear(&got);
	arrived = NULL;
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

/* ---- adding ---- */

/* The first one, as eager_send.c makes it: an EAGER with room for others. */
static struct sk_buff *packet_begin(u32 length, u32 room)
{
	struct sk_buff *skb = packet_make(OMX_EAGER_HEADER + length, room);
	struct omx_wire_head *head = omx_packet_head(skb);
	struct omx_wire_eager *eager = omx_packet_body(skb);
	struct message *message;

	messages_clear(&sent);
	message = make_message(length);
	memset(head, 0, sizeof(*head));
	memset(eager, 0, sizeof(*eager));
	head->type = OMX_WIRE_EAGER;
	head->length = cpu_to_be16(OMX_EAGER_HEADER + length);
	eager->match_info = cpu_to_be64(message->match);
	eager->msg_length = cpu_to_be32(length);
	memcpy(eager + 1, message->bytes, length);
	message_count(&sent);
	channel.pending.last = skb;
	*omx_pending_cb(skb) = (struct omx_pending_cb){ 1, slots_of(length), 1, 0 };
	channel.own_messages = 1;
	return skb;
}

static bool add(u32 length, u32 mtu, bool absent)
{
	struct message *message = make_message(length);
	struct omx_buffer_iter data = { message->bytes, length, absent };
	bool added;

	spin_lock_bh(&channel.lock);
	added = omx_bundle_add(&channel, mtu, message->match, &data, length);
	spin_unlock_bh(&channel.lock);
	if (added)
		message_count(&sent);
	return added;
}

static u32 any_length(u32 shape, u32 most)
{
	switch (shape) {
	case 0:
		return 0;
	case 1:
		return random_below(40);
	case 2:
		return most - random_below(3);
	case 4:
		return most - random_below(40);
	case 5:
		return 4094 + random_below(5);	/* what stays in its frames, and what not */
	}
	return random_percent(80) ? random_below(200) : random_below(most + 1);
}

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

/* ---- long ones ---- */

unsigned int mock_max_frags = 17;
static u32 page_size = 4096;		/* of the machine; the pool has two larger ones */

unsigned int omx_page_pool_page_size(unsigned int length)
{
	return length <= page_size ? page_size : length <= 4 * page_size ? 4 * page_size :
	       8 * page_size;
}

static void page_add(struct sk_buff *burst, u32 size, u32 used)
{
	burst->page[burst->pages++] = (struct mock_page){ malloc(size), size, used };
	memset(burst->page[burst->pages - 1].bytes, 0xee, size);
	burst->len += used;
	burst->data_len += used;
	burst->truesize += size;
}

/* As the pool gives them: the largest ones that are filled, or small ones if memory is short. */
static void pages_add(struct sk_buff *burst, u32 length, bool is_short)
{
	while (length) {
		u32 size = is_short || length < 4 * page_size ? page_size :
			   length < 8 * page_size ? 4 * page_size : 8 * page_size;

		page_add(burst, size, min(length, size));
		length -= min(length, size);
	}
}

struct sk_buff *omx_burst_make(struct omx_channel *ch, u32 length, u32 packet_payload)
{
	struct sk_buff *burst;

	assert_ptr_equal(ch, &channel);
	assert_false(ch->lock.held);	/* it waits for memory */
	/* For several, or what a long one takes. */
	assert_true(length == omx_page_pool_page_size(length) ||
		    (length > 16 + PAGE_MOST && length <= 16 + LONG_MOST));
	if (random_percent(5))
		return NULL;
	burst = skb_make(ETH_HLEN + EAGER_HEADER);
	burst->len = ETH_HLEN + EAGER_HEADER;
	memset(burst->head, 0, ETH_HLEN + EAGER_HEADER);
	omx_packet_head(burst)->type = OMX_WIRE_EAGER;
	pages_add(burst, length, random_percent(10));
	burst->gso_size = packet_payload;
	burst->gso_segs = DIV_ROUND_UP(length, packet_payload);
	return burst;
}

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

	messages_clear(&got);
	arrived = frames;
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
	for (round = 0; round < LONG_ROUNDS; round++) {
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
	assert_true(made > LONG_ROUNDS / 10 && split > made / 10);
	assert_true(joined > made && kept > made);
	assert_true(full > made / 20 && exact > made / 100 && crowded > made / 50 &&
		    many > made / 400);
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

/* ---- packets that nobody should send ---- */

static u32 just_too_long;		/* by a byte, but all its bytes are there */

/* What has to be delivered of a bundle; true if something behind that must be dropped. */
static bool expect(const u8 *frame, u32 header, u32 total, u32 most)
{
	u64 at = header;

	messages_clear(&sent);
	while (at < total) {
		u32 length;

		if (at + 16 > total)
			return true;
		length = get32(frame + at + 8);
		if (at + 16 + length > total)
			return true;
		just_too_long += length == most + 1;
		if (length > most)
			return true;
		memcpy(message_next(&sent, (u64)get32(frame + at) << 32 | get32(frame + at + 4),
				    length)->bytes, frame + at + 16, length);
		message_count(&sent);
		at = (at + 16 + length + 7) & ~7ull;
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

static u32 wrong_length(u32 length, u32 longest)
{
	static const u32 edges[] = { 4095, 4096, 4097, 16383, 16384, 16385, 0x7fffffff,
				     0x80000000, 0xfffffff0, 0xffffffff };

	switch (random_below(3)) {
	case 0:
		return length + random_below(40) - 20;
	case 1:
		return longest + random_below(2);
	default:
		return edges[random_below(sizeof(edges) / sizeof(edges[0]))];
	}
}

/* One message at least, as omx_wire_validate() makes sure. */
static u32 build_frame(u8 *frame, u32 room, u32 longest)
{
	u32 shape = random_below(6), most = 100 + random_below(room - 200), at = HEADER;
	u32 spoiled = random_percent(60) ? random_below(10) : MESSAGES_MAX, count;

	any_bytes(frame, room);
	for (count = 0; at < most; count++) {
		u32 length = any_length(shape, longest);

		if (at + 16 + length > room)
			break;
		put32(frame + at + 8, count == spoiled ? wrong_length(length, longest) : length);
		at = align8(at + 16 + length);
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
	just_too_long = 0;
	for (round = 0; round < ROUNDS; round++) {
		u32 length = build_frame(frame, 9000, SHORT_MOST);
		bool drops = expect(frame, HEADER, length, SHORT_MOST);
		u64 before = board.counted.DROP_FRAGMENT;

		full_percent = random_percent(50) ? 0 : 30;
		split += deliver(frame, length) > 1;
		check_delivered();
		assert_int_equal(board.counted.DROP_FRAGMENT, before + drops);
		dropped += drops;
	}
	assert_in_range(dropped, ROUNDS / 4, ROUNDS * 3 / 4);
	assert_true(split > ROUNDS / 10 && just_too_long > ROUNDS / 200);
}

/* Such bytes in several frames, as a message that has come whole. */
static void malformed_long_ones(void **state)
{
	static u8 frame[40000 + 8];
	u32 round, split = 0, dropped = 0;

	(void)state;
	just_too_long = kept = 0;
	for (round = 0; round < LONG_ROUNDS; round++) {
		u32 room = random_percent(50) ? 17000 : 40000;
		u32 length = build_frame(frame, room, LONG_MOST) - HEADER;
		bool drops = expect(frame + HEADER, 0, length, LONG_MOST);
		u64 before = board.counted.DROP_FRAGMENT;

		be_short_of_room();
		split += deliver_long(frame + HEADER, length, 1 + random_below(3000)) > 1;
		check_delivered();
		assert_int_equal(board.counted.DROP_FRAGMENT, before + drops);
		dropped += drops;
	}
	assert_in_range(dropped, LONG_ROUNDS / 4, LONG_ROUNDS * 3 / 4);
	assert_true(split > LONG_ROUNDS / 10);
	assert_true(just_too_long > LONG_ROUNDS / 200 && kept > LONG_ROUNDS / 4);
}

static int setup(void **state)
{
	(void)state;
	random_seed(1);
	board = (struct omx_board){ 0 };
	channel.lock.held = false;
	page_size = 4096;
	mock_max_frags = 17;
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(what_is_added_is_delivered, setup),
		cmocka_unit_test_setup(packets_that_take_none, setup),
		cmocka_unit_test_setup(what_does_not_join, setup),
		cmocka_unit_test_setup(gap_that_is_too_long, setup),
		cmocka_unit_test_setup(long_ones, setup),
		cmocka_unit_test_setup(malformed_ones, setup),
		cmocka_unit_test_setup(malformed_long_ones, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
