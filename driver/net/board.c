// SPDX-License-Identifier: GPL-2.0
/*
 * Boards and the table that each network namespace has of them.
 *
 * attach.c adds boards to the table and removes them, under rtnl.  Endpoints and
 * ioctls find boards here, in process context, and keep them by a reference.
 */
#include <linux/etherdevice.h>
#include <linux/nospec.h>
#include <linux/random.h>
#include <linux/rtnetlink.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/utsname.h>
#include <net/netns/generic.h>

#include "net/board.h"
#include "net/hello.h"
#include "net/peer.h"
#include "net/receive.h"
#include "observe/lock_order.h"
#include "omx_wire.h"

unsigned int omx_ethertype = OMX_ETHERTYPE_DEFAULT;
unsigned int omx_udp_port = OMX_UDP_PORT_DEFAULT;

static unsigned int omx_net_id __read_mostly;

struct omx_net *omx_net_of(struct net *net)
{
	return net_generic(net, omx_net_id);
}

/* ---- the table ---- */

struct omx_board *omx_board_at(struct omx_net *on, u32 index)
{
	return rcu_dereference_rtnl(on->boards[index]);
}

struct omx_board *omx_board_of(struct omx_net *on, const struct net_device *dev)
{
	struct omx_board *board;
	u32 i;

	ASSERT_RTNL();
	for (i = 0; i < OMX_BOARD_MAX; i++) {
		board = omx_board_at(on, i);
		if (board && board->dev == dev)
			return board;
	}
	return NULL;
}

struct omx_board *omx_board_with_mac(struct omx_net *on, u64 mac)
{
	struct omx_board *board;
	u32 i;

	for (i = 0; i < OMX_BOARD_MAX; i++) {
		board = omx_board_at(on, i);
		if (board && board->mac == mac)
			return board;
	}
	return NULL;
}

struct omx_board *omx_board_get(struct net *net, u32 index)
{
	struct omx_board *board;

	if (index >= OMX_BOARD_MAX)
		return NULL;
	index = array_index_nospec(index, OMX_BOARD_MAX);

	rcu_read_lock();
	board = omx_board_at(omx_net_of(net), index);
	if (board && !kref_get_unless_zero(&board->ref))
		board = NULL;
	rcu_read_unlock();
	return board;
}

struct omx_board *omx_board_get_by_mac(struct net *net, u64 mac)
{
	struct omx_board *board;

	rcu_read_lock();
	board = omx_board_with_mac(omx_net_of(net), mac);
	if (board && !kref_get_unless_zero(&board->ref))
		board = NULL;
	rcu_read_unlock();
	return board;
}

bool omx_board_mac_is_local(struct net *net, u64 mac)
{
	return omx_board_with_mac(omx_net_of(net), mac);
}

u32 omx_board_flags(const struct omx_board *board)
{
	const struct net_device *dev = board->dev;
	u32 flags = 0;

	if (netif_running(dev) && netif_carrier_ok(dev))
		flags |= OMX_BOARD_UP;
	if (READ_ONCE(board->automatic))
		flags |= OMX_BOARD_AUTO;
	return flags;
}

/* ---- names ---- */

void omx_board_copy_name(struct omx_board *board, char name[OMX_NAME_LEN])
{
	spin_lock_bh(&board->name_lock);
	memcpy(name, board->name, OMX_NAME_LEN);
	spin_unlock_bh(&board->name_lock);
}

void omx_board_rename(struct omx_board *board, const char *name)
{
	spin_lock_bh(&board->name_lock);
	strscpy_pad(board->name, name, sizeof(board->name));
	spin_unlock_bh(&board->name_lock);
	omx_hello_announce(board);
}

/*
 * A task that has left its namespaces can still get here: when it closes a tap
 * device in its last work, a bond or bridge loses its port, and another board is
 * attached.
 */
static const char *board_node_name(void)
{
	return current->nsproxy ? utsname()->nodename :
				  init_utsname()->nodename;
}

/* Peers refuse an invalid name, so such a host gets a similar one that is valid. */
static void board_set_default_name(struct omx_board *board)
{
	char node[__NEW_UTS_LEN + 1];
	size_t i;

	strscpy(node, board_node_name(), sizeof(node));
	for (i = 0; node[i]; i++)
		if (!omx_peer_name_is_valid(&node[i], 1))
			node[i] = '_';
	snprintf(board->name, sizeof(board->name), "%s:%u",
		 *node ? node : "localhost", board->index);
}

/* ---- lifetime ---- */

static void board_free_rcu(struct rcu_head *rcu)
{
	struct omx_board *board = container_of(rcu, struct omx_board, rcu);

	free_percpu(board->counters);
	kvfree(board);
}

/* Under RCU, readers of the table may still look at a board without a reference. */
static void board_release(struct kref *ref)
{
	struct omx_board *board = container_of(ref, struct omx_board, ref);

	call_rcu(&board->rcu, board_free_rcu);
}

void omx_board_put(struct omx_board *board)
{
	kref_put(&board->ref, board_release);
}

struct omx_board *omx_board_alloc(struct net_device *dev, u32 index,
				     bool automatic)
{
	struct omx_board *board = kvzalloc(sizeof(*board), GFP_KERNEL);

	if (!board)
		return NULL;
	board->counters = alloc_percpu(struct omx_counters);
	if (!board->counters) {
		kvfree(board);
		return NULL;
	}
	kref_init(&board->ref);
	spin_lock_init(&board->name_lock);
	omx_spin_lock_init(&board->endpoints_lock, OMX_LOCK_ENDPOINTS);
	omx_spin_lock_init(&board->pulls.lock, OMX_LOCK_SCHEDULE);
	omx_paths_init(&board->paths);
	omx_user_turns_init(&board->pulls.turns, OMX_PULL_TURN_BYTES);
	omx_incoming_init(&board->incoming, clamp_t(u32, dev->mtu, OMX_MTU_MIN, OMX_MTU_MAX));
	board->index = index;
	board->boot = get_random_u32();
	board->automatic = automatic;
	board->mac = omx_mac_read(dev->dev_addr);
	board->on = omx_net_of(dev_net(dev));
	board->dev = dev;
	netdev_hold(dev, &board->dev_tracker, GFP_KERNEL);
	board->packet_type.type = htons(omx_ethertype);
	board->packet_type.dev = dev;
	board->packet_type.func = omx_receive;
	board->packet_type.af_packet_priv = board;
	board_set_default_name(board);
	omx_peers_init(board);
	omx_hello_init(board);
	return board;
}

/* ---- namespaces ---- */

static int __net_init omx_net_init(struct net *net)
{
	omx_udp_init(&omx_net_of(net)->udp, net);
	return 0;
}

/*
 * The devices of a namespace go before its subsystems do, and when the module is
 * unloaded the notifier is unregistered first: no board can be left.
 */
static void __net_exit omx_net_exit(struct net *net)
{
	struct omx_net *on = omx_net_of(net);
	u32 i;

	for (i = 0; i < OMX_BOARD_MAX; i++)
		WARN_ON_ONCE(rcu_access_pointer(on->boards[i]));
	omx_udp_exit(&on->udp);
}

static struct pernet_operations omx_net_ops = {
	.init	= omx_net_init,
	.exit	= omx_net_exit,
	.id	= &omx_net_id,
	.size	= sizeof(struct omx_net),
};

int omx_boards_init(void)
{
	return register_pernet_subsys(&omx_net_ops);
}

void omx_boards_exit(void)
{
	unregister_pernet_subsys(&omx_net_ops);
	rcu_barrier();		/* board_free_rcu() is our code */
}
