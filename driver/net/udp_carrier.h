/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The second carrier: frames in UDP packets, for peers that IP reaches and Ethernet
 * does not.
 *
 * Everything above is as on Ethernet.  A board is an Ethernet device, its MAC names it,
 * and every frame has an Ethernet header; but on its way to a peer that was added by IP
 * address it travels behind an IP and a UDP header, by whichever device the route says.
 * The struct omx_peer of such a peer has a struct omx_udp_path.
 *
 * Each network namespace has a socket for each of IPv4 and IPv6, all hosts use one port,
 * and the source port of a packet depends on its channel, so that receive queues and
 * routers can tell channels apart.  The sockets are open while there are UDP peers.
 *
 * udp_peer.c knows the peers' addresses, udp_socket.c opens the sockets, udp_transmit.c
 * and udp_receive.c are what passes through them.
 */
#ifndef OMX_UDP_CARRIER_H
#define OMX_UDP_CARRIER_H

#include <linux/in6.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/string.h>
#include <linux/workqueue.h>
#include <net/dst_cache.h>
#include <net/ipv6.h>

#include "omx_wire.h"

struct omx_board;
struct omx_ioc_udp_peer;
struct omx_peer;
struct sk_buff;
struct sock;
struct socket;

/* An IPv4 address is mapped into IPv6. */
struct omx_address {
	struct in6_addr ip;
	u32 scope;			/* interface of a link-local address or a group, else 0 */
};

static inline bool omx_address_is_equal(const struct omx_address *a,
					const struct omx_address *b)
{
	return ipv6_addr_equal(&a->ip, &b->ip) && a->scope == b->scope;
}

static inline bool omx_address_is_v4(const struct omx_address *address)
{
	return ipv6_addr_v4mapped(&address->ip);
}

/*
 * How frames reach a peer by UDP.  Belongs to the newest copy of its struct omx_peer.
 * A multicast group is an entry like a peer, whose MAC stays unknown: hosts that say
 * hello there become peers.
 */
struct omx_udp_path {
	struct omx_address address;
	bool is_group;
	struct dst_cache routes;
	struct rcu_head rcu;
	u32 mtu;			/* longest frame that the route takes; 0: none was sent */
	u32 limit;			/* longer ones were lost all the same; 0: none */
	int error;			/* -errno; 0: no reason is known why it is not reached */
	unsigned int burst;		/* quick hellos still to be sent; table->lock */
	unsigned long hello_due;	/* jiffies; table->lock */
	unsigned long hello_sent;	/* jiffies; table->lock */
};

/* What a network namespace has for it. */
struct omx_udp {
	struct mutex lock;		/* opening and closing the sockets */
	struct socket *socket_v4, *socket_v6;	/* NULL: not open */
	struct sock __rcu *v4, *v6;	/* theirs */
	struct work_struct review;	/* closes them if there are no UDP peers */
	struct net *net;
};

/* A path on which no frame has been sent: what every IPv6 network takes. */
#define OMX_UDP_MTU_ASSUMED	(IPV6_MIN_MTU - 64)

extern unsigned int omx_udp_port;

#if IS_ENABLED(CONFIG_NET_UDP_TUNNEL)

/* ---- process context ---- */
void omx_udp_init(struct omx_udp *udp, struct net *net);
void omx_udp_exit(struct omx_udp *udp);		/* no board is left; rtnl not held */
/* Opens the sockets that are not open yet.  udp->lock held, rtnl not held. */
int omx_udp_open(struct omx_udp *udp);
/* Joins or leaves a group on the interface `scope`.  The same conditions. */
int omx_udp_join(struct omx_udp *udp, const struct omx_address *group);
void omx_udp_leave(struct omx_udp *udp, const struct omx_address *group);
/* The ioctls. */
int omx_udp_peer_add(struct omx_board *board, struct omx_ioc_udp_peer *peer);
int omx_udp_peer_remove(struct omx_board *board, struct omx_ioc_udp_peer *peer);

/* ---- any context ---- */
/* Peers have gone: closes the sockets if those were the last ones. */
void omx_udp_review(struct omx_udp *udp);
void omx_udp_path_free(struct omx_udp_path *path);	/* after a grace period */
/*
 * Sends the frame and consumes it.  False: it was not sent, for a reason that is counted
 * and noted in the path.  RCU read lock held, and the board is not detaching.
 */
bool omx_udp_xmit(struct omx_board *board, struct omx_udp_path *path, struct sk_buff *skb);

/* ---- softirq, table->lock held ---- */
/*
 * A hello came from this address, perhaps to a group, and says this MAC and boot number.
 * Returns the entry of that address, which has this MAC then, or NULL if the two do not
 * belong together.
 */
struct omx_peer *omx_udp_peer_claim(struct omx_board *board, u64 mac, u32 boot,
				    const struct omx_address *source, bool by_group);

#else

static inline void omx_udp_init(struct omx_udp *udp, struct net *net)
{
}

static inline void omx_udp_exit(struct omx_udp *udp)
{
}

static inline int omx_udp_peer_add(struct omx_board *board, struct omx_ioc_udp_peer *peer)
{
	return -EOPNOTSUPP;
}

static inline int omx_udp_peer_remove(struct omx_board *board,
				      struct omx_ioc_udp_peer *peer)
{
	return -EOPNOTSUPP;
}

static inline void omx_udp_review(struct omx_udp *udp)
{
}

static inline void omx_udp_path_free(struct omx_udp_path *path)
{
}

static inline bool omx_udp_xmit(struct omx_board *board, struct omx_udp_path *path,
				struct sk_buff *skb)
{
	return false;
}

static inline struct omx_peer *omx_udp_peer_claim(struct omx_board *board, u64 mac, u32 boot,
						  const struct omx_address *source,
						  bool by_group)
{
	return NULL;
}

#endif
#endif
