// SPDX-License-Identifier: GPL-2.0
/*
 * Attaching and detaching boards, by command or because network devices change.
 *
 * Everything here runs in process context under rtnl, which protects the tables
 * of boards: the netdevice notifier is called with it, and ifnames.c takes it.
 */
#define pr_fmt(fmt) "omx: " fmt

#include <linux/if_arp.h>
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>

#include "endpoint/endpoint.h"
#include "net/attach.h"
#include "net/board.h"
#include "net/hello.h"
#include "net/peer.h"
#include "netlink/events.h"

/* ---- attaching ---- */

/* The master of a port gets its frames, before we could see them. */
static bool device_is_port(struct net_device *dev)
{
	return dev->flags & IFF_SLAVE || netdev_master_upper_dev_get(dev);
}

static bool device_suits_automatically(struct net_device *dev)
{
	return dev->flags & IFF_UP && dev->type == ARPHRD_ETHER &&
	       !(dev->flags & IFF_LOOPBACK) && !device_is_port(dev);
}

/*
 * 0, or why the device cannot be a board.  Peers know a board by its MAC, so two
 * devices with the same MAC (a VLAN and its parent, say) cannot both be one.
 */
static int device_check(struct omx_net *on, struct net_device *dev)
{
	if (dev->type != ARPHRD_ETHER && !(dev->flags & IFF_LOOPBACK))
		return -EAFNOSUPPORT;
	if (!is_valid_ether_addr(dev->dev_addr))
		return -EADDRNOTAVAIL;
	if (dev->mtu < OMX_MTU_MIN)
		return -EMSGSIZE;
	if (dev->reg_state != NETREG_REGISTERED)
		return -ENODEV;
	if (omx_board_with_mac(on, omx_mac_read(dev->dev_addr)))
		return -EADDRINUSE;
	return 0;
}

static int board_free_index(struct omx_net *on)
{
	int i;

	ASSERT_RTNL();
	for (i = 0; i < OMX_BOARD_MAX; i++)
		if (!omx_board_at(on, i))
			return i;
	return -ENOSPC;
}

int omx_board_attach(struct net_device *dev, bool automatic)
{
	struct omx_net *on = omx_net_of(dev_net(dev));
	struct omx_board *board;
	int index, error;

	ASSERT_RTNL();
	error = device_check(on, dev);
	if (error)
		return error;
	index = board_free_index(on);
	if (index < 0)
		return index;
	board = omx_board_alloc(dev, index, automatic);
	if (!board)
		return -ENOMEM;

	rcu_assign_pointer(on->boards[index], board);
	omx_tso_start(board);
	dev_add_pack(&board->packet_type);
	board->link_was_up = omx_board_flags(board) & OMX_BOARD_UP;
	omx_event_board(board, OMX_CMD_BOARD_ATTACHED);	/* before it finds peers */
	if (netif_running(dev))
		omx_hello_resume(board);
	pr_info("board %u (%s) attached\n", index, netdev_name(dev));
	return 0;
}

const char *omx_attach_error(int error)
{
	switch (error) {
	case -EADDRNOTAVAIL:
		return "it has no MAC address";
	case -EADDRINUSE:
		return "another board has this MAC address";
	case -EAFNOSUPPORT:
		return "it is not an Ethernet interface";
	case -EMSGSIZE:
		return "its MTU is too small";
	case -ENODEV:
		return "no such interface or board";
	case -EBUSY:
		return "endpoints are open there";
	case -ENOSPC:
		return "there are as many boards as there can be";
	case -ENOMEM:
		return "out of memory";
	default:
		return "it failed";
	}
}

static void device_attach_automatically(struct omx_net *on, struct net_device *dev)
{
	int error;

	if (omx_board_of(on, dev) || !device_suits_automatically(dev))
		return;
	error = omx_board_attach(dev, true);
	if (error && error != -EADDRINUSE)
		pr_info_ratelimited("%s not attached: %s (error %d)\n",
				    netdev_name(dev), omx_attach_error(error), error);
}

void omx_attach_all(struct net *net)
{
	struct omx_net *on = omx_net_of(net);
	struct net_device *dev;

	ASSERT_RTNL();
	if (!on->automatic)
		return;
	for_each_netdev(net, dev)
		device_attach_automatically(on, dev);
}

/* ---- detaching ---- */

static bool board_is_used(struct omx_board *board)
{
	return !bitmap_empty(board->endpoints_open, OMX_ENDPOINT_MAX);
}

/* False: an endpoint is open and may stay.  Otherwise none is opened any more. */
static bool board_begin_detach(struct omx_board *board, bool force)
{
	bool begun;

	spin_lock_bh(&board->endpoints_lock);
	begun = force || !board_is_used(board);
	if (begun)
		WRITE_ONCE(board->detaching, true);
	spin_unlock_bh(&board->endpoints_lock);
	return begun;
}

/*
 * The order matters:
 *  - bye is said while frames can still be sent;
 *  - `detaching`, set under endpoints_lock, keeps new endpoints out, so that
 *    omx_endpoints_detach() ends the last ones.  Senders and timers check it
 *    under RCU before they use the device;
 *  - once the board is out of the table, nobody finds it any more;
 *  - frames may arrive until dev_remove_pack() has waited for a grace period.
 *    After the same grace period nobody uses the device who has seen `detaching`
 *    false, in softirq or elsewhere: the device is given back at once.  An
 *    endpoint that its program does not close keeps struct omx_board, but cannot
 *    delay the unregistering of the device (netdev_wait_allrefs());
 *  - the table of peers is freed when no frame can use it any more.
 */
