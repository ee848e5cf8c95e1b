// SPDX-License-Identifier: GPL-2.0
/*
 * Boards: which interfaces are attached, and what happens to them.
 *
 * Everything that changes the table holds rtnl: the notifier is called with
 * it, and the commands of the ifnames parameter take it first.
 */
#define pr_fmt(fmt) "omx: " fmt

#include <linux/if_arp.h>
#include <linux/nospec.h>
#include <linux/nsproxy.h>
#include <linux/random.h>
#include <linux/rtnetlink.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/utsname.h>
#include <net/netns/generic.h>

#include "compat.h"
#include "endpoint/endpoint.h"
#include "net/board.h"
#include "net/receive.h"
#include "omx_wire.h"

struct omx_net {
	struct omx_board __rcu *boards[OMX_BOARD_MAX];
	bool automatic;		/* "all": attach whatever is suitable and comes up */
};

unsigned int omx_ethertype = OMX_ETHERTYPE_DEFAULT;

static unsigned int omx_net_id __read_mostly;

static struct omx_net *omx_net_of(struct net *net)
{
	return net_generic(net, omx_net_id);
}

/* ---- the table ---- */

static struct omx_board *board_at(struct omx_net *on, u32 index)
{
	return rcu_dereference_rtnl(on->boards[index]);
}

static struct omx_board *board_of(struct omx_net *on, const struct net_device *dev)
{
	struct omx_board *board;
	u32 i;

	ASSERT_RTNL();
	for (i = 0; i < OMX_BOARD_MAX; i++) {
		board = board_at(on, i);
		if (board && board->dev == dev)
			return board;
	}
	return NULL;
}

static struct omx_board *board_with_mac(struct omx_net *on, u64 mac)
{
	struct omx_board *board;
	u32 i;

	for (i = 0; i < OMX_BOARD_MAX; i++) {
		board = board_at(on, i);
		if (board && board->mac == mac)
			return board;
	}
	return NULL;
}

static int lowest_free_index(struct omx_net *on)
{
	int i;

	ASSERT_RTNL();
	for (i = 0; i < OMX_BOARD_MAX; i++)
		if (!board_at(on, i))
			return i;
	return -ENOSPC;
}

struct omx_board *omx_board_get(struct net *net, u32 index)
{
	struct omx_board *board;

	if (index >= OMX_BOARD_MAX)
		return NULL;
	index = array_index_nospec(index, OMX_BOARD_MAX);

	rcu_read_lock();
	board = board_at(omx_net_of(net), index);
	if (board && !kref_get_unless_zero(&board->ref))
		board = NULL;
	rcu_read_unlock();
	return board;
}

struct omx_board *omx_board_get_by_mac(struct net *net, u64 mac)
{
	struct omx_board *board;

	rcu_read_lock();
	board = board_with_mac(omx_net_of(net), mac);
	if (board && !kref_get_unless_zero(&board->ref))
		board = NULL;
	rcu_read_unlock();
	return board;
}

bool omx_board_mac_is_local(struct net *net, u64 mac)
{
	return board_with_mac(omx_net_of(net), mac);
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
	omx_peers_changed(board);
}

/*
 * A task that is past its namespaces can still get here: closing a tap
 * device from its last work changes who is enslaved to whom.
 */
static const char *node_name(void)
{
	return current->nsproxy ? utsname()->nodename :
				  init_utsname()->nodename;
}

