// SPDX-License-Identifier: BSD-2-Clause
/*
 * Boards, peers, everything that mx_get_info tells, and what MPI libraries ask.
 *
 *	--client NAME	of a board of another host
 */
#include "mx.h"

#include <mx_internals/mx__driver_interface.h>
#include <mx_internals/mx__fops.h>
#include <mx_io.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t nic;		/* of board 0 */
static uint32_t board;

static void check_numbers(void)
{
	uint32_t number = 77;
	uint64_t other;

	FINE(mx_board_number_to_nic_id(0, &nic));
	CHECK(nic && !(nic >> 48));
	FINE(mx_nic_id_to_board_number(nic, &number));
	EQUAL(number, 0);
	number = 77;
	GIVES(mx_nic_id_to_board_number(0x123456, &number), MX_NIC_NOT_FOUND);
	GIVES(mx_board_number_to_nic_id(31, &other), MX_BOARD_UNKNOWN);
	GIVES(mx_board_number_to_nic_id(~0u, &other), MX_BOARD_UNKNOWN);
	EQUAL(number, 77);
}

static void check_names(void)
{
	char name[MX_MAX_HOSTNAME_LEN], again[MX_MAX_HOSTNAME_LEN];
	uint64_t found;

	FINE(mx_nic_id_to_hostname(nic, name));
	FINE(mx_hostname_to_nic_id(name, &found));
	EQUAL(found, nic);
	snprintf(name, sizeof(name), "%s", options.peer);
	FINE(mx_hostname_to_nic_id(name, &found));
	CHECK(found != nic);
	FINE(mx_nic_id_to_hostname(found, again));
	CHECK(!strcmp(name, again), " %s", again);

	strcpy(name, "nobody:0");
	GIVES(mx_hostname_to_nic_id(name, &found), MX_HOST_NOT_FOUND);
	GIVES(mx_nic_id_to_hostname(0x123456, name), MX_HOST_NOT_FOUND);
	GIVES(mx_hostname_to_nic_id(NULL, &found), MX_BAD_HOSTNAME_ARGS);
	GIVES(mx_nic_id_to_hostname(nic, NULL), MX_BAD_HOSTNAME_ARGS);
}

static uint32_t number_about(mx_endpoint_t ep, mx_get_info_key_t key)
{
	uint32_t number = 0xdeadbeef;

	FINE(mx_get_info(ep, key, ep ? NULL : &board, ep ? 0 : sizeof(board),
			 &number, sizeof(number)));
	CHECK(number != 0xdeadbeef);
	return number;
}

static void text_about(mx_endpoint_t ep, mx_get_info_key_t key, const char *expected)
{
	char text[MX_MAX_STR_LEN] = "";

	FINE(mx_get_info(ep, key, ep ? NULL : &board, ep ? 0 : sizeof(board),
			 text, sizeof(text)));
	CHECK(!strncmp(text, expected, strlen(expected)), " %s", text);
	FINE(mx_get_info(ep, key, &board, sizeof(board), text, 3));
	CHECK(!strncmp(text, expected, 2) && !text[2], " %s", text);
}

/* As Myricom's library does, by the number of the board; also by endpoint. */
static void about_board(mx_endpoint_t ep)
{
	char mac[20];

	snprintf(mac, sizeof(mac), "%02x:%02x:%02x:%02x:%02x:%02x",
		 MX_U32(nic) >> 8 & 0xff, MX_U32(nic) & 0xff, MX_L32(nic) >> 24 & 0xff,
		 MX_L32(nic) >> 16 & 0xff, MX_L32(nic) >> 8 & 0xff, MX_L32(nic) & 0xff);
	text_about(ep, MX_PRODUCT_CODE, "omx ");
	text_about(ep, MX_PART_NUMBER, "eth");
	text_about(ep, MX_SERIAL_NUMBER, mac);
	EQUAL(number_about(ep, MX_PORT_COUNT), 1);
	EQUAL(number_about(ep, MX_NET_TYPE), MX_NET_ETHER);
	EQUAL(number_about(ep, MX_LINE_SPEED), MX_SPEED_OPEN_MX);
	CHECK((int32_t)number_about(ep, MX_NUMA_NODE) >= -1);
}

static void about_all(void)
{
	uint32_t count = number_about(NULL, MX_NIC_COUNT), i;
	uint64_t ids[33];

	CHECK(count >= 1 && count <= 32);
	memset(ids, 0xff, sizeof(ids));
	FINE(mx_get_info(NULL, MX_NIC_IDS, NULL, 0, ids, (count + 1) * sizeof(ids[0])));
	EQUAL(ids[0], nic);
	EQUAL(ids[count], 0);
	for (i = 0; i < count; i++)
		CHECK(ids[i] && !(ids[i] >> 48));
	GIVES(mx_get_info(NULL, MX_NIC_IDS, NULL, 0, ids, count * sizeof(ids[0]) - 1),
	      MX_BAD_INFO_LENGTH);
	CHECK(number_about(NULL, MX_MAX_NATIVE_ENDPOINTS) >= 32);
	EQUAL(number_about(NULL, MX_NATIVE_REQUESTS), UINT32_MAX);
	EQUAL(number_about(NULL, MX_PIO_SEND_MAX), 4096);
	EQUAL(number_about(NULL, MX_COPY_SEND_MAX), 65536);
}

