// SPDX-License-Identifier: BSD-2-Clause
/*
 * In place of the parts of the driver that are not simulated: one-sided accesses,
 * control groups, segmentation, pages of devices, copies within a
 * host, the limit for the queue of the
 * device, netlink.  Nobody uses them here; what a
 * channel calls of them finds nothing.
 */
#include "sim.h"

#include "channel/channel.h"
#include "endpoint/group.h"
#include "endpoint/wakeup.h"
#include "net/gso_skb.h"
#include "net/small_queue.h"
#include "net/packet_pool.h"
#include "net/rx_pages.h"
#include "net/tx_page_pool.h"
#include "netlink/events.h"
#include "onesided/access.h"
#include "onesided/access_queue.h"
#include "onesided/active.h"
#include "onesided/log.h"
#include "onesided/put_ack.h"
#include "onesided/when.h"
#include "program.h"
#include "pull/private.h"

/* ---- pages that devices receive into ---- */

/* One node in two has such a device. */
bool omx_rx_is_in_pages(const struct sk_buff *skb)
{
	return skb->len > 4096 && skb->to->index & 1;
}

/* ---- one-sided accesses ---- */

void omx_access_queue_init(struct omx_access_queue *queue)
{
	__skb_queue_head_init(&queue->packets);
}

void omx_access_queue_destroy(struct omx_access_queue *queue)
{
	SIM_REQUIRE(skb_queue_empty(&queue->packets));
}

struct sk_buff *omx_access_queue_begin(struct omx_channel *ch, u64 now,
				       struct sk_buff_head *out)
{
	SIM_FAIL("an access");
}

void omx_access_queue_run(struct omx_channel *ch, struct sk_buff *skb)
{
	SIM_FAIL("an access");
}

bool omx_receive_access(struct omx_channel *ch, struct sk_buff *skb)
{
	SIM_FAIL("an access");
}

bool omx_receive_access_response(struct omx_channel *ch, struct sk_buff *skb)
{
	SIM_FAIL("the response to an access");
}

void omx_receive_performed(struct omx_channel *ch, u32 ack, u8 field)
{
}

void omx_access_queue_restart(struct omx_channel *ch)
{
}

void omx_access_queue_drop(struct omx_channel *ch, struct sk_buff_head *packets)
{
}

void omx_access_queues_stop(struct omx_endpoint *ep)
{
}

void omx_access_queues_resume(struct omx_endpoint *ep)
{
}

unsigned int omx_accesses_fail(struct omx_channel *ch, u8 status, unsigned int most)
{
	return 0;
}

void omx_access_drop_spare(struct omx_channel *ch)
{
}

void omx_accesses_destroy(struct omx_endpoint *ep)
{
}

void omx_put_ack_init(struct omx_channel *ch)
{
}

u8 omx_put_ack_field_slowly(struct omx_channel *ch)
{
	return 0;
}

void omx_put_ack_confirm(struct omx_channel *ch)
{
}

void omx_put_ack_cancel(struct omx_channel *ch)
{
}

unsigned int omx_whens_fail(struct omx_channel *ch, u8 status, unsigned int most)
{
	return 0;
}

void omx_whens_destroy(struct omx_endpoint *ep)
{
}

long omx_when_withdraw(struct omx_endpoint *ep, u32 channel, u64 cookie)
{
	return -ENOENT;
}

void omx_keys_drop(struct omx_channel *ch)
{
}

void omx_window_put(struct omx_window *window)
{
	SIM_FAIL("a window");
}

void omx_windows_destroy(struct omx_endpoint *ep)
{
}

void omx_active_close(struct omx_endpoint *ep)
{
}

void omx_logs_destroy(struct omx_endpoint *ep)
{
}

void omx_logs_wake(struct omx_endpoint *ep)
{
}

/* ---- control groups: there are none ---- */

struct sock *omx_group_open(struct net *net)
{
	return kzalloc(8, GFP_KERNEL);
}

void omx_group_close(struct sock *sk)
{
	kfree(sk);
}

bool omx_group_make_room(struct sock *sk, unsigned long bytes)
{
	return true;
}

const void *omx_group_id(const struct sock *sk)
{
	return NULL;
}

long omx_group_limit(const struct sock *sk)
{
	return LONG_MAX;
}

bool omx_group_fits(const struct sock *sk, unsigned long bytes)
{
	return true;
}

bool omx_group_charge(struct sock *sk, unsigned long bytes)
{
	return false;
}

void omx_group_uncharge(struct sock *sk, unsigned long bytes)
{
}

/* ---- frames ---- */

struct sk_buff *omx_page_pool_skb(unsigned int size, gfp_t gfp)
{
	return __alloc_skb(size, GFP_ATOMIC, 0, NUMA_NO_NODE);
}

bool omx_page_pool_attach(struct sk_buff *skb, unsigned int length, gfp_t gfp)
{
	return false;
}

/* Nodes are charged for the packets that they allocate. */
struct sk_buff *omx_packet_pool_get(void)
{
	return NULL;
}

bool omx_packet_pool_put(struct sk_buff *skb)
{
	return false;
}

