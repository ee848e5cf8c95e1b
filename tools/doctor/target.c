/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The host that is to be reached: what its name stands for, its entry in the table of peers,
 * and waiting until it is heard.
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "address.h"
#include "doctor/doctor.h"
#include "text.h"

#define LOOK_MS		100
#define NEIGHBOUR_MS	1000
#define PORT_DISCARD	9

/* ---- the name ---- */

/* "node2:0" is a board of node2, which may be a name that other programs know. */
void target_resolve(struct target *target)
{
	char name[OMX_NAME_LEN];
	char *colon;

	memset(&target->address, 0, sizeof(target->address));
	if (address_look_up(target->name, &target->address) == 0)
		return;
	snprintf(name, sizeof(name), "%s", target->name);
	colon = strrchr(name, ':');
	if (!colon)
		return;
	*colon = '\0';
	address_look_up(name, &target->address);
}

static bool address_is_v4(const struct omx_ioc_udp_peer *peer)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };

	return memcmp(peer->address, mapped, sizeof(mapped)) == 0;
}

/* ---- its address on the segment ---- */

/* A socket whose packets go to the host; its own address is the one that the host sees. */
static int socket_to(const struct omx_ioc_udp_peer *peer)
{
	struct sockaddr_in v4 = { .sin_family = AF_INET, .sin_port = htons(PORT_DISCARD) };
	struct sockaddr_in6 v6 = { .sin6_family = AF_INET6, .sin6_port = htons(PORT_DISCARD),
				   .sin6_scope_id = peer->scope };
	bool is_v4 = address_is_v4(peer);
	int fd, error;

	memcpy(&v4.sin_addr, &peer->address[12], sizeof(v4.sin_addr));
	memcpy(&v6.sin6_addr, peer->address, sizeof(v6.sin6_addr));
	fd = socket(is_v4 ? AF_INET : AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -1;
	error = is_v4 ? connect(fd, (struct sockaddr *)&v4, sizeof(v4)) :
			connect(fd, (struct sockaddr *)&v6, sizeof(v6));
	if (!error)
		return fd;
	close(fd);
	return -1;
}

/* The MAC of an IPv4 address in a line of /proc/net/arp, if it is complete and a board's. */
static uint64_t neighbour_in(const char *line, const char *address,
			     const struct board_list *boards)
{
	char ip[64], mac_text[64], interface[64];
	unsigned int flags, i;
	uint64_t mac;

	if (sscanf(line, "%63s %*s %x %63s %*s %63s", ip, &flags, mac_text, interface) != 4 ||
	    strcmp(ip, address) || !(flags & 0x2) || parse_mac(mac_text, &mac) < 0)
		return 0;
	for (i = 0; i < boards->count; i++)
		if (!strcmp(boards->board[i].ifname, interface))
			return mac_is_valid(mac) ? mac : 0;
	return 0;
}

static uint64_t neighbour_find(const char *address, const struct board_list *boards)
{
	FILE *file = fopen("/proc/net/arp", "re");
	uint64_t mac = 0;
	char line[256];

	while (file && !mac && fgets(line, sizeof(line), file))
		mac = neighbour_in(line, address, boards);
	if (file)
		fclose(file);
	return mac;
}

/*
 * An empty packet makes the kernel ask for the MAC, if the host is on a board's segment.  It
 * is not sent to a router: then an entry for the host says what was, or what the host asked.
 */
static void neighbour_resolve(struct target *target, const struct board_list *boards)
{
	const uint64_t end = clock_ms() + NEIGHBOUR_MS;
	char text[ADDRESS_TEXT_LEN];
	int fd;

	if (!address_is_v4(&target->address))
		return;
	fd = socket_to(&target->address);
	if (fd < 0)
		return;
	address_format(&target->address, text);
	if (send(fd, "", 0, MSG_DONTROUTE) == 0)
		while (!(target->neighbour = neighbour_find(text, boards)) && clock_ms() < end)
			sleep_ms(LOOK_MS / 4);
	close(fd);
}

/* ---- the table of peers ---- */

static bool is_named(const struct omx_ioc_peer *peer, const char *name)
{
	size_t length = strlen(name);

	if (!(peer->flags & OMX_PEER_NAMED) || strncmp(peer->name, name, length))
		return false;
	return !peer->name[length] || peer->name[length] == ':';
}

static bool is_target(const struct target *target, const struct omx_ioc_udp_peer *udp)
{
	const struct omx_ioc_peer *peer = &udp->peer;

	if (peer->flags & OMX_PEER_GROUP)
		return false;
	return is_named(peer, target->name) ||
	       (peer->mac && (peer->mac == target->address.peer.mac ||
			      peer->mac == target->neighbour)) ||
	       (address_is_ip(udp) && address_is_same(udp, &target->address));
}

static bool is_heard(const struct omx_ioc_peer *peer)
{
	return peer->flags & OMX_PEER_LOCAL || (peer->mtu && peer->age_ms <= HELLO_MS);
}

/* Of several entries the one that is heard counts, else the first. */
static void target_take(struct target *target, const struct omx_ioc_board *board,
			const struct omx_ioc_udp_peer *udp)
{
	if (target->known && (target->heard || !is_heard(&udp->peer)))
		return;
	target->known = true;
	target->heard = is_heard(&udp->peer);
	target->peer = *udp;
	target->board = board;
}

static void target_find_on(struct doctor *doctor, const struct omx_ioc_board *board)
{
	struct peer_list list = { 0 };
	size_t i;

	if (netlink_peers(doctor->netlink, board->board, &list) == 0)
		for (i = 0; i < list.count; i++)
			if (is_target(&doctor->target, &list.peer[i]))
				target_take(&doctor->target, board, &list.peer[i]);
	peer_list_free(&list);
}

bool target_find(struct doctor *doctor)
{
	unsigned int i;

	doctor->target.known = doctor->target.heard = false;
	for (i = 0; i < doctor->boards.count; i++)
		target_find_on(doctor, &doctor->boards.board[i]);
	return doctor->target.known;
}

bool any_peer_heard(const struct doctor *doctor)
{
	struct peer_list list = { 0 };
	bool heard = false;
	size_t i;

	netlink_peers(doctor->netlink, doctor->only, &list);
	for (i = 0; i < list.count; i++)
		heard = heard || (!(list.peer[i].peer.flags & OMX_PEER_LOCAL) &&
				  is_heard(&list.peer[i].peer));
	peer_list_free(&list);
	return heard;
}

/* ---- listening ---- */

/* Whom nothing is known of would be met by this, and be forgotten again. */
static void target_ask(struct target *target)
{
	const struct omx_ioc_peer *peer = &target->peer.peer;

	if (!target->known || target->answers || !peer->mac)
		return;
	target->answers = peer->flags & OMX_PEER_LOCAL ||
			  probe_answers(target->board, peer->mac, &target->peer_abi);
}

void target_listen(struct doctor *doctor)
{
	struct target *target = &doctor->target;
	const uint64_t end = clock_ms() + HELLO_MS;

	if (target->listened)
		return;
	target->listened = true;
	target_resolve(target);
	if (!target_find(doctor))
		neighbour_resolve(target, &doctor->boards);
	for (;;) {
		target_find(doctor);
		target_ask(target);
		if ((target->heard && target->answers) || clock_ms() >= end)
			return;
		sleep_ms(LOOK_MS);
	}
}

bool target_is_by_udp(const struct target *target)
{
	if (target->known)
		return target->peer.peer.flags & OMX_PEER_UDP;
	return target->name && address_is_ip(&target->address) && !target->neighbour;
}

/* ---- how hosts call each other ---- */

const char *target_label(const struct target *target)
{
	static char text[ADDRESS_TEXT_LEN];

	if (target->known && target->peer.peer.flags & OMX_PEER_NAMED)
		return shell_word(target->peer.peer.name, target->name);
	if (target_is_by_udp(target))
		return address_format(target->known ? &target->peer : &target->address, text);
	return target->name;
}

/* The address that packets to the other host come from. */
static const char *own_address(const struct omx_ioc_udp_peer *to)
{
	static char text[ADDRESS_TEXT_LEN];
	struct sockaddr_storage own;
	socklen_t length = sizeof(own);
	const void *address = &((struct sockaddr_in *)&own)->sin_addr;
	int fd = socket_to(to), error;

	if (fd < 0)
		return NULL;
	error = getsockname(fd, (struct sockaddr *)&own, &length);
	close(fd);
	if (own.ss_family == AF_INET6)
		address = &((struct sockaddr_in6 *)&own)->sin6_addr;
	return error ? NULL : inet_ntop(own.ss_family, address, text, sizeof(text));
}

const char *own_label(const struct doctor *doctor)
{
	const struct target *target = &doctor->target;
	const char *address;

	if (!target_is_by_udp(target))
		return shell_word((target->known ? target->board : &doctor->boards.board[0])->name,
				  "THIS-HOST");
	address = own_address(target->known ? &target->peer : &target->address);
	return address ? address : "ADDRESS-OF-THIS-HOST";
}
