/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "address.h"
#include "complain.h"
#include "jsonout.h"
#include "objects.h"

static uint64_t attribute_mac(const struct nlattr *attribute)
{
	const uint8_t *byte = attribute_data(attribute, 6);
	uint64_t mac = 0;
	unsigned int i;

	for (i = 0; byte && i < 6; i++)
		mac = mac << 8 | byte[i];
	return mac;
}

void board_read(const struct nlattr *const attribute[], struct omx_ioc_board *board)
{
	memset(board, 0, sizeof(*board));
	board->board = attribute_u32(attribute[OMX_A_BOARD]);
	board->flags = attribute_u32(attribute[OMX_A_FLAGS]);
	board->mac = attribute_mac(attribute[OMX_A_MAC]);
	board->mtu = attribute_u32(attribute[OMX_A_MTU]);
	board->numa_node = attribute_u32(attribute[OMX_A_NUMA_NODE]);
	board->endpoints_open = attribute_u32(attribute[OMX_A_ENDPOINTS_OPEN]);
	board->peers = attribute_u32(attribute[OMX_A_PEERS]);
	attribute_string(attribute[OMX_A_IFNAME], board->ifname, sizeof(board->ifname));
	attribute_string(attribute[OMX_A_DRIVER], board->drivername, sizeof(board->drivername));
	attribute_string(attribute[OMX_A_NAME], board->name, sizeof(board->name));
}

void peer_read(const struct nlattr *const attribute[], struct omx_ioc_udp_peer *udp)
{
	const void *address = attribute_data(attribute[OMX_A_ADDRESS], sizeof(udp->address));
	struct omx_ioc_peer *peer = &udp->peer;

	memset(udp, 0, sizeof(*udp));
	peer->board = attribute_u32(attribute[OMX_A_BOARD]);
	peer->index = attribute_u32(attribute[OMX_A_PEER]);
	peer->mac = attribute_mac(attribute[OMX_A_MAC]);
	peer->mtu = attribute_u32(attribute[OMX_A_MTU]);
	peer->flags = attribute_u32(attribute[OMX_A_FLAGS]);
	peer->age_ms = attribute_u32(attribute[OMX_A_AGE]);
	attribute_string(attribute[OMX_A_NAME], peer->name, sizeof(peer->name));
	if (address)
		memcpy(udp->address, address, sizeof(udp->address));
	udp->scope = attribute_u32(attribute[OMX_A_SCOPE]);
	udp->error = attribute_u32(attribute[OMX_A_ERROR]);
	udp->path_mtu = attribute_u32(attribute[OMX_A_PATH_MTU]);
	udp->port = attribute_u32(attribute[OMX_A_PORT]);
}

void endpoint_read(const struct nlattr *const attribute[], struct endpoint *endpoint)
{
	memset(endpoint, 0, sizeof(*endpoint));
	endpoint->board = attribute_u32(attribute[OMX_A_BOARD]);
	endpoint->number = attribute_u32(attribute[OMX_A_ENDPOINT]);
	endpoint->pid = attribute_u32(attribute[OMX_A_PID]);
	attribute_string(attribute[OMX_A_COMMAND], endpoint->command, sizeof(endpoint->command));
	endpoint->sent.messages = attribute_u64(attribute[OMX_A_TX_MESSAGES]);
	endpoint->sent.bytes = attribute_u64(attribute[OMX_A_TX_BYTES]);
	endpoint->received.messages = attribute_u64(attribute[OMX_A_RX_MESSAGES]);
	endpoint->received.bytes = attribute_u64(attribute[OMX_A_RX_BYTES]);
	endpoint->channels = attribute_u32(attribute[OMX_A_CHANNELS]);
	endpoint->sends = attribute_u32(attribute[OMX_A_SENDS]);
	endpoint->pulls = attribute_u32(attribute[OMX_A_PULLS]);
	endpoint->accesses = attribute_u32(attribute[OMX_A_ACCESSES]);
	endpoint->regions = attribute_u32(attribute[OMX_A_REGIONS]);
	endpoint->windows = attribute_u32(attribute[OMX_A_WINDOWS]);
	endpoint->unfetched = attribute_u32(attribute[OMX_A_UNFETCHED]);
	endpoint->events = attribute_u32(attribute[OMX_A_EVENTS]);
	endpoint->memory = attribute_u64(attribute[OMX_A_MEMORY]);
}

/* ---- lists ---- */

int netlink_list(struct netlink *netlink, uint8_t command, uint32_t board,
		 netlink_handler handler, void *context)
{
	struct netlink_request request;

	netlink_request_init(&request, command);
	if (board != OMX_ANY)
		netlink_request_add_u32(&request, OMX_A_BOARD, board);
	return netlink_dump(netlink, &request, handler, context);
}

static int board_list_add(uint8_t command, const struct nlattr *const attribute[], void *context)
{
	struct board_list *list = context;

	(void)command;
	if (list->count == OMX_BOARD_MAX)
		return -E2BIG;
	board_read(attribute, &list->board[list->count++]);
	list->endpoint_max = attribute_u32(attribute[OMX_A_ENDPOINTS_MAX]);
	return 0;
}

