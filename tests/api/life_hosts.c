// SPDX-License-Identifier: BSD-2-Clause
/*
 * A server that answers messages of one byte from any client, and a client that
 * sends --count of them, all of which must be answered within --seconds.
 * --mode sessions: the client sends each from a new endpoint, which it closes.
 * --mode idle: the client is silent for --seconds, then sends again, also from
 * an endpoint that has connected before but not sent.
 * --mode reconnect: the client's link is cut until it gives up the server; then
 * it connects and sends again.
 * --mode last: the server ends, too.
 */
#include <stdio.h>
#include <string.h>

#include "endpoints.h"

#define QUESTION	1
#define ANSWER		2
#define STOP		3

static void run_server(void)
{
	omx_endpoint_t ep = open_number(options.endpoint, NULL, 0);
	omx_request_t stop, question, answer;
	omx_status_t status;
	uint8_t byte;

	MUST(omx_irecv(ep, NULL, 0, STOP, EXACT, NULL, &stop));
	MUST(omx_irecv(ep, &byte, 1, QUESTION, EXACT, NULL, &question));
	printf("the server is there\n");
	while (!is_done(ep, &stop, &status)) {
		uint32_t result;

		MUST(omx_wait(ep, &question, &status, &result, 50));
		if (!result)
			continue;
		byte ^= 0xff;
		MUST(omx_issend(ep, &byte, 1, status.addr, ANSWER, NULL, &answer));
		finish(ep, &answer);
		MUST(omx_irecv(ep, &byte, 1, QUESTION, EXACT, NULL, &question));
	}
	MUST(omx_close_endpoint(ep));
}

static void ask_question(omx_endpoint_t ep, omx_endpoint_addr_t peer, uint8_t i)
{
	uint8_t byte = i;

	send_sync(ep, peer, &byte, 1, QUESTION);
	EQUAL(receive(ep, &byte, 1, ANSWER).msg_length, 1);
	EQUAL(byte, i ^ 0xff);
}

static void stay_idle(omx_endpoint_t ep, omx_endpoint_addr_t peer, uint64_t nic)
{
	omx_endpoint_t silent = open_any();
	omx_endpoint_addr_t from_silent = connect_to(silent, nic, options.endpoint);

	ask_question(ep, peer, 1);
	sleep_ms(1000 * options.seconds);
	ask_question(ep, peer, 2);
	ask_question(silent, from_silent, 3);
	printf("both channels are there after %u s\n", options.seconds);
	MUST(omx_close_endpoint(silent));
}

/* The server sends nothing meanwhile, so that it does not notice the cut. */
static void be_cut_off(omx_endpoint_t ep, omx_endpoint_addr_t peer)
{
	omx_request_t question;
	uint8_t byte = 1;

	ask_question(ep, peer, 1);
	sleep_ms(100);		/* the answer is acknowledged */
	run_command("tc qdisc add dev eth0 root netem loss 100%");
	MUST(omx_issend(ep, &byte, 1, peer, QUESTION, NULL, &question));
	CHECK(finish(ep, &question).code != OMX_SUCCESS, "the link is not down");
	run_command("tc qdisc del dev eth0 root");
}

static bool mode_is(const char *mode)
{
	return options.mode && !strcmp(options.mode, mode);
}

static void run_client(void)
{
	omx_endpoint_t ep = open_number(options.endpoint + 1, NULL, 0);
	char name[OMX_HOSTNAMELEN_MAX];
	omx_endpoint_addr_t peer;
	double begin = now();
	unsigned int i;
	uint64_t nic;

	snprintf(name, sizeof(name), "%s", options.peer);
	MUST(omx_hostname_to_nic_id(name, &nic));
	peer = connect_to(ep, nic, options.endpoint);
	if (mode_is("idle")) {
		stay_idle(ep, peer, nic);
		begin = now();
	}
	if (mode_is("reconnect")) {
		be_cut_off(ep, peer);
		peer = connect_to(ep, nic, options.endpoint);
		begin = now();
	}
	for (i = 0; i < options.count; i++) {
		ask_question(ep, peer, i);
		if (!mode_is("sessions"))
			continue;
		MUST(omx_close_endpoint(ep));
		ep = open_number(options.endpoint + 1, NULL, 0);
		peer = connect_to(ep, nic, options.endpoint);
	}
	printf("%llu answers after %.3f s\n", (unsigned long long)options.count, now() - begin);
	CHECK(now() - begin < options.seconds, "%.3f s", now() - begin);
	if (mode_is("last"))
		send_sync(ep, peer, NULL, 0, STOP);
	MUST(omx_close_endpoint(ep));
}

int main(int argc, char **argv)
{
	options.count = 20;
	options.seconds = 3;
	return run_pair(argc, argv, run_server, run_client);
}
