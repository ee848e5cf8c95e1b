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
	struct omx_iface __rcu *boards[OMX_BOARD_MAX];
	bool automatic;		/* "all": attach whatever is suitable and comes up */
};

unsigned int omx_ethertype = OMX_ETHERTYPE_DEFAULT;

static unsigned int omx_net_id __read_mostly;

static struct omx_net *omx_net_of(struct net *net)
{
	return net_generic(net, omx_net_id);
}

/* ---- the table ---- */

static struct omx_iface *board_at(struct omx_net *on, u32 index)
{
	return rcu_dereference_rtnl(on->boards[index]);
}

static struct omx_iface *board_of(struct omx_net *on, const struct net_device *dev)
{
	struct omx_iface *iface;
	u32 i;

	ASSERT_RTNL();
	for (i = 0; i < OMX_BOARD_MAX; i++) {
		iface = board_at(on, i);
		if (iface && iface->dev == dev)
			return iface;
	}
	return NULL;
}

static struct omx_iface *board_with_mac(struct omx_net *on, u64 mac)
{
	struct omx_iface *iface;
	u32 i;

	for (i = 0; i < OMX_BOARD_MAX; i++) {
		iface = board_at(on, i);
		if (iface && iface->mac == mac)
			return iface;
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

struct omx_iface *omx_iface_get(struct net *net, u32 index)
{
	struct omx_iface *iface;

	if (index >= OMX_BOARD_MAX)
		return NULL;
	index = array_index_nospec(index, OMX_BOARD_MAX);

	rcu_read_lock();
	iface = board_at(omx_net_of(net), index);
	if (iface && !kref_get_unless_zero(&iface->ref))
		iface = NULL;
	rcu_read_unlock();
	return iface;
}

struct omx_iface *omx_iface_get_by_mac(struct net *net, u64 mac)
{
	struct omx_iface *iface;

	rcu_read_lock();
	iface = board_with_mac(omx_net_of(net), mac);
	if (iface && !kref_get_unless_zero(&iface->ref))
		iface = NULL;
	rcu_read_unlock();
	return iface;
}

bool omx_iface_mac_is_local(struct net *net, u64 mac)
{
	return board_with_mac(omx_net_of(net), mac);
}

u32 omx_iface_flags(const struct omx_iface *iface)
{
	const struct net_device *dev = iface->dev;
	u32 flags = 0;

	if (netif_running(dev) && netif_carrier_ok(dev))
		flags |= OMX_BOARD_UP;
	if (READ_ONCE(iface->automatic))
		flags |= OMX_BOARD_AUTO;
	return flags;
}

/* ---- names ---- */

void omx_iface_copy_name(struct omx_iface *iface, char name[OMX_NAME_LEN])
{
	spin_lock_bh(&iface->name_lock);
	memcpy(name, iface->name, OMX_NAME_LEN);
	spin_unlock_bh(&iface->name_lock);
}

void omx_iface_rename(struct omx_iface *iface, const char *name)
{
	spin_lock_bh(&iface->name_lock);
	strscpy_pad(iface->name, name, sizeof(iface->name));
	spin_unlock_bh(&iface->name_lock);
	omx_peers_changed(iface);
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
static void set_default_name(struct omx_iface *iface)
{
	char node[__NEW_UTS_LEN + 1];
	size_t i;

	strscpy(node, node_name(), sizeof(node));
	for (i = 0; node[i]; i++)
		if (!omx_peer_name_is_valid(&node[i], 1))
			node[i] = '_';
	snprintf(iface->name, sizeof(iface->name), "%s:%u",
		 *node ? node : "localhost", iface->index);
}

/* ---- lifetime ---- */

static void iface_free_rcu(struct rcu_head *rcu)
{
	struct omx_iface *iface = container_of(rcu, struct omx_iface, rcu);

	free_percpu(iface->counters);
	kvfree(iface);
}

/* Readers of the table may still look at what they could not get. */
static void iface_release(struct kref *ref)
{
	struct omx_iface *iface = container_of(ref, struct omx_iface, ref);

	call_rcu(&iface->rcu, iface_free_rcu);
}

void omx_iface_put(struct omx_iface *iface)
{
	kref_put(&iface->ref, iface_release);
}

static struct omx_iface *iface_alloc(struct net_device *dev, u32 index,
				     bool automatic)
{
	struct omx_iface *iface = kvzalloc(sizeof(*iface), GFP_KERNEL);

	if (!iface)
		return NULL;
	iface->counters = alloc_percpu(struct omx_counters);
	if (!iface->counters) {
		kvfree(iface);
		return NULL;
	}
	kref_init(&iface->ref);
	spin_lock_init(&iface->name_lock);
	spin_lock_init(&iface->endpoints_lock);
	spin_lock_init(&iface->pulls.lock);
	INIT_LIST_HEAD(&iface->pulls.waiting);
	iface->index = index;
	iface->boot = get_random_u32();
	iface->automatic = automatic;
	iface->mac = omx_mac_read(dev->dev_addr);
	iface->dev = dev;
	netdev_hold(dev, &iface->dev_tracker, GFP_KERNEL);
	iface->packet_type.type = htons(omx_ethertype);
	iface->packet_type.dev = dev;
	iface->packet_type.func = omx_receive;
	iface->packet_type.af_packet_priv = iface;
	set_default_name(iface);
	omx_peers_init(iface);
	return iface;
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

static int attach(struct net_device *dev, bool automatic)
{
	struct omx_net *on = omx_net_of(dev_net(dev));
	struct omx_iface *iface;
	int index, error;

	ASSERT_RTNL();
	error = check_attachable(on, dev);
	if (error)
		return error;
	index = lowest_free_index(on);
	if (index < 0)
		return index;
	iface = iface_alloc(dev, index, automatic);
	if (!iface)
		return -ENOMEM;

	rcu_assign_pointer(on->boards[index], iface);
	dev_add_pack(&iface->packet_type);
	if (netif_running(dev))
		omx_peers_resume(iface);
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
	error = attach(dev, true);
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

static bool is_used(struct omx_iface *iface)
{
	return !bitmap_empty(iface->endpoints_open, OMX_ENDPOINT_MAX);
}

/* After this no endpoint opens here.  False: one is open, and may stay. */
static bool begin_detach(struct omx_iface *iface, bool force)
{
	bool begun;

	spin_lock_bh(&iface->endpoints_lock);
	begun = force || !is_used(iface);
	if (begun)
		WRITE_ONCE(iface->detaching, true);
	spin_unlock_bh(&iface->endpoints_lock);
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
 *    of the device (netdev_wait_allrefs), it only keeps struct omx_iface;
 *  - the peer table goes when no frame can look into it any more.
 */
static int detach(struct omx_iface *iface, bool force)
{
	struct net_device *dev = iface->dev;
	struct omx_net *on = omx_net_of(dev_net(dev));

	ASSERT_RTNL();
	if (!force && is_used(iface))
		return -EBUSY;
	omx_peers_pause(iface);
	if (!begin_detach(iface, force)) {
		if (netif_running(dev))
			omx_peers_resume(iface);
		return -EBUSY;
	}
	RCU_INIT_POINTER(on->boards[iface->index], NULL);
	omx_endpoints_detach(iface);
	dev_remove_pack(&iface->packet_type);
	omx_peers_stop(iface);
	pr_info("board %u (%s) detached\n", iface->index, netdev_name(dev));
	iface->dev = NULL;
	netdev_put(dev, &iface->dev_tracker);
	omx_iface_put(iface);
	return 0;
}

static int detach_all(struct net *net)
{
	struct omx_net *on = omx_net_of(net);
	struct omx_iface *iface;
	int result = 0;
	u32 i;

	ASSERT_RTNL();
	for (i = 0; i < OMX_BOARD_MAX; i++) {
		iface = board_at(on, i);
		if (iface && detach(iface, false))
			result = -EBUSY;
	}
	return result;
}

/* ---- what the network tells us ---- */

static void board_changed(struct omx_iface *iface)
{
	omx_peers_changed(iface);
	omx_endpoints_board_changed(iface);
}

static void came_up(struct omx_net *on, struct net_device *dev)
{
	struct omx_iface *iface = board_of(on, dev);

	if (iface) {
		omx_peers_resume(iface);
		omx_endpoints_board_changed(iface);
	} else if (on->automatic) {
		attach_automatically(on, dev);
	}
}

/* Peers and sessions know the board by its MAC: with another it is another. */
static void attach_again(struct omx_iface *iface)
{
	struct net_device *dev = iface->dev;
	bool automatic = iface->automatic;
	int error;

	detach(iface, true);
	error = attach(dev, automatic);
	if (error)
		pr_notice("%s not attached with its new address: %s (error %d)\n",
			  netdev_name(dev), why_not(error), error);
}

/* Another board may have waited for the MAC that is free now. */
static void address_changed(struct omx_net *on, struct net_device *dev)
{
	struct omx_iface *iface = board_of(on, dev);

	if (iface && iface->mac != omx_mac_read(dev->dev_addr))
		attach_again(iface);
	attach_all(dev_net(dev));
}

/*
 * A port of a bridge or bond receives nothing; its master takes its place and
 * often its MAC, so look at all of them again.
 */
static void upper_changed(struct omx_net *on, struct net_device *dev)
{
	struct omx_iface *iface = board_of(on, dev);

	if (iface && iface->automatic && is_port(dev))
		detach(iface, true);
	attach_all(dev_net(dev));
}

static int netdev_event(struct notifier_block *nb, unsigned long event, void *ptr)
{
	struct net_device *dev = netdev_notifier_info_to_dev(ptr);
	struct omx_net *on = omx_net_of(dev_net(dev));
	struct omx_iface *iface = board_of(on, dev);

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
		if (iface)
			omx_peers_changed(iface);
		break;
	case NETDEV_GOING_DOWN:
		if (iface)
			omx_peers_pause(iface);
		break;
	case NETDEV_DOWN:
	case NETDEV_CHANGE:
	case NETDEV_CHANGEMTU:
		if (iface)
			board_changed(iface);
		break;
	case NETDEV_PRE_TYPE_CHANGE:
		if (iface)
			detach(iface, true);
		break;
	case NETDEV_UNREGISTER:
		if (iface)
			detach(iface, true);
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
	struct omx_iface *iface;

	if (!dev)
		return -ENODEV;
	iface = board_of(omx_net_of(net), dev);
	if (!iface)
		return attach(dev, false);
	WRITE_ONCE(iface->automatic, false);
	return 0;
}

static int detach_named(struct net *net, const char *name, bool force)
{
	struct net_device *dev = __dev_get_by_name(net, name);
	struct omx_iface *iface = NULL;

	if (dev)
		iface = board_of(omx_net_of(net), dev);
	return iface ? detach(iface, force) : -ENODEV;
}

static int obey(struct net *net, const char *word)
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
int omx_iface_command(const char *words)
{
	struct net *net = current->nsproxy->net_ns;
	char *copy = kstrdup(words, GFP_KERNEL);
	char *rest = copy, *word;
	int result = 0;

	if (!copy)
		return -ENOMEM;
	rtnl_lock();
	while ((word = strsep(&rest, " ,\t\n"))) {
		int error = *word ? obey(net, word) : 0;

		if (error)
			pr_notice("ifnames: '%s': %s (error %d)\n", word, why_not(error),
				  error);
		result = result ?: error;
	}
	rtnl_unlock();
	kfree(copy);
	return result;
}

int omx_iface_list(char *buffer, size_t size)
{
	struct omx_net *on = omx_net_of(current->nsproxy->net_ns);
	struct omx_iface *iface;
	int length = 0;
	u32 i;

	rtnl_lock();
	for (i = 0; i < OMX_BOARD_MAX; i++) {
		iface = board_at(on, i);
		if (iface)
			length += scnprintf(buffer + length, size - length,
					    "%s%s", length ? " " : "",
					    netdev_name(iface->dev));
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
int omx_iface_init(void)
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
void omx_iface_exit(void)
{
	unregister_netdevice_notifier(&netdev_notifier);
	unregister_pernet_subsys(&omx_net_ops);
	rcu_barrier();		/* iface_free_rcu() is our code */
}
