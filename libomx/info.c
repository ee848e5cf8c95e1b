/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * omx_get_info() returns properties of the driver and of boards by a key.  Each
 * key has a function here that queries the driver.
 *
 * Any thread may call it.  The endpoint's lock is held only to read which board
 * the endpoint is on.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "boards.h"
#include "endpoint.h"
#include "error.h"
#include "init.h"

/* The arguments of omx_get_info. */
struct info_query {
	uint32_t board;		/* if the key is about one */
	const void *in;
	uint32_t in_len;
	void *out;
	uint32_t out_len;
};

typedef omx_return_t (*info_function)(const struct info_query *query);

static omx_return_t info_put(const struct info_query *query, const void *value, uint32_t length)
{
	if (query->out_len < length)
		return OMX_BAD_INFO_LENGTH;
	memcpy(query->out, value, length);
	return OMX_SUCCESS;
}

static omx_return_t info_put_number(const struct info_query *query, uint32_t number)
{
	return info_put(query, &number, sizeof(number));
}

static omx_return_t info_put_name(const struct info_query *query, const char *name)
{
	size_t length = strnlen(name, query->out_len);
	char *out = query->out;

	if (!query->out_len)
		return OMX_BAD_INFO_LENGTH;
	if (length == query->out_len)
		length--;
	memcpy(out, name, length);
	out[length] = 0;
	return OMX_SUCCESS;
}

static omx_return_t info_get_number(const struct info_query *query, uint32_t *number)
{
	if (!query->in)
		return OMX_BAD_INFO_ADDRESS;
	if (query->in_len == sizeof(uint32_t))
		memcpy(number, query->in, sizeof(*number));
	else if (query->in_len == sizeof(uint8_t))
		*number = *(const uint8_t *)query->in;
	else
		return OMX_BAD_INFO_LENGTH;
	return OMX_SUCCESS;
}

static omx_return_t board_max(const struct info_query *query)
{
	struct omx_ioc_info info;
	omx_return_t ret = omx__driver_info(&info);

	return ret ? ret : info_put_number(query, info.board_max);
}

static omx_return_t endpoint_max(const struct info_query *query)
{
	struct omx_ioc_info info;
	omx_return_t ret = omx__driver_info(&info);

	return ret ? ret : info_put_number(query, info.endpoint_max);
}

static omx_return_t counter_max(const struct info_query *query)
{
	struct omx_ioc_info info;
	omx_return_t ret = omx__driver_info(&info);

	return ret ? ret : info_put_number(query, info.counter_max);
}

static omx_return_t board_count(const struct info_query *query)
{
	struct omx_ioc_board board;
	uint32_t number = 0, count = 0;

	while (omx__board_next(&number, &board)) {
		count++;
		number++;
	}
	return info_put_number(query, count);
}

static omx_return_t board_ids(const struct info_query *query)
{
	uint64_t ids[OMX_BOARD_MAX + 1] = { 0 };
	struct omx_ioc_board board;
	uint32_t number = 0, count = 0, length;

	while (count < OMX_BOARD_MAX && omx__board_next(&number, &board)) {
		ids[count++] = board.mac;
		number++;
	}
	length = count * sizeof(ids[0]);
	if (query->out_len >= length + sizeof(ids[0]))
		length += sizeof(ids[0]);
	return info_put(query, ids, length);
}

static omx_return_t board_hostname(const struct info_query *query)
{
	struct omx_ioc_board board;
	omx_return_t ret = omx__board_get(query->board, &board);

	return ret ? ret : info_put_name(query, board.name);
}

static omx_return_t board_ifacename(const struct info_query *query)
{
	struct omx_ioc_board board;
	omx_return_t ret = omx__board_get(query->board, &board);

	return ret ? ret : info_put_name(query, board.ifname);
}

static omx_return_t board_numa_node(const struct info_query *query)
{
	struct omx_ioc_board board;
	omx_return_t ret = omx__board_get(query->board, &board);

	return ret ? ret : info_put_number(query, (uint32_t)board.numa_node);
}

