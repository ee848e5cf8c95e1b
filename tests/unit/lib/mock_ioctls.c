/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The ioctls: counted, failed where the test says so, passed on; those that
 * only ask are answered here.
 */
#include "mock_private.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define COMMANDS	128

struct fault {
	unsigned long command;
	int err, skip, times;
};

static struct fault faults[8];
static uint32_t calls[COMMANDS], abi_oldest, abi;

/* ---- what boards and peers there are --------------------------------------- */

static int do_info(struct omx_ioc_info *info)
{
	*info = (struct omx_ioc_info){
		.abi_version = abi, .abi_oldest = abi_oldest, .board_max = OMX_BOARD_MAX,
		.endpoint_max = OMX_ENDPOINT_MAX, .counter_max = MOCK_COUNTERS,
	};
	return 0;
}

bool mock_board_exists(uint32_t board)
{
	return board == 0 || board == 2;
}

static int do_board(struct omx_ioc_board *board)
{
	if (!mock_board_exists(board->board))
		return -ENODEV;
	board->flags = OMX_BOARD_UP;
	board->mac = MOCK_MAC(board->board);
	board->mtu = 9000;
	board->numa_node = -1;
	strcpy(board->ifname, board->board ? "eth2" : "eth0");
	strcpy(board->name, board->board ? "node1:2" : "node1:0");
	return 0;
}

static int do_counters(struct omx_ioc_counters *counters)
{
	uint64_t *values = (void *)(uintptr_t)counters->values;

	if (!mock_board_exists(counters->board))
		return -ENODEV;
	for (uint32_t i = 0; i < counters->count && i < MOCK_COUNTERS; i++)
		values[i] = 0x100000000ull + i;
	counters->count = MOCK_COUNTERS;
	return 0;
}

static int do_counter_label(struct omx_ioc_counter_label *label)
{
	if (label->index >= MOCK_COUNTERS)
		return -EINVAL;
	strcpy(label->label, "counter");
	return 0;
}

static int do_peer_by_mac(struct omx_ioc_peer *peer)
{
	if (peer->mac != MOCK_SILENT_MAC)
		return -ENOENT;
	strcpy(peer->name, "node2:0");
	peer->flags = OMX_PEER_NAMED;
	return 0;
}

static int do_peer_by_name(struct omx_ioc_peer *peer)
{
	if (strcmp(peer->name, "node2:0"))
		return -ENOENT;
	peer->mac = MOCK_SILENT_MAC;
	return 0;
}

void mock_set_abi(uint32_t oldest, uint32_t version)
{
	abi_oldest = oldest;
	abi = version;
}

void mock_remove_board(uint32_t board)
{
	struct omx_event event = { .type = OMX_EVENT_BOARD, .status = OMX_STATUS_BOARD_REMOVED };

	pthread_mutex_lock(&mock_lock);
	for (int i = 0; i < FILES; i++) {
		if (mock_files[i].open && mock_files[i].board == board)
			mock_post_to(&mock_files[i], &event, NULL, 0);
	}
	pthread_mutex_unlock(&mock_lock);
}

/* ---- all ------------------------------------------------------------------- */