/* Peers refuse a bad name, so a host that has one gets a similar name. */
static void set_default_name(struct omx_board *board)
{
	char node[__NEW_UTS_LEN + 1];
	size_t i;

	strscpy(node, node_name(), sizeof(node));
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

/* Readers of the table may still look at what they could not get. */
static void board_release(struct kref *ref)
{
	struct omx_board *board = container_of(ref, struct omx_board, ref);

	call_rcu(&board->rcu, board_free_rcu);
}

void omx_board_put(struct omx_board *board)
{
	kref_put(&board->ref, board_release);
}

static struct omx_board *board_alloc(struct net_device *dev, u32 index,
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
	spin_lock_init(&board->endpoints_lock);
	spin_lock_init(&board->pulls.lock);
	INIT_LIST_HEAD(&board->pulls.waiting);
	board->index = index;
	board->boot = get_random_u32();
	board->automatic = automatic;
	board->mac = omx_mac_read(dev->dev_addr);
	board->dev = dev;
	netdev_hold(dev, &board->dev_tracker, GFP_KERNEL);
	board->packet_type.type = htons(omx_ethertype);
	board->packet_type.dev = dev;
	board->packet_type.func = omx_receive;
	board->packet_type.af_packet_priv = board;
	set_default_name(board);
	omx_peers_init(board);
	return board;
}

/* ---- attach ---- */

/* A port hands its frames to its master before we could see them. */
static bool is_port(struct net_device *dev)
{
	return dev->flags & IFF_SLAVE || netdev_master_upper_dev_get(dev);
}

static bool suits_automatically(struct net_device *dev)
{
	return dev->flags & IFF_UP && dev->type == ARPHRD_ETHER &&
	       !(dev->flags & IFF_LOOPBACK) && !is_port(dev);
}

/*
 * Two boards with one MAC (a VLAN and its parent, say) would be one address
 * for the peers: the first one has it.
 */
static int check_attachable(struct omx_net *on, struct net_device *dev)
{
	if (dev->type != ARPHRD_ETHER && !(dev->flags & IFF_LOOPBACK))
		return -EAFNOSUPPORT;
	if (!is_valid_ether_addr(dev->dev_addr))
		return -EADDRNOTAVAIL;
	if (dev->mtu < OMX_MTU_MIN)
		return -EMSGSIZE;
	if (dev->reg_state != NETREG_REGISTERED)
		return -ENODEV;
	if (board_with_mac(on, omx_mac_read(dev->dev_addr)))
		return -EADDRINUSE;
	return 0;
}

static int board_attach(struct net_device *dev, bool automatic)
{
	struct omx_net *on = omx_net_of(dev_net(dev));
	struct omx_board *board;
	int index, error;

	ASSERT_RTNL();
	error = check_attachable(on, dev);
	if (error)
		return error;
	index = lowest_free_index(on);
	if (index < 0)
		return index;
	board = board_alloc(dev, index, automatic);
	if (!board)
		return -ENOMEM;

	rcu_assign_pointer(on->boards[index], board);
	dev_add_pack(&board->packet_type);
	if (netif_running(dev))
		omx_peers_resume(board);
	pr_info("board %u (%s) attached\n", index, netdev_name(dev));
	return 0;
}

/* For the log: most of these are for the administrator to mend. */
static const char *why_not(int error)
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

static void attach_automatically(struct omx_net *on, struct net_device *dev)
{
	int error;

	if (board_of(on, dev) || !suits_automatically(dev))
		return;
	error = board_attach(dev, true);
	if (error && error != -EADDRINUSE)
		pr_info_ratelimited("%s not attached: %s (error %d)\n",
				    netdev_name(dev), why_not(error), error);
}

static void attach_all(struct net *net)
{
	struct omx_net *on = omx_net_of(net);
	struct net_device *dev;

	ASSERT_RTNL();
	if (!on->automatic)
		return;
	for_each_netdev(net, dev)
		attach_automatically(on, dev);
}

/* ---- detach ---- */

static bool board_is_used(struct omx_board *board)
{
	return !bitmap_empty(board->endpoints_open, OMX_ENDPOINT_MAX);
}

/* After this no endpoint opens here.  False: one is open, and may stay. */
static bool begin_detach(struct omx_board *board, bool force)
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
 *  - bye is said while frames still leave;
 *  - `detaching`, set under endpoints_lock, keeps new endpoints out, so the
 *    ones that omx_endpoints_detach() kills are the last.  Senders and timers
 *    look at it under RCU before they touch the device;
 *  - out of the table, nobody finds the board any more;
 *  - frames may come in until dev_remove_pack() has waited for a grace period.
 *    The same one ends whoever saw `detaching` false, in softirq or not: from
 *    there on nobody but us knows the device, and it is given back at once.
 *    An endpoint whose program does not close it cannot delay the unregistering
 *    of the device (netdev_wait_allrefs), it only keeps struct omx_board;
 *  - the peer table goes when no frame can look into it any more.
 */
static int board_detach(struct omx_board *board, bool force)
{
	struct net_device *dev = board->dev;
	struct omx_net *on = omx_net_of(dev_net(dev));

	ASSERT_RTNL();
	if (!force && board_is_used(board))
		return -EBUSY;
	omx_peers_pause(board);
	if (!begin_detach(board, force)) {
		if (netif_running(dev))
			omx_peers_resume(board);
		return -EBUSY;
	}
	RCU_INIT_POINTER(on->boards[board->index], NULL);
	omx_endpoints_detach(board);
	dev_remove_pack(&board->packet_type);
	omx_peers_stop(board);
	pr_info("board %u (%s) detached\n", board->index, netdev_name(dev));
	board->dev = NULL;
	netdev_put(dev, &board->dev_tracker);
	omx_board_put(board);
	return 0;
}

static int detach_all(struct net *net)
{
	struct omx_net *on = omx_net_of(net);
	struct omx_board *board;
	int result = 0;
	u32 i;

	ASSERT_RTNL();
	for (i = 0; i < OMX_BOARD_MAX; i++) {
		board = board_at(on, i);
		if (board && board_detach(board, false))
			result = -EBUSY;
	}
	return result;
}

/* ---- what the network tells us ---- */

static void board_changed(struct omx_board *board)
{
	omx_peers_changed(board);
	omx_endpoints_board_changed(board);
}

static void came_up(struct omx_net *on, struct net_device *dev)
{
	struct omx_board *board = board_of(on, dev);

	if (board) {
		omx_peers_resume(board);
		omx_endpoints_board_changed(board);
	} else if (on->automatic) {
		attach_automatically(on, dev);
	}
}

/* Peers and sessions know the board by its MAC: with another it is another. */
static void attach_again(struct omx_board *board)
{
	struct net_device *dev = board->dev;
	bool automatic = board->automatic;
	int error;

	board_detach(board, true);
	error = board_attach(dev, automatic);
	if (error)
		pr_notice("%s not attached with its new address: %s (error %d)\n",
			  netdev_name(dev), why_not(error), error);
}

/* Another board may have waited for the MAC that is free now. */
static void address_changed(struct omx_net *on, struct net_device *dev)
{
	struct omx_board *board = board_of(on, dev);

	if (board && board->mac != omx_mac_read(dev->dev_addr))
		attach_again(board);
	attach_all(dev_net(dev));
}

/*
 * A port of a bridge or bond receives nothing; its master takes its place and
 * often its MAC, so look at all of them again.
 */
static void upper_changed(struct omx_net *on, struct net_device *dev)
{
	struct omx_board *board = board_of(on, dev);

	if (board && board->automatic && is_port(dev))
		board_detach(board, true);
	attach_all(dev_net(dev));
}

static int netdev_event(struct notifier_block *nb, unsigned long event, void *ptr)
{
	struct net_device *dev = netdev_notifier_info_to_dev(ptr);
	struct omx_net *on = omx_net_of(dev_net(dev));
	struct omx_board *board = board_of(on, dev);

	switch (event) {
	case NETDEV_UP:
		came_up(on, dev);
		break;
	case NETDEV_CHANGEADDR:
		address_changed(on, dev);
		break;
	case NETDEV_CHANGEUPPER:
		upper_changed(on, dev);
		break;
	case NETDEV_NOTIFY_PEERS:
		/* Such as a bond after a failover: switches learn from hellos. */
		if (board)
			omx_peers_changed(board);
		break;
	case NETDEV_GOING_DOWN:
		if (board)
			omx_peers_pause(board);
		break;
	case NETDEV_DOWN:
	case NETDEV_CHANGE:
	case NETDEV_CHANGEMTU:
		if (board)
			board_changed(board);
		break;
	case NETDEV_PRE_TYPE_CHANGE:
		if (board)
			board_detach(board, true);
		break;
	case NETDEV_UNREGISTER:
		if (board)
			board_detach(board, true);
		/* Ours is also called when omx unregisters its notifier. */
		if (dev->reg_state == NETREG_UNREGISTERING)
			attach_all(dev_net(dev));
		break;
	}
	return NOTIFY_DONE;
}

static struct notifier_block netdev_notifier = {
	.notifier_call = netdev_event,
};

/* ---- what the administrator tells us ---- */

static int attach_named(struct net *net, const char *name)
{
	struct net_device *dev = __dev_get_by_name(net, name);
	struct omx_board *board;

	if (!dev)
		return -ENODEV;
	board = board_of(omx_net_of(net), dev);
	if (!board)
		return board_attach(dev, false);
	WRITE_ONCE(board->automatic, false);
	return 0;
}

static int detach_named(struct net *net, const char *name, bool force)
{
	struct net_device *dev = __dev_get_by_name(net, name);
	struct omx_board *board = NULL;

	if (dev)
		board = board_of(omx_net_of(net), dev);
	return board ? board_detach(board, force) : -ENODEV;
}

static int ifnames_obey(struct net *net, const char *word)
{
	struct omx_net *on = omx_net_of(net);

	if (!strcmp(word, "all")) {
		on->automatic = true;
		attach_all(net);
		return 0;
	}
	if (!strcmp(word, "none")) {
		on->automatic = false;
		return detach_all(net);
	}
	if (!strncmp(word, "--", 2))
		return detach_named(net, word + 2, true);
	if (*word == '-')
		return detach_named(net, word + 1, false);
	return attach_named(net, *word == '+' ? word + 1 : word);
}

/* Goes on after a word that fails; the first error is returned. */
int omx_boards_command(const char *words)
{
	struct net *net = current->nsproxy->net_ns;
	char *copy = kstrdup(words, GFP_KERNEL);
	char *rest = copy, *word;
	int result = 0;

	if (!copy)
		return -ENOMEM;
	rtnl_lock();
	while ((word = strsep(&rest, " ,\t\n"))) {
		int error = *word ? ifnames_obey(net, word) : 0;

		if (error)
			pr_notice("ifnames: '%s': %s (error %d)\n", word, why_not(error),
				  error);
		result = result ?: error;
	}
	rtnl_unlock();
	kfree(copy);
	return result;
}

int omx_boards_list(char *buffer, size_t size)
{
	struct omx_net *on = omx_net_of(current->nsproxy->net_ns);
	struct omx_board *board;
	int length = 0;
	u32 i;

	rtnl_lock();
	for (i = 0; i < OMX_BOARD_MAX; i++) {
		board = board_at(on, i);
		if (board)
			length += scnprintf(buffer + length, size - length,
					    "%s%s", length ? " " : "",
					    netdev_name(board->dev));
	}
	rtnl_unlock();
	length += scnprintf(buffer + length, size - length, "\n");
	return length;
}

/* ---- init, exit ---- */

/*
 * A namespace's devices go before its subsystems do, and the module's exit
 * unregisters the notifier first: nothing can be left.
 */
static void __net_exit omx_net_exit(struct net *net)
{
	struct omx_net *on = omx_net_of(net);
	u32 i;

	for (i = 0; i < OMX_BOARD_MAX; i++)
		WARN_ON_ONCE(rcu_access_pointer(on->boards[i]));
}

static struct pernet_operations omx_net_ops = {
	.exit	= omx_net_exit,
	.id	= &omx_net_id,
	.size	= sizeof(struct omx_net),
};

/* Attaches nothing yet: no namespace is automatic before the first command. */
int omx_boards_init(void)
{
	int error = register_pernet_subsys(&omx_net_ops);

	if (error)
		return error;
	error = register_netdevice_notifier(&netdev_notifier);
	if (error)
		unregister_pernet_subsys(&omx_net_ops);
	return error;
}

/*
 * A notifier that is unregistered is told that every device goes, in all
 * namespaces, which detaches every board.
 */
void omx_boards_exit(void)
{
	unregister_netdevice_notifier(&netdev_notifier);
	unregister_pernet_subsys(&omx_net_ops);
	rcu_barrier();		/* board_free_rcu() is our code */
}
