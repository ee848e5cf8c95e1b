// SPDX-License-Identifier: GPL-2.0
/*
 * Receiving frames in UDP packets, and errors that routers and hosts report for those
 * that we sent.  The kernel calls both functions in softirq under the RCU read lock.
 */
#include <linux/icmp.h>
#include <linux/icmpv6.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/udp.h>
#include <net/icmp.h>
#include <net/inet_ecn.h>
#include <net/ip.h>
#include <net/ipv6.h>

#include "net/board.h"
#include "net/frame.h"
#include "net/peer.h"
#include "net/receive.h"
#include "net/udp_carrier.h"
#include "net/udp_private.h"

/* ---- which board, which peer ---- */

static struct omx_board *board_next(struct omx_net *on, u32 *index)
{
	struct omx_board *board = NULL;

	while (!board && *index < OMX_BOARD_MAX)
		board = omx_board_at(on, (*index)++);
	return board;
}

/* The first board with a peer at this address. */
static struct omx_board *board_with_peer_at(struct omx_net *on, const struct omx_address *address)
{
	struct omx_board *board;
	u32 index = 0;

	while ((board = board_next(on, &index)))
		if (READ_ONCE(board->peers.udp_count) &&
		    omx_peer_find_address(&board->peers, address))
			break;
	return board;
}

/* A peer that does not know our MAC yet says hello to everybody at this address. */
static struct omx_board *frame_board(struct omx_net *on, const struct ethhdr *eth,
				     const struct omx_address *source,
				     const struct omx_address *group)
{
	if (is_broadcast_ether_addr(eth->h_dest))
		return board_with_peer_at(on, group ?: source);
	return omx_board_with_mac(on, omx_mac_read(eth->h_dest));
}

static void count_drop(struct omx_board *board, enum omx_counter counter)
{
	this_cpu_inc(board->counters->value[counter]);
}

/* Of a packet that is for no board: one of them has the count. */
static void count_drop_of_host(struct omx_net *on, enum omx_counter counter)
{
	u32 index = 0;
	struct omx_board *board = board_next(on, &index);

	if (board)
		count_drop(board, counter);
}

/* ---- packets ---- */

static void source_read(struct sk_buff *skb, struct omx_address *source)
{
	source->scope = 0;
	if (ip_hdr(skb)->version == 4) {
		ipv6_addr_set_v4mapped(ip_hdr(skb)->saddr, &source->ip);
		return;
	}
	source->ip = ipv6_hdr(skb)->saddr;
	if (ipv6_addr_type(&source->ip) & IPV6_ADDR_LINKLOCAL)
		source->scope = skb->dev->ifindex;
}

/* The group that the packet was sent to.  False: it was sent to us alone. */
static bool group_read(struct sk_buff *skb, struct omx_address *group)
{
	group->scope = skb->dev->ifindex;
	if (ip_hdr(skb)->version == 4) {
		ipv6_addr_set_v4mapped(ip_hdr(skb)->daddr, &group->ip);
		return ipv4_is_multicast(ip_hdr(skb)->daddr);
	}
	group->ip = ipv6_hdr(skb)->daddr;
	return ipv6_addr_is_multicast(&group->ip);
}

static bool packet_is_marked(const struct sk_buff *skb)
{
	return INET_ECN_is_ce(ip_hdr(skb)->version == 4 ? ip_hdr(skb)->tos :
			      ipv6_get_dsfield(ipv6_hdr(skb)));
}

/* Leaves the packet as if it came from an Ethernet device.  Returns 0, or what to count. */
static int packet_unwrap(struct sk_buff *skb)
{
	const struct omx_wire_udp *carrier;

	if (!pskb_may_pull(skb, sizeof(struct udphdr) + sizeof(*carrier)))
		return OMX_COUNTER_DROP_UDP_HEADER;
	carrier = (const void *)(skb->data + sizeof(struct udphdr));
	if (carrier->version != OMX_WIRE_UDP_VERSION ||
	    carrier->ethertype != htons(omx_ethertype))
		return OMX_COUNTER_DROP_UDP_HEADER;
	skb_pull_rcsum(skb, sizeof(struct udphdr) + sizeof(*carrier) - ETH_HLEN);
	skb_reset_mac_header(skb);
	skb_pull_rcsum(skb, ETH_HLEN);
	skb->protocol = htons(omx_ethertype);
	skb->ip_summed = CHECKSUM_NONE;		/* it was for the headers that are gone */
	/* A frame that is kept must not keep a route, and with it a device. */
	skb_scrub_packet(skb, false);
	if (is_broadcast_ether_addr(eth_hdr(skb)->h_dest))
		skb->pkt_type = PACKET_BROADCAST;
	return 0;
}

static bool frame_is_hello(struct sk_buff *skb)
{
	return pskb_may_pull(skb, sizeof(struct omx_wire_head)) &&
	       ((const struct omx_wire_head *)skb->data)->type == OMX_WIRE_HELLO;
}

