// SPDX-License-Identifier: GPL-2.0
/*
 * Answers to questions.  Structures are copied in, checked, answered and
 * copied out; no lock is held while a program's memory is touched.
 */
#include <linux/capability.h>
#include <linux/device.h>
#include <linux/kernel.h>
#include <linux/nospec.h>
#include <linux/rtnetlink.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <net/rtnetlink.h>

#include "device/query.h"
#include "endpoint/endpoint.h"
#include "engine/device_engine.h"
#include "net/board.h"
#include "net/peer.h"
#include "net/udp_carrier.h"
#include "observe/counters.h"
#include "omx_version.h"

static bool may_change(struct net *net)
{
	return ns_capable(net->user_ns, CAP_NET_ADMIN);
}

static bool is_terminated(const char *text, size_t size)
{
	return strnlen(text, size) < size;
}

static int query_answer(void __user *arg, const void *from, size_t size)
{
	return copy_to_user(arg, from, size) ? -EFAULT : 0;
}

/* ---- the driver ---- */

int omx_query_info(struct net *net, void __user *arg)
{
	struct omx_ioc_info info = {
		.abi_version	= OMX_ABI_VERSION,
		.board_max	= OMX_BOARD_MAX,
		.endpoint_max	= OMX_ENDPOINT_MAX,
		.counter_max	= OMX_COUNTERS,
		.ethertype	= omx_ethertype,
		.abi_oldest	= OMX_ABI_OLDEST,
		.version	= OMX_VERSION,
	};

	return query_answer(arg, &info, sizeof(info));
}

int omx_query_engine(struct net *net, void __user *arg)
{
	struct omx_ioc_engine engine = {};
	const char *why;

	why = omx_device_engine_state(engine.device, sizeof(engine.device));
	if (why)
		strscpy(engine.reason, why, sizeof(engine.reason));
	return query_answer(arg, &engine, sizeof(engine));
}

/* ---- boards ---- */

/* Virtual devices have no driver; their kind says as much. */
static const char *driver_name(const struct net_device *dev)
{
	if (dev->dev.parent)
		return dev_driver_string(dev->dev.parent);
	return dev->rtnl_link_ops ? dev->rtnl_link_ops->kind : "";
}

/* rtnl keeps the device, its name and its driver as they are. */
void omx_query_describe_board(struct omx_board *board, struct omx_ioc_board *abi_board)
{
	struct net_device *dev = board->dev;

	ASSERT_RTNL();
	memset(abi_board, 0, sizeof(*abi_board));
	abi_board->board = board->index;
	abi_board->flags = omx_board_flags(board);
	abi_board->mac = board->mac;
	abi_board->mtu = min(dev->mtu, OMX_MTU_MAX);
	abi_board->numa_node = dev_to_node(&dev->dev);
	abi_board->endpoints_open = bitmap_weight(board->endpoints_open, OMX_ENDPOINT_MAX);
	abi_board->peers = READ_ONCE(board->peers.count);
	strscpy(abi_board->ifname, dev->name, sizeof(abi_board->ifname));
	strscpy(abi_board->drivername, driver_name(dev), sizeof(abi_board->drivername));
	omx_board_copy_name(board, abi_board->name);
}

int omx_query_board(struct net *net, void __user *arg)
{
	struct omx_ioc_board abi_board;
	struct omx_board *board;

	if (copy_from_user(&abi_board, arg, sizeof(abi_board)))
		return -EFAULT;
	rtnl_lock();
	board = omx_board_get(net, abi_board.board);
	if (board)
		omx_query_describe_board(board, &abi_board);
	rtnl_unlock();
	if (!board)
		return -ENODEV;
	omx_board_put(board);
	return query_answer(arg, &abi_board, sizeof(abi_board));
}

int omx_query_board_name(struct net *net, void __user *arg)
{
	struct omx_ioc_board_name question;
	struct omx_board *board;

	if (!may_change(net))
		return -EPERM;
	if (copy_from_user(&question, arg, sizeof(question)))
		return -EFAULT;
	if (question.reserved ||
	    !omx_peer_name_is_valid(question.name,
				    strnlen(question.name, sizeof(question.name))))
		return -EINVAL;
	board = omx_board_get(net, question.board);
	if (!board)
		return -ENODEV;
	omx_board_rename(board, question.name);
	omx_board_put(board);
	return 0;
}

