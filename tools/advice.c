/* SPDX-License-Identifier: BSD-2-Clause */
#include <err.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "address.h"
#include "advice.h"
#include "text.h"

/* A new entry whose problem is the formatted text; its command is empty. */
static struct advice *advice_complain(struct advice_list *list, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static struct advice *advice_complain(struct advice_list *list, const char *format, ...)
{
	struct advice *advice;
	va_list arguments;

	advice = reallocarray(list->advice, list->count + 1, sizeof(*advice));
	if (!advice)
		err(1, "advice");
	list->advice = advice;
	advice += list->count++;
	advice->command[0] = '\0';
	va_start(arguments, format);
	vsnprintf(advice->problem, sizeof(advice->problem), format, arguments);
	va_end(arguments);
	return advice;
}

static void advice_suggest(struct advice *advice, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void advice_suggest(struct advice *advice, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(advice->command, sizeof(advice->command), format, arguments);
	va_end(arguments);
}

static void advise_link(const struct omx_ioc_board *board,
			const struct link_state *state, struct advice_list *list)
{
	if (board->flags & OMX_BOARD_UP)
		return;
	if (state->known && state->admin_up)
		advice_suggest(advice_complain(list, "%s has no carrier: cable, switch port "
					       "or the other end", board->ifname),
			       "ethtool %s", board->ifname);
	else
		advice_suggest(advice_complain(list, "%s is down", board->ifname),
			       "ip link set dev %s up", board->ifname);
}

static void advise_coalescing(const struct omx_ioc_board *board,
			      const struct link_state *state,
			      struct advice_list *list)
{
	if (!state->coalesce_known)
		return;
	if (state->adaptive_rx)
		advice_suggest(advice_complain(list, "%s delays interrupts adaptively: "
					       "small messages may wait", board->ifname),
			       "ethtool -C %s adaptive-rx off rx-usecs 0", board->ifname);
	else if (state->rx_usecs > RX_USECS_MAX)
		advice_suggest(advice_complain(list, "%s delays interrupts by %u us: small "
					       "messages wait as long", board->ifname,
					       state->rx_usecs),
			       "ethtool -C %s rx-usecs 0", board->ifname);
}

void advise_board(const struct omx_ioc_board *board,
		  const struct link_state *state, struct advice_list *list)
{
	advise_link(board, state, list);
	/*
	 * A dummy interface drops everything that it sends, so its MTU does
	 * not matter.
	 */
	if (board->mtu < MTU_WANTED && strcmp(board->drivername, "dummy"))
		advice_suggest(advice_complain(list, "%s has MTU %" PRIu32 ": large messages "
					       "are faster with %u", board->ifname, board->mtu,
					       MTU_WANTED),
			       "ip link set dev %s mtu %u", board->ifname, MTU_WANTED);
	advise_coalescing(board, state, list);
}

/* The command shows how packets go, or what is missing over there. */
static void advise_address(const struct omx_ioc_udp_peer *udp, struct advice_list *list)
{
	char address[ADDRESS_TEXT_LEN];
	struct advice *advice;

	if (!udp->error)
		return;
	address_format(udp, address);
	advice = advice_complain(list, "peer %s cannot be reached: %s", address,
				 address_error(udp));
	if (udp->error == ECONNREFUSED)
		advice_suggest(advice, "on %s: omx_peers add ADDRESS-OF-THIS-HOST", address);
	else
		advice_suggest(advice, "ip route get %s", address);
}

static void advise_peer(const struct omx_ioc_board *board,
			const struct omx_ioc_peer *peer, struct advice_list *list)
{
	bool theirs = peer->mtu < board->mtu;
	char mac[MAC_TEXT_LEN];
	struct advice *advice;
	const char *name;

	if (!peer->mtu || peer->mtu == board->mtu ||
	    peer->flags & (OMX_PEER_LOCAL | OMX_PEER_UDP))
		return;
	name = peer->flags & OMX_PEER_NAMED ? peer->name : format_mac(peer->mac, mac);
	advice = advice_complain(list, "peer %s has MTU %" PRIu32 ", %s %" PRIu32
				 ": the smaller one is used between them", name,
				 peer->mtu, board->ifname, board->mtu);
	if (theirs)
		advice_suggest(advice, "on %s: ip link set dev INTERFACE mtu %" PRIu32,
			       name, board->mtu);
	else
		advice_suggest(advice, "ip link set dev %s mtu %" PRIu32,
			       board->ifname, peer->mtu);
}

void advise_peers(const struct omx_ioc_board *board,
		  const struct peer_list *peers, struct advice_list *list)
{
	size_t i;

	for (i = 0; i < peers->count; i++) {
		advise_peer(board, &peers->peer[i].peer, list);
		advise_address(&peers->peer[i], list);
	}
}

void advice_list_free(struct advice_list *list)
{
	free(list->advice);
	list->advice = NULL;
	list->count = 0;
}
