/* SPDX-License-Identifier: BSD-2-Clause */
#include "meter.h"
#include "one_way.h"
#include "transport.h"

/* What the receiver tells of one message. */
struct receipt {
	uint64_t posting;		/* ns until the receive was posted */
	uint64_t done;			/* the time */
};

/* ---- the server ---- */

void receive_one_way(struct end *in, const struct order *order)
{
	struct receipt receipt;
	omx_request_t request;
	uint64_t i, start;

	for (i = 0; i < order->count; i++) {
		wipe(&in->buffer);
		drop(&in->buffer, order->absent[DESTINATION]);
		start = now_ns();
		if (order->touch && order->absent[DESTINATION])
			touch(&in->buffer, true);
		request = post_receive(in, order);
		receipt.posting = now_ns() - start;
		transport_send(&(char){ 0 }, 1);
		finish(request, order->size);
		receipt.done = now_ns();
		expect_touched(&in->buffer);
		transport_send(&receipt, sizeof(receipt));
	}
}

void serve_one_way(const struct order *order)
{
	struct end in = make_end(order, OMX_REGION_RECV);

	receive_one_way(&in, order);
	free_end(&in);
}

/* ---- the client ---- */

static struct one_way send_one_way(struct end *out, const struct order *order)
{
	struct receipt receipt;
	omx_request_t request;
	struct one_way times;
	uint64_t start;
	char go;

	drop(&out->buffer, order->absent[SOURCE]);
	transport_receive(&go, sizeof(go));
	start = now_ns();
	if (order->touch && order->absent[SOURCE])
		touch(&out->buffer, false);
	request = post_send(out, order);
	times.sending = now_ns() - start;
	finish(request, order->size);
	transport_receive(&receipt, sizeof(receipt));
	times.whole = receipt.posting + receipt.done - start;
	return times;
}

static struct one_way run_one_way(const struct order *order)
{
	struct end out = make_end(order, OMX_REGION_SEND);
	uint64_t whole[COUNT_MAX], sending[COUNT_MAX], longest = 0, i;

	for (i = 0; i < order->count; i++) {
		struct one_way times = send_one_way(&out, order);

		whole[i] = times.whole;
		sending[i] = times.sending;
		if (times.whole > longest)
			longest = times.whole;
	}
	free_end(&out);
	return (struct one_way) {
		.whole = summarize(whole + WARMUP, order->count - WARMUP).median,
		.longest = longest,
		.sending = summarize(sending + WARMUP, order->count - WARMUP).median,
	};
}

uint64_t how_often(uint64_t size)
{
	uint64_t count = 16 * MIB / size;

	return WARMUP + (count < 5 ? 5 : count > 30 ? 30 : count);
}

void give_order(const struct order *order)
{
	struct order copy = *order;

	transport_send(&copy, sizeof(copy));
	/* What is received by an engine is sent without one. */
	check("mode", omx_set_memory_mode(ep, order->mode == OMX_MEMORY_DEVICE ?
					  OMX_MEMORY_UNPINNED :
					  (omx_memory_mode_t)order->mode));
}

struct one_way one_way(struct order order)
{
	order.kind = ONE_WAY;
	if (!order.count)
		order.count = how_often(order.size);
	give_order(&order);
	return run_one_way(&order);
}