int omx_query_endpoint_info(struct net *net, void __user *arg)
{
	struct omx_ioc_endpoint_info info;
	struct omx_board *board;

	if (copy_from_user(&info, arg, sizeof(info)))
		return -EFAULT;
	if (info.reserved || info.endpoint >= OMX_ENDPOINT_MAX)
		return -EINVAL;
	board = omx_board_get(net, info.board);
	if (!board)
		return -ENODEV;
	info.endpoint = array_index_nospec(info.endpoint, OMX_ENDPOINT_MAX);
	info.pid = 0;
	memset(info.command, 0, sizeof(info.command));
	omx_endpoint_describe(board, info.endpoint, &info);
	omx_board_put(board);
	return query_answer(arg, &info, sizeof(info));
}

/* ---- counters ---- */

u64 omx_query_counter(struct omx_board *board, unsigned int counter)
{
	switch (counter) {
	case OMX_COUNTER_EXTENTS_NOW:
		return atomic_long_read(&board->extents);
	case OMX_COUNTER_PAGES_PINNED_NOW:
		return atomic_long_read(&board->pages_pinned);
	case OMX_COUNTER_PAGES_PINNED_PEAK:
		return READ_ONCE(board->pages_pinned_peak);
	default:
		return omx_counter_sum(board->counters, counter);
	}
}

int omx_query_counters(struct net *net, void __user *arg)
{
	struct omx_ioc_counters question;
	u64 values[OMX_COUNTERS];
	struct omx_board *board;
	u32 count, i;

	if (copy_from_user(&question, arg, sizeof(question)))
		return -EFAULT;
	board = omx_board_get(net, question.board);
	if (!board)
		return -ENODEV;
	count = min_t(u32, question.count, OMX_COUNTERS);
	for (i = 0; i < count; i++)
		values[i] = omx_query_counter(board, i);
	omx_board_put(board);
	if (copy_to_user(u64_to_user_ptr(question.values), values,
			 count * sizeof(values[0])))
		return -EFAULT;
	question.count = OMX_COUNTERS;
	return query_answer(arg, &question, sizeof(question));
}

int omx_query_counter_label(struct net *net, void __user *arg)
{
	struct omx_ioc_counter_label question;
	const char *label;

	if (copy_from_user(&question, arg, sizeof(question)))
		return -EFAULT;
	if (question.reserved)
		return -EINVAL;
	label = omx_counter_label(question.index);
	if (!label)
		return -ENOENT;
	strscpy_pad(question.label, label, sizeof(question.label));
	return query_answer(arg, &question, sizeof(question));
}

int omx_query_counters_clear(struct net *net, void __user *arg)
{
	struct omx_board *board;
	u32 abi_board;

	if (!may_change(net))
		return -EPERM;
	if (copy_from_user(&abi_board, arg, sizeof(abi_board)))
		return -EFAULT;
	board = omx_board_get(net, abi_board);
	if (!board)
		return -ENODEV;
	omx_counters_clear(board->counters);
	omx_board_put(board);
	return 0;
}

/* ---- peers ---- */

typedef int (*peer_question)(struct omx_board *board, struct omx_ioc_peer *peer);

static int read_peer(struct omx_ioc_peer *peer, void __user *arg)
{
	if (copy_from_user(peer, arg, sizeof(*peer)))
		return -EFAULT;
	if (peer->reserved || !is_terminated(peer->name, sizeof(peer->name)))
		return -EINVAL;
	return 0;
}

static int query_one_board(struct net *net, u32 abi_board, peer_question ask,
			   struct omx_ioc_peer *peer)
{
	struct omx_board *board = omx_board_get(net, abi_board);
	int error;

	if (!board)
		return -ENODEV;
	error = ask(board, peer);
	omx_board_put(board);
	return error;
}

/* The first board that knows; -ENODEV if there is none, else -ENOENT. */
static int query_boards(struct net *net, peer_question ask,
			struct omx_ioc_peer *peer)
{
	int result = -ENODEV;
	u32 abi_board;

