// SPDX-License-Identifier: GPL-2.0
/*
 * Requests that change boards, peers and counters.  Netlink has checked the caller's capability and
 * each attribute by itself; several requests may run at once, in process context.
 *
 * A request that fails names the attribute that is to blame, and the reason in words.
 */
#include <linux/etherdevice.h>
#include <linux/rtnetlink.h>

#include "device/query.h"
#include "net/attach.h"
#include "net/board.h"
#include "net/ifnames.h"
#include "net/peer.h"
#include "net/udp_carrier.h"
#include "netlink/netlink.h"
#include "netlink/private.h"
#include "observe/counters.h"

static bool changes_allowed;		/* rtnl */

void omx_netlink_allow_changes(bool allow)
{
	rtnl_lock();
	changes_allowed = allow;
	rtnl_unlock();
}

/* The macros of extended acks take only literals. */
static int change_refuse(struct genl_info *info, int attribute, int error, const char *why)
{
	if (info->extack) {
		NL_SET_BAD_ATTR(info->extack, info->attrs[attribute]);
		info->extack->_msg = why;
	}
	return error;
}

/* Is this attribute missing, without which there is nothing to do? */
static bool change_lacks(struct genl_info *info, int attribute)
{
	if (!GENL_REQ_ATTR_CHECK(info, attribute))
		return false;
	GENL_SET_ERR_MSG(info, "an attribute is missing");
	return true;
}

/* ---- boards ---- */

int omx_change_board_attach(struct sk_buff *skb, struct genl_info *info)
{
	int error = -ENODEV;

	if (change_lacks(info, OMX_A_IFNAME))
		return -EINVAL;
	rtnl_lock();
	if (changes_allowed)
		error = omx_ifnames_attach(genl_info_net(info),
					   nla_data(info->attrs[OMX_A_IFNAME]));
	rtnl_unlock();
	if (!error)
		return 0;
	return change_refuse(info, OMX_A_IFNAME, error,
			     error == -ENODEV ? "there is no such interface" :
						omx_attach_error(error));
}

int omx_change_board_detach(struct sk_buff *skb, struct genl_info *info)
{
	int error;

	if (change_lacks(info, OMX_A_IFNAME))
		return -EINVAL;
	rtnl_lock();
	error = omx_ifnames_detach(genl_info_net(info), nla_data(info->attrs[OMX_A_IFNAME]),
				   nla_get_flag(info->attrs[OMX_A_FORCE]));
	rtnl_unlock();
	if (!error)
		return 0;
	return change_refuse(info, OMX_A_IFNAME, error,
			     error == -ENODEV ? "it is not a board" : omx_attach_error(error));
}

static struct omx_board *change_get_board(struct genl_info *info)
{
	return omx_board_get(genl_info_net(info), nla_get_u32(info->attrs[OMX_A_BOARD]));
}

static int change_no_board(struct genl_info *info)
{
	return change_refuse(info, OMX_A_BOARD, -ENODEV, "there is no such board");
}

int omx_change_board_set(struct sk_buff *skb, struct genl_info *info)
{
	struct omx_board *board;
	const char *name;

	if (change_lacks(info, OMX_A_BOARD) || change_lacks(info, OMX_A_NAME))
		return -EINVAL;
	name = nla_data(info->attrs[OMX_A_NAME]);
	if (!omx_peer_name_is_valid(name, strlen(name)))
		return change_refuse(info, OMX_A_NAME, -EINVAL,
				     "a name is printable, without blanks and slashes");
	board = change_get_board(info);
	if (!board)
		return change_no_board(info);
	omx_board_rename(board, name);
	omx_board_put(board);
	return 0;
}

/* ---- peers ---- */

