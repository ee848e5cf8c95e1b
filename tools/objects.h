/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The objects of the netlink family: boards, peers and endpoints, read from attributes
 * and listed.  Functions that list print why they fail.
 */
#ifndef OMX_TOOLS_OBJECTS_H
#define OMX_TOOLS_OBJECTS_H

#include <json.h>
#include <stddef.h>
#include <stdint.h>

#include "netlink.h"

struct board_list {
	struct omx_ioc_board board[OMX_BOARD_MAX];
	unsigned int count;
	uint32_t endpoint_max;		/* of a board */
};

struct peer_list {
	struct omx_ioc_udp_peer *peer;
	size_t count;
};

struct traffic {
	uint64_t messages;
	uint64_t bytes;
};

struct endpoint {
	uint32_t board;
	uint32_t number;
	uint32_t pid;			/* 0: not visible from here */
	char command[16];
	struct traffic sent, received;
	uint32_t channels;
	uint32_t sends, pulls, accesses;	/* under way */
	uint32_t regions, windows;
	uint32_t unfetched;		/* bytes */
	uint32_t events;		/* that wait in its ring: slots */
	uint64_t memory;		/* bytes */
};

struct endpoint_list {
	struct endpoint *endpoint;
	size_t count;
};

void board_read(const struct nlattr *const attribute[], struct omx_ioc_board *board);
void peer_read(const struct nlattr *const attribute[], struct omx_ioc_udp_peer *peer);
void endpoint_read(const struct nlattr *const attribute[], struct endpoint *endpoint);

/* Has the handler called for each object of one board, or of all (OMX_ANY).  0 or -errno. */
int netlink_list(struct netlink *netlink, uint8_t command, uint32_t board,
		 netlink_handler handler, void *context);
/*
 * The board with the number `only`, or all boards if that is OMX_ANY.  Return 0, or -1 after
 * printing the reason.  Of all boards there may be none for the first one.
 */
int netlink_any_boards(struct netlink *netlink, uint32_t only, struct board_list *list);
int netlink_boards(struct netlink *netlink, uint32_t only, struct board_list *list);
/* Prints that there is no such board, or no board at all, and returns -1. */
int board_list_is_empty(uint32_t only);
/* Append those of one board, or of all. The caller frees the lists, also after a failure. */
int netlink_peers(struct netlink *netlink, uint32_t board, struct peer_list *list);
int netlink_endpoints(struct netlink *netlink, uint32_t board, struct endpoint_list *list);
int peer_list_append(struct peer_list *list, const struct omx_ioc_udp_peer *peer);
void peer_list_free(struct peer_list *list);
void endpoint_list_free(struct endpoint_list *list);

/* Begins a request about a peer: its board and address. */
void peer_request(struct netlink_request *request, uint8_t command,
		  const struct omx_ioc_udp_peer *peer);

/* Prints ", sent N messages (N bytes), received ...". */
void print_traffic(const struct endpoint *endpoint);
/* Adds what there is to say of an endpoint besides its number. */
void json_add_endpoint_state(struct json_object *object, const struct endpoint *endpoint);

#endif
