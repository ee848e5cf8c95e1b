// SPDX-License-Identifier: GPL-2.0
/*
 * Connecting: a program learns which session runs on a peer's endpoint.
 *
 * OMX_IOC_CONNECT sends a request, and a timer repeats it until there is a response
 * or the timeout is over.  The driver responds for its endpoints, in softirq.
 */
#include <linux/slab.h>
#include <linux/timer.h>
#include <linux/uaccess.h>

#include "channel/channel.h"
#include "channel/connect.h"
#include "channel/private.h"
#include "channel/turn.h"
#include "compat.h"
#include "endpoint/budget.h"
#include "endpoint/endpoint.h"
#include "endpoint/wakeup.h"
#include "net/board.h"
#include "net/frame.h"
#include "net/hello.h"
#include "net/peer.h"
#include "net/transmit.h"

#define FIRST_INTERVAL	(HZ / 50)
#define LAST_INTERVAL	(HZ)
#define UNREACHABLE_REQUESTS	3	/* before an ICMP error or a missing route counts */

static_assert(OMX_ABI_VERSION <= U8_MAX, "responses have one byte for it");

struct omx_connect {
	u32 id;				/* the cookie on the wire */
	struct rcu_head rcu;
	struct omx_endpoint *ep;
	u64 mac;
	u32 endpoint;
	u32 key;
	struct omx_completion *completion;
	u32 begun;			/* us: the first request was sent */
	spinlock_t lock;
	bool request_sent;		/* pairs with connect_is_answered_by() */
	bool done;			/* the timer is not started again */
	unsigned int requests;		/* sent; only the timer uses it */
	struct timer_list timer;
	unsigned long interval;
	bool forever;
	unsigned long deadline;
};

static void connect_send_request(struct omx_connect *connect)
{
	struct omx_endpoint *ep = connect->ep;
	struct omx_wire_connect *body;
	struct omx_wire_head *head;
	struct sk_buff *skb;

	skb = omx_packet_alloc(ep->board, connect->mac, OMX_WIRE_CONNECT, 0,
			       GFP_ATOMIC | __GFP_NOWARN);
	if (!skb)
		return;		/* the timer repeats it */
	head = omx_packet_head(skb);
	head->dst_endpoint = cpu_to_be16(connect->endpoint);
	head->src_endpoint = cpu_to_be16(ep->index);
	head->src_session = cpu_to_be32(ep->session);
	body = omx_packet_body(skb);
	body->key = cpu_to_be32(connect->key);
	body->cookie = cpu_to_be32(connect->id);
	omx_packet_xmit(ep->board, skb);
}

/* The one caller that gets true owns the connect and its completion. */
static bool connect_claim(struct omx_connect *connect)
{
	if (!omx_table_claim(&connect->ep->connects, connect->id, connect))
		return false;
	spin_lock_bh(&connect->lock);
	connect->done = true;
	spin_unlock_bh(&connect->lock);
	timer_delete(&connect->timer);
	return true;
}

/* It is in no table any more. */
static void connect_free(struct omx_connect *connect)
{
	omx_account_uncharge_object(omx_endpoint_user(connect->ep), connect);
	kfree_rcu(connect, rcu);
}

static void connect_finish(struct omx_connect *connect, u8 status, u32 channel, u32 session)
{
	struct omx_event *event = &connect->completion->event;

	event->status = status;
	event->channel = channel;
	event->session = session;
	omx_endpoint_post(connect->ep, connect->completion);
	connect_free(connect);
}

/*
 * Anybody can send an ICMP error, and a route may be missing for a moment: the peer has
 * some time to respond, which clears the error.
 */
static bool connect_is_hopeless(struct omx_connect *connect)
{
	if (!connect->forever && time_after_eq(jiffies, connect->deadline))
		return true;
	return ++connect->requests > UNREACHABLE_REQUESTS &&
	       omx_peer_is_unreachable(connect->ep->board, connect->mac);
}

static void connect_timer_fired(struct timer_list *timer)
{
	struct omx_connect *connect = omx_timer_container(connect, timer, timer);

	if (connect_is_hopeless(connect)) {
		if (connect_claim(connect))
			connect_finish(connect, OMX_STATUS_UNREACHABLE, 0, 0);
		return;
	}
	spin_lock_bh(&connect->lock);
	if (!connect->done && !omx_endpoint_is_dead(connect->ep)) {
		connect->interval = min_t(unsigned long, LAST_INTERVAL,
					  2 * connect->interval);
		mod_timer(&connect->timer, jiffies + connect->interval);
	}
	spin_unlock_bh(&connect->lock);
	connect_send_request(connect);
}

