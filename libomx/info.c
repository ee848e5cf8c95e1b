/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * omx_get_info.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "boards.h"
#include "endpoint.h"
#include "error.h"
#include "init.h"

/* A question and where its answer goes. */
struct question {
	uint32_t board;		/* if it is about one */
	const void *in;
	uint32_t in_len;
	void *out;
	uint32_t out_len;
};

typedef omx_return_t (*answer)(const struct question *question);

static omx_return_t info_put(const struct question *question, const void *value, uint32_t length)
{
	if (question->out_len < length)
		return OMX_BAD_INFO_LENGTH;
	memcpy(question->out, value, length);
	return OMX_SUCCESS;
}

static omx_return_t put_number(const struct question *question, uint32_t number)
{
	return info_put(question, &number, sizeof(number));
}

static omx_return_t put_name(const struct question *question, const char *name)
{
	size_t length = strnlen(name, question->out_len);
	char *out = question->out;

	if (!question->out_len)
		return OMX_BAD_INFO_LENGTH;
	if (length == question->out_len)
		length--;
	memcpy(out, name, length);
	out[length] = 0;
	return OMX_SUCCESS;
}

static omx_return_t get_number(const struct question *question, uint32_t *number)
{
	if (!question->in)
		return OMX_BAD_INFO_ADDRESS;
	if (question->in_len == sizeof(uint32_t))
		memcpy(number, question->in, sizeof(*number));
	else if (question->in_len == sizeof(uint8_t))
		*number = *(const uint8_t *)question->in;
	else
		return OMX_BAD_INFO_LENGTH;
	return OMX_SUCCESS;
}

static omx_return_t board_max(const struct question *question)
{
	struct omx_ioc_info info;
	omx_return_t ret = omx__driver_info(&info);

	return ret ? ret : put_number(question, info.board_max);
}

static omx_return_t endpoint_max(const struct question *question)
{
	struct omx_ioc_info info;
	omx_return_t ret = omx__driver_info(&info);

	return ret ? ret : put_number(question, info.endpoint_max);
}

static omx_return_t counter_max(const struct question *question)
{
	struct omx_ioc_info info;
	omx_return_t ret = omx__driver_info(&info);

	return ret ? ret : put_number(question, info.counter_max);
}

static omx_return_t board_count(const struct question *question)
{
	struct omx_ioc_board board;
	uint32_t number = 0, count = 0;

	while (omx__board_next(&number, &board)) {
		count++;
		number++;
	}
	return put_number(question, count);
}

static omx_return_t board_ids(const struct question *question)
{
	uint64_t ids[OMX_BOARD_MAX + 1] = { 0 };
	struct omx_ioc_board board;
	uint32_t number = 0, count = 0, length;

	while (count < OMX_BOARD_MAX && omx__board_next(&number, &board)) {
		ids[count++] = board.mac;
		number++;
	}
	length = count * sizeof(ids[0]);
	if (question->out_len >= length + sizeof(ids[0]))
		length += sizeof(ids[0]);
	return info_put(question, ids, length);
}

static omx_return_t board_hostname(const struct question *question)
{
	struct omx_ioc_board board;
	omx_return_t ret = omx__board_get(question->board, &board);

	return ret ? ret : put_name(question, board.name);
}

static omx_return_t board_ifacename(const struct question *question)
{
	struct omx_ioc_board board;
	omx_return_t ret = omx__board_get(question->board, &board);

	return ret ? ret : put_name(question, board.ifname);
}

static omx_return_t board_numa_node(const struct question *question)
{
	struct omx_ioc_board board;
	omx_return_t ret = omx__board_get(question->board, &board);

	return ret ? ret : put_number(question, (uint32_t)board.numa_node);
}

static omx_return_t read_counters(uint32_t board, uint64_t *values, uint32_t *count)
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

static omx_return_t counter_values(const struct question *question)
{
	struct omx_ioc_info info;
	uint32_t count = question->out_len / sizeof(uint32_t), i;
	uint32_t *out = question->out;
	uint64_t *values;
	omx_return_t ret = omx__driver_info(&info);

	if (ret)
		return ret;
	if (count > info.counter_max)
		count = info.counter_max;
	values = calloc(count ? count : 1, sizeof(*values));
	if (!values)
		return OMX_NO_SYSTEM_RESOURCES;
	ret = read_counters(question->board, values, &count);
	for (i = 0; i < count && !ret; i++)
		out[i] = (uint32_t)values[i];
	free(values);
	return ret;
}

static omx_return_t counter_label(const struct question *question)
{
	struct omx_ioc_counter_label label = { 0 };
	omx_return_t ret = get_number(question, &label.index);
	int err;

	if (ret)
		return ret;
	err = omx__query_driver(OMX_IOC_COUNTER_LABEL, &label);
	if (err == -EINVAL || err == -ENOENT)
		return OMX_BAD_INFO_ADDRESS;
	if (err)
		return omx__board_error(err);
	label.label[sizeof(label.label) - 1] = 0;
	return put_name(question, label.label);
}

static const struct {
	answer answer;
	bool about_board;
} answers[] = {
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

static omx_return_t which_board(struct omx__endpoint *ep, struct question *question)
{
	omx_return_t ret;

	if (!ep)
		return get_number(question, &question->board);
	ret = omx__enter(ep);
	if (ret)
		return ret;
	question->board = ep->board;
	omx__leave(ep);
	return OMX_SUCCESS;
}

static omx_return_t get_info(struct omx__endpoint *ep, omx_info_key_t key,
			     struct question *question)
{
	struct omx_ioc_info info;
	omx_return_t ret = omx__driver_info(&info);

	if (ret)
		return ret;
	if ((unsigned int)key >= sizeof(answers) / sizeof(answers[0]))
		return OMX_BAD_INFO_KEY;
	if (!question->out)
		return OMX_BAD_INFO_ADDRESS;
	if (answers[key].about_board) {
		ret = which_board(ep, question);
		if (ret)
			return ret;
	}
	return answers[key].answer(question);
}

omx_return_t omx_get_info(omx_endpoint_t ep, omx_info_key_t key, const void *in_val,
			  uint32_t in_len, void *out_val, uint32_t out_len)
{
	struct question question = {
		.in = in_val, .in_len = in_len, .out = out_val, .out_len = out_len,
	};

	return omx__return(NULL, get_info(ep, key, &question), __func__);
}
