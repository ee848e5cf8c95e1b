// SPDX-License-Identifier: GPL-2.0
/*
 * Sending frames in UDP packets.  transmit.c calls omx_udp_xmit(), in any context.
 *
 * A packet is not fragmented on its way (DF): how long frames may be is what the route
 * says, which learns it from routers (RFC 1191, RFC 8201).  A frame that was made before
 * the path became narrower is the exception, since a channel cannot make it shorter.  This
 * host sends it in fragments, as SCTP does (RFC 9260, section 6.9).
 *
 * ECT(0) tells routers that marks are understood; receive.c's channels pass them on.
 */
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/netdevice.h>
#include <linux/udp.h>
#include <net/dst_cache.h>
#include <net/inet_ecn.h>
#include <net/ip.h>
#include <net/ip6_checksum.h>
#include <net/ip6_route.h>
#include <net/ipv6.h>
#include <net/route.h>
#include <net/udp.h>

#include "compat.h"
#include "net/board.h"
#include "net/frame.h"
#include "net/udp_carrier.h"

/* Between the IP header and the Ethernet header of the frame. */
#define UDP_HEADERS	(sizeof(struct udphdr) + sizeof(struct omx_wire_udp) - ETH_HLEN)

/* What a route takes beside the IP header, its own MTU included. */
static u32 udp_frame_mtu(const struct dst_entry *dst, unsigned int ip_header)
{
	u32 mtu = min_t(u32, dst_mtu(dst), U16_MAX);

	return mtu - min_t(u32, mtu, ip_header + UDP_HEADERS + ETH_HLEN);
}

/* Channels have to learn of it, but not during every frame. */
static void path_set_mtu(struct omx_board *board, struct omx_udp_path *path, u32 mtu)
{
	if (likely(READ_ONCE(path->mtu) == mtu))
		return;
	spin_lock_bh(&board->peers.lock);
	WRITE_ONCE(path->mtu, mtu);
	omx_peers_count_mtu_change(&board->peers);
	if (board->peers.running)	/* prove it */
		mod_delayed_work(omx_system_wq, &board->peers.hello, 0);
	spin_unlock_bh(&board->peers.lock);
}

/*
 * A channel keeps the packet whose clone this is, and looks at nothing in front of its
 * frame: the clone may have headers there, unless an earlier clone is still under way with
 * its own.
 */
static bool headroom_is_ours(const struct sk_buff *skb)
{
	return !skb->cloned ||
	       (atomic_read(&skb_shinfo(skb)->dataref) & SKB_DATAREF_MASK) <= 2;
}

static int udp_make_room(struct sk_buff *skb, const struct dst_entry *dst,
			 unsigned int ip_header)
{
	unsigned int room = LL_RESERVED_SPACE(dst->dev) + dst->header_len + ip_header + UDP_HEADERS;

	if (skb_headroom(skb) >= room && headroom_is_ours(skb))
		return 0;
	return pskb_expand_head(skb, SKB_DATA_ALIGN(room), 0, GFP_ATOMIC | __GFP_NOWARN);
}

/* The checksum is computed by the device, or on the way to it. */
static void udp_push_headers(struct net *net, struct sk_buff *skb)
{
	__be16 source = udp_flow_src_port(net, skb, 0, 0, false);
	struct omx_wire_udp *carrier;
	struct udphdr *udp;

	carrier = __skb_push(skb, sizeof(*carrier) - ETH_HLEN);
	carrier->version = OMX_WIRE_UDP_VERSION;
	carrier->reserved = 0;
	udp = __skb_push(skb, sizeof(*udp));
	skb_reset_transport_header(skb);
	udp->source = source;
	udp->dest = htons(omx_udp_port);
	udp->len = htons(skb->len);
}

/*
 * Returns 0 if the frame fits the path, else the length of the IP packets that it has to be
 * cut into.  A hello that probes the path is lost if it does not fit.
 */
