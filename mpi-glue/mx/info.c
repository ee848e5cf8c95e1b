/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * mx_get_info: most of it is omx_get_info under other names.
 */
#include <stdio.h>

#include "error.h"
#include "omx.h"

#define PIO_SEND_MAX	4096	/* the driver's rings hold as much */
#define COPY_SEND_MAX	65536	/* the largest value of OMX_RNDV_THRESHOLD */

/* A question and where its answer goes. */
struct question {
	mx_endpoint_t ep;
	const void *in;
	uint32_t in_len;
	void *out;
	uint32_t out_len;
};

typedef mx_return_t (*answer)(const struct question *question);

static mx_return_t put_number(const struct question *question, uint32_t number)
{
	if (question->out_len < sizeof(number))
		return MX_BAD_INFO_LENGTH;
	memcpy(question->out, &number, sizeof(number));
	return MX_SUCCESS;
}

static mx_return_t put_text(const struct question *question, const char *text)
{
	if (!question->out_len)
		return MX_BAD_INFO_LENGTH;
	snprintf(question->out, question->out_len, "%s", text);
	return MX_SUCCESS;
}

static omx_return_t info_query(const struct question *question, omx_info_key_t key)
{
	return omx_get_info(question->ep, key, question->in, question->in_len,
			    question->out, question->out_len);
}

/* The driver is there, if nothing else has to be asked of it. */
static mx_return_t info_initialized(void)
{
	uint32_t max;

	return mx__return_code(omx_get_info(NULL, OMX_INFO_BOARD_MAX, NULL, 0,
					    &max, sizeof(max)));
}

static omx_return_t nic_of_endpoint(mx_endpoint_t ep, uint64_t *nic_id)
{
	omx_endpoint_addr_t addr;
	uint32_t endpoint;
	omx_return_t ret = omx_get_endpoint_addr(ep, &addr);

	return ret ? ret : omx_decompose_endpoint_addr(addr, nic_id, &endpoint);
}

static mx_return_t nic_in_question(const struct question *question, uint64_t *nic_id)
{
	uint32_t board;

	if (question->ep)
		return mx__return_code(nic_of_endpoint(question->ep, nic_id));
	if (!question->in)
		return MX_BAD_INFO_VAL;
	if (question->in_len != sizeof(board))
		return MX_BAD_INFO_LENGTH;
	memcpy(&board, question->in, sizeof(board));
	return mx__return_code(omx_board_number_to_nic_id(board, nic_id));
}

/* Of each board the same. */
static mx_return_t put_number_of_board(const struct question *question, uint32_t number)
{
	uint64_t nic_id;
	mx_return_t ret = nic_in_question(question, &nic_id);

	return ret ? ret : put_number(question, number);
}

static mx_return_t native_requests(const struct question *question)
{
	return put_number(question, UINT32_MAX);
}

static mx_return_t counters_labels(const struct question *question)
{
	char (*labels)[MX_MAX_STR_LEN] = question->out;
	uint32_t count, i;
	omx_return_t ret = omx_get_info(NULL, OMX_INFO_COUNTER_MAX, NULL, 0,
					&count, sizeof(count));

	if (!ret && question->out_len / sizeof(*labels) < count)
		return MX_BAD_INFO_LENGTH;
	for (i = 0; i < count && !ret; i++)
		ret = omx_get_info(NULL, OMX_INFO_COUNTER_LABEL, &i, sizeof(i),
				   labels[i], sizeof(labels[i]));
	return mx__return_code(ret);
}

static mx_return_t product_code(const struct question *question)
{
	char text[MX_MAX_STR_LEN];
	uint64_t nic_id;
	mx_return_t ret = nic_in_question(question, &nic_id);

	snprintf(text, sizeof(text), "omx %s", omx_version());
	return ret ? ret : put_text(question, text);
}

static mx_return_t serial_number(const struct question *question)
{
	char text[OMX_BOARD_ADDR_STRLEN];
	uint64_t nic_id;
	mx_return_t ret = nic_in_question(question, &nic_id);

	if (ret)
		return ret;
	snprintf(text, sizeof(text), "%02x:%02x:%02x:%02x:%02x:%02x",
		 (uint8_t)(nic_id >> 40), (uint8_t)(nic_id >> 32), (uint8_t)(nic_id >> 24),
		 (uint8_t)(nic_id >> 16), (uint8_t)(nic_id >> 8), (uint8_t)nic_id);
	return put_text(question, text);
}

static mx_return_t port_count(const struct question *question)
{
	return put_number_of_board(question, 1);
}

static mx_return_t pio_send_max(const struct question *question)
{
	return put_number(question, PIO_SEND_MAX);
}

static mx_return_t copy_send_max(const struct question *question)
{
	return put_number(question, COPY_SEND_MAX);
}

static mx_return_t net_type(const struct question *question)
{
	return put_number_of_board(question, MX_NET_ETHER);
}

static mx_return_t line_speed(const struct question *question)
{
	return put_number_of_board(question, MX_SPEED_OPEN_MX);
}

static const struct {
	answer answer;
	omx_info_key_t key;	/* if it has no answer of its own */
} answers[] = {
	[MX_NIC_COUNT] = { NULL, OMX_INFO_BOARD_COUNT },
	[MX_NIC_IDS] = { NULL, OMX_INFO_BOARD_IDS },
	[MX_MAX_NATIVE_ENDPOINTS] = { NULL, OMX_INFO_ENDPOINT_MAX },
	[MX_NATIVE_REQUESTS] = { native_requests, 0 },
	[MX_COUNTERS_COUNT] = { NULL, OMX_INFO_COUNTER_MAX },
	[MX_COUNTERS_LABELS] = { counters_labels, 0 },
	[MX_COUNTERS_VALUES] = { NULL, OMX_INFO_COUNTER_VALUES },
	[MX_PRODUCT_CODE] = { product_code, 0 },
	[MX_PART_NUMBER] = { NULL, OMX_INFO_BOARD_IFACENAME },
	[MX_SERIAL_NUMBER] = { serial_number, 0 },
	[MX_PORT_COUNT] = { port_count, 0 },
	[MX_PIO_SEND_MAX] = { pio_send_max, 0 },
	[MX_COPY_SEND_MAX] = { copy_send_max, 0 },
	[MX_NUMA_NODE] = { NULL, OMX_INFO_BOARD_NUMA_NODE },
	[MX_NET_TYPE] = { net_type, 0 },
	[MX_LINE_SPEED] = { line_speed, 0 },
};

static mx_return_t get_info(const struct question *question, mx_get_info_key_t key)
{
	mx_return_t ret = info_initialized();

	if (ret)
		return ret;
	if ((unsigned int)key < MX_NIC_COUNT ||
	    (unsigned int)key >= sizeof(answers) / sizeof(answers[0]))
		return MX_BAD_INFO_KEY;
	if (!question->out)
		return MX_BAD_INFO_VAL;
	if (answers[key].answer)
		return answers[key].answer(question);
	return mx__return_code(info_query(question, answers[key].key));
}

mx_return_t mx_get_info(mx_endpoint_t ep, mx_get_info_key_t key, void *in_val,
			uint32_t in_len, void *out_val, uint32_t out_len)
{
	struct question question = {
		.ep = ep, .in = in_val, .in_len = in_len, .out = out_val, .out_len = out_len,
	};
	mx_return_t ret = get_info(&question, key);

	return ret ? mx__error_report(ep, ret, __func__) : MX_SUCCESS;
}
