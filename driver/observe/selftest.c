// SPDX-License-Identifier: GPL-2.0
/*
 * What the unit tests in user space cannot see: this kernel's skbs, RCU and
 * pages.  The state machines are run once more, compiled as they are here.
 */
#define pr_fmt(fmt) "omx: " fmt
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/random.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

#include "channel/sequence.h"
#include "engine/engine.h"
#include "endpoint/table.h"
#include "net/frame.h"
#include "net/packet_pool.h"
#include "net/tx_page_pool.h"
#include "observe/lock_order.h"
#include "observe/selftest.h"
#include "omx_wire.h"
#include "pull/pull_window.h"

#define CHECK(condition)							\
	do {									\
		if (!(condition)) {						\
			pr_err("self-test: %s:%d: not %s\n", __func__, __LINE__,	\
			       #condition);					\
			return -EINVAL;						\
		}								\
	} while (0)

static const struct omx_packet_template template = {
	.eth.h_proto = cpu_to_be16(OMX_ETHERTYPE_DEFAULT),
	.head.version = OMX_WIRE_VERSION,
};

static int check_packet(const struct sk_buff *skb, unsigned int type,
			unsigned int payload)
{
	const struct omx_wire_head *head = omx_packet_head(skb);
	unsigned int length = omx_wire_header_length(type) + payload;

	CHECK(!skb_is_nonlinear(skb));
	CHECK(skb->len == ETH_HLEN + length);
	CHECK(skb_headroom(skb) >= ETH_HLEN);
	CHECK(head->type == type);
	CHECK(be16_to_cpu(head->length) == length);
	/* One byte less is a bad length, whatever the type. */
	CHECK(omx_wire_validate(head, length - 1, length - 1));
	return 0;
}

/* Packets of every type and around the sizes where memory changes. */
static int test_packets(void)
{
	static const unsigned int payloads[] = { 0, 1, 32, 200, 256, 1400, 4096, 8952 };
	unsigned int type, i;

	for (type = OMX_WIRE_HELLO; type < OMX_WIRE_TYPES; type++) {
		for (i = 0; i < ARRAY_SIZE(payloads); i++) {
			struct sk_buff *none = NULL;
			struct sk_buff *skb = omx_packet_make(&template, type, payloads[i],
							      GFP_KERNEL, &none);
			int error;

			CHECK(skb);
			error = check_packet(skb, type, payloads[i]);
			kfree_skb(skb);
			if (error)
				return error;
		}
	}
	return 0;
}

/* Not used again while its clone is somewhere. */
static int test_spare(void)
{
	struct sk_buff *spare = NULL, *skb, *clone;

	skb = omx_packet_make(&template, OMX_WIRE_EAGER, 32, GFP_KERNEL, &spare);
	CHECK(skb);
	CHECK(omx_packet_is_spare(skb));
	clone = skb_clone(skb, GFP_KERNEL);
	CHECK(clone);
	CHECK(!omx_packet_is_spare(skb));
	skb_pull(clone, ETH_HLEN);
	kfree_skb(clone);
	CHECK(omx_packet_is_spare(skb));

	spare = skb;
	skb = omx_packet_make(&template, OMX_WIRE_NOTIFY, 0, GFP_KERNEL, &spare);
	CHECK(skb && !spare);
	CHECK(!check_packet(skb, OMX_WIRE_NOTIFY, 0));
	kfree_skb(skb);
	return 0;
}

/* Makes packets, of the pool's first.  Returns how many. */
static int make_small_packets(struct sk_buff *skb[], int count, enum omx_wire_type type)
{
	struct sk_buff *none = NULL;
	int i;

	for (i = 0; i < count; i++) {
		skb[i] = omx_packet_make(&template, type, 0, GFP_ATOMIC, &none);
		if (!skb[i])
			break;
	}
	return i;
}

/* As many as the pool has room for come back, each once, and are as new ones are. */
static int test_packet_pool(void)
{
	enum { COUNT = 100 };	/* more than one CPU's pool holds */
	static struct sk_buff *first[COUNT], *second[COUNT];
	int i, made, kept = 0, error = 0;

	local_bh_disable();	/* stay on this CPU */
	made = make_small_packets(first, COUNT, OMX_WIRE_EAGER);
	while (kept < made && omx_packet_pool_put(first[kept]))
		kept++;
	for (i = kept; i < made; i++)
		kfree_skb(first[i]);
	made = make_small_packets(second, kept, OMX_WIRE_NOTIFY);
	local_bh_enable();
	for (i = 0; i < made; i++) {
		/* The last one that was put is the first one to be used. */
		if (second[i] != first[kept - 1 - i] || second[i]->next ||
		    check_packet(second[i], OMX_WIRE_NOTIFY, 0))
			error = -EINVAL;
		kfree_skb(second[i]);
	}
	CHECK(!error && made > 1 && made == kept && kept < COUNT);
	return 0;
}

/* A page, or a piece of one, that somebody still holds is not given out a second time. */
static int page_pool_is_exclusive(unsigned int length)
{
	enum { COUNT = 300 };	/* more than one CPU's pool holds */
	struct sk_buff **skb;
	int i, error = 0;

	skb = kcalloc(COUNT, sizeof(*skb), GFP_KERNEL);
	CHECK(skb);
	for (i = 0; i < COUNT && !error; i++) {
		local_bh_disable();
		skb[i] = omx_page_pool_skb(length, GFP_ATOMIC);
		local_bh_enable();
		if (!skb[i] || skb_tailroom(skb[i]) < length)
			error = -EINVAL;
		else
			memset(skb_put(skb[i], length), i, length);
	}
	for (i = 0; i < COUNT && !error; i++)
		if (skb[i]->data[0] != (u8)i || skb[i]->data[length - 1] != (u8)i)
			error = -EINVAL;
	for (i = 0; i < COUNT; i++)
		kfree_skb(skb[i]);
	kfree(skb);
	CHECK(!error);
	return 0;
}

static int test_page_pool(void)
{
	return page_pool_is_exclusive(9000) ?: page_pool_is_exclusive(1500) ?:
	       page_pool_is_exclusive(100);
}

/* Two frames of 1500 bytes fit on a page: of three in a row, two are on the same one. */
static int test_shared_pages(void)
{
	struct page *page[3];
	struct sk_buff *skb[3];
	int i, missing = 0;

	local_bh_disable();
	for (i = 0; i < 3; i++) {
		skb[i] = omx_page_pool_skb(1500, GFP_ATOMIC);
		missing += !skb[i];
		page[i] = skb[i] ? virt_to_page(skb[i]->head) : NULL;
	}
	local_bh_enable();
	for (i = 0; i < 3; i++)
		kfree_skb(skb[i]);
	CHECK(!missing && (page[0] == page[1] || page[1] == page[2]));
	return 0;
}

/* The pool has a reference on its pages. */
static bool page_is_pooled(void)
{
	struct sk_buff *skb = omx_page_pool_skb(9000, GFP_ATOMIC);
	bool pooled = skb && page_ref_count(virt_to_head_page(skb->head)) > 1;

	kfree_skb(skb);
	return pooled;
}

/* Frames that somebody keeps cost a few allocations each, not one for each other frame. */
static int test_kept_pages(void)
{
	enum { POOL = 128, KEPT = 100 };
	struct sk_buff_head kept;
	int i, pooled = 0, missing = 0;

	__skb_queue_head_init(&kept);
	local_bh_disable();	/* the pool of one CPU */
	for (i = 0; i < KEPT; i++) {
		struct sk_buff *skb = omx_page_pool_skb(9000, GFP_ATOMIC);

		if (skb)
			__skb_queue_tail(&kept, skb);
		else
			missing++;
	}
	for (i = 0; i < 6 * POOL; i++)
		pooled += page_is_pooled();
	__skb_queue_purge(&kept);
	local_bh_enable();
	CHECK(!missing);
	CHECK(pooled >= 6 * POOL - 3 * KEPT);
	return 0;
}

static int test_table(void)
{
	enum { COUNT = 1000 };
	static u32 ids[COUNT];
	struct omx_table table;
	u32 i, slot = 0, found = 0;
	bool right = true;

	omx_table_init(&table);
	for (i = 0; i < COUNT; i++)
		right &= !omx_table_add(&table, &ids[i], &ids[i], GFP_KERNEL) && ids[i];
	rcu_read_lock();
	for (i = 0; i < COUNT; i++)
		right &= omx_table_find(&table, ids[i]) == &ids[i];
	while (omx_table_next(&table, &slot))
		found++;
	rcu_read_unlock();
	for (i = 0; i < COUNT; i++) {
		right &= omx_table_claim(&table, ids[i], &ids[i]);
		right &= !omx_table_claim(&table, ids[i], &ids[i]);
	}
	omx_table_destroy(&table);
	CHECK(found == COUNT);
	CHECK(right);
	return 0;
}

/* In order, lost and late, over the end of the numbers. */
static int test_sequence(void)
{
	struct omx_rx_state rx = {};
	bool ready;
	u32 i;

	omx_rx_start(&rx, 7);
	rx.next = U32_MAX - 10;
	for (i = 0; i < 100; i++) {
		u32 first = rx.next;

		CHECK(omx_rx_judge(&rx, 7, first - 1) == OMX_RX_DUPLICATE);
		CHECK(omx_rx_judge(&rx, 7, first + 1) == OMX_RX_AHEAD);
		omx_rx_keep(&rx, first + 1);
		CHECK(omx_rx_judge(&rx, 7, first + 1) == OMX_RX_DUPLICATE);
		CHECK(omx_rx_judge(&rx, 7, first + OMX_WINDOW) == OMX_RX_BEYOND);
		CHECK(omx_rx_judge(&rx, 7, first) == OMX_RX_NEXT);
		ready = omx_rx_advance(&rx);
		CHECK(ready);
		ready = omx_rx_advance(&rx);
		CHECK(!ready);
		CHECK(rx.next == first + 2);
	}
	return 0;
}

/* Every frame of every block is requested and received once. */
static int pull_through(struct omx_pull_window *window)
{
	struct omx_pull_request request;
	u32 now = U32_MAX - 1000;

	while (!omx_pull_window_done(window)) {
		CHECK(omx_pull_window_wants(window));
		omx_pull_window_request(window, now++, &request);
		while (request.wanted) {
			u32 at = __ffs(request.wanted) * window->frame_length;
			u32 length = min(window->frame_length, request.length - at);
			u64 block;

			request.wanted &= request.wanted - 1;
			CHECK(omx_pull_window_judge(window, request.offset + at, length,
						    &block) == OMX_PULL_NEW);
			omx_pull_window_received(window, request.offset + at, block, 1);
			CHECK(omx_pull_window_judge(window, request.offset + at, length,
						    &block) == OMX_PULL_DUPLICATE);
		}
	}
	CHECK(!window->outstanding);
	return 0;
}

static int test_pull_window(void)
{
	static const u64 lengths[] = { 1, 8960, 8961, 32 * 8960, 32 * 8960 + 1, 5000000 };
	struct omx_pull_window window;
	unsigned int i;
	int error = 0;

	for (i = 0; i < ARRAY_SIZE(lengths) && !error; i++) {
		omx_pull_window_init(&window, lengths[i], 8960);
		error = pull_through(&window);
	}
	return error;
}

/* Noise is refused or read to its end and not beyond (KASAN sees it). */
static int test_noise(void)
{
	int i;

	for (i = 0; i < 20000; i++) {
		unsigned int length = get_random_u32() % 128;
		u8 *data = kmalloc(length, GFP_KERNEL);

		CHECK(data);
		get_random_bytes(data, length);
		if (length > 2) {
			data[0] = OMX_WIRE_VERSION;
			data[1] %= OMX_WIRE_TYPES + 1;
		}
		omx_wire_validate(data, length, length);
		kfree(data);
	}
	return 0;
}

/* ---- the order of locks ---- */

struct lock_class_key omx_lock_keys[OMX_LOCK_CLASSES];

const char *const omx_lock_names[OMX_LOCK_CLASSES] = {
	[OMX_LOCK_OPEN]		= "omx_file.open_lock",
	[OMX_LOCK_ACCOUNT]	= "omx_account.lock",
	[OMX_LOCK_ACTIVE]	= "omx_endpoint.active_lock",
	[OMX_LOCK_SPACE]	= "omx_space.lock",
	[OMX_LOCK_ENDPOINTS]	= "omx_board.endpoints_lock",
	[OMX_LOCK_PULL]		= "omx_pull.lock",
	[OMX_LOCK_CHANNEL]	= "omx_channel.lock",
	[OMX_LOCK_CHANNELS]	= "omx_endpoint.channels_lock",
	[OMX_LOCK_RNDV]		= "omx_rndv.lock",
	[OMX_LOCK_SCHEDULE]	= "omx_pull_scheduler.lock",
	[OMX_LOCK_PATH]		= "omx_path.lock",
	[OMX_LOCK_INCOMING]	= "omx_incoming.lock",
	[OMX_LOCK_SMALL_QUEUE]	= "omx_small_queue.lock",
	[OMX_LOCK_CORK]		= "omx_cork.lock",
	[OMX_LOCK_EXTENT]	= "omx_extent.lock",
	[OMX_LOCK_PAGER]	= "omx_pager.lock",
	[OMX_LOCK_RING]		= "omx_ring.lock",
	[OMX_LOCK_LOG]		= "omx_log.lock",
	[OMX_LOCK_TABLE]	= "omx_table.lock",
	[OMX_LOCK_BUDGET]	= "omx_budget.lock",
};

/* By recursion, since sparse follows no lock through a loop. */
static void lock_order_take_spinlocks(enum omx_lock_class class)
{
	spinlock_t lock;

	if (class == OMX_LOCK_CLASSES)
		return;
	omx_spin_lock_init(&lock, class);
	spin_lock(&lock);
	if (class == OMX_LOCK_EXTENT)
		omx_engines_take_locks();
	lock_order_take_spinlocks(class + 1);
	spin_unlock(&lock);
}

/*
 * Lockdep learns the order of driver/LOCKING, whatever the driver does first.
 * Of the sleeping locks only those nest here that nest in the driver: a chain
 * of all of them would connect locks of the kernel that have nothing in common.
 */
static void lock_order_teach(void)
{
	struct mutex open, account, active, space;

	omx_mutex_init(&open, OMX_LOCK_OPEN);
	omx_mutex_init(&account, OMX_LOCK_ACCOUNT);
	omx_mutex_init(&active, OMX_LOCK_ACTIVE);
	omx_mutex_init(&space, OMX_LOCK_SPACE);
	mutex_lock(&open);
	mutex_lock(&account);
	local_bh_disable();
	lock_order_take_spinlocks(OMX_LOCK_ENDPOINTS);
	local_bh_enable();
	mutex_unlock(&account);
	mutex_lock(&active);
	mutex_lock(&space);
	mmap_read_lock(current->mm);
	local_bh_disable();
	lock_order_take_spinlocks(OMX_LOCK_EXTENT);
	local_bh_enable();
	mmap_read_unlock(current->mm);
	mutex_unlock(&space);
	mutex_unlock(&active);
	mutex_unlock(&open);
}

int omx_selftest(void)
{
	static int (*const tests[])(void) = {
		test_packets, test_spare, test_packet_pool, test_page_pool, test_shared_pages,
		test_kept_pages,
		test_table, test_sequence, test_pull_window, test_noise,
	};
	unsigned int i;
	int error;

	lock_order_teach();
	for (i = 0; i < ARRAY_SIZE(tests); i++) {
		error = tests[i]();
		if (error)
			return error;
	}
	pr_info("%zu self-tests passed\n", ARRAY_SIZE(tests));
	return 0;
}