static unsigned int udp_fragment_size(struct omx_board *board, struct omx_udp_path *path,
				      const struct sk_buff *skb, const struct dst_entry *dst,
				      unsigned int ip_header)
{
	u32 mtu = udp_frame_mtu(dst, ip_header);
	u32 limit = READ_ONCE(path->limit);

	path_set_mtu(board, path, mtu);
	if (limit && limit < mtu && omx_packet_head(skb)->type != OMX_WIRE_HELLO)
		mtu = limit;
	if (likely(skb->len <= mtu + ETH_HLEN))
		return 0;
	omx_count(board, TX_FRAGMENTED);
	return mtu + ETH_HLEN + UDP_HEADERS + ip_header;
}

/* ---- IPv4 ---- */

static struct rtable *udp_route4(struct net *net, struct omx_udp_path *path, __be32 *source)
{
	struct flowi4 flow = {
		.daddr = path->address.ip.s6_addr32[3],
		.flowi4_oif = path->address.scope,
		.flowi4_proto = IPPROTO_UDP,
		.fl4_dport = htons(omx_udp_port),
	};
	struct rtable *route = dst_cache_get_ip4(&path->routes, source);

	if (likely(route))
		return route;
	route = ip_route_output_key(net, &flow);
	if (IS_ERR(route))
		return route;
	dst_cache_set_ip4(&path->routes, &route->dst, flow.saddr);
	*source = flow.saddr;
	return route;
}

static void udp_push_ip4(struct net *net, struct sk_buff *skb, const struct rtable *route,
			 __be32 source, __be32 dest, unsigned int fragment_size)
{
	struct iphdr *ip = __skb_push(skb, sizeof(*ip));

	skb_reset_network_header(skb);
	ip->version = 4;
	ip->ihl = sizeof(*ip) >> 2;
	ip->tos = INET_ECN_ECT_0;
	ip->frag_off = fragment_size ? 0 : htons(IP_DF);
	ip->ttl = ip4_dst_hoplimit(&route->dst);
	ip->protocol = IPPROTO_UDP;
	ip->saddr = source;
	ip->daddr = dest;
	__ip_select_ident(net, ip, 1);
	skb->protocol = htons(ETH_P_IP);
	memset(IPCB(skb), 0, sizeof(*IPCB(skb)));
	IPCB(skb)->frag_max_size = fragment_size;
}

/* The stack has consumed the frame, even if it returns an error. */
static int udp_left(int error)
{
	return error < 0 ? NET_XMIT_DROP : error;
}

/* Returns NET_XMIT_..., or a negative error; then the frame is still the caller's. */
static int udp_xmit4(struct omx_board *board, struct omx_udp_path *path, struct sk_buff *skb)
{
	const __be32 dest = path->address.ip.s6_addr32[3];
	struct net *net = board->on->udp.net;
	struct sock *sk = rcu_dereference(board->on->udp.v4);
	unsigned int fragment_size;
	struct rtable *route;
	__be32 source;

	if (!sk)
		return -ENOTCONN;
	route = udp_route4(net, path, &source);
	if (IS_ERR(route))
		return PTR_ERR(route);
	if (udp_make_room(skb, &route->dst, sizeof(struct iphdr))) {
		dst_release(&route->dst);
		return -ENOMEM;
	}
	fragment_size = udp_fragment_size(board, path, skb, &route->dst, sizeof(struct iphdr));
	udp_push_headers(net, skb);
	udp_set_csum(false, skb, source, dest, skb->len);
	udp_push_ip4(net, skb, route, source, dest, fragment_size);
	skb_dst_set(skb, &route->dst);
	return udp_left(ip_local_out(net, sk, skb));
}

/* ---- IPv6 ---- */

#if IS_ENABLED(CONFIG_IPV6)
static struct dst_entry *udp_route6(struct net *net, struct sock *sk,
				    struct omx_udp_path *path, struct in6_addr *source)
{
	struct flowi6 flow = {
		.daddr = path->address.ip,
		.flowi6_oif = path->address.scope,
		.flowi6_proto = IPPROTO_UDP,
		.fl6_dport = htons(omx_udp_port),
	};
	struct dst_entry *dst = dst_cache_get_ip6(&path->routes, source);

