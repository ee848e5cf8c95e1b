/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Boards, peers, and all the keys of omx_get_info.
 */
#include "fixture.h"

static void boards_by_number_and_address(void **state)
{
	uint64_t nic;
	uint32_t board;

	(void)state;
	ok(omx_board_number_to_nic_id(2, &nic));
	assert_true(nic == MOCK_MAC(2));
	assert_int_equal(omx_board_number_to_nic_id(1, &nic), OMX_BOARD_NOT_FOUND);
	assert_int_equal(omx_board_number_to_nic_id(OMX_ANY_NIC, &nic), OMX_BOARD_NOT_FOUND);
	ok(omx_nic_id_to_board_number(MOCK_MAC(2), &board));
	assert_int_equal(board, 2);
	assert_int_equal(omx_nic_id_to_board_number(MOCK_MAC(1), &board), OMX_NIC_ID_NOT_FOUND);
	assert_int_equal(omx_nic_id_to_board_number(MOCK_SILENT_MAC, &board),
			 OMX_NIC_ID_NOT_FOUND);
}

static void names(void **state)
{
	char name[OMX_HOSTNAMELEN_MAX], long_name[200];
	uint64_t nic;

	(void)state;
	ok(omx_hostname_to_nic_id("node2:0", &nic));
	assert_true(nic == MOCK_SILENT_MAC);
	ok(omx_hostname_to_nic_id("node1:2", &nic));
	assert_true(nic == MOCK_MAC(2));
	assert_int_equal(omx_hostname_to_nic_id("node3:0", &nic), OMX_PEER_NOT_FOUND);
	assert_int_equal(omx_hostname_to_nic_id(NULL, &nic), OMX_PEER_NOT_FOUND);
	memset(long_name, 'x', sizeof(long_name));
	long_name[sizeof(long_name) - 1] = 0;
	assert_int_equal(omx_hostname_to_nic_id(long_name, &nic), OMX_PEER_NOT_FOUND);

	ok(omx_nic_id_to_hostname(MOCK_SILENT_MAC, name));
	assert_string_equal(name, "node2:0");
	ok(omx_nic_id_to_hostname(MOCK_MAC(0), name));
	assert_string_equal(name, "node1:0");
	assert_int_equal(omx_nic_id_to_hostname(1, name), OMX_PEER_NOT_FOUND);
}

static uint32_t number(omx_info_key_t key)
{
	uint32_t value = 0;

	ok(omx_get_info(NULL, key, NULL, 0, &value, sizeof(value)));
	return value;
}

static void numbers(void **state)
{
	uint32_t value;

	(void)state;
	assert_int_equal(number(OMX_INFO_BOARD_MAX), OMX_BOARD_MAX);
	assert_int_equal(number(OMX_INFO_ENDPOINT_MAX), OMX_ENDPOINT_MAX);
	assert_int_equal(number(OMX_INFO_COUNTER_MAX), MOCK_COUNTERS);
	assert_int_equal(number(OMX_INFO_BOARD_COUNT), 2);
	for (int key = OMX_INFO_BOARD_MAX; key <= OMX_INFO_BOARD_COUNT; key++)
		assert_int_equal(omx_get_info(NULL, (omx_info_key_t)key, NULL, 0, &value, 3),
				 OMX_BAD_INFO_LENGTH);
	assert_int_equal(omx_get_info(NULL, OMX_INFO_BOARD_COUNT, NULL, 0, NULL, 4),
			 OMX_BAD_INFO_ADDRESS);
	assert_int_equal(omx_get_info(NULL, (omx_info_key_t)99, NULL, 0, &value, 4),
			 OMX_BAD_INFO_KEY);
}

