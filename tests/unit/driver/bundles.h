/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the tests of bundles share: messages that are sent and arrive, packets and pages that are
 * in memory of exactly their length, so that ASan sees a byte too many, and the driver's other
 * parts, which refuse now and then.
 */
#ifndef BUNDLES_H
#define BUNDLES_H

#include "test.h"

#include "mock.h"

#include <linux/err.h>

#include "channel/channel.h"
#include "eager/bundle.h"
#include "eager/burst.h"
#include "endpoint/user_buffer.h"
#include "net/frame.h"

/* So many without bytes fill the longest bundle. */
#define MESSAGES_MAX	(OMX_WIRE_EAGER_MAX / 16 + 1)
#define BYTES_MAX	(OMX_WIRE_EAGER_MAX + 2 * OMX_WIRE_LONG_BUNDLED_MAX)
#define HEADER		(16 + 16)	/* of a frame of ours: head, sequence part */
#define EAGER_HEADER	(HEADER + 16)	/* and of an EAGER */
#define PAGE_MOST	8192		/* bytes of a message that is added to a page */
#define SHORT_MOST	4096		/* ... of one in a BUNDLE */
#define LONG_MOST	16384		/* ... and in a long bundle */
#define MATCH		7000000000u	/* of the first message */

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

extern struct omx_board board;
extern struct omx_endpoint endpoint;
extern struct omx_channel channel;
extern struct messages sent, got;
extern u32 full_percent;		/* how often the ring is full */
extern u32 kept;			/* messages that have stayed in their frames */
extern u32 page_size;			/* of the machine; the pool has two larger ones */

/* ---- messages ---- */
u32 align8(u32 length);
/* In the receiver's ring; a longer one stays in its frames. */
u32 slots_of(u32 length);
void messages_clear(struct messages *list);
/* The place of another one, which is none of them before message_count(). */
struct message *message_next(struct messages *list, u64 match, u32 length);
void message_count(struct messages *list);
struct message *make_message(u32 length);
u32 any_length(u32 shape, u32 most);
void any_bytes(u8 *bytes, u32 length);
u32 get32(const u8 *at);
void check_delivered(void);
/* Nothing but what has been sent, with zeros in between. */
void check_bundle(const u8 *bytes, u32 length);

/* ---- sending ---- */
/* The first one, as eager_send.c makes it: an EAGER with room for others. */
struct sk_buff *packet_begin(u32 length, u32 room);
bool add(u32 length, u32 mtu, bool absent);

/* ---- receiving ---- */
void be_short_of_room(void);
/* Try again and again until there is room.  They return in how many parts it was delivered. */
u32 deliver(const u8 *frame, u32 length);
u32 deliver_long(const u8 *bytes, u32 length, u32 each);

void bundles_begin(void);

/* Before each test.  Each file has random numbers of its own. */
static inline int setup(void **state)
{
	(void)state;
	random_seed(1);
	bundles_begin();
	return 0;
}

#endif
