// SPDX-License-Identifier: GPL-2.0
/*
 * Dumps: as many objects as fit into a message of the kernel's choice, and the rest the
 * next time.
 *
 * Netlink calls omx_dump_start() for a request and then the others, again and again, when
 * the program receives, in process context.  Between two calls nothing is kept but where
 * to go on: boards, peers, endpoints and counters have numbers that they keep.
 */
#include <linux/bitmap.h>
#include <linux/netdevice.h>
#include <linux/pid_namespace.h>
#include <linux/rtnetlink.h>

#include "compat.h"
#include "device/query.h"
#include "endpoint/endpoint.h"
#include "net/board.h"
#include "net/peer.h"
#include "netlink/private.h"
#include "observe/counters.h"

/* Where the dump goes on. */
struct omx_dump {
	u32 board;
	u32 last;			/* board */
	u32 object;			/* of the board */
	bool is_of_one;			/* of the board that the request names */
};

/*
 * Appends the attributes of the first object from *object on, and sets that to its number.
 * -ENOENT: there is none.  -EMSGSIZE: there is no room.
 */
typedef int (*dump_object)(struct sk_buff *skb, struct omx_board *board, u32 *object);

static struct omx_dump *dump_of(struct netlink_callback *cb)
{
	BUILD_BUG_ON(sizeof(struct omx_dump) > sizeof(cb->ctx));
	return (struct omx_dump *)cb->ctx;
}

static struct net *dump_net(const struct netlink_callback *cb)
{
	return sock_net(cb->skb->sk);
}

int omx_dump_start(struct netlink_callback *cb)
{
	struct nlattr *only = omx_genl_dump_attrs(cb)[OMX_A_BOARD];
	struct omx_dump *dump = dump_of(cb);

	dump->is_of_one = only;
	dump->board = only ? nla_get_u32(only) : 0;
	dump->last = only ? dump->board : OMX_BOARD_MAX - 1;
	return 0;
}

/* Said here: some kernels (6.1) pass on no reason that omx_dump_start() gives. */
static int dump_no_board(struct netlink_callback *cb)
{
	NL_SET_ERR_MSG(cb->extack, "there is no such board");
	return -ENODEV;
}

/* -ENOENT: that were all objects of the board.  -EMSGSIZE: the next one has no room. */
static int dump_board_objects(struct sk_buff *skb, struct netlink_callback *cb,
			      struct omx_board *board, u8 command, dump_object put)
{
	struct omx_dump *dump = dump_of(cb);
	int error = 0;

	while (!error) {
		void *head = genlmsg_put(skb, NETLINK_CB(cb->skb).portid, cb->nlh->nlmsg_seq,
					 &omx_netlink_family, NLM_F_MULTI, command);

		if (!head)
			return -EMSGSIZE;
		error = put(skb, board, &dump->object);
		if (error) {
			genlmsg_cancel(skb, head);
		} else {
			genlmsg_end(skb, head);
			dump->object++;
		}
	}
	return error;
}

static int dump_objects(struct sk_buff *skb, struct netlink_callback *cb, u8 command,
			dump_object put)
{
	struct omx_dump *dump = dump_of(cb);
	struct omx_board *board;
	int error = 0;

	for (; dump->board <= dump->last; dump->board++, dump->object = 0) {
		board = omx_board_get(dump_net(cb), dump->board);
		if (!board && dump->is_of_one && !dump->object)
			return dump_no_board(cb);
		if (!board)
			continue;
		error = dump_board_objects(skb, cb, board, command, put);
		omx_board_put(board);
		if (error == -EMSGSIZE)
			return skb->len ? skb->len : error;
	}
	return skb->len;
}

/* ---- the objects ---- */

static int dump_board(struct sk_buff *skb, struct omx_board *board, u32 *object)
{
	struct omx_ioc_board abi_board;
	bool attached;

	if (*object)
		return -ENOENT;
	rtnl_lock();
	attached = !board->detaching;
	if (attached)
		omx_query_describe_board(board, &abi_board);
	rtnl_unlock();
	return attached ? omx_put_board(skb, &abi_board) : -ENOENT;
}

static int dump_peer(struct sk_buff *skb, struct omx_board *board, u32 *object)
{
	struct omx_ioc_udp_peer peer = { .peer.index = *object };
	int error = omx_peer_query_address(board, &peer);

	if (error)
		return error;
	*object = peer.peer.index;
	return omx_put_peer(skb, &peer);
}

static struct omx_endpoint *dump_find_endpoint(struct omx_board *board, u32 *object)
{
	struct omx_endpoint *ep;

	for (;; ++*object) {
		*object = find_next_bit(board->endpoints_open, OMX_ENDPOINT_MAX, *object);
		if (*object >= OMX_ENDPOINT_MAX)
			return NULL;
		ep = omx_endpoint_find(board, *object);
		if (ep)
			return ep;
	}
}

static int dump_endpoint(struct sk_buff *skb, struct omx_board *board, u32 *object)
{
	struct omx_endpoint_state state;
	struct omx_endpoint *ep;

	rcu_read_lock();
	ep = dump_find_endpoint(board, object);
	if (ep)
		omx_describe_endpoint(ep, task_active_pid_ns(current), &state);
	rcu_read_unlock();
	return ep ? omx_put_endpoint(skb, &state) : -ENOENT;
}

static int dump_counter(struct sk_buff *skb, struct omx_board *board, u32 *object)
{
	if (*object >= OMX_COUNTERS)
		return -ENOENT;
	return omx_put_counter(skb, board->index, *object, omx_query_counter(board, *object));
}

int omx_dump_boards(struct sk_buff *skb, struct netlink_callback *cb)
{
	return dump_objects(skb, cb, OMX_CMD_BOARD_GET, dump_board);
}

int omx_dump_peers(struct sk_buff *skb, struct netlink_callback *cb)
{
	return dump_objects(skb, cb, OMX_CMD_PEER_GET, dump_peer);
}

int omx_dump_endpoints(struct sk_buff *skb, struct netlink_callback *cb)
{
	return dump_objects(skb, cb, OMX_CMD_ENDPOINT_GET, dump_endpoint);
}

int omx_dump_counters(struct sk_buff *skb, struct netlink_callback *cb)
{
	return dump_objects(skb, cb, OMX_CMD_COUNTER_GET, dump_counter);
}
