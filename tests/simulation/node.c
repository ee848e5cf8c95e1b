// SPDX-License-Identifier: BSD-2-Clause
/*
 * Nodes: each has a network namespace with one device, and a board on it while the
 * host is up.  The boards are attached and detached as net/attach.c does it.
 */
#include <stdio.h>

#include "net/hello.h"
#include "net/peer.h"
#include "net/receive.h"
#include "sim.h"

struct net init_net;
static struct pernet_operations *driver_ops;
static struct new_utsname name;

int register_pernet_subsys(struct pernet_operations *ops)
{
	driver_ops = ops;
	*ops->id = 0;
	return 0;
}

void unregister_pernet_subsys(struct pernet_operations *ops)
{
	driver_ops = NULL;
}

struct new_utsname *utsname(void)
{
	snprintf(name.nodename, sizeof(name.nodename), "node%u",
		 sim_current ? sim_current->index : 0);
	return &name;
}

u32 get_random_u32(void)
{
	return random_next(&sim.kernel);
}

void get_random_bytes(void *to, size_t length)
{
	u8 *p = to;

	while (length--)
		*p++ = random_next(&sim.kernel);
}

static void node_init(struct sim_node *node, u32 index)
{
	const u8 mac[ETH_ALEN] = { 2, 0, 0, index >> 16, index >> 8, index };

	node->index = index;
	node->phase = sim_below(200 * SIM_US);
	memcpy(node->mac, mac, ETH_ALEN);
	node->net.generic = calloc(1, driver_ops->size);
	node->dev = (struct net_device){
		.dev_addr = node->mac, .mtu = ETH_DATA_LEN, .net = &node->net,
		.node = node, .tx_queue_len = 1000,
	};
}

void sim_nodes_make(u32 count)
{
	u32 i;

	if (!driver_ops)
		omx_boards_init();
	sim.node = calloc(count, sizeof(*sim.node));
	sim.node_count = count;
	for (i = 0; i < count; i++)
		node_init(&sim.node[i], i);
}

void sim_nodes_destroy(void)
{
	u32 i;

	for (i = 0; i < sim.node_count; i++) {
		struct sim_node *node = &sim.node[i];

		SIM_REQUIRE(!node->board);
		SIM_REQUIRE(!node->bytes && !node->objects);
		sim_port_destroy(&node->in);
		sim_port_destroy(&node->out);
		free(node->net.generic);
	}
	free(sim.node);
	sim.node = NULL;
	sim.node_count = 0;
}

void sim_node_attach(struct sim_node *node)
{
	struct sim_node *outer = sim_current;
	struct omx_net *on = node->net.generic;

	SIM_REQUIRE(!node->board);
	SIM_TRACE("node %u comes up", node->index);
	node->takes = max(node->takes, max_t(u32, node->dev.mtu, ETH_DATA_LEN));
	sim_current = node;
	node->board = omx_board_alloc(&node->dev, 0, false);
	if (node->board) {
		if (sim.seldom && sim_chance(70))
			node->board->incoming.estimate.pause = OMX_ESTIMATE_PAUSE_MAX_US;
		rcu_assign_pointer(on->boards[0], node->board);
		node->dev.up = true;
		omx_hello_resume(node->board);
	}
	sim_current = outer;
}

static void node_keep_counters(struct sim_node *node)
{
	u32 i;

	for (i = 0; i < OMX_COUNTERS; i++)
		node->counters[i] += node->board->counters->value[i];
}

void sim_node_detach(struct sim_node *node)
{
	struct omx_net *on = node->net.generic;
	struct omx_board *board = node->board;
	struct sim_node *outer = sim_current;

	if (!board)
		return;
	SIM_TRACE("node %u goes down", node->index);
	sim_current = node;
	omx_hello_pause(board);
	spin_lock_bh(&board->endpoints_lock);
	WRITE_ONCE(board->detaching, true);
	spin_unlock_bh(&board->endpoints_lock);
	RCU_INIT_POINTER(on->boards[0], NULL);
	omx_endpoints_detach(board);
	node_keep_counters(node);
	node->board = NULL;
	omx_hello_pause(board);
	omx_peers_destroy(board);
	board->dev = NULL;
	omx_board_put(board);
	node->dev.up = false;
	sim_current = outer;
}

void sim_node_crash(struct sim_node *node)
{
	node->dev.up = false;
	sim_node_detach(node);
}

void sim_node_set_mtu(struct sim_node *node, u32 mtu)
{
	struct sim_node *outer = sim_current;

	SIM_TRACE("node %u has MTU %u", node->index, mtu);
	node->dev.mtu = mtu;
	node->takes = max(node->takes, mtu);
	if (!node->board)
		return;
	sim_current = node;
	omx_hello_announce(node->board);
	omx_endpoints_board_changed(node->board);
	sim_current = outer;
}

u64 sim_node_counter(const struct sim_node *node, enum omx_counter counter)
{
	return node->counters[counter] +
	       (node->board ? node->board->counters->value[counter] : 0);
}

u64 sim_counter(enum omx_counter counter)
{
	u64 sum = 0;
	u32 i;

	for (i = 0; i < sim.node_count; i++)
		sum += sim_node_counter(&sim.node[i], counter);
	return sum;
}
