// SPDX-License-Identifier: BSD-2-Clause
/* Prints what happens, one line for each frame that is sent, lost or received. */
#include <stdarg.h>
#include <stdio.h>

#include "net/frame.h"
#include "trace.h"

static const char *const names[OMX_WIRE_TYPES] = {
	[OMX_WIRE_HELLO] = "HELLO",
	[OMX_WIRE_BYE] = "BYE",
	[OMX_WIRE_CONNECT] = "CONNECT",
	[OMX_WIRE_CONNECT_RESPONSE] = "CONNECT_RESPONSE",
	[OMX_WIRE_EAGER] = "EAGER",
	[OMX_WIRE_RNDV] = "RNDV",
	[OMX_WIRE_NOTIFY] = "NOTIFY",
	[OMX_WIRE_ACK] = "ACK",
	[OMX_WIRE_PULL_REQUEST] = "PULL_REQUEST",
	[OMX_WIRE_PULL_RESPONSE] = "PULL_RESPONSE",
	[OMX_WIRE_NACK] = "NACK",
	[OMX_WIRE_HOLD] = "HOLD",
	[OMX_WIRE_BUNDLE] = "BUNDLE",
};

void sim_print(const char *format, ...)
{
	va_list args;

	printf("%12.6f ", sim_now / 1e9);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	putchar('\n');
}

static void print_sequence(const struct omx_wire_sequence *s)
{
	printf(" flow %u seq %u ack %u:%u+%u", be16_to_cpu(s->flow), be32_to_cpu(s->seq),
	       be16_to_cpu(s->ack_flow), be32_to_cpu(s->ack), be16_to_cpu(s->window));
}

static void print_eager(const void *body)
{
	const struct omx_wire_eager *eager = body;

	print_sequence(body);
	printf(" of %u at %u", be32_to_cpu(eager->msg_length), be32_to_cpu(eager->offset));
}

static void print_ack(const void *body)
{
	const struct omx_wire_ack *ack = body;

	printf(" %u:%u+%u sack %llx%s", be16_to_cpu(ack->flow), be32_to_cpu(ack->ack),
	       be16_to_cpu(ack->window), (unsigned long long)be64_to_cpu(ack->sack),
	       ack->flags & OMX_ACK_PROBE ? " probe" : "");
}

static void print_request(const void *body)
{
	const struct omx_wire_pull_request *r = body;

	printf(" pull %u message %u at %llu wanted %08x of %u", be32_to_cpu(r->pull),
	       be32_to_cpu(r->message), (unsigned long long)be64_to_cpu(r->offset),
	       be32_to_cpu(r->wanted), be16_to_cpu(r->frame_length));
}

static void print_response(const void *body)
{
	const struct omx_wire_pull_response *r = body;

	printf(" pull %u at %llu", be32_to_cpu(r->pull),
	       (unsigned long long)be64_to_cpu(r->offset));
}

static void print_nack(const void *body)
{
	const struct omx_wire_nack *nack = body;

	printf(" status %u type %u pull %u", nack->status, nack->type, be32_to_cpu(nack->pull));
}

static void print_hello(const void *body)
{
	const struct omx_wire_hello *hello = body;

	printf(" mtu %u flags %x", be16_to_cpu(hello->mtu), hello->flags);
}

static void (*const printers[OMX_WIRE_TYPES])(const void *body) = {
	[OMX_WIRE_HELLO] = print_hello,
	[OMX_WIRE_EAGER] = print_eager,
	[OMX_WIRE_RNDV] = (void (*)(const void *))print_sequence,
	[OMX_WIRE_NOTIFY] = (void (*)(const void *))print_sequence,
	[OMX_WIRE_ACK] = print_ack,
	[OMX_WIRE_PULL_REQUEST] = print_request,
	[OMX_WIRE_PULL_RESPONSE] = print_response,
	[OMX_WIRE_NACK] = print_nack,
	[OMX_WIRE_BUNDLE] = (void (*)(const void *))print_sequence,
};

void sim_print_frame(const struct sk_buff *skb, const char *what)
{
	const struct ethhdr *eth = eth_hdr(skb);
	const struct omx_wire_head *head = omx_packet_head(skb);
	u8 type = head->type < OMX_WIRE_TYPES ? head->type : 0;

	printf("%12.6f %2u:%-2u > %2d:%-2u %s", sim_now / 1e9,
	       eth->h_source[4] << 8 | eth->h_source[5], be16_to_cpu(head->src_endpoint),
	       eth->h_dest[0] & 1 ? -1 : eth->h_dest[4] << 8 | eth->h_dest[5],
	       be16_to_cpu(head->dst_endpoint), names[type] ?: "?");
	if (printers[type])
		printers[type](head + 1);
	printf(" (%u) %s\n", skb->len, what);
}
