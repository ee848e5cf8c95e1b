// SPDX-License-Identifier: GPL-2.0
/*
 * The UDP sockets of a network namespace.
 *
 * The ioctl that adds the first UDP peer opens them, and work closes them when the last
 * one has gone.  Peers also go with their board, under rtnl; a socket that is a member of
 * a multicast group takes rtnl to leave it.  Hence the work, and hence rtnl nests inside
 * udp->lock and never the other way round.
 *
 * They are sockets for tunnels: the kernel hands over each packet in softirq, after
 * netfilter and with its checksum verified.
 */
#include <linux/in.h>
#include <linux/in6.h>
#include <linux/net.h>
#include <linux/sockptr.h>
#include <net/inet_sock.h>
#include <net/udp_tunnel.h>

#include "compat.h"
#include "net/board.h"
#include "net/udp_carrier.h"
#include "net/udp_private.h"
#include "observe/lock_order.h"

static int udp_open_one(struct omx_udp *udp, int family, struct socket **out)
{
	struct udp_port_cfg port = {
		.family = family,
		.local_udp_port = htons(omx_udp_port),
		.use_udp_checksums = 1,
		.use_udp6_tx_checksums = 1,
		.use_udp6_rx_checksums = 1,
		.ipv6_v6only = 1,
	};
	struct udp_tunnel_sock_cfg tunnel = {
		.sk_user_data = udp,
		.encap_type = 1,
		.encap_rcv = omx_udp_receive,
		.encap_err_lookup = omx_udp_error,
	};
	int error;

	error = udp_sock_create(udp->net, &port, out);
	if (!error)
		setup_udp_tunnel_sock(udp->net, omx_udp_tunnel_socket(*out), &tunnel);
	return error;
}

/* A host may be without IPv6, or have it disabled. */
int omx_udp_open(struct omx_udp *udp)
{
	int error = 0;

	lockdep_assert_held(&udp->lock);
	if (!udp->socket_v4) {
		error = udp_open_one(udp, AF_INET, &udp->socket_v4);
		if (!error)
			rcu_assign_pointer(udp->v4, udp->socket_v4->sk);
	}
	if (!error && !udp->socket_v6) {
		error = udp_open_one(udp, AF_INET6, &udp->socket_v6);
		if (!error)
			rcu_assign_pointer(udp->v6, udp->socket_v6->sk);
		else if (error == -EAFNOSUPPORT || error == -EPFNOSUPPORT ||
			 error == -EADDRNOTAVAIL)
			error = 0;
	}
	return error;
}

static int udp_set_option(struct socket *socket, int level, int option, void *value,
			  unsigned int size)
{
	if (!socket)
		return -EAFNOSUPPORT;
	return socket->ops->setsockopt(socket, level, option, KERNEL_SOCKPTR(value), size);
}

static int udp_set_membership(struct omx_udp *udp, const struct omx_address *group, bool member)
{
	struct ip_mreqn v4 = {
		.imr_multiaddr.s_addr = group->ip.s6_addr32[3],
		.imr_ifindex = group->scope,
	};
	struct ipv6_mreq v6 = {
		.ipv6mr_multiaddr = group->ip,
		.ipv6mr_ifindex = group->scope,
	};

	lockdep_assert_held(&udp->lock);
	if (omx_address_is_v4(group))
		return udp_set_option(udp->socket_v4, SOL_IP, member ? IP_ADD_MEMBERSHIP :
				      IP_DROP_MEMBERSHIP, &v4, sizeof(v4));
	return udp_set_option(udp->socket_v6, SOL_IPV6, member ? IPV6_ADD_MEMBERSHIP :
			      IPV6_DROP_MEMBERSHIP, &v6, sizeof(v6));
}

/* It may be a member already, of a board that was detached. */
int omx_udp_join(struct omx_udp *udp, const struct omx_address *group)
{
	int error = udp_set_membership(udp, group, true);

	return error == -EADDRINUSE ? 0 : error;
}

void omx_udp_leave(struct omx_udp *udp, const struct omx_address *group)
{
	udp_set_membership(udp, group, false);
}

/* Whoever has read the pointer may send through the socket until a grace period is over. */
static void udp_close(struct omx_udp *udp)
{
	lockdep_assert_held(&udp->lock);
	RCU_INIT_POINTER(udp->v4, NULL);
	RCU_INIT_POINTER(udp->v6, NULL);
	synchronize_net();
	if (udp->socket_v4)
		udp_tunnel_sock_release(omx_udp_tunnel_socket(udp->socket_v4));
	if (udp->socket_v6)
		udp_tunnel_sock_release(omx_udp_tunnel_socket(udp->socket_v6));
	udp->socket_v4 = NULL;
	udp->socket_v6 = NULL;
}

static bool udp_is_used(struct omx_udp *udp)
{
	struct omx_net *on = container_of(udp, struct omx_net, udp);
	struct omx_board *board;
	bool used = false;
	u32 i;

	rcu_read_lock();
	for (i = 0; !used && i < OMX_BOARD_MAX; i++) {
		board = omx_board_at(on, i);
		used = board && READ_ONCE(board->peers.udp_count);
	}
	rcu_read_unlock();
	return used;
}

static void udp_review_work(struct work_struct *work)
{
	struct omx_udp *udp = container_of(work, struct omx_udp, review);

	mutex_lock(&udp->lock);
	if ((udp->socket_v4 || udp->socket_v6) && !udp_is_used(udp))
		udp_close(udp);
	mutex_unlock(&udp->lock);
}

void omx_udp_review(struct omx_udp *udp)
{
	schedule_work(&udp->review);
}

void omx_udp_init(struct omx_udp *udp, struct net *net)
{
	mutex_init(&udp->lock);
	INIT_WORK(&udp->review, udp_review_work);
	udp->net = net;
}

/* No ioctl can open them again: it would need a file, which holds the namespace. */
void omx_udp_exit(struct omx_udp *udp)
{
	cancel_work_sync(&udp->review);
	mutex_lock(&udp->lock);
	if (udp->socket_v4 || udp->socket_v6)
		udp_close(udp);
	mutex_unlock(&udp->lock);
	mutex_destroy(&udp->lock);
}