static void check_counters(mx_endpoint_t ep)
{
	uint32_t count = number_about(NULL, MX_COUNTERS_COUNT), i, sum = 0;
	uint32_t *values = allocate(count * sizeof(*values));
	char (*labels)[MX_MAX_STR_LEN] = allocate(count * sizeof(*labels));

	CHECK(count > 10);
	FINE(mx_get_info(NULL, MX_COUNTERS_LABELS, &board, sizeof(board),
			 labels, count * sizeof(*labels)));
	for (i = 0; i < count; i++)
		CHECK(labels[i][0] && memchr(labels[i], 0, sizeof(*labels)), " %u", i);
	CHECK(strcmp(labels[0], labels[count - 1]));
	FINE(mx_get_info(ep, MX_COUNTERS_VALUES, NULL, 0, values, count * sizeof(*values)));
	FINE(mx_get_info(NULL, MX_COUNTERS_VALUES, &board, sizeof(board),
			 values, count * sizeof(*values)));
	for (i = 0; i < count; i++)
		sum += values[i];
	CHECK(sum > 0);
	GIVES(mx_get_info(NULL, MX_COUNTERS_LABELS, &board, sizeof(board),
			  labels, count * sizeof(*labels) - 1), MX_BAD_INFO_LENGTH);
	free(labels);
	free(values);
}

static void check_errors(void)
{
	uint32_t number = 5, absent = 31;
	mx_get_info_key_t key;
	uint8_t byte = 0;

	for (key = MX_NIC_COUNT; key <= MX_LINE_SPEED; key++) {
		mx_return_t ret;

		GIVES(mx_get_info(NULL, key, &board, sizeof(board), NULL, 100), MX_BAD_INFO_VAL);
		ret = mx_get_info(NULL, key, &board, sizeof(board), &number, 0);
		CHECK(ret == MX_BAD_INFO_LENGTH ||
		      (key == MX_COUNTERS_VALUES && ret == MX_SUCCESS), " key %d: %s", key,
		      mx_strerror(ret));
	}
	GIVES(mx_get_info(NULL, 0, NULL, 0, &number, sizeof(number)), MX_BAD_INFO_KEY);
	GIVES(mx_get_info(NULL, MX_LINE_SPEED + 1, NULL, 0, &number, sizeof(number)),
	      MX_BAD_INFO_KEY);
	GIVES(mx_get_info(NULL, -1, NULL, 0, &number, sizeof(number)), MX_BAD_INFO_KEY);
	GIVES(mx_get_info(NULL, MX_PORT_COUNT, NULL, 0, &number, sizeof(number)),
	      MX_BAD_INFO_VAL);
	GIVES(mx_get_info(NULL, MX_NUMA_NODE, NULL, 0, &number, sizeof(number)),
	      MX_BAD_INFO_VAL);
	GIVES(mx_get_info(NULL, MX_NET_TYPE, &byte, 3, &number, sizeof(number)),
	      MX_BAD_INFO_LENGTH);
	GIVES(mx_get_info(NULL, MX_LINE_SPEED, &absent, sizeof(absent), &number, sizeof(number)),
	      MX_BOARD_UNKNOWN);
	GIVES(mx_get_info(NULL, MX_NUMA_NODE, &absent, sizeof(absent), &number, sizeof(number)),
	      MX_BOARD_UNKNOWN);
	EQUAL(number, 5);
}

static void as_mpi_asks(void)
{
	mx_endpt_handle_t handle = NULL;
	mx_mapper_state_t state;
	static const uint8_t none[6];
	char *memory = allocate(100000);

	memset(&state, 0xee, sizeof(state));
	GIVES(mx_open_board(31, &handle), MX_BOARD_UNKNOWN);
	GIVES(mx__get_mapper_state(NULL, &state), MX_BOARD_UNKNOWN);
	CHECK(!handle && state.num_hosts == 0xeeeeeeee);
	FINE(mx_open_board(0, &handle));
	CHECK(handle);
	FINE(mx__get_mapper_state(handle, &state));
	EQUAL(state.board_number, 0);
	EQUAL(state.iport, 0);
	EQUAL(state.network_configured, 1);
	EQUAL(state.routes_valid, 1);
	CHECK(!memcmp(state.mapper_mac, none, sizeof(none)));
	EQUAL(mx__regcache_clean(memory, 100000), 0);
	EQUAL(mx__regcache_clean(NULL, 0), 0);
	free(memory);
}

static void run_test(void)
{
	mx_endpoint_t ep;

	mx_set_error_handler(MX_ERRORS_RETURN);
	FINE(mx_init());
	check_numbers();
	check_names();
	ep = mx_open_any();
	about_board(NULL);
	about_board(ep);
	about_all();
	check_counters(ep);
	check_errors();
	as_mpi_asks();
	FINE(mx_close_endpoint(ep));
	FINE(mx_finalize());
}

int main(int argc, char **argv)
{
	return run_alone(argc, argv, run_test);
}
