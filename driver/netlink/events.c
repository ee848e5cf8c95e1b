// SPDX-License-Identifier: GPL-2.0
/*
 * Events: they are made where something changes, in whatever context that is, and only
 * if somebody listens in that network namespace.
 *
 * Peers come and go under table->lock, often in softirq, and endpoints under
 * endpoints_lock.  Events are sent there, so that they have the order of what they are
 * about; netlink only queues them to the listeners and wakes those.  When there is no
 * memory for an event, or no room in the queue of a listener, the listener's next receive
 * fails with ENOBUFS.
 */
#include <linux/lockdep.h>
#include <linux/pid_namespace.h>
#include <linux/rtnetlink.h>

#include "device/query.h"
#include "endpoint/endpoint.h"
#include "net/board.h"
#include "net/peer.h"
#include "netlink/events.h"
#include "netlink/private.h"

#define EVENT_BYTES	1024		/* the largest one has some 300 */
#define EVENT_GFP	(GFP_ATOMIC | __GFP_NOWARN)

struct event {
	struct net *net;
	struct sk_buff *skb;
	void *head;
};

static bool event_is_wanted(struct net *net)
{
	return genl_has_listeners(&omx_netlink_family, net, OMX_NETLINK_GROUP);
}

static void event_lose(struct event *event)
{
	nlmsg_free(event->skb);
	genl_set_err(&omx_netlink_family, event->net, 0, OMX_NETLINK_GROUP, -ENOBUFS);
}

/* False: it is lost. */
static bool event_begin(struct event *event, struct net *net, u8 command)
{
	event->net = net;
	event->head = NULL;
	event->skb = genlmsg_new(EVENT_BYTES, EVENT_GFP);
	if (event->skb)
		event->head = genlmsg_put(event->skb, 0, 0, &omx_netlink_family, 0, command);
	if (!event->head)
		event_lose(event);
	return event->head;
}

static void event_end(struct event *event, int error)
{
	if (error) {
		event_lose(event);
		return;
	}
	genlmsg_end(event->skb, event->head);
	genlmsg_multicast_netns(&omx_netlink_family, event->net, event->skb, 0,
				OMX_NETLINK_GROUP, EVENT_GFP);
}

void omx_event_board(struct omx_board *board, enum omx_netlink_command command)
{
	struct net *net = dev_net(board->dev);
	struct omx_ioc_board abi_board;
	struct event event;

	ASSERT_RTNL();
	if (!event_is_wanted(net) || !event_begin(&event, net, command))
		return;
	omx_query_describe_board(board, &abi_board);
	event_end(&event, omx_put_board(event.skb, &abi_board));
}

void omx_event_endpoint(struct omx_endpoint *ep, enum omx_netlink_command command)
{
	struct omx_endpoint_state state;
	struct event event;

	lockdep_assert_held(&ep->board->endpoints_lock);
	if (!event_is_wanted(ep->net) || !event_begin(&event, ep->net, command))
		return;
	omx_describe_endpoint(ep, &init_pid_ns, &state);
	event_end(&event, omx_put_endpoint(event.skb, &state));
}

void omx_event_peer(struct omx_board *board, const struct omx_peer *peer,
		    enum omx_netlink_command command)
{
	struct omx_ioc_udp_peer abi_peer;
	struct event event;
	struct net *net;

	lockdep_assert_held(&board->peers.lock);
	/* The table of a board that is detached is empty. */
	net = dev_net(board->dev);
	if (!event_is_wanted(net) || !event_begin(&event, net, command))
		return;
	rcu_read_lock();
	omx_peer_describe_address(board, peer, &abi_peer);
	rcu_read_unlock();
	event_end(&event, omx_put_peer(event.skb, &abi_peer));
}
