// SPDX-License-Identifier: BSD-2-Clause
/*
 * What a program can learn about boards and peers: numbers, addresses, names,
 * omx_get_info.  One side; --client NAME names a peer to look up, if there is
 * one.
 */
#include "endpoints.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t boards_have_addresses(void)
{
	uint64_t nic;
	uint32_t board;

	MUST(omx_board_number_to_nic_id(0, &nic));
	CHECK(nic && !(nic >> 48));
	MUST(omx_nic_id_to_board_number(nic, &board));
	EQUAL(board, 0);

	RETURNS(omx_board_number_to_nic_id(31, &nic), OMX_BOARD_NOT_FOUND);
	RETURNS(omx_board_number_to_nic_id(1000, &nic), OMX_BOARD_NOT_FOUND);
	RETURNS(omx_nic_id_to_board_number(0x020000000001, &board), OMX_NIC_ID_NOT_FOUND);
	RETURNS(omx_nic_id_to_board_number(~0ull, &board), OMX_NIC_ID_NOT_FOUND);
	return nic;
}

static void boards_have_names(uint64_t nic)
{
	char name[OMX_HOSTNAMELEN_MAX];
	char other[OMX_HOSTNAMELEN_MAX] = "nobody:7";
	uint64_t back;

	MUST(omx_nic_id_to_hostname(nic, name));
	CHECK(strstr(name, ":0"), " %s", name);
	MUST(omx_hostname_to_nic_id(name, &back));
	EQUAL(back, nic);

	RETURNS(omx_hostname_to_nic_id(other, &back), OMX_PEER_NOT_FOUND);
	EQUAL(back, nic);
	RETURNS(omx_nic_id_to_hostname(0x020000000001, other), OMX_PEER_NOT_FOUND);
	CHECK(!strcmp(other, "nobody:7"));
}

static void peers_have_names(uint64_t own)
{
	char name[OMX_HOSTNAMELEN_MAX], back[OMX_HOSTNAMELEN_MAX];
	uint64_t nic;
	uint32_t board;

	snprintf(name, sizeof(name), "%s", options.peer);
	MUST(omx_hostname_to_nic_id(name, &nic));
	CHECK(nic != own);
	MUST(omx_nic_id_to_hostname(nic, back));
	CHECK(!strcmp(name, back), " %s and %s", name, back);
	RETURNS(omx_nic_id_to_board_number(nic, &board), OMX_NIC_ID_NOT_FOUND);
}

static uint32_t info_number(omx_info_key_t key)
{
	uint32_t value = 0;

	MUST(omx_get_info(NULL, key, NULL, 0, &value, sizeof(value)));
	CHECK(value > 0);
	return value;
}

static void info_about_the_driver(uint64_t nic)
{
	uint32_t count = info_number(OMX_INFO_BOARD_COUNT);
	uint64_t *ids = allocate((count + 1) * sizeof(*ids));
	uint64_t few;
	bool found = false;
	uint32_t i;

	EQUAL(info_number(OMX_INFO_BOARD_MAX), 32);
	EQUAL(info_number(OMX_INFO_ENDPOINT_MAX), 4096);
	memset(ids, 0xff, (count + 1) * sizeof(*ids));
	MUST(omx_get_info(NULL, OMX_INFO_BOARD_IDS, NULL, 0, ids, (count + 1) * sizeof(*ids)));
	for (i = 0; i < count; i++)
		found |= ids[i] == nic;
	CHECK(found);
	EQUAL(ids[count], 0);
	free(ids);
	RETURNS(omx_get_info(NULL, OMX_INFO_BOARD_IDS, NULL, 0, &few, sizeof(few) - 1),
		OMX_BAD_INFO_LENGTH);
}

