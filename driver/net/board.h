/* SPDX-License-Identifier: GPL-2.0 */
/*
 * An attached Ethernet interface ("board") and the per-namespace table of them.
 *
 * Boards come and go under rtnl, which is also the lock of the table: the
 * notifier holds it anyway.  Readers use RCU.  An endpoint keeps its board by
 * a reference; that does not keep the net_device, whose owner must be able to
 * unregister it at any time (see detach() in board.c).
 */
#ifndef OMX_IFACE_H
#define OMX_IFACE_H

#include <linux/bitmap.h>
#include <linux/etherdevice.h>
#include <linux/if_ether.h>
#include <linux/kref.h>
#include <linux/netdevice.h>
#include <linux/rcupdate.h>
#include <net/net_namespace.h>

#include "net/peer.h"
#include "observe/counters.h"
#include "omx_abi.h"

struct omx_endpoint;

#define OMX_MTU_MIN	ETH_MIN_MTU
#define OMX_MTU_MAX	0xffffu		/* omx_wire_head.length has 16 bits */

/* Pulls share the interface; see request.c. */
struct omx_pull_scheduler {
	spinlock_t lock;
	struct list_head waiting;	/* pulls that want to ask for more */
	atomic_t outstanding;		/* frames asked for and not here yet */
};

struct omx_board {
	/*
	 * For those who hold rtnl or, under RCU, have seen detaching false.
	 * NULL once detached.
	 */
	struct net_device *dev;
	netdevice_tracker dev_tracker;
	struct omx_counters __percpu *counters;
	atomic_long_t extents;		/* now */
	atomic_long_t pages_pinned;	/* now */
	long pages_pinned_peak;
	u32 index;			/* in its namespace's table */
	u32 boot;			/* random, tells restarts apart */
	bool automatic;			/* attached because ifnames=all; rtnl */
	bool detaching;			/* set once, before endpoints are killed; endpoints_lock */
	u64 mac;			/* never changes: another MAC is another board */
	struct packet_type packet_type;	/* .dev is ours: no lookup on receipt */
	struct kref ref;
	struct rcu_head rcu;
	spinlock_t name_lock;		/* taken with BH off; innermost */
	char name[OMX_NAME_LEN];	/* board name */

	/* Readers: RCU.  Writers: endpoints_lock. */
	struct omx_endpoint __rcu *endpoints[OMX_ENDPOINT_MAX];
	/* Which of them there are, for whoever looks for all, or for a free one. */
	DECLARE_BITMAP(endpoints_open, OMX_ENDPOINT_MAX);
	spinlock_t endpoints_lock;

	struct omx_peer_table peers;
	struct omx_pull_scheduler pulls;
};

/* ---- module init / exit ---- */
int omx_boards_init(void);
void omx_boards_exit(void);

/*
 * "all", "none", or words separated by spaces or commas: "eth0" and "+eth0"
 * attach, "-eth0" detaches if no endpoint is open there (-EBUSY), "--eth0"
 * detaches in any case.  Acts in the namespace of the caller.  Process context.
 */
int omx_boards_command(const char *words);
/* What is attached in the caller's namespace, for reading the parameter. */
int omx_boards_list(char *buffer, size_t size);

/* ---- process context ---- */
/* Reference on the board with this index, or NULL. */
struct omx_board *omx_board_get(struct net *net, u32 index);
/* The one with this MAC in the namespace, or NULL. */
struct omx_board *omx_board_get_by_mac(struct net *net, u64 mac);
/* Also from timers and softirq. */
void omx_board_put(struct omx_board *board);

/* The name must be valid (omx_peer_name_is_valid). */
void omx_board_rename(struct omx_board *board, const char *name);

/* ---- any context ---- */
void omx_board_copy_name(struct omx_board *board, char name[OMX_NAME_LEN]);

/* ---- any context, RCU read lock held, or rtnl ---- */
bool omx_board_mac_is_local(struct net *net, u64 mac);
/* OMX_BOARD_UP ... as programs see them.  Not detaching. */
u32 omx_board_flags(const struct omx_board *board);

static inline bool omx_board_has(const struct omx_board *board,
				 netdev_features_t features)
{
	return !READ_ONCE(board->detaching) && board->dev->features & features;
}

static inline u64 omx_mac_read(const u8 *mac)
{
	return (u64)get_unaligned_be16(mac) << 32 | get_unaligned_be32(mac + 2);
}

extern unsigned int omx_ethertype;

#endif
