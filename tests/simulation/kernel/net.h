/* SPDX-License-Identifier: BSD-2-Clause */
/* Network devices and namespaces: each node has one of both. */
#ifndef SIM_NET_H
#define SIM_NET_H

#include <linux/in6.h>

#include "skbuff.h"

typedef u64 netdev_features_t;
typedef struct { char unused; } netdevice_tracker;

#define NETIF_F_SG		1u
#define NET_RX_SUCCESS		0
#define NET_RX_DROP		1
#define NET_XMIT_SUCCESS	0
#define NET_XMIT_DROP		1
#define NET_XMIT_CN		2
#define net_xmit_eval(e)	((e) == NET_XMIT_CN ? 0 : (e))

enum { PACKET_HOST, PACKET_BROADCAST, PACKET_MULTICAST, PACKET_OTHERHOST, PACKET_OUTGOING };

/* Nodes have no IP: all peers are reached by Ethernet. */
#define IPV6_MIN_MTU		1280

struct dst_cache { char unused; };

static inline bool ipv6_addr_equal(const struct in6_addr *a, const struct in6_addr *b)
{
	return !memcmp(a, b, sizeof(*a));
}

static inline bool ipv6_addr_v4mapped(const struct in6_addr *address)
{
	return false;
}

struct net {
	void *generic;			/* the driver's */
};

extern struct net init_net;

struct net_device {
	const u8 *dev_addr;
	unsigned int mtu;
	netdev_features_t features;
	unsigned int tx_queue_len;
	struct net *net;
	struct sim_node *node;
	bool up;
};

struct packet_type {
	__be16 type;
	struct net_device *dev;
	int (*func)(struct sk_buff *skb, struct net_device *dev, struct packet_type *type,
		    struct net_device *orig_dev);
	void *af_packet_priv;
};

struct pernet_operations {
	int (*init)(struct net *net);
	void (*exit)(struct net *net);
	unsigned int *id;
	size_t size;
};

/* In network.c. */
int dev_queue_xmit(struct sk_buff *skb);
int netif_rx(struct sk_buff *skb);
/* In node.c. */
int register_pernet_subsys(struct pernet_operations *ops);
void unregister_pernet_subsys(struct pernet_operations *ops);

#define net_generic(net, id)		((net)->generic)
#define dev_net(dev)			((dev)->net)
#define netif_running(dev)		((dev)->up)
#define netif_carrier_ok(dev)		((dev)->up)
#define netdev_hold(dev, tracker, gfp)	do { } while (0)
#define netdev_put(dev, tracker)	do { } while (0)
#define ASSERT_RTNL()			do { } while (0)

static inline void u64_to_ether_addr(u64 value, u8 *addr)
{
	int i;

	for (i = ETH_ALEN - 1; i >= 0; i--, value >>= 8)
		addr[i] = value;
}

static inline bool is_valid_ether_addr(const u8 *addr)
{
	static const u8 zero[ETH_ALEN];

	return !(addr[0] & 1) && memcmp(addr, zero, ETH_ALEN);
}

static inline bool ether_addr_equal(const u8 *a, const u8 *b)
{
	return !memcmp(a, b, ETH_ALEN);
}

u32 get_random_u32(void);
void get_random_bytes(void *to, size_t length);
#define get_random_u32_below(limit)	(get_random_u32() % (limit))

#include <linux/utsname.h>

struct new_utsname *utsname(void);
#define init_utsname	utsname

#endif
