// SPDX-License-Identifier: GPL-2.0
/*
 * The attributes of boards, peers, endpoints and counters, for dumps and events.  They
 * are made of what the ioctls answer, where there are such.
 */
#include <linux/etherdevice.h>
#include <linux/pid.h>

#include "channel/channel.h"
#include "endpoint/endpoint.h"
#include "net/board.h"
#include "netlink/private.h"
#include "observe/counters.h"

static int put_u64(struct sk_buff *skb, int attribute, u64 value)
{
	return nla_put_u64_64bit(skb, attribute, value, OMX_A_PAD);
}

static int put_mac(struct sk_buff *skb, u64 address)
{
	u8 mac[ETH_ALEN];

	u64_to_ether_addr(address, mac);
	return nla_put(skb, OMX_A_MAC, sizeof(mac), mac);
}

/* ---- boards and peers ---- */

int omx_put_board(struct sk_buff *skb, const struct omx_ioc_board *board)
{
	if (nla_put_u32(skb, OMX_A_BOARD, board->board) ||
	    nla_put_string(skb, OMX_A_IFNAME, board->ifname) ||
	    nla_put_string(skb, OMX_A_NAME, board->name) ||
	    put_mac(skb, board->mac) ||
	    nla_put_u32(skb, OMX_A_FLAGS, board->flags) ||
	    nla_put_u32(skb, OMX_A_MTU, board->mtu) ||
	    nla_put_string(skb, OMX_A_DRIVER, board->drivername) ||
	    nla_put_s32(skb, OMX_A_NUMA_NODE, board->numa_node) ||
	    nla_put_u32(skb, OMX_A_ENDPOINTS_OPEN, board->endpoints_open) ||
	    nla_put_u32(skb, OMX_A_ENDPOINTS_MAX, OMX_ENDPOINT_MAX) ||
	    nla_put_u32(skb, OMX_A_PEERS, board->peers))
		return -EMSGSIZE;
	return 0;
}

static int put_udp(struct sk_buff *skb, const struct omx_ioc_udp_peer *peer)
{
	if (nla_put(skb, OMX_A_ADDRESS, sizeof(peer->address), peer->address) ||
	    nla_put_u32(skb, OMX_A_SCOPE, peer->scope) ||
	    nla_put_u32(skb, OMX_A_PORT, peer->port) ||
	    nla_put_u32(skb, OMX_A_ERROR, peer->error))
		return -EMSGSIZE;
	return 0;
}

int omx_put_peer(struct sk_buff *skb, const struct omx_ioc_udp_peer *udp)
{
	const struct omx_ioc_peer *peer = &udp->peer;

	if (nla_put_u32(skb, OMX_A_BOARD, peer->board) ||
	    nla_put_u32(skb, OMX_A_PEER, peer->index) ||
	    (peer->mac && put_mac(skb, peer->mac)) ||
	    (peer->flags & OMX_PEER_NAMED && nla_put_string(skb, OMX_A_NAME, peer->name)) ||
	    nla_put_u32(skb, OMX_A_FLAGS, peer->flags) ||
	    nla_put_u32(skb, OMX_A_MTU, peer->mtu) ||
	    nla_put_u32(skb, OMX_A_PATH_MTU, udp->path_mtu) ||
	    nla_put_u32(skb, OMX_A_AGE, peer->age_ms) ||
	    (peer->flags & OMX_PEER_UDP && put_udp(skb, udp)))
		return -EMSGSIZE;
	return 0;
}

/* ---- endpoints ---- */

static u32 count_of(const struct omx_table *table)
{
	return READ_ONCE(table->count);
}

void omx_describe_endpoint(struct omx_endpoint *ep, struct pid_namespace *pids,
			   struct omx_endpoint_state *state)
{
	memset(state, 0, sizeof(*state));
	state->board = ep->board->index;
	state->endpoint = ep->index;
	state->pid = pid_nr_ns(ep->owner, pids);
	memcpy(state->command, ep->command, sizeof(state->command));
	state->channels = count_of(&ep->channels);
	state->sends = count_of(&ep->rndvs);
	state->pulls = count_of(&ep->pulls);
	state->accesses = max_t(int, count_of(&ep->accesses) - atomic_read(&ep->accesses_kept), 0);
	state->regions = count_of(&ep->regions);
	state->windows = count_of(&ep->windows);
	state->unfetched = max(atomic_read(&ep->unfetched), 0);
	state->events = OMX_RING_SLOTS - omx_ring_room(&ep->ring);
	state->memory = max(atomic_long_read(&ep->budget.used), 0L);
	omx_channels_traffic(ep, &state->sent, &state->received);
}

static int put_traffic(struct sk_buff *skb, const struct omx_endpoint_state *state)
{
	if (put_u64(skb, OMX_A_TX_MESSAGES, state->sent.messages) ||
	    put_u64(skb, OMX_A_TX_BYTES, state->sent.bytes) ||
	    put_u64(skb, OMX_A_RX_MESSAGES, state->received.messages) ||
	    put_u64(skb, OMX_A_RX_BYTES, state->received.bytes))
		return -EMSGSIZE;
	return 0;
}

int omx_put_endpoint(struct sk_buff *skb, const struct omx_endpoint_state *state)
{
	if (nla_put_u32(skb, OMX_A_BOARD, state->board) ||
	    nla_put_u32(skb, OMX_A_ENDPOINT, state->endpoint) ||
	    nla_put_u32(skb, OMX_A_PID, state->pid) ||
	    nla_put_string(skb, OMX_A_COMMAND, state->command) ||
	    put_traffic(skb, state) ||
	    nla_put_u32(skb, OMX_A_CHANNELS, state->channels) ||
	    nla_put_u32(skb, OMX_A_SENDS, state->sends) ||
	    nla_put_u32(skb, OMX_A_PULLS, state->pulls) ||
	    nla_put_u32(skb, OMX_A_ACCESSES, state->accesses) ||
	    nla_put_u32(skb, OMX_A_REGIONS, state->regions) ||
	    nla_put_u32(skb, OMX_A_WINDOWS, state->windows) ||
	    nla_put_u32(skb, OMX_A_UNFETCHED, state->unfetched) ||
	    nla_put_u32(skb, OMX_A_EVENTS, state->events) ||
	    put_u64(skb, OMX_A_MEMORY, state->memory))
		return -EMSGSIZE;
	return 0;
}

/* ---- counters ---- */

int omx_put_counter(struct sk_buff *skb, u32 board, u32 counter, u64 value)
{
	if (nla_put_u32(skb, OMX_A_BOARD, board) ||
	    nla_put_u32(skb, OMX_A_COUNTER, counter) ||
	    nla_put_string(skb, OMX_A_LABEL, omx_counter_label(counter)) ||
	    put_u64(skb, OMX_A_VALUE, value))
		return -EMSGSIZE;
	return 0;
}