u32 omx_gso_frames(struct omx_board *board, u64 mac, u32 frame_length)
{
	return 1;
}

bool omx_gso_is_passed_on(const struct omx_board *board)
{
	return false;
}

void omx_gso_mark(struct sk_buff *skb, u32 header_length, u32 frame_length, u32 frames)
{
	SIM_FAIL("segmentation");
}

void omx_gro_free_merged(struct sk_buff *skb)
{
	SIM_FAIL("merged frames");
}

void omx_pull_from_local(struct omx_pull *pull)
{
	SIM_FAIL("a copy within a host");
}

/* ---- waking programs ---- */

void omx_wakeup_init(struct omx_endpoint *ep)
{
}

void omx_wakeup_stop(struct omx_endpoint *ep)
{
}

void omx_endpoint_notify(struct omx_endpoint *ep)
{
	sim_program_notify(ep);
}

void omx_endpoint_notify_fetch(struct omx_endpoint *ep)
{
	sim_program_notify(ep);
}

void omx_endpoint_notify_urgent(struct omx_endpoint *ep)
{
	sim_program_notify(ep);
}

void omx_endpoint_leave(struct omx_endpoint *ep)
{
	atomic_dec(&ep->attending);
	sim_program_notify(ep);
}

void omx_endpoint_post(struct omx_endpoint *ep, struct omx_completion *completion)
{
	if (omx_ring_post(&ep->ring, completion))
		omx_count(ep->board, RING_BACKLOG);
	sim_program_notify(ep);
}

/* ---- the queue of the device, which is never full ---- */

static struct omx_board_user *queue_find_user(const struct omx_small_queue *queue,
					      const struct omx_account *account)
{
	struct omx_board_user *user;

	list_for_each_entry(user, &queue->users, in_queue)
		if (user->account == account)
			return user;
	return NULL;
}

static struct omx_board_user *queue_add_user(struct omx_small_queue *queue,
					     struct omx_account *account)
{
	struct omx_board_user *user = kzalloc(sizeof(*user), GFP_KERNEL);

	if (!user)
		return NULL;
	user->queue = queue;
	user->account = account;
	if (!list_empty(&queue->users))
		user->number = list_last_entry(&queue->users, struct omx_board_user,
					       in_queue)->number + 1;
	omx_user_turn_init(&user->pull_turn);
	INIT_LIST_HEAD(&user->pulls);
	omx_receiver_init(&user->receiver);
	list_add_tail(&user->in_queue, &queue->users);
	return user;
}

static struct omx_small_queue *queue_of(struct omx_board *board)
{
	if (board->queue)
		return board->queue;
	board->queue = kzalloc(sizeof(*board->queue), GFP_KERNEL);
	if (board->queue) {
		board->queue->board = board;
		INIT_LIST_HEAD(&board->queue->users);
	}
	return board->queue;
}

static void queue_free_if_unused(struct omx_board *board)
{
	if (!list_empty(&board->queue->users))
		return;
	kfree(board->queue);
	board->queue = NULL;
}

int omx_small_queue_join(struct omx_board *board, struct omx_endpoint *ep)
{
	struct omx_account *account = omx_endpoint_user(ep);
	struct omx_small_queue *queue = queue_of(board);

	if (!queue)
		return -ENOMEM;
	ep->board_user = queue_find_user(queue, account) ?: queue_add_user(queue, account);
	if (!ep->board_user) {
		queue_free_if_unused(board);
		return -ENOMEM;
	}
	ep->board_user->endpoints++;
	return 0;
}

void omx_small_queue_stop(struct omx_endpoint *ep)
{
}

void omx_small_queue_leave(struct omx_endpoint *ep)
{
	struct omx_board_user *user = ep->board_user;

	if (--user->endpoints)
		return;
	omx_user_turn_end(&user->pull_turn);
	omx_incoming_forget(&user->queue->board->incoming, &user->receiver);
	list_del(&user->in_queue);
	queue_free_if_unused(user->queue->board);
	kfree(user);
}

void omx_small_queue_charge(struct omx_small_queue *queue, struct sk_buff *skb)
{
}

u32 omx_small_queue_spare(struct omx_small_queue *queue)
{
	return U32_MAX;
}

u32 omx_small_queue_room(struct omx_small_queue *queue)
{
	return U32_MAX;
}

void omx_small_queue_refused(struct omx_small_queue *queue)
{
}

bool omx_small_queue_is_capped(struct omx_small_queue *queue)
{
	return false;
}

void omx_small_queue_forget(struct omx_channel *ch)
{
}

bool omx_small_queue_asks(struct omx_channel *ch)
{
	SIM_FAIL("a queue that is full");
}

void omx_small_queue_defer(struct omx_board_user *user, struct sk_buff *skb)
{
	SIM_FAIL("a queue that is full");
}

/* ---- events for administrators: nobody listens ---- */

void omx_event_endpoint(struct omx_endpoint *ep, enum omx_netlink_command command)
{
}

void omx_event_peer(struct omx_board *board, const struct omx_peer *peer,
		    enum omx_netlink_command command)
{
}
