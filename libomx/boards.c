/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Public functions that translate between numbers, MAC addresses and names of
 * boards and peers, which the driver knows.
 *
 * Any thread may call them.  They need no endpoint and no endpoint's lock: the
 * queries go through the descriptor that omx_init has opened.
 */
#include "boards.h"

#include <errno.h>
#include <string.h>

#include "error.h"
#include "init.h"

omx_return_t omx__board_error(int negative_errno)
{
	switch (-negative_errno) {
	case ENOTCONN:
		return OMX_NOT_INITIALIZED;
	case EINVAL:
	case ENOENT:
		return OMX_BOARD_NOT_FOUND;
	default:
		return omx__error_from_errno(negative_errno);
	}
}

static omx_return_t peer_error(int negative_errno)
{
	omx_return_t code = omx__board_error(negative_errno);

	return code == OMX_BOARD_NOT_FOUND ? OMX_PEER_NOT_FOUND : code;
}

omx_return_t omx__board_get(uint32_t number, struct omx_ioc_board *board)
{
	int err;

	memset(board, 0, sizeof(*board));
	board->board = number;
	err = omx__query_driver(OMX_IOC_BOARD, board);
	if (err)
		return omx__board_error(err);
	board->ifname[sizeof(board->ifname) - 1] = 0;
	board->name[sizeof(board->name) - 1] = 0;
	return OMX_SUCCESS;
}

bool omx__board_next(uint32_t *number, struct omx_ioc_board *board)
{
	for (; *number < OMX_BOARD_MAX; (*number)++) {
		if (omx__board_get(*number, board) == OMX_SUCCESS)
			return true;
	}
	return false;
}

omx_return_t omx_board_number_to_nic_id(uint32_t board, uint64_t *nic_id)
{
	struct omx_ioc_board found;
	omx_return_t ret = omx__board_get(board, &found);

	if (!ret)
		*nic_id = found.mac;
	return omx__return(NULL, ret, __func__);
}

static omx_return_t board_find_by_mac(uint64_t mac, struct omx_ioc_board *board)
{
	struct omx_ioc_info info;
	omx_return_t ret = omx__driver_info(&info);
	uint32_t number;

	if (ret)
		return ret;
	for (number = 0; omx__board_next(&number, board); number++) {
		if (board->mac == mac)
			return OMX_SUCCESS;
	}
	return OMX_NIC_ID_NOT_FOUND;
}

omx_return_t omx_nic_id_to_board_number(uint64_t nic_id, uint32_t *board)
{
	struct omx_ioc_board found;
	omx_return_t ret = board_find_by_mac(nic_id, &found);

	if (!ret)
		*board = found.board;
	return omx__return(NULL, ret, __func__);
}

/* This host's own boards need not be in the driver's table of peers. */
static omx_return_t board_find_by_name(const char *name, uint64_t *mac)
{
	struct omx_ioc_board board;
	uint32_t number;

	for (number = 0; omx__board_next(&number, &board); number++) {
		if (!strcmp(board.name, name)) {
			*mac = board.mac;
			return OMX_SUCCESS;
		}
	}
	return OMX_PEER_NOT_FOUND;
}

static omx_return_t peer_find_by_name(const char *name, uint64_t *mac)
{
	struct omx_ioc_peer peer = { .board = OMX_ANY };
	int err;

	if (!name || strlen(name) >= sizeof(peer.name))
		return OMX_PEER_NOT_FOUND;
	strcpy(peer.name, name);
	err = omx__query_driver(OMX_IOC_PEER_BY_NAME, &peer);
	if (err == -ENOENT || err == -EINVAL)
		return board_find_by_name(name, mac);
	if (err)
		return peer_error(err);
	*mac = peer.mac;
	return OMX_SUCCESS;
}

omx_return_t omx_hostname_to_nic_id(char *hostname, uint64_t *nic_id)
{
	return omx__return(NULL, peer_find_by_name(hostname, nic_id), __func__);
}

static omx_return_t peer_name_of(uint64_t mac, char *name)
{
	struct omx_ioc_peer peer = { .board = OMX_ANY, .mac = mac };
	struct omx_ioc_board board;
	int err = omx__query_driver(OMX_IOC_PEER_BY_MAC, &peer);

	if (!err && (peer.flags & OMX_PEER_NAMED)) {
		memcpy(name, peer.name, OMX_HOSTNAMELEN_MAX);
		name[OMX_HOSTNAMELEN_MAX - 1] = 0;
		return OMX_SUCCESS;
	}
	if (board_find_by_mac(mac, &board) == OMX_SUCCESS) {
		memcpy(name, board.name, OMX_HOSTNAMELEN_MAX);
		return OMX_SUCCESS;
	}
	return err ? peer_error(err) : OMX_PEER_NOT_FOUND;
}

omx_return_t omx_nic_id_to_hostname(uint64_t nic_id, char *hostname)
{
	return omx__return(NULL, peer_name_of(nic_id, hostname), __func__);
}