static omx_return_t info_read_counters(uint32_t board, uint64_t *values, uint32_t *count)
{
	struct omx_ioc_counters counters = {
		.board = board,
		.count = *count,
		.values = (uintptr_t)values,
	};
	int err = omx__query_driver(OMX_IOC_COUNTERS, &counters);

	if (err)
		return omx__board_error(err);
	if (counters.count < *count)
		*count = counters.count;
	return OMX_SUCCESS;
}

static omx_return_t counter_values(const struct info_query *query)
{
	struct omx_ioc_info info;
	uint32_t count = query->out_len / sizeof(uint32_t), i;
	uint32_t *out = query->out;
	uint64_t *values;
	omx_return_t ret = omx__driver_info(&info);

	if (ret)
		return ret;
	if (count > info.counter_max)
		count = info.counter_max;
	values = calloc(count ? count : 1, sizeof(*values));
	if (!values)
		return OMX_NO_SYSTEM_RESOURCES;
	ret = info_read_counters(query->board, values, &count);
	for (i = 0; i < count && !ret; i++)
		out[i] = (uint32_t)values[i];
	free(values);
	return ret;
}

static omx_return_t counter_label(const struct info_query *query)
{
	struct omx_ioc_counter_label label = { 0 };
	omx_return_t ret = info_get_number(query, &label.index);
	int err;

	if (ret)
		return ret;
	err = omx__query_driver(OMX_IOC_COUNTER_LABEL, &label);
	if (err == -EINVAL || err == -ENOENT)
		return OMX_BAD_INFO_ADDRESS;
	if (err)
		return omx__board_error(err);
	label.label[sizeof(label.label) - 1] = 0;
	return info_put_name(query, label.label);
}

static const struct {
	info_function get;
	bool about_board;
} info_keys[] = {
	[OMX_INFO_BOARD_MAX] = { board_max, false },
	[OMX_INFO_ENDPOINT_MAX] = { endpoint_max, false },
	[OMX_INFO_BOARD_COUNT] = { board_count, false },
	[OMX_INFO_BOARD_IDS] = { board_ids, false },
	[OMX_INFO_BOARD_HOSTNAME] = { board_hostname, true },
	[OMX_INFO_BOARD_IFACENAME] = { board_ifacename, true },
	[OMX_INFO_BOARD_NUMA_NODE] = { board_numa_node, true },
	[OMX_INFO_COUNTER_MAX] = { counter_max, false },
	[OMX_INFO_COUNTER_VALUES] = { counter_values, true },
	[OMX_INFO_COUNTER_LABEL] = { counter_label, false },
};

static omx_return_t info_find_board(struct omx__endpoint *ep, struct info_query *query)
{
	omx_return_t ret;

	if (!ep)
		return info_get_number(query, &query->board);
	ret = omx__enter(ep);
	if (ret)
		return ret;
	query->board = ep->board;
	omx__leave(ep);
	return OMX_SUCCESS;
}

static omx_return_t info_get(struct omx__endpoint *ep, omx_info_key_t key,
			     struct info_query *query)
{
	struct omx_ioc_info info;
	omx_return_t ret = omx__driver_info(&info);

	if (ret)
		return ret;
	if ((unsigned int)key >= sizeof(info_keys) / sizeof(info_keys[0]))
		return OMX_BAD_INFO_KEY;
	if (!query->out)
		return OMX_BAD_INFO_ADDRESS;
	if (info_keys[key].about_board) {
		ret = info_find_board(ep, query);
		if (ret)
			return ret;
	}
	return info_keys[key].get(query);
}

omx_return_t omx_get_info(omx_endpoint_t ep, omx_info_key_t key, const void *in_val,
			  uint32_t in_len, void *out_val, uint32_t out_len)
{
	struct info_query query = {
		.in = in_val, .in_len = in_len, .out = out_val, .out_len = out_len,
	};

	return omx__return(NULL, info_get(ep, key, &query), __func__);
}