static struct omx_connect *connect_alloc(struct omx_endpoint *ep,
					 const struct omx_ioc_connect *ioc)
{
	struct omx_account *user = omx_endpoint_user(ep);
	struct omx_connect *connect = omx_account_alloc(user, sizeof(*connect),
							GFP_KERNEL_ACCOUNT);

	if (!connect)
		return NULL;
	connect->ep = ep;
	connect->completion = omx_completion_alloc(user, OMX_EVENT_CONNECTED, ioc->cookie,
						   GFP_KERNEL_ACCOUNT);
	if (!connect->completion) {
		connect_free(connect);
		return NULL;
	}
	connect->mac = ioc->mac;
	connect->endpoint = ioc->endpoint;
	connect->key = ioc->key;
	connect->forever = ioc->timeout_ms == OMX_ANY;
	connect->deadline = jiffies + msecs_to_jiffies(min_t(u32, ioc->timeout_ms,
							     INT_MAX));
	connect->interval = FIRST_INTERVAL;
	spin_lock_init(&connect->lock);
	timer_setup(&connect->timer, connect_timer_fired, 0);
	return connect;
}

long omx_connect(struct omx_endpoint *ep, void __user *arg)
{
	struct omx_ioc_connect ioc;
	struct omx_connect *connect;
	u8 mac[ETH_ALEN];
	int error;

	if (copy_from_user(&ioc, arg, sizeof(ioc)))
		return -EFAULT;
	if (ioc.reserved || ioc.endpoint > U16_MAX || ioc.mac >> 48)
		return -EINVAL;
	u64_to_ether_addr(ioc.mac, mac);
	if (!is_valid_ether_addr(mac))
		return -EINVAL;
	if (!omx_endpoint_takes(ep, &ep->connects, OMX_ACCOUNT_SEND))
		return -EAGAIN;
	connect = connect_alloc(ep, &ioc);
	if (!connect)
		return -ENOMEM;
	error = omx_table_add(&ep->connects, connect, &connect->id, GFP_KERNEL_ACCOUNT);
	if (error) {
		omx_completion_free(connect->completion);
		connect_free(connect);
		return error;
	}
	connect->begun = omx_channel_now_us();
	rcu_read_lock();	/* from here on a response may arrive and free it */
	/* Pairs with connect_is_answered_by(). */
	smp_store_release(&connect->request_sent, true);
	spin_lock_bh(&connect->lock);
	if (!connect->done)
		mod_timer(&connect->timer, jiffies + connect->interval);
	spin_unlock_bh(&connect->lock);
	omx_peer_request_mtu(ep->board, ioc.mac);
	connect_send_request(connect);
	rcu_read_unlock();
	return 0;
}

void omx_connects_destroy(struct omx_endpoint *ep)
{
	struct omx_connect *connect;
	u32 slot = 0;

	rcu_read_lock();
	while ((connect = omx_table_next(&ep->connects, &slot))) {
		if (!connect_claim(connect))
			continue;
		omx_completion_free(connect->completion);
		connect_free(connect);
		omx_cond_resched_rcu();
	}
	rcu_read_unlock();
	/* A timer that was running when it was claimed is over after this. */
	synchronize_rcu();
}

/* ---- frames ---- */

static u8 connect_status(struct omx_board *board, const struct omx_endpoint *ep,
			 const struct omx_wire_connect *request)
{
	if (!ep) {
		omx_count(board, DROP_NO_ENDPOINT);
		return OMX_STATUS_BAD_ENDPOINT;
	}
	if (ep->key != be32_to_cpu(request->key))
		return OMX_STATUS_BAD_KEY;
	return OMX_STATUS_OK;
}

