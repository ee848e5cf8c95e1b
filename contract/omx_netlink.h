/* SPDX-License-Identifier: (GPL-2.0 WITH Linux-syscall-note) OR BSD-2-Clause */
/*
 * The generic netlink family "omx", by which administrators look at the driver and
 * change boards and peers.
 *
 * The driver includes this header, and so do the tools.  Everything acts in the network
 * namespace of the socket.  Anybody may dump; changes, and listening to events, need
 * CAP_NET_ADMIN in the user namespace that owns the network namespace, and
 * OMX_CMD_BOARD_ATTACH needs it in the initial one.
 *
 * The answer to a dump has one message for each object, with the command of the request.
 * Objects keep their numbers, so each one that is there during the whole dump comes once.
 * Events have the attributes of the object that they are about, and go to the multicast
 * group "events".  A listener that is too slow gets ENOBUFS: events were lost.
 *
 * Attributes are never renumbered.  Receivers ignore those that they do not know; the
 * driver refuses those, and attributes that do not belong to the command.
 */
#ifndef OMX_NETLINK_H
#define OMX_NETLINK_H

#include "omx_abi.h"

#define OMX_NETLINK_FAMILY	"omx"
#define OMX_NETLINK_VERSION	1
#define OMX_NETLINK_EVENTS	"events"	/* the multicast group */

enum omx_netlink_command {
	OMX_CMD_UNSPEC,

	/* Dumps; BOARD restricts them to one board (ENODEV: there is none). */
	OMX_CMD_BOARD_GET,
	OMX_CMD_PEER_GET,		/* also each board itself, as peer 0 */
	OMX_CMD_ENDPOINT_GET,
	OMX_CMD_COUNTER_GET,

	/* Changes; those that fail say why (NLMSGERR_ATTR_MSG). */
	OMX_CMD_BOARD_ATTACH,		/* IFNAME */
	OMX_CMD_BOARD_DETACH,		/* IFNAME, FORCE */
	OMX_CMD_BOARD_SET,		/* BOARD, NAME */
	OMX_CMD_PEER_ADD,		/* BOARD, MAC or ADDRESS and SCOPE, NAME */
	OMX_CMD_PEER_REMOVE,		/* BOARD, MAC or ADDRESS and SCOPE; without them: all */
	OMX_CMD_COUNTER_CLEAR,		/* BOARD */

	/* Events. */
	OMX_CMD_BOARD_ATTACHED,
	OMX_CMD_BOARD_DETACHED,
	OMX_CMD_LINK_UP,		/* of a board: see OMX_BOARD_UP */
	OMX_CMD_LINK_DOWN,
	OMX_CMD_PEER_FOUND,		/* the peer has said hello */
	OMX_CMD_PEER_LOST,		/* it has said bye, is silent, or was removed */
	OMX_CMD_ENDPOINT_OPENED,
	OMX_CMD_ENDPOINT_CLOSED,	/* with all that it has sent and received */

	OMX_CMD_END
};

enum omx_netlink_attribute {
	OMX_A_UNSPEC,
	OMX_A_PAD,			/* before u64 */

	/* In requests, too. */
	OMX_A_BOARD,			/* u32: its number */
	OMX_A_IFNAME,			/* string: its interface */
	OMX_A_FORCE,			/* flag: end the endpoints that are open there */
	OMX_A_MAC,			/* 6 bytes; of a peer: none until it is known */
	OMX_A_NAME,			/* string: of a board, or a peer if it is known */
	OMX_A_ADDRESS,			/* 16 bytes: IPv6, or IPv4 mapped, of a peer by UDP */
	OMX_A_SCOPE,			/* u32: interface of a link-local address, else 0 */

	/* Boards. */
	OMX_A_FLAGS,			/* u32: OMX_BOARD_UP ...; of a peer: OMX_PEER_STATIC ... */
	OMX_A_MTU,			/* u32; of a peer: that it has announced, 0: none yet */
	OMX_A_DRIVER,			/* string: of the interface */
	OMX_A_NUMA_NODE,		/* s32: -1: none */
	OMX_A_ENDPOINTS_OPEN,		/* u32 */
	OMX_A_ENDPOINTS_MAX,		/* u32 */
	OMX_A_PEERS,			/* u32: how many there are */

	/* Peers; see struct omx_ioc_udp_peer. */
	OMX_A_PEER,			/* u32: its number on the board */
	OMX_A_PATH_MTU,			/* u32 */
	OMX_A_AGE,			/* u32: ms since it was last heard of */
	OMX_A_PORT,			/* u32 */
	OMX_A_ERROR,			/* u32: errno: why it cannot be reached; 0: none is known */

	/* Endpoints. */
	OMX_A_ENDPOINT,			/* u32: its number on the board */
	OMX_A_PID,			/* u32: 0: outside of the reader's PID namespace; in
					 * events as the initial one has it
					 */
	OMX_A_COMMAND,			/* string */
	OMX_A_TX_MESSAGES,		/* u64: messages, and puts and gets that are pulled */
	OMX_A_TX_BYTES,			/* u64 */
	OMX_A_RX_MESSAGES,		/* u64 */
	OMX_A_RX_BYTES,			/* u64 */
	OMX_A_CHANNELS,			/* u32: peer endpoints that it talks to */
	OMX_A_SENDS,			/* u32: large ones that have not arrived yet */
	OMX_A_PULLS,			/* u32: large ones that are being received */
	OMX_A_ACCESSES,			/* u32: puts, gets and atomics under way */
	OMX_A_REGIONS,			/* u32 */
	OMX_A_WINDOWS,			/* u32 */
	OMX_A_UNFETCHED,		/* u32: bytes of messages that wait to be fetched */
	OMX_A_EVENTS,			/* u32: slots of its ring that wait to be read */
	OMX_A_MEMORY,			/* u64: bytes of kernel memory that it uses */

	/* Counters. */
	OMX_A_COUNTER,			/* u32: its number; only its label tells what it is */
	OMX_A_LABEL,			/* string */
	OMX_A_VALUE,			/* u64 */

	OMX_A_END
};

#define OMX_A_MAX	(OMX_A_END - 1)

#endif