static const char *peer_error(int error)
{
	switch (error) {
	case -EADDRINUSE:
		return "another program uses the UDP port";
	case -EINVAL:
		return "it takes the address of one other host, and a printable name";
	case -ELOOP:
		return "it is an address of this host";
	case -ENODEV:
		return "the board is being detached";
	case -ENOENT:
		return "there is no such peer";
	case -ENOMEM:
		return "out of memory";
	case -ENOSPC:
		return "the board has as many peers as it can have";
	case -EOPNOTSUPP:
		return "the kernel has no UDP tunnels";
	default:
		return "it failed";
	}
}

/* Which attribute is the address, or BOARD if there is none; -EINVAL: there are two. */
static int peer_address_attribute(struct genl_info *info)
{
	if (!info->attrs[OMX_A_ADDRESS])
		return info->attrs[OMX_A_MAC] ? OMX_A_MAC : OMX_A_BOARD;
	if (!info->attrs[OMX_A_MAC])
		return OMX_A_ADDRESS;
	return change_refuse(info, OMX_A_MAC, -EINVAL, "a peer has a MAC or an IP address here");
}

static void peer_read(struct nlattr **attrs, struct omx_ioc_udp_peer *peer)
{
	memset(peer, 0, sizeof(*peer));
	peer->peer.board = nla_get_u32(attrs[OMX_A_BOARD]);
	if (attrs[OMX_A_MAC])
		peer->peer.mac = ether_addr_to_u64(nla_data(attrs[OMX_A_MAC]));
	if (attrs[OMX_A_NAME])
		nla_strscpy(peer->peer.name, attrs[OMX_A_NAME], sizeof(peer->peer.name));
	if (attrs[OMX_A_ADDRESS])
		memcpy(peer->address, nla_data(attrs[OMX_A_ADDRESS]), sizeof(peer->address));
	if (attrs[OMX_A_SCOPE])
		peer->scope = nla_get_u32(attrs[OMX_A_SCOPE]);
}

static int peer_change(struct genl_info *info,
		       int (*change)(struct omx_board *board, int attribute,
				     struct omx_ioc_udp_peer *peer))
{
	struct omx_ioc_udp_peer peer;
	struct omx_board *board;
	int attribute, error;

	if (change_lacks(info, OMX_A_BOARD))
		return -EINVAL;
	attribute = peer_address_attribute(info);
	if (attribute < 0)
		return attribute;
	board = change_get_board(info);
	if (!board)
		return change_no_board(info);
	peer_read(info->attrs, &peer);
	error = change(board, attribute, &peer);
	omx_board_put(board);
	return error ? change_refuse(info, attribute, error, peer_error(error)) : 0;
}

static int peer_add_any(struct omx_board *board, int attribute, struct omx_ioc_udp_peer *peer)
{
	switch (attribute) {
	case OMX_A_MAC:
		return omx_query_add_peer(board, &peer->peer);
	case OMX_A_ADDRESS:
		return omx_query_add_udp_peer(board, peer);
	default:
		return -EINVAL;
	}
}

static int peer_remove_any(struct omx_board *board, int attribute, struct omx_ioc_udp_peer *peer)
{
	switch (attribute) {
	case OMX_A_MAC:
		return peer->peer.mac ? omx_peer_remove(board, peer->peer.mac) : -ENOENT;
	case OMX_A_ADDRESS:
		return omx_udp_peer_remove(board, peer);
	default:
		return omx_peer_remove(board, 0);
	}
}

int omx_change_peer_add(struct sk_buff *skb, struct genl_info *info)
{
	return peer_change(info, peer_add_any);
}

int omx_change_peer_remove(struct sk_buff *skb, struct genl_info *info)
{
	return peer_change(info, peer_remove_any);
}

/* ---- counters ---- */

int omx_change_counter_clear(struct sk_buff *skb, struct genl_info *info)
{
	struct omx_board *board;

	if (change_lacks(info, OMX_A_BOARD))
		return -EINVAL;
	board = change_get_board(info);
	if (!board)
		return change_no_board(info);
	omx_counters_clear(board->counters);
	omx_board_put(board);
	return 0;
}