static void info_about_a_board(void)
{
	uint8_t board = 0;
	uint32_t wide = 0;
	char name[OMX_HOSTNAMELEN_MAX] = "", again[OMX_HOSTNAMELEN_MAX] = "", cut[3];
	int32_t node = 77;

	MUST(omx_get_info(NULL, OMX_INFO_BOARD_HOSTNAME, &board, sizeof(board), name,
			  sizeof(name)));
	CHECK(strchr(name, ':'), " %s", name);
	MUST(omx_get_info(NULL, OMX_INFO_BOARD_HOSTNAME, &wide, sizeof(wide), again,
			  sizeof(again)));
	CHECK(!strcmp(name, again));
	MUST(omx_get_info(NULL, OMX_INFO_BOARD_HOSTNAME, &board, sizeof(board), cut,
			  sizeof(cut)));
	CHECK(!strncmp(cut, name, 2) && !cut[2]);
	MUST(omx_get_info(NULL, OMX_INFO_BOARD_IFACENAME, &board, sizeof(board), name,
			  sizeof(name)));
	CHECK(!strcmp(name, "eth0"), " %s", name);
	MUST(omx_get_info(NULL, OMX_INFO_BOARD_NUMA_NODE, &board, sizeof(board), &node,
			  sizeof(node)));
	CHECK(node >= -1 && node < 64, " %d", node);
}

static void info_about_an_endpoints_board(void)
{
	omx_endpoint_t ep = open_any();
	char name[OMX_HOSTNAMELEN_MAX];

	MUST(omx_get_info(ep, OMX_INFO_BOARD_IFACENAME, NULL, 0, name, sizeof(name)));
	CHECK(!strcmp(name, "eth0"), " %s", name);
	MUST(omx_close_endpoint(ep));
	RETURNS(omx_get_info(ep, OMX_INFO_BOARD_IFACENAME, NULL, 0, name, sizeof(name)),
		OMX_BAD_ENDPOINT);
}

static void info_about_counters(void)
{
	uint32_t count = info_number(OMX_INFO_COUNTER_MAX);
	uint32_t *values = allocate(count * sizeof(*values));
	uint8_t board = 0;
	char label[64];
	uint32_t i;

	MUST(omx_get_info(NULL, OMX_INFO_COUNTER_VALUES, &board, sizeof(board), values,
			  count * sizeof(*values)));
	for (i = 0; i < count; i++) {
		*label = 0;
		MUST(omx_get_info(NULL, OMX_INFO_COUNTER_LABEL, &i, sizeof(i), label,
				  sizeof(label)));
		CHECK(*label && strlen(label) < sizeof(label));
		if (!strcmp(label, "sent hello"))
			CHECK(values[i] > 0);
	}
	CHECK(omx_get_info(NULL, OMX_INFO_COUNTER_LABEL, &count, sizeof(count), label,
			   sizeof(label)) != OMX_SUCCESS);
	free(values);
}

static void bad_questions(void)
{
	uint8_t missing = 31, board = 0;
	uint32_t value = 5;
	char name[80];

	RETURNS(omx_get_info(NULL, 77, NULL, 0, &value, sizeof(value)), OMX_BAD_INFO_KEY);
	RETURNS(omx_get_info(NULL, OMX_INFO_BOARD_MAX, NULL, 0, NULL, 4), OMX_BAD_INFO_ADDRESS);
	RETURNS(omx_get_info(NULL, OMX_INFO_BOARD_MAX, NULL, 0, &value, 3), OMX_BAD_INFO_LENGTH);
	RETURNS(omx_get_info(NULL, OMX_INFO_BOARD_HOSTNAME, NULL, 0, name, sizeof(name)),
		OMX_BAD_INFO_ADDRESS);
	RETURNS(omx_get_info(NULL, OMX_INFO_BOARD_HOSTNAME, &board, 0, name, sizeof(name)),
		OMX_BAD_INFO_LENGTH);
	RETURNS(omx_get_info(NULL, OMX_INFO_BOARD_HOSTNAME, &missing, 1, name, sizeof(name)),
		OMX_BOARD_NOT_FOUND);
	EQUAL(value, 5);
}

static void run_test(void)
{
	uint64_t nic;

	MUST(omx_init());
	nic = boards_have_addresses();
	boards_have_names(nic);
	if (options.peer)
		peers_have_names(nic);
	info_about_the_driver(nic);
	info_about_a_board();
	info_about_an_endpoints_board();
	info_about_counters();
	bad_questions();
	MUST(omx_finalize());
}

int main(int argc, char **argv)
{
	return run_alone(argc, argv, run_test);
}