/* Of hellos, omx_udp_peer_claim() decides. */
static bool frame_is_from_its_peer(struct omx_board *board, struct sk_buff *skb,
				   const struct omx_address *source)
{
	struct omx_udp_path *path;

	path = omx_peer_udp_path(board, omx_mac_read(eth_hdr(skb)->h_source));
	if (!path || !omx_address_is_equal(&path->address, source))
		return frame_is_hello(skb);
	if (unlikely(READ_ONCE(path->error)))
		WRITE_ONCE(path->error, 0);
	return true;
}

static void frame_receive(struct omx_board *board, struct sk_buff *skb,
			  const struct omx_address *source, bool by_group, bool marked)
{
	if (!frame_is_from_its_peer(board, skb, source)) {
		omx_count(board, DROP_PEER_ADDRESS);
		kfree_skb(skb);
		return;
	}
	if (marked)
		omx_count(board, RX_MARKED);
	skb->dev = board->dev;
	omx_frame_cb(skb)->source = *source;
	omx_frame_cb(skb)->by_group = by_group;
	omx_frame_cb(skb)->by_udp = true;
	omx_frame_cb(skb)->tso = 0;
	omx_frame_cb(skb)->marked = marked;
	omx_receive_frame(board, skb);
}

int omx_udp_receive(struct sock *sk, struct sk_buff *skb)
{
	struct omx_udp *udp = rcu_dereference_sk_user_data(sk);
	struct omx_address source, group;
	struct omx_board *board;
	bool by_group, marked;
	struct omx_net *on;
	int drop;

	if (!udp) {	/* the socket is being closed */
		kfree_skb(skb);
		return 0;
	}
	on = container_of(udp, struct omx_net, udp);
	source_read(skb, &source);
	by_group = group_read(skb, &group);
	marked = packet_is_marked(skb);
	drop = packet_unwrap(skb);
	board = drop ? NULL : frame_board(on, eth_hdr(skb), &source,
						  by_group ? &group : NULL);
	if (board) {
		frame_receive(board, skb, &source, by_group, marked);
	} else {
		count_drop_of_host(on, drop ?: OMX_COUNTER_DROP_PEER_ADDRESS);
		kfree_skb(skb);
	}
	return 0;
}

/* ---- errors ---- */

/*
 * What the ICMP message in front of our packet says.  Too long is no error: the route has
 * learned it, and whoever sends next sees it.  Nor is a message that says nothing about
 * whether the peer can be reached.
 */
static int error_of(const struct sk_buff *skb, bool is_v4)
{
	int error = 0;

	if (is_v4) {
		const struct icmphdr *icmp = (const void *)(skb->data - sizeof(*icmp));

		if (icmp->type == ICMP_DEST_UNREACH && icmp->code <= NR_ICMP_UNREACH &&
		    icmp->code != ICMP_FRAG_NEEDED)
			error = icmp_err_convert[icmp->code].errno;
#if IS_ENABLED(CONFIG_IPV6)
	} else {
		const struct icmp6hdr *icmp = (const void *)(skb->data - sizeof(*icmp));

		if (icmp->icmp6_type == ICMPV6_DEST_UNREACH)
			icmpv6_err_convert(icmp->icmp6_type, icmp->icmp6_code, &error);
#endif
	}
	return error;
}

static void error_address(const struct sk_buff *skb, bool is_v4, struct omx_address *dest)
{
	dest->scope = 0;
	if (is_v4) {
		ipv6_addr_set_v4mapped(((const struct iphdr *)skb->data)->daddr, &dest->ip);
		return;
	}
	dest->ip = ((const struct ipv6hdr *)skb->data)->daddr;
	if (ipv6_addr_type(&dest->ip) & IPV6_ADDR_LINKLOCAL)
		dest->scope = skb->dev->ifindex;
}

/*
 * skb->data is at the IP header of our packet, and the ICMP header is in front of it.
 * Anybody can send an ICMP message: it is remembered as long as the peer is silent, and
 * ends nothing that makes progress (RFC 5927).
 */
int omx_udp_error(struct sock *sk, struct sk_buff *skb)
{
	struct omx_udp *udp = rcu_dereference_sk_user_data(sk);
	bool is_v4 = sk->sk_family == AF_INET;
	struct omx_address dest;
	struct omx_board *board;
	struct omx_peer *peer;
	int error;

	if (!udp)
		return -ENOENT;
	error_address(skb, is_v4, &dest);
	board = board_with_peer_at(container_of(udp, struct omx_net, udp), &dest);
	peer = board ? omx_peer_find_address(&board->peers, &dest) : NULL;
	if (!peer)
		return -ENOENT;
	error = error_of(skb, is_v4);
	if (error) {
		omx_count(board, PEER_ERROR);
		WRITE_ONCE(peer->udp->error, -error);
	}
	return 0;
}