int board_list_is_empty(uint32_t only)
{
	if (only != OMX_ANY)
		return complain("omx_boards lists those there are", "no board %u here", only);
	return complain("attach an interface, for instance: omx_boards attach eth0", "no board");
}

int netlink_any_boards(struct netlink *netlink, uint32_t only, struct board_list *list)
{
	int error;

	list->count = 0;
	error = netlink_list(netlink, OMX_CMD_BOARD_GET, only, board_list_add, list);
	if (error == -ENODEV)
		return board_list_is_empty(only);
	return error ? netlink_fail(netlink, error, "list the boards") : 0;
}

int netlink_boards(struct netlink *netlink, uint32_t only, struct board_list *list)
{
	if (netlink_any_boards(netlink, only, list) < 0)
		return -1;
	return list->count ? 0 : board_list_is_empty(only);
}

int peer_list_append(struct peer_list *list, const struct omx_ioc_udp_peer *peer)
{
	struct omx_ioc_udp_peer *grown;

	grown = reallocarray(list->peer, list->count + 1, sizeof(*peer));
	if (!grown)
		return complain_errno(NULL, "cannot list the peers");
	list->peer = grown;
	list->peer[list->count++] = *peer;
	return 0;
}

void peer_list_free(struct peer_list *list)
{
	free(list->peer);
	list->peer = NULL;
	list->count = 0;
}

static int peer_list_add(uint8_t command, const struct nlattr *const attribute[], void *context)
{
	struct omx_ioc_udp_peer peer;

	(void)command;
	peer_read(attribute, &peer);
	return peer_list_append(context, &peer) < 0 ? -ENOMEM : 0;
}

int netlink_peers(struct netlink *netlink, uint32_t board, struct peer_list *list)
{
	int error = netlink_list(netlink, OMX_CMD_PEER_GET, board, peer_list_add, list);

	/* A board that is detached meanwhile has no peers. */
	return error && error != -ENODEV ? netlink_fail(netlink, error, "list the peers") : 0;
}

static int endpoint_list_add(uint8_t command, const struct nlattr *const attribute[],
			     void *context)
{
	struct endpoint_list *list = context;
	struct endpoint *grown;

	(void)command;
	grown = reallocarray(list->endpoint, list->count + 1, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	list->endpoint = grown;
	endpoint_read(attribute, &grown[list->count++]);
	return 0;
}

int netlink_endpoints(struct netlink *netlink, uint32_t board, struct endpoint_list *list)
{
	int error = netlink_list(netlink, OMX_CMD_ENDPOINT_GET, board, endpoint_list_add, list);

	return error && error != -ENODEV ?
		netlink_fail(netlink, error, "list the endpoints") : 0;
}

void endpoint_list_free(struct endpoint_list *list)
{
	free(list->endpoint);
	list->endpoint = NULL;
	list->count = 0;
}

void peer_request(struct netlink_request *request, uint8_t command,
		  const struct omx_ioc_udp_peer *peer)
{
	uint8_t mac[6];
	unsigned int i;

	netlink_request_init(request, command);
	netlink_request_add_u32(request, OMX_A_BOARD, peer->peer.board);
	if (address_is_ip(peer)) {
		netlink_request_add(request, OMX_A_ADDRESS, peer->address, sizeof(peer->address));
		netlink_request_add_u32(request, OMX_A_SCOPE, peer->scope);
		return;
	}
	for (i = 0; i < 6; i++)
		mac[i] = peer->peer.mac >> (40 - 8 * i);
	netlink_request_add(request, OMX_A_MAC, mac, sizeof(mac));
}

/* ---- for people ---- */

static void print_one_way(const char *what, const struct traffic *traffic)
{
	printf(", %s %" PRIu64 " message%s (%" PRIu64 " bytes)", what, traffic->messages,
	       traffic->messages == 1 ? "" : "s", traffic->bytes);
}

void print_traffic(const struct endpoint *endpoint)
{
	print_one_way("sent", &endpoint->sent);
	print_one_way("received", &endpoint->received);
}

/* ---- for programs ---- */

static void json_add_traffic(struct json_object *object, const char *key,
			     const struct traffic *traffic)
{
	struct json_object *both = json_new_object();

	json_add_u64(both, "messages", traffic->messages);
	json_add_u64(both, "bytes", traffic->bytes);
	json_add(object, key, both);
}

void json_add_endpoint_state(struct json_object *object, const struct endpoint *endpoint)
{
	json_add_u64(object, "pid", endpoint->pid);
	json_add_string(object, "command", endpoint->command);
	json_add_traffic(object, "sent", &endpoint->sent);
	json_add_traffic(object, "received", &endpoint->received);
	json_add_u64(object, "channels", endpoint->channels);
	json_add_u64(object, "sends", endpoint->sends);
	json_add_u64(object, "pulls", endpoint->pulls);
	json_add_u64(object, "accesses", endpoint->accesses);
	json_add_u64(object, "regions", endpoint->regions);
	json_add_u64(object, "windows", endpoint->windows);
	json_add_u64(object, "unfetched_bytes", endpoint->unfetched);
	json_add_u64(object, "events", endpoint->events);
	json_add_u64(object, "memory_bytes", endpoint->memory);
}