int omx_board_detach(struct omx_board *board, bool force)
{
	struct net_device *dev = board->dev;
	struct omx_net *on = omx_net_of(dev_net(dev));

	ASSERT_RTNL();
	if (!force && board_is_used(board))
		return -EBUSY;
	omx_hello_pause(board);
	if (!board_begin_detach(board, force)) {
		if (netif_running(dev))
			omx_hello_resume(board);
		return -EBUSY;
	}
	RCU_INIT_POINTER(on->boards[board->index], NULL);
	omx_endpoints_detach(board);
	omx_tso_stop(board);
	dev_remove_pack(&board->packet_type);
	omx_incoming_stop(&board->incoming);
	omx_hello_pause(board);
	omx_peers_destroy(board);
	omx_event_board(board, OMX_CMD_BOARD_DETACHED);
	pr_info("board %u (%s) detached\n", board->index, netdev_name(dev));
	board->dev = NULL;
	netdev_put(dev, &board->dev_tracker);
	omx_board_put(board);
	return 0;
}

int omx_detach_all(struct net *net)
{
	struct omx_net *on = omx_net_of(net);
	struct omx_board *board;
	int result = 0;
	u32 i;

	ASSERT_RTNL();
	for (i = 0; i < OMX_BOARD_MAX; i++) {
		board = omx_board_at(on, i);
		if (board && omx_board_detach(board, false))
			result = -EBUSY;
	}
	return result;
}

/* ---- the netdevice notifier ---- */

/* Devices change more often than their link does. */
static void board_report_link(struct omx_board *board)
{
	bool up = omx_board_flags(board) & OMX_BOARD_UP;

	ASSERT_RTNL();
	if (up == board->link_was_up)
		return;
	board->link_was_up = up;
	omx_event_board(board, up ? OMX_CMD_LINK_UP : OMX_CMD_LINK_DOWN);
}

static void board_changed(struct omx_board *board)
{
	board_report_link(board);
	omx_hello_announce(board);
	omx_endpoints_board_changed(board);
}

static void device_came_up(struct omx_net *on, struct net_device *dev)
{
	struct omx_board *board = omx_board_of(on, dev);

	if (board) {
		board_report_link(board);
		omx_hello_resume(board);
		omx_endpoints_board_changed(board);
	} else if (on->automatic) {
		device_attach_automatically(on, dev);
	}
}

/* Peers and sessions know a board by its MAC: with another MAC it is another board. */
static void board_attach_again(struct omx_board *board)
{
	struct net_device *dev = board->dev;
	bool automatic = board->automatic;
	int error;

	omx_board_detach(board, true);
	error = omx_board_attach(dev, automatic);
	if (error)
		pr_notice("%s not attached with its new address: %s (error %d)\n",
			  netdev_name(dev), omx_attach_error(error), error);
}

/* The MAC that is free now may be that of a device which could not be attached. */
static void device_address_changed(struct omx_net *on, struct net_device *dev)
{
	struct omx_board *board = omx_board_of(on, dev);

	if (board && board->mac != omx_mac_read(dev->dev_addr))
		board_attach_again(board);
	omx_attach_all(dev_net(dev));
}

/*
 * A port of a bridge or bond receives nothing.  Its master replaces it, and often
 * has its MAC, so all devices are looked at again.
 */
static void device_upper_changed(struct omx_net *on, struct net_device *dev)
{
	struct omx_board *board = omx_board_of(on, dev);

	if (board && board->automatic && device_is_port(dev))
		omx_board_detach(board, true);
	omx_attach_all(dev_net(dev));
}

static int netdev_event(struct notifier_block *nb, unsigned long event, void *ptr)
{
	struct net_device *dev = netdev_notifier_info_to_dev(ptr);
	struct omx_net *on = omx_net_of(dev_net(dev));
	struct omx_board *board = omx_board_of(on, dev);

	switch (event) {
	case NETDEV_UP:
		device_came_up(on, dev);
		break;
	case NETDEV_CHANGEADDR:
		device_address_changed(on, dev);
		break;
	case NETDEV_CHANGEUPPER:
		device_upper_changed(on, dev);
		break;
	case NETDEV_FEAT_CHANGE:
		if (board) {
			omx_tso_start(board);
			omx_hello_announce(board);	/* says whether segments are received */
		}
		break;
	case NETDEV_NOTIFY_PEERS:
		/* After a failover of a bond: switches learn the path from hellos. */
		if (board)
			omx_hello_announce(board);
		break;
	case NETDEV_GOING_DOWN:
		if (board)
			omx_hello_pause(board);
		break;
	case NETDEV_DOWN:
	case NETDEV_CHANGE:
	case NETDEV_CHANGEMTU:
		if (board)
			board_changed(board);
		break;
	case NETDEV_PRE_TYPE_CHANGE:
		if (board)
			omx_board_detach(board, true);
		break;
	case NETDEV_UNREGISTER:
		if (board)
			omx_board_detach(board, true);
		/* Not if this is because omx unregisters its notifier. */
		if (dev->reg_state == NETREG_UNREGISTERING)
			omx_attach_all(dev_net(dev));
		break;
	}
	return NOTIFY_DONE;
}

static struct notifier_block netdev_notifier = {
	.notifier_call = netdev_event,
};

int omx_attach_init(void)
{
	return register_netdevice_notifier(&netdev_notifier);
}

/*
 * A notifier that is unregistered is told that every device goes, in all
 * namespaces, which detaches every board.
 */
void omx_attach_exit(void)
{
	unregister_netdevice_notifier(&netdev_notifier);
}