void omx_connect_pkt(struct omx_board *board, struct sk_buff *skb)
{
	const struct omx_wire_head *head = omx_packet_head(skb);
	const struct omx_wire_connect *request = omx_packet_body(skb);
	struct omx_endpoint *ep = omx_endpoint_find(board,
					be16_to_cpu(head->dst_endpoint));
	u8 status = connect_status(board, ep, request);
	struct omx_wire_connect_response *body;
	struct omx_wire_head *response_head;
	struct sk_buff *response;

	/* No response: the peer repeats the request until there is room. */
	if (status == OMX_STATUS_OK &&
	    !omx_channel_is_possible(ep, omx_mac_read(eth_hdr(skb)->h_source),
				     be16_to_cpu(head->src_endpoint),
				     be32_to_cpu(head->src_session))) {
		omx_count(board, DROP_CHANNEL_LIMIT);
		kfree_skb(skb);
		return;
	}
	response = omx_packet_alloc(board, omx_mac_read(eth_hdr(skb)->h_source),
				    OMX_WIRE_CONNECT_RESPONSE, 0,
				    GFP_ATOMIC | __GFP_NOWARN);
	if (response) {
		response_head = omx_packet_head(response);
		response_head->dst_endpoint = head->src_endpoint;
		response_head->src_endpoint = head->dst_endpoint;
		response_head->dst_session = head->src_session;
		if (status == OMX_STATUS_OK)
			response_head->src_session = cpu_to_be32(ep->session);
		body = omx_packet_body(response);
		body->cookie = request->cookie;
		body->status = status;
		body->abi_oldest = OMX_ABI_OLDEST;
		body->abi_newest = OMX_ABI_VERSION;
		if (status == OMX_STATUS_OK)
			body->window = omx_channel_first_window(ep);
		omx_packet_xmit(board, response);
	}
	consume_skb(skb);
}

static bool connect_is_answered_by(const struct omx_connect *connect, u32 cookie,
				   const struct sk_buff *skb)
{
	const struct omx_wire_head *head = omx_packet_head(skb);

	/* The acquire pairs with the release in omx_connect(). */
	return connect && smp_load_acquire(&connect->request_sent) &&
	       connect->id == cookie &&
	       connect->mac == omx_mac_read(eth_hdr(skb)->h_source) &&
	       connect->endpoint == be16_to_cpu(head->src_endpoint);
}

/*
 * The first round trip, as that of a SYN in RFC 6298: otherwise the channel would probe for
 * its first packet before there can be an ack on a long path.  If there were several
 * requests, nobody knows which of them has been answered.
 */
static void connect_sample(const struct omx_connect *connect, struct omx_rtt *rtt)
{
	u32 now = omx_channel_now_us();

	if (connect->interval == FIRST_INTERVAL)
		omx_rtt_sample(rtt, now - connect->begun, now);
}

/* Nobody else uses the connect any more. */
static struct omx_channel *connect_channel(const struct omx_connect *connect, u32 session,
					   u32 window)
{
	struct omx_endpoint *ep = connect->ep;
	struct omx_channel *ch = omx_channel_find(ep, connect->mac, connect->endpoint, session);

	if (ch)
		return ch;
	ch = omx_channel_make(ep, connect->mac, connect->endpoint, session);
	if (!ch)
		return NULL;
	spin_lock(&ch->lock);
	omx_tx_begin_with(&ch->tx, window);
	connect_sample(connect, &ch->rtt);
	spin_unlock(&ch->lock);
	return ch;
}

void omx_connect_response_pkt(struct omx_board *board, struct omx_endpoint *ep,
			      struct sk_buff *skb)
{
	const struct omx_wire_connect_response *response = omx_packet_body(skb);
	u32 session = be32_to_cpu(omx_packet_head(skb)->src_session);
	u32 cookie = be32_to_cpu(response->cookie);
	u8 status = response->status < OMX_STATUSES ? response->status :
						      OMX_STATUS_ABORTED;
	struct omx_channel *ch = NULL;
	struct omx_connect *connect;

	omx_peer_heard(board, omx_mac_read(eth_hdr(skb)->h_source));
	/* No channel for now: the timer repeats the request. */
	if (status == OMX_STATUS_OK && !omx_budget_has_room(&ep->budget, OMX_ACCOUNT_RECEIVE)) {
		omx_count(board, USER_MEMORY);
		kfree_skb(skb);
		return;
	}
	connect = omx_table_find(&ep->connects, cookie);
	if (!connect_is_answered_by(connect, cookie, skb) || !connect_claim(connect)) {
		omx_count(board, DROP_CONNECT_RESPONSE);
		kfree_skb(skb);
		return;
	}
	if (status == OMX_STATUS_OK) {
		ch = connect_channel(connect, session, response->window);
		if (!ch)
			status = OMX_STATUS_NO_MEMORY;
	}
	connect->completion->event.peer_abi = response->abi_oldest << 8 | response->abi_newest;
	connect_finish(connect, status, ch ? ch->id : 0, session);
	consume_skb(skb);
}