static void board_ids(void **state)
{
	uint64_t ids[4] = { 7, 7, 7, 7 };

	(void)state;
	ok(omx_get_info(NULL, OMX_INFO_BOARD_IDS, NULL, 0, ids, 2 * sizeof(ids[0])));
	assert_true(ids[0] == MOCK_MAC(0) && ids[1] == MOCK_MAC(2) && ids[2] == 7);
	ok(omx_get_info(NULL, OMX_INFO_BOARD_IDS, NULL, 0, ids, sizeof(ids)));
	assert_true(ids[2] == 0 && ids[3] == 7);
	assert_int_equal(omx_get_info(NULL, OMX_INFO_BOARD_IDS, NULL, 0, ids, sizeof(ids[0])),
			 OMX_BAD_INFO_LENGTH);
}

static void about_a_board(void **state)
{
	uint32_t values[MOCK_COUNTERS + 1] = { 0 }, board = 2;
	uint8_t small_board = 2;
	omx_endpoint_t ep = open_with(0, NULL, 0);
	char name[OMX_HOSTNAMELEN_MAX];
	int32_t node = 0;

	(void)state;
	ok(omx_get_info(NULL, OMX_INFO_BOARD_IFACENAME, &small_board, 1, name, sizeof(name)));
	assert_string_equal(name, "eth2");
	ok(omx_get_info(NULL, OMX_INFO_BOARD_IFACENAME, &board, 4, name, sizeof(name)));
	assert_string_equal(name, "eth2");
	ok(omx_get_info(ep, OMX_INFO_BOARD_HOSTNAME, NULL, 0, name, sizeof(name)));
	assert_string_equal(name, "node1:0");
	ok(omx_get_info(ep, OMX_INFO_BOARD_HOSTNAME, NULL, 0, name, 4));
	assert_string_equal(name, "nod");
	assert_int_equal(omx_get_info(ep, OMX_INFO_BOARD_HOSTNAME, NULL, 0, name, 0),
			 OMX_BAD_INFO_LENGTH);
	ok(omx_get_info(ep, OMX_INFO_BOARD_NUMA_NODE, NULL, 0, &node, sizeof(node)));
	assert_int_equal(node, -1);
	assert_int_equal(omx_get_info(NULL, OMX_INFO_BOARD_HOSTNAME, NULL, 0, name, 4),
			 OMX_BAD_INFO_ADDRESS);
	assert_int_equal(omx_get_info(NULL, OMX_INFO_BOARD_HOSTNAME, &board, 3, name, 4),
			 OMX_BAD_INFO_LENGTH);
	board = 1;
	assert_int_equal(omx_get_info(NULL, OMX_INFO_BOARD_HOSTNAME, &board, 4, name, 4),
			 OMX_BOARD_NOT_FOUND);
	assert_int_equal(omx_get_info(NULL, OMX_INFO_BOARD_NUMA_NODE, &board, 4, &node, 4),
			 OMX_BOARD_NOT_FOUND);
	assert_int_equal(omx_get_info(NULL, OMX_INFO_COUNTER_VALUES, &board, 4, values, 4),
			 OMX_BOARD_NOT_FOUND);

	values[3] = 77;
	ok(omx_get_info(ep, OMX_INFO_COUNTER_VALUES, NULL, 0, values, 3 * sizeof(values[0])));
	assert_true(values[0] == 0 && values[1] == 1 && values[2] == 2 && values[3] == 77);
	ok(omx_get_info(ep, OMX_INFO_COUNTER_VALUES, NULL, 0, values, sizeof(values)));
	assert_int_equal(values[4], 4);
	ok(omx_get_info(ep, OMX_INFO_COUNTER_VALUES, NULL, 0, values, 0));

	board = 4;
	ok(omx_get_info(NULL, OMX_INFO_COUNTER_LABEL, &board, 4, name, sizeof(name)));
	assert_string_equal(name, "counter");
	board = 5;
	assert_int_equal(omx_get_info(NULL, OMX_INFO_COUNTER_LABEL, &board, 4, name, sizeof(name)),
			 OMX_BAD_INFO_ADDRESS);
	assert_int_equal(omx_get_info(NULL, OMX_INFO_COUNTER_LABEL, NULL, 0, name, sizeof(name)),
			 OMX_BAD_INFO_ADDRESS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		library_test(boards_by_number_and_address),
		library_test(names),
		library_test(numbers),
		library_test(board_ids),
		library_test(about_a_board),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