	if (likely(dst))
		return dst;
	dst = ip6_dst_lookup_flow(net, sk, &flow, NULL);
	if (IS_ERR(dst))
		return dst;
	dst_cache_set_ip6(&path->routes, dst, &flow.saddr);
	*source = flow.saddr;
	return dst;
}

static void udp_push_ip6(struct net *net, struct sk_buff *skb, struct dst_entry *dst,
			 const struct in6_addr *source, const struct omx_udp_path *path,
			 unsigned int fragment_size)
{
	struct flowi6 flow = { .daddr = path->address.ip, .saddr = *source };
	const unsigned int length = skb->len;
	struct ipv6hdr *ip = __skb_push(skb, sizeof(*ip));

	skb_reset_network_header(skb);
	ip6_flow_hdr(ip, INET_ECN_ECT_0, ip6_make_flowlabel(net, skb, 0, true, &flow));
	ip->payload_len = htons(length);
	ip->nexthdr = IPPROTO_UDP;
	ip->hop_limit = ip6_dst_hoplimit(dst);
	ip->saddr = *source;
	ip->daddr = path->address.ip;
	skb->protocol = htons(ETH_P_IPV6);
	memset(IP6CB(skb), 0, sizeof(*IP6CB(skb)));
	IP6CB(skb)->frag_max_size = fragment_size;
	skb->ignore_df = !!fragment_size;
}

static int udp_xmit6(struct omx_board *board, struct omx_udp_path *path, struct sk_buff *skb)
{
	struct net *net = board->on->udp.net;
	struct sock *sk = rcu_dereference(board->on->udp.v6);
	unsigned int fragment_size;
	struct in6_addr source;
	struct dst_entry *dst;

	if (!sk)
		return -EAFNOSUPPORT;
	dst = udp_route6(net, sk, path, &source);
	if (IS_ERR(dst))
		return PTR_ERR(dst);
	if (udp_make_room(skb, dst, sizeof(struct ipv6hdr))) {
		dst_release(dst);
		return -ENOMEM;
	}
	fragment_size = udp_fragment_size(board, path, skb, dst, sizeof(struct ipv6hdr));
	udp_push_headers(net, skb);
	udp6_set_csum(false, skb, &source, &path->address.ip, skb->len);
	udp_push_ip6(net, skb, dst, &source, path, fragment_size);
	skb_dst_set(skb, dst);
	return udp_left(ip6_local_out(net, sk, skb));
}
#else
static int udp_xmit6(struct omx_board *board, struct omx_udp_path *path, struct sk_buff *skb)
{
	return -EAFNOSUPPORT;
}
#endif

/*
 * False: it was made when the peer was not reached by UDP yet, or the peer has asked for
 * frames that are too long.
 */
static bool udp_can_carry(const struct sk_buff *skb)
{
	return !skb_is_gso(skb) &&
	       skb->len <= U16_MAX - UDP_HEADERS - sizeof(struct ipv6hdr);
}

bool omx_udp_xmit(struct omx_board *board, struct omx_udp_path *path, struct sk_buff *skb)
{
	int error;

	if (unlikely(!udp_can_carry(skb))) {
		kfree_skb(skb);
		return false;
	}
	local_bh_disable();	/* the cache of routes is per processor */
	error = omx_address_is_v4(&path->address) ? udp_xmit4(board, path, skb) :
						    udp_xmit6(board, path, skb);
	local_bh_enable();
	if (likely(error >= 0))
		return !net_xmit_eval(error);
	if (error == -ENOMEM) {
		omx_count(board, DROP_NO_MEMORY);
	} else {
		omx_count(board, TX_UNROUTABLE);
		WRITE_ONCE(path->error, error);
	}
	kfree_skb(skb);
	return true;	/* counted by another name */
}
