// SPDX-License-Identifier: GPL-2.0
/*
 * Peers that are reached by UDP, and their addresses.
 *
 * An administrator adds the address, in an ioctl.  The peer's hello, in softirq, says
 * which MAC it has: until then the entry has none, and nothing but hellos is sent there.
 * From then on the two belong together: frames of that MAC are received from that address
 * alone (udp_receive.c, and omx_receive() for Ethernet), and another MAC there, or that
 * MAC elsewhere, is refused as long as the peer is alive.  So no host that IP reaches can
 * take the place of another one, unless it can send packets with the other's address, or
 * has heard the hellos of a host that is found on Ethernet as well.
 */
#include <linux/inetdevice.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <net/addrconf.h>
#include <net/ipv6.h>
#include <net/route.h>

#include "net/board.h"
#include "net/hello.h"
#include "net/peer.h"
#include "net/udp_carrier.h"

/* ---- paths ---- */

static struct omx_udp_path *path_alloc(const struct omx_address *address, gfp_t gfp)
{
	struct omx_udp_path *path = kzalloc(sizeof(*path), gfp);

	if (!path)
		return NULL;
	if (dst_cache_init(&path->routes, gfp)) {
		kfree(path);
		return NULL;
	}
	path->address = *address;
	return path;
}

static void path_destroy(struct omx_udp_path *path)
{
	dst_cache_destroy(&path->routes);
	kfree(path);
}

static void path_free_rcu(struct rcu_head *rcu)
{
	path_destroy(container_of(rcu, struct omx_udp_path, rcu));
}

void omx_udp_path_free(struct omx_udp_path *path)
{
	call_rcu(&path->rcu, path_free_rcu);
}

static struct omx_peer *udp_peer_alloc(const struct omx_address *address, gfp_t gfp)
{
	struct omx_peer *peer = kzalloc(sizeof(*peer), gfp);

	if (!peer)
		return NULL;
	peer->udp = path_alloc(address, gfp);
	if (!peer->udp) {
		kfree(peer);
		return NULL;
	}
	peer->responded = jiffies - OMX_RESPONSE_INTERVAL;
	return peer;
}

/* It is not in the table. */
static void udp_peer_free(struct omx_peer *peer)
{
	path_destroy(peer->udp);
	kfree(peer);
}

/* ---- which MAC is at which address ---- */

/* The entry of the address is replaced by one with another MAC, or with none (0). */
static struct omx_peer *peer_set_mac(struct omx_peer_table *table, struct omx_peer *old,
				     u64 mac)
{
	struct omx_peer *new = kmemdup(old, sizeof(*old), GFP_ATOMIC | __GFP_NOWARN);

	lockdep_assert_held(&table->lock);
	if (!new)
		return NULL;
	new->mac = mac;
	new->boot = 0;
	new->mtu = 0;
	memset(&new->path, 0, sizeof(new->path));
	omx_peer_replace(table, old, new);
	return new;
}

/*
 * May the entry `elsewhere` lose its MAC, because a hello with this MAC came from another
 * address?  Only if its peer is silent, or if it was found on Ethernet by itself and the
 * hello has its boot number: one host that both carriers reach.
 */
static bool peer_gives_up_mac(struct omx_peer_table *table, struct omx_peer *elsewhere, u32 boot)
{
	if (elsewhere->udp)
		return !elsewhere->mtu && peer_set_mac(table, elsewhere, 0);
	if (elsewhere->is_static || (elsewhere->mtu && elsewhere->boot != boot))
		return false;
	omx_peer_forget(table, elsewhere);
	return true;
}

/* A host that has said hello to a group; it leaves the table as on Ethernet. */
static struct omx_peer *peer_meet_at(struct omx_board *board, u64 mac,
				     const struct omx_address *address)
{
	struct omx_peer *peer = udp_peer_alloc(address, GFP_ATOMIC | __GFP_NOWARN);

	if (!peer)
		return NULL;
	peer->mac = mac;
	peer->heard = jiffies;
	peer->udp->hello_due = jiffies;
	if (!omx_peer_insert(&board->peers, peer))
		return peer;
	udp_peer_free(peer);
	return NULL;
}

struct omx_peer *omx_udp_peer_claim(struct omx_board *board, u64 mac, u32 boot,
				    const struct omx_address *source, bool by_group)
{
	struct omx_peer_table *table = &board->peers;
	struct omx_peer *peer = omx_peer_find_address(table, source);
	struct omx_peer *elsewhere = omx_peer_find(table, mac);
	bool is_local = omx_board_with_mac(board->on, mac);

	lockdep_assert_held(&table->lock);
	if (peer && peer->mac == mac)
		return peer;
	if ((!peer && !by_group) || (peer && peer->mac && peer->mtu) ||
	    is_local || (elsewhere && !peer_gives_up_mac(table, elsewhere, boot))) {
		omx_count(board, DROP_PEER_ADDRESS);
		if (peer && (elsewhere || is_local))
			WRITE_ONCE(peer->udp->error, -ENOTUNIQ);
		return NULL;
	}
	peer = peer ? peer_set_mac(table, peer, mac) : peer_meet_at(board, mac, source);
	if (peer)
		WRITE_ONCE(peer->udp->error, 0);
	else
		omx_count(board, DROP_NO_MEMORY);
	return peer;
}

