/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A board: a network device on which endpoints can be opened.  Each network
 * namespace has a table of its boards.
 *
 * Boards are attached and detached under rtnl, which also protects the table:
 * the netdevice notifier is called with it.  Readers use RCU.  An endpoint keeps
 * its board by a reference.  That does not keep the net_device, whose owner must
 * be able to unregister it at any time (see omx_board_detach()).
 */
#ifndef OMX_BOARD_H
#define OMX_BOARD_H

#include <linux/bitmap.h>
#include <linux/etherdevice.h>
#include <linux/if_ether.h>
#include <linux/kref.h>
#include <linux/netdevice.h>
#include <linux/rcupdate.h>
#include <net/net_namespace.h>

#include "channel/path.h"
#include "incoming/incoming.h"
#include "net/peer.h"
#include "net/tcp_segments.h"
#include "net/udp_carrier.h"
#include "net/user_turns.h"
#include "observe/counters.h"
#include "omx_abi.h"

struct omx_endpoint;
struct omx_small_queue;

#define OMX_MTU_MIN	96		/* the headers of a put and 16 bytes of it */
#define OMX_MTU_MAX	0xffffu		/* omx_wire_head.length has 16 bits */

/* A block of jumbo frames: a pull alone waits again only after it. */
#define OMX_PULL_TURN_BYTES	(288 << 10)

/* Pulls share the board; see pull/schedule.c. */
struct omx_pull_scheduler {
	spinlock_t lock;
	struct omx_user_turns turns;		/* of users whose pulls want to request more */
	u32 waiting;			/* how many pulls do */
	u32 senders;			/* ... and the channels that they have */
	atomic_t requested;		/* bytes so far, without those that were given up */
	atomic_t outstanding;		/* those of them that have not arrived */
};

struct omx_board {
	/*
	 * May be used under rtnl, or under RCU if `detaching` was false.  NULL
	 * once detached.
	 */
	struct net_device *dev;
	netdevice_tracker dev_tracker;
	struct omx_counters __percpu *counters;
	atomic_long_t extents;		/* now */
	atomic_long_t pages_pinned;	/* now */
	long pages_pinned_peak;
	u32 index;			/* in its namespace's table */
	u32 boot;			/* random, tells restarts apart */
	bool automatic;			/* attached because of "all"; rtnl */
	bool detaching;			/* set once, before endpoints end; endpoints_lock */
	bool link_was_up;		/* in the last event; rtnl */
	u64 mac;			/* never changes: another MAC is another board */
	struct omx_net *on;		/* of its namespace */
	struct omx_tso tso;
	bool in_pages;			/* the device receives long frames so; peers.lock */
	struct packet_type packet_type;	/* for this device only: frames need no lookup */
	struct kref ref;
	struct rcu_head rcu;
	spinlock_t name_lock;		/* of the name */
	char name[OMX_NAME_LEN];	/* board name */

	/* Readers: RCU.  Writers: endpoints_lock. */
	struct omx_endpoint __rcu *endpoints[OMX_ENDPOINT_MAX];
	/* Which of them are open, to find all of them, or a free one. */
	DECLARE_BITMAP(endpoints_open, OMX_ENDPOINT_MAX);
	spinlock_t endpoints_lock;

	struct omx_small_queue *queue;	/* NULL: no endpoint is open; see small_queue.c */

	struct omx_peer_table peers;
	struct omx_pull_scheduler pulls;
	struct omx_path_table paths;
	struct omx_incoming incoming;
};

/* The boards of a network namespace. */
struct omx_net {
	struct omx_board __rcu *boards[OMX_BOARD_MAX];
	bool automatic;			/* "all": attach every suitable device; rtnl */
	struct omx_udp udp;
};

/* ---- module init / exit ---- */
int omx_boards_init(void);
void omx_boards_exit(void);		/* all boards are detached */

/* ---- process context, rtnl held ---- */
/* The board that this device is, or NULL. */
struct omx_board *omx_board_of(struct omx_net *on, const struct net_device *dev);
/* A board for this device, with a reference, that is not in the table yet. */
struct omx_board *omx_board_alloc(struct net_device *dev, u32 index, bool automatic);

/* ---- process context ---- */
/* The board with this index, with a reference, or NULL. */
struct omx_board *omx_board_get(struct net *net, u32 index);
/* The board of the namespace with this MAC, with a reference, or NULL. */
struct omx_board *omx_board_get_by_mac(struct net *net, u64 mac);
/* The name must be valid (omx_peer_name_is_valid()). */
void omx_board_rename(struct omx_board *board, const char *name);

/* ---- any context ---- */
struct omx_net *omx_net_of(struct net *net);
void omx_board_put(struct omx_board *board);
void omx_board_copy_name(struct omx_board *board, char name[OMX_NAME_LEN]);

/* ---- any context, RCU read lock or rtnl held ---- */
struct omx_board *omx_board_at(struct omx_net *on, u32 index);
struct omx_board *omx_board_with_mac(struct omx_net *on, u64 mac);
bool omx_board_mac_is_local(struct net *net, u64 mac);
/* OMX_BOARD_UP ... as programs see them.  The board is not detaching. */
u32 omx_board_flags(const struct omx_board *board);

/* RCU read lock held. */
static inline bool omx_board_has(const struct omx_board *board,
				 netdev_features_t features)
{
	return !READ_ONCE(board->detaching) && board->dev->features & features;
}

/* Largest frame that the device takes, Ethernet header excluded; 0: it is gone. */
static inline u32 omx_board_mtu(const struct omx_board *board)
{
	u32 mtu = 0;

	rcu_read_lock();
	if (!READ_ONCE(board->detaching))
		mtu = clamp_t(u32, READ_ONCE(board->dev->mtu), OMX_MTU_MIN,
			      OMX_MTU_MAX);
	rcu_read_unlock();
	return mtu;
}

static inline u64 omx_mac_read(const u8 *mac)
{
	return (u64)get_unaligned_be16(mac) << 32 | get_unaligned_be32(mac + 2);
}

extern unsigned int omx_ethertype;

#endif
