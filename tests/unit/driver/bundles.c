// SPDX-License-Identifier: BSD-2-Clause
/*
 * The sources that the tests of bundles are about, and what these call: see bundles.h.
 */
#include "bundles.h"

#include "eager/bundle.c"
#include "eager/bundle_receive.c"

struct omx_board board;
struct omx_endpoint endpoint = { .board = &board };
struct omx_channel channel = { .ep = &endpoint };

struct messages sent, got;
u32 full_percent, kept;
u32 page_size;
unsigned int mock_max_frags;
static u32 no_memory_percent, freed;
static const struct sk_buff *arrived;	/* the frames of a long bundle, else NULL */

/* ---- messages ---- */

u32 align8(u32 length)
{
	return (length + 7) & ~7u;
}

u32 slots_of(u32 length)
{
	return length <= 32 || length > 4096 ? 1 : 1 + (length + 63) / 64;
}

void messages_clear(struct messages *list)
{
	list->count = list->used = list->bundle = list->slots = 0;
}

struct message *message_next(struct messages *list, u64 match, u32 length)
{
	struct message *message = &list->of[list->count];

	assert_true(list->count <= MESSAGES_MAX && length <= BYTES_MAX - list->used);
	*message = (struct message){ match, length, list->bytes + list->used };
	return message;
}

void message_count(struct messages *list)
{
	u32 length = list->of[list->count++].length;

	list->used += length;
	list->bundle = align8(list->bundle) + 16 + length;
	list->slots += slots_of(length);
}

void any_bytes(u8 *bytes, u32 length)
{
	u64 some;

	for (; length >= sizeof(some); bytes += sizeof(some), length -= sizeof(some)) {
		some = random_u64();
		memcpy(bytes, &some, sizeof(some));
	}
	some = random_u64();
	memcpy(bytes, &some, length);
}

struct message *make_message(u32 length)
{
	struct message *message = message_next(&sent, MATCH + random_below(1000), length);

	any_bytes(message->bytes, length);
	return message;
}

u32 any_length(u32 shape, u32 most)
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

void check_delivered(void)
{
	u32 i;

	assert_int_equal(got.count, sent.count);
	for (i = 0; i < sent.count; i++) {
		assert_int_equal(got.of[i].match, sent.of[i].match);
		assert_int_equal(got.of[i].length, sent.of[i].length);
		assert_memory_equal(got.of[i].bytes, sent.of[i].bytes, sent.of[i].length);
	}
}

u32 get32(const u8 *at)
{
	return (u32)at[0] << 24 | at[1] << 16 | at[2] << 8 | at[3];
}

void check_bundle(const u8 *bytes, u32 length)
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
struct sk_buff *packet_make(u32 used, u32 room)
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

/* ---- bursts ---- */

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

/* ---- sending and receiving ---- */

struct sk_buff *packet_begin(u32 length, u32 room)
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

bool add(u32 length, u32 mtu, bool absent)
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

u32 deliver(const u8 *frame, u32 length)
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

u32 deliver_long(const u8 *bytes, u32 length, u32 each)
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

void be_short_of_room(void)
{
	full_percent = random_percent(50) ? 0 : 30;
	no_memory_percent = random_percent(50) ? 0 : 30;
}

void bundles_begin(void)
{
	random_seed(2);
	board = (struct omx_board){ 0 };
	channel.lock.held = false;
	page_size = 4096;
	mock_max_frags = 17;
}
