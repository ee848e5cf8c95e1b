/* SPDX-License-Identifier: BSD-2-Clause */
#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "address.h"
#include "complain.h"
#include "text.h"

static void set_ip(const struct sockaddr *from, struct omx_ioc_udp_peer *peer)
{
	const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)from;
	const struct sockaddr_in *v4 = (const struct sockaddr_in *)from;

	memset(peer->address, 0, sizeof(peer->address));
	peer->scope = 0;
	if (from->sa_family == AF_INET) {
		peer->address[10] = peer->address[11] = 0xff;
		memcpy(&peer->address[12], &v4->sin_addr, 4);
	} else {
		memcpy(peer->address, &v6->sin6_addr, sizeof(peer->address));
		peer->scope = v6->sin6_scope_id;
	}
}

/* Returns an error of getaddrinfo(). */
static int look_up(const char *text, int flags, struct omx_ioc_udp_peer *peer)
{
	struct addrinfo hints = { .ai_socktype = SOCK_DGRAM, .ai_flags = flags };
	struct addrinfo *found;
	int error = getaddrinfo(text, NULL, &hints, &found);

	if (error)
		return error;
	if (found->ai_family == AF_INET || found->ai_family == AF_INET6)
		set_ip(found->ai_addr, peer);
	else
		error = EAI_FAMILY;
	freeaddrinfo(found);
	return error;
}

int address_parse_number(const char *text, struct omx_ioc_udp_peer *peer)
{
	uint64_t mac;

	if (parse_mac(text, &mac) < 0)
		return look_up(text, AI_NUMERICHOST, peer) ? -1 : 0;
	if (!mac_is_valid(mac))
		return -1;
	peer->peer.mac = mac;
	return 0;
}

int address_look_up(const char *text, struct omx_ioc_udp_peer *peer)
{
	if (address_parse_number(text, peer) == 0)
		return 0;
	return look_up(text, AI_ADDRCONFIG, peer) ? -1 : 0;
}

int address_parse(const char *text, struct omx_ioc_udp_peer *peer)
{
	uint64_t mac;
	int error;

	if (address_parse_number(text, peer) == 0)
		return 0;
	if (parse_mac(text, &mac) == 0) {
		complain(NULL, "'%s' is no MAC address of a board (such as 02:00:00:00:00:01)",
			 text);
		return -1;
	}
	error = look_up(text, AI_ADDRCONFIG, peer);
	if (!error)
		return 0;
	complain(NULL, "'%s' is no MAC address (such as 02:00:00:00:00:01), no IP address and "
		 "no host: %s", text, gai_strerror(error));
	return -1;
}

bool address_is_ip(const struct omx_ioc_udp_peer *peer)
{
	static const uint8_t none[sizeof(peer->address)];

	return memcmp(peer->address, none, sizeof(none)) != 0;
}

bool address_is_same(const struct omx_ioc_udp_peer *a, const struct omx_ioc_udp_peer *b)
{
	return memcmp(a->address, b->address, sizeof(a->address)) == 0 && a->scope == b->scope;
}

const char *address_error(const struct omx_ioc_udp_peer *peer)
{
	return peer->error == ENOTUNIQ ? "its MAC is that of another peer" :
					 strerror(peer->error);
}

const char *address_format(const struct omx_ioc_udp_peer *peer, char text[ADDRESS_TEXT_LEN])
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };
	char interface[IF_NAMESIZE];
	size_t length;

	if (!address_is_ip(peer)) {
		strcpy(text, "-");
	} else if (memcmp(peer->address, mapped, sizeof(mapped)) == 0) {
		inet_ntop(AF_INET, &peer->address[12], text, ADDRESS_TEXT_LEN);
	} else {
		inet_ntop(AF_INET6, peer->address, text, ADDRESS_TEXT_LEN);
		length = strlen(text);
		if (peer->scope && if_indextoname(peer->scope, interface))
			snprintf(text + length, ADDRESS_TEXT_LEN - length, "%%%s", interface);
	}
	return text;
}