/* ---- ioctls ---- */

static bool address_is_group(const struct omx_address *address)
{
	return omx_address_is_v4(address) ? ipv4_is_multicast(address->ip.s6_addr32[3]) :
					    ipv6_addr_is_multicast(&address->ip);
}

/* A group is joined on the interface of the board. */
static int address_read(struct omx_board *board, struct omx_address *address,
			const struct omx_ioc_udp_peer *peer)
{
	int error = 0;

	memcpy(&address->ip, peer->address, sizeof(address->ip));
	address->scope = peer->scope;
	if (!address_is_group(address))
		return 0;
	rcu_read_lock();
	if (READ_ONCE(board->detaching))
		error = -ENODEV;
	else
		address->scope = board->dev->ifindex;
	rcu_read_unlock();
	return error;
}

/* The address of one host, with a scope where it needs one, or of a group. */
static bool address_is_valid(const struct omx_address *address)
{
	const int type = ipv6_addr_type(&address->ip);

	if (address_is_group(address))
		return true;
	if (omx_address_is_v4(address)) {
		__be32 ip = address->ip.s6_addr32[3];

		return !address->scope && !ipv4_is_zeronet(ip) && !ipv4_is_lbcast(ip) &&
		       !ipv4_is_loopback(ip);
	}
	if (!(type & IPV6_ADDR_UNICAST) || type & (IPV6_ADDR_LOOPBACK | IPV6_ADDR_COMPATv4))
		return false;
	return !address->scope == !(type & IPV6_ADDR_LINKLOCAL);
}

/* Lists of all hosts of a cluster have this host's address as well. */
static bool address_is_own(struct net *net, const struct omx_address *address)
{
	if (omx_address_is_v4(address))
		return inet_addr_type(net, address->ip.s6_addr32[3]) == RTN_LOCAL;
#if IS_ENABLED(CONFIG_IPV6)
	return ipv6_chk_addr(net, &address->ip, NULL, 0);
#else
	return false;
#endif
}

/* A peer that is known gets its new name, if there is one. */
static int udp_peer_insert(struct omx_board *board, struct omx_peer *new)
{
	struct omx_peer_table *table = &board->peers;
	struct omx_peer *old = omx_peer_find_address(table, &new->udp->address);
	struct omx_udp_path *unused = new->udp;

	lockdep_assert_held(&table->lock);
	if (READ_ONCE(board->detaching))
		return -ENODEV;
	if (!old) {
		omx_hello_to_udp_peer(board, new);
		return omx_peer_insert(table, new);
	}
	omx_peer_inherit(new, old);
	omx_peer_replace(table, old, new);
	path_destroy(unused);
	return 0;
}

/* udp->lock keeps the sockets open until the peer is in the table. */
static int udp_peer_publish(struct omx_board *board, struct omx_peer *peer)
{
	struct omx_udp *udp = &board->on->udp;
	int error;

	mutex_lock(&udp->lock);
	error = omx_udp_open(udp);
	if (!error && peer->udp->is_group)
		error = omx_udp_join(udp, &peer->udp->address);
	if (!error) {
		spin_lock_bh(&board->peers.lock);
		error = udp_peer_insert(board, peer);
		spin_unlock_bh(&board->peers.lock);
	}
	mutex_unlock(&udp->lock);
	omx_udp_review(udp);	/* if it is not there all the same */
	return error;
}

int omx_udp_peer_add(struct omx_board *board, struct omx_ioc_udp_peer *ioc)
{
	struct omx_address address;
	struct omx_peer *peer;
	int error;

	error = address_read(board, &address, ioc);
	if (error)
		return error;
	if (!address_is_valid(&address))
		return -EINVAL;
	if (address_is_own(board->on->udp.net, &address))
		return -ELOOP;
	peer = udp_peer_alloc(&address, GFP_KERNEL_ACCOUNT);
	if (!peer)
		return -ENOMEM;
	peer->is_static = true;
	peer->name_is_fixed = *ioc->peer.name;
	strscpy_pad(peer->name, ioc->peer.name, sizeof(peer->name));
	peer->udp->is_group = address_is_group(&address);
	error = udp_peer_publish(board, peer);
	if (error)
		udp_peer_free(peer);
	return error;
}

static void udp_leave_group(struct omx_udp *udp, const struct omx_address *group)
{
	mutex_lock(&udp->lock);
	omx_udp_leave(udp, group);
	mutex_unlock(&udp->lock);
}

int omx_udp_peer_remove(struct omx_board *board, struct omx_ioc_udp_peer *ioc)
{
	struct omx_peer_table *table = &board->peers;
	struct omx_address address;
	struct omx_peer *peer;
	int error;

	error = address_read(board, &address, ioc);
	if (error)
		return error;
	spin_lock_bh(&table->lock);
	peer = omx_peer_find_address(table, &address);
	if (peer)
		omx_peer_delete(table, peer);
	spin_unlock_bh(&table->lock);
	if (peer && address_is_group(&address))
		udp_leave_group(&board->on->udp, &address);
	omx_udp_review(&board->on->udp);
	return peer ? 0 : -ENOENT;
}
