/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Boards and peers, and what MPI libraries ask Myricom's driver about them.
 */
#include "error.h"
#include "mx_internals/mx__driver_interface.h"

mx_return_t mx_board_number_to_nic_id(uint32_t board, uint64_t *nic_id)
{
	return mx__return(NULL, omx_board_number_to_nic_id(board, nic_id), __func__);
}

mx_return_t mx_nic_id_to_board_number(uint64_t nic_id, uint32_t *board)
{
	return mx__return(NULL, omx_nic_id_to_board_number(nic_id, board), __func__);
}

mx_return_t mx_hostname_to_nic_id(char *hostname, uint64_t *nic_id)
{
	if (!hostname)
		return mx__error_report(NULL, MX_BAD_HOSTNAME_ARGS, __func__);
	return mx__return(NULL, omx_hostname_to_nic_id(hostname, nic_id), __func__);
}

mx_return_t mx_nic_id_to_hostname(uint64_t nic_id, char *hostname)
{
	if (!hostname)
		return mx__error_report(NULL, MX_BAD_HOSTNAME_ARGS, __func__);
	return mx__return(NULL, omx_nic_id_to_hostname(nic_id, hostname), __func__);
}

/* ---- handles: the number of the board, and one so that none is NULL ---------- */

static mx_endpt_handle_t handle_of(uint32_t board)
{
	return (mx_endpt_handle_t)((uintptr_t)board + 1);
}

/* NULL becomes a number that no board has. */
static uint32_t board_of(mx_endpt_handle_t handle)
{
	uintptr_t number = (uintptr_t)handle - 1;

	return number < UINT32_MAX ? (uint32_t)number : UINT32_MAX;
}

mx_return_t mx_open_board(uint32_t board, mx_endpt_handle_t *handle)
{
	uint64_t nic_id;
	omx_return_t ret = omx_board_number_to_nic_id(board, &nic_id);

	if (!ret)
		*handle = handle_of(board);
	return mx__return(NULL, ret, __func__);
}

mx_return_t mx__get_mapper_state(mx_endpt_handle_t handle, mx_mapper_state_t *state)
{
	uint32_t board = board_of(handle);
	uint64_t nic_id;
	omx_return_t ret = omx_board_number_to_nic_id(board, &nic_id);

	if (!ret)
		*state = (mx_mapper_state_t){
			.board_number = board,
			.network_configured = 1,
			.routes_valid = 1,
		};
	return mx__return(NULL, ret, __func__);
}

/*
 * libomx's cached regions name addresses, not pages; the driver translates
 * them anew after each change of the address space, of which an MMU notifier
 * tells it before the change is made.
 */
int mx__regcache_clean(void *ptr, size_t length)
{
	(void)ptr;
	(void)length;
	return 0;
}