static int run(struct file *file, unsigned long command, void *argument)
{
	switch (command) {
	case OMX_IOC_INFO: return do_info(argument);
	case OMX_IOC_BOARD: return do_board(argument);
	case OMX_IOC_COUNTERS: return do_counters(argument);
	case OMX_IOC_COUNTER_LABEL: return do_counter_label(argument);
	case OMX_IOC_PEER_BY_MAC: return do_peer_by_mac(argument);
	case OMX_IOC_PEER_BY_NAME: return do_peer_by_name(argument);
	case OMX_IOC_OPEN: return mock_do_open(file, argument);
	case OMX_IOC_PAGER: return -ENOTTY;
	}
	assert(file->open);
	switch (command) {
	case OMX_IOC_CONNECT: return mock_do_connect(file, argument);
	case OMX_IOC_CHANNEL_INFO: return mock_do_channel_info(file, argument);
	case OMX_IOC_DISCONNECT: return mock_do_disconnect(file, argument);
	case OMX_IOC_SEND: return mock_do_send(file, argument);
	case OMX_IOC_SEND_RNDV: return mock_do_send_rndv(file, argument);
	case OMX_IOC_PULL: return mock_do_pull(file, argument);
	case OMX_IOC_WITHDRAW: return mock_do_withdraw(file, argument);
	case OMX_IOC_REGION_CREATE: return mock_do_region_create(file, argument);
	case OMX_IOC_REGION_DESTROY: return mock_do_region_destroy(file, argument);
	case OMX_IOC_PREFETCH: return mock_do_prefetch(argument);
	case OMX_IOC_WINDOW_CREATE: return mock_do_window_create(file, argument);
	case OMX_IOC_WINDOW_REVOKE: return mock_do_window_revoke(file, argument);
	case OMX_IOC_PUT: return mock_do_put(file, argument);
	case OMX_IOC_PUT_RNDV: return mock_do_put_rndv(file, argument);
	case OMX_IOC_GET: return mock_do_get(file, argument);
	case OMX_IOC_ATOMIC: return mock_do_atomic(file, argument);
	case OMX_IOC_PUT_WHEN: return mock_do_put_when(file, argument);
	case OMX_IOC_GET_WHEN: return mock_do_get_when(file, argument);
	case OMX_IOC_POST_KEY: return mock_do_post_key(file, argument);
	case OMX_IOC_FLUSH_ACTIVE: return mock_do_flush_active(file, argument);
	case OMX_IOC_PUT_LOCAL:
	case OMX_IOC_GET_LOCAL: return -EAGAIN;
	case OMX_IOC_FETCH: return mock_do_fetch(file, argument);
	case OMX_IOC_WAIT: return mock_do_wait(file, argument);
	case OMX_IOC_WAKEUP: return mock_do_wakeup(file);
	case OMX_IOC_UNCORK: return mock_do_uncork(file);
	case OMX_IOC_KICK: mock_flush_backlog(file); return 0;
	}
	abort();
}

static int fault_of(unsigned long command)
{
	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
		struct fault *fault = &faults[i];

		if (fault->command != command || !fault->times)
			continue;
		if (fault->skip) {
			fault->skip--;
			continue;
		}
		fault->times--;
		return fault->err;
	}
	return 0;
}

int omx__driver_ioctl(int fd, unsigned long command, void *argument)
{
	int err;

	pthread_mutex_lock(&mock_lock);
	calls[_IOC_NR(command)]++;
	err = fault_of(command);
	if (!err)
		err = run(mock_file_of(fd), command, argument);
	pthread_mutex_unlock(&mock_lock);
	return err;
}

void mock_reset_ioctls(void)
{
	memset(faults, 0, sizeof(faults));
	memset(calls, 0, sizeof(calls));
	mock_set_abi(OMX_ABI_OLDEST, OMX_ABI_VERSION);
}

void mock_fail(unsigned long command, int err, int skip, int times)
{
	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
		if (!faults[i].times) {
			faults[i] = (struct fault){ command, err, skip, times };
			return;
		}
	}
	abort();
}

void mock_fail_no_more(void)
{
	pthread_mutex_lock(&mock_lock);
	memset(faults, 0, sizeof(faults));
	pthread_mutex_unlock(&mock_lock);
}

uint32_t mock_calls(unsigned long command)
{
	uint32_t count;

	pthread_mutex_lock(&mock_lock);
	count = calls[_IOC_NR(command)];
	pthread_mutex_unlock(&mock_lock);
	return count;
}

uint32_t mock_all_calls(void)
{
	uint32_t count = 0;

	pthread_mutex_lock(&mock_lock);
	for (int i = 0; i < COMMANDS; i++)
		count += calls[i];
	pthread_mutex_unlock(&mock_lock);
	return count;
}
