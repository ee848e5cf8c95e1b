/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The simulation: nodes with the real driver, a network between them, and programs that
 * use it.  A run is determined by its seed.
 *
 *   time.c       the events, and the contexts in which they happen
 *   memory.c     allocation, and what each node has allocated
 *   skbuff.c     frames
 *   fiber.c      what may sleep
 *   network.c    links, and what they do to frames
 *   node.c       hosts: boards come and go
 *   program.c    a program with its endpoint: what it sends and receives
 *   ledger.c     what was sent and what has arrived
 *   scenario.c   a random network and its troubles
 *   crowd.c      many nodes at once, a thousand for instance
 *   flood.c      a host among them that keeps to no window
 *   stuck.c      channels among them that cannot go on
 *   bundle.c     are bundles right that drivers send?
 *   plant.c      bugs that are planted, to show that they are found
 *   main.c       seeds and options
 *   absent/      in place of the parts of the driver that are not here
 */
#ifndef SIM_H
#define SIM_H

#include "kernel/kernel.h"
#include "../harness/contents.h"

#include "endpoint/endpoint.h"
#include "net/board.h"
#include "omx_abi.h"

#define SIM_MS			((u64)NSEC_PER_MSEC)
#define SIM_US			((u64)NSEC_PER_USEC)
#define SIM_S			((u64)NSEC_PER_SEC)
#define SIM_ENDPOINTS		4	/* per node, at most */
#define SIM_LARGEST		(8u << 20)	/* message */

struct sim_stream;
struct sim_program;

/* One direction of a link: frames leave it one after the other. */
struct sim_port {
	u64 rate;			/* bit/s */
	u64 free_at;			/* ns */
	u32 limit;			/* frames that may wait */
	u32 first, count, size;		/* of `leaves`, a ring */
	u64 *leaves;			/* ns: when the frames that wait will have left */
	u64 frames, bytes, dropped;	/* statistics */
};

struct sim_node {
	u32 index;
	u64 phase;			/* ns: its timers are late by so much */
	u8 mac[ETH_ALEN];
	struct net net;
	struct net_device dev;
	u32 takes;			/* the largest MTU that it has had, at least 1500 */
	struct omx_board *board;	/* NULL: the host is down */
	struct sim_port out, in;
	u8 side;			/* of a partition */
	bool mute, deaf;
	struct sim_program *program[SIM_ENDPOINTS];
	size_t bytes, peak;		/* allocated by its kernel */
	size_t idle_bytes;		/* without channels */
	u32 objects;
	u64 counters[OMX_COUNTERS];	/* of boards that are gone */
};

/* What the links do to frames now, in millionths. */
struct sim_troubles {
	u32 loss, duplicate, reorder, corrupt;
	u64 late;			/* ns: by how much a frame may be late */
};

struct sim {
	u64 seed;
	bool trace;
	struct random chance;		/* of the network and the programs */
	struct random kernel;		/* what the kernel draws */
	u32 node_count;
	struct sim_node *node;
	struct sim_troubles troubles;
	u64 delay;			/* ns, of each link */
	bool broadcasts;		/* they reach all nodes */
	bool seldom;			/* devices interrupt seldom, as far as drivers have measured */
	bool no_bursts;			/* devices take one frame at a time */
	u32 cut;			/* endpoint: frames to it are lost; 0: none */
	u32 longest;			/* bytes of a frame that passes; 0: any */
	u32 whole;			/* percent of bursts that are not segmented */
	u32 interrupts;			/* percent of the places where a softirq may run */
	u32 fail_atomic, fail_kernel;	/* millionths of the allocations */
	u32 absent;			/* percent of the pages that are absent */
	u32 fragmented;			/* percent of the bursts for which there are no large pages */
	u64 frames, lost;		/* statistics */
	u64 bundles, bundled;		/* sent, and the messages in them */
	u64 pushed;			/* frames that pulls did not have to request */
	u64 missed;			/* messages announced behind frames that follow them */
	u64 split;			/* bundles delivered in parts, because the ring was full */
	u64 joined;			/* messages with a page of their own, added to a bundle */
	u64 kept;			/* messages that stay in the frames of a bundle */
	u64 resumed;			/* bundles that went on when some of theirs did so */
	u64 shortened[2];		/* looks at frames that fill pages, for whose sake: the peer's */
	u64 unread;			/* copies for them that would have had to wait */
	bool healed;
	u32 stream_count, stream_room;
	struct sim_stream **stream;
	u32 program_count;		/* ever */
	size_t peak;			/* bytes of a node */
};

extern struct sim sim;
extern struct sim_node *sim_current;	/* on which the event happens */

void __attribute__((format(printf, 1, 2))) sim_print(const char *format, ...);
#define SIM_TRACE(...)	do {							\
	if (unlikely(sim.trace))						\
		sim_print(__VA_ARGS__);						\
} while (0)

static inline u64 sim_below(u64 limit)
{
	return random_below(&sim.chance, limit);
}

static inline bool sim_chance(u32 percent)
{
	return percent && sim_below(100) < percent;
}

static inline bool sim_millionths(u32 chance)
{
	return chance && sim_below(1000000) < chance;
}

/* ---- time.c ---- */
void sim_time_start(void);
/*
 * In ndo_start_xmit(), which may take a while: other processors receive meanwhile, unless the
 * caller holds a lock for which they would have to wait.
 */
void sim_other_processors_run(void);
/* Until this time, or until `done` says so.  False: time is over. */
bool sim_run(u64 until, bool (*done)(void));
/* There is nothing left to happen. */
void sim_time_require_empty(void);

/* ---- memory.c, skbuff.c ---- */
void sim_memory_require_empty(void);
void sim_charge(struct sim_node *node, long bytes);
u32 sim_skbs(void);
void sim_skb_set_owner(struct sk_buff *skb, struct sim_node *node);
void sim_skb_set_truesize(struct sk_buff *skb, u32 truesize);

/* ---- fiber.c ---- */
/* Runs it in process context on this node; it may sleep. */
void sim_fiber(struct sim_node *node, struct task_struct *task, void (*run)(void *arg),
	       void *arg);
u32 sim_fibers(void);

/* ---- scenario.c ---- */
/* Runs the seed; returns if nothing is wrong. */
void sim_run_seed(u64 seed);
/* Programs end, hosts go down, and nothing may be left. */
void sim_end(void);

/* ---- network.c ---- */
void sim_port_init(struct sim_port *port, u64 rate, u32 limit);
void sim_port_destroy(struct sim_port *port);

/* ---- node.c ---- */
void sim_nodes_make(u32 count);
void sim_nodes_destroy(void);
void sim_node_attach(struct sim_node *node);
/* As if the power failed: nobody is told, and what its programs did is over. */
void sim_node_crash(struct sim_node *node);
void sim_node_detach(struct sim_node *node);
void sim_node_set_mtu(struct sim_node *node, u32 mtu);
u64 sim_node_counter(const struct sim_node *node, enum omx_counter counter);
u64 sim_counter(enum omx_counter counter);
static inline u64 sim_node_mac(const struct sim_node *node)
{
	return omx_mac_read(node->mac);
}

/* ---- absent/ ---- */
void sim_pages_vanish(void);

#endif