	for (abi_board = 0; abi_board < OMX_BOARD_MAX; abi_board++) {
		int error = query_one_board(net, abi_board, ask, peer);

		if (!error)
			return 0;
		if (error != -ENODEV)
			result = error;
	}
	return result;
}

static int query_peer_on(struct net *net, void __user *arg, peer_question ask,
			 bool any_board)
{
	struct omx_ioc_peer peer;
	int error = read_peer(&peer, arg);

	if (error)
		return error;
	if (any_board && peer.board == OMX_ANY)
		error = query_boards(net, ask, &peer);
	else
		error = query_one_board(net, peer.board, ask, &peer);
	return error ?: query_answer(arg, &peer, sizeof(peer));
}

int omx_query_peer(struct net *net, void __user *arg)
{
	return query_peer_on(net, arg, omx_peer_query, false);
}

int omx_query_peer_by_mac(struct net *net, void __user *arg)
{
	return query_peer_on(net, arg, omx_peer_by_mac, true);
}

int omx_query_peer_by_name(struct net *net, void __user *arg)
{
	return query_peer_on(net, arg, omx_peer_by_name, true);
}

/* Without a name the peer keeps the one that it announces. */
static bool name_can_be_given(const char *name)
{
	return !*name || omx_peer_name_is_valid(name, strlen(name));
}

static bool mac_can_be_added(u64 address)
{
	u8 mac[ETH_ALEN];

	u64_to_ether_addr(address, mac);
	return !(address >> 48) && is_valid_ether_addr(mac);
}

int omx_query_add_peer(struct omx_board *board, const struct omx_ioc_peer *peer)
{
	if (!mac_can_be_added(peer->mac) || !name_can_be_given(peer->name))
		return -EINVAL;
	return omx_peer_add(board, peer);
}

int omx_query_peer_add(struct net *net, void __user *arg)
{
	struct omx_ioc_peer peer;
	struct omx_board *board;
	int error;

	if (!may_change(net))
		return -EPERM;
	error = read_peer(&peer, arg);
	if (error)
		return error;
	board = omx_board_get(net, peer.board);
	if (!board)
		return -ENODEV;
	error = omx_query_add_peer(board, &peer);
	omx_board_put(board);
	return error;
}

int omx_query_peer_remove(struct net *net, void __user *arg)
{
	struct omx_ioc_peer peer;
	struct omx_board *board;
	int error;

	if (!may_change(net))
		return -EPERM;
	error = read_peer(&peer, arg);
	if (error)
		return error;
	board = omx_board_get(net, peer.board);
	if (!board)
		return -ENODEV;
	error = omx_peer_remove(board, peer.mac);
	omx_board_put(board);
	return error;
}

/* ---- peers by address ---- */

static int query_udp_peer(struct net *net, void __user *arg, bool change,
			  int (*serve)(struct omx_board *board, struct omx_ioc_udp_peer *peer))
{
	struct omx_ioc_udp_peer peer;
	struct omx_board *board;
	int error;

	if (change && !may_change(net))
		return -EPERM;
	if (copy_from_user(&peer, arg, sizeof(peer)))
		return -EFAULT;
	if (peer.peer.reserved || peer.reserved[0] || peer.reserved[1] ||
	    !is_terminated(peer.peer.name, sizeof(peer.peer.name)))
		return -EINVAL;
	board = omx_board_get(net, peer.peer.board);
	if (!board)
		return -ENODEV;
	error = serve(board, &peer);
	omx_board_put(board);
	return error || change ? error : query_answer(arg, &peer, sizeof(peer));
}

int omx_query_udp_peer(struct net *net, void __user *arg)
{
	return query_udp_peer(net, arg, false, omx_peer_query_address);
}

int omx_query_add_udp_peer(struct omx_board *board, struct omx_ioc_udp_peer *peer)
{
	return name_can_be_given(peer->peer.name) ? omx_udp_peer_add(board, peer) : -EINVAL;
}

int omx_query_udp_peer_add(struct net *net, void __user *arg)
{
	return query_udp_peer(net, arg, true, omx_query_add_udp_peer);
}

int omx_query_udp_peer_remove(struct net *net, void __user *arg)
{
	return query_udp_peer(net, arg, true, omx_udp_peer_remove);
}
