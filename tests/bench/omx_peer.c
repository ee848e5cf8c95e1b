/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * omx as a program that cares would use it: blocking waits, and receives
 * that are posted before their message comes.
 */
#include <err.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "omx_peer.h"
#include "transport.h"

#define ENDPOINT	7
#define KEY		0x62656e63
#define CONNECT_TRIES	100	/* 5 s */
#define PARAMETERS	"/sys/module/omx/parameters/"

const char transport_name[] = "omx";

omx_endpoint_t ep;
omx_endpoint_addr_t peer;

void check(const char *what, omx_return_t ret)
{
	if (ret != OMX_SUCCESS)
		errx(1, "%s: %s", what, omx_strerror(ret));
}

void set_parameter(const char *name, const char *value)
{
	char path[128];
	FILE *file;

	snprintf(path, sizeof(path), PARAMETERS "%s", name);
	file = fopen(path, "w");
	if (!file || fprintf(file, "%s\n", value) < 0 || fclose(file))
		err(1, "%s", path);
}

static void open_endpoint(uint32_t number)
{
	check("init", omx_init());
	check("open endpoint",
	      omx_open_endpoint(OMX_ANY_NIC, number, KEY, NULL, 0, &ep));
}

/* ---- one request ---- */

static omx_request_t post_send(void *buffer, size_t length)
{
	omx_request_t request;

	check("isend", omx_isend(ep, buffer, length, peer, MATCH, NULL, &request));
	return request;
}

static omx_request_t post_receive(void *buffer, size_t length)
{
	omx_request_t request;

	check("irecv", omx_irecv(ep, buffer, length, MATCH, ~UINT64_C(0), NULL, &request));
	return request;
}

omx_endpoint_addr_t finish(omx_request_t request, size_t length)
{
	omx_status_t status;
	uint32_t done;

	check("wait", omx_wait(ep, &request, &status, &done, OMX_TIMEOUT_INFINITE));
	if (!done)
		errx(1, "wait: returned without a message");
	check("message", status.code);
	if (status.xfer_length != length)
		errx(1, "message of %zu bytes: %zu came", length, (size_t)status.xfer_length);
	return status.addr;
}

/* ---- the two sides find each other ---- */

/* The client's first message is empty and says where it is. */
void transport_accept(void)
{
	open_endpoint(ENDPOINT);
	say_ready();
	peer = finish(post_receive(NULL, 0), 0);
}

static omx_return_t try_connect(const char *host)
{
	char name[OMX_HOSTNAMELEN_MAX];
	omx_return_t ret;
	uint64_t nic;

	snprintf(name, sizeof(name), "%s:0", host);
	ret = omx_hostname_to_nic_id(name, &nic);
	if (ret != OMX_SUCCESS)
		return ret;
	return omx_connect(ep, nic, ENDPOINT, KEY, 1000, &peer);
}

void transport_connect(const char *host)
{
	omx_return_t ret;
	int try;

	open_endpoint(OMX_ANY_ENDPOINT);
	for (try = 0; (ret = try_connect(host)) != OMX_SUCCESS; try++) {
		if (try == CONNECT_TRIES)
			check("connect", ret);
		usleep(50000);
	}
	finish(post_send(NULL, 0), 0);
}

void transport_close(void)
{
	check("close", omx_close_endpoint(ep));
	check("finalize", omx_finalize());
}

/* ---- messages ---- */

void transport_send(void *buffer, size_t length)
{
	finish(post_send(buffer, length), length);
}

void transport_receive(void *buffer, size_t length)
{
	finish(post_receive(buffer, length), length);
}

void transport_exchange(void *ping, void *pong, size_t length)
{
	omx_request_t incoming = post_receive(pong, length);
	omx_request_t outgoing = post_send(ping, length);

	finish(incoming, length);
	finish(outgoing, length);
}

/* The next receive is posted before the pong leaves: its ping finds it. */
void transport_answer(void *ping, void *pong, size_t length, size_t count)
{
	omx_request_t incoming = post_receive(ping, length), outgoing;

	while (count--) {
		finish(incoming, length);
		if (count)
			incoming = post_receive(ping, length);
		outgoing = post_send(pong, length);
		finish(outgoing, length);
	}
}

static void many(omx_request_t (*post)(void *, size_t), const struct slots *slots,
		 size_t length, size_t count)
{
	omx_request_t *requests = calloc(slots->count, sizeof(*requests));
	size_t posted = 0, done;

	if (!requests)
		err(1, "window");
	for (done = 0; done < count; done++) {
		for (; posted < count && posted < done + slots->count; posted++)
			requests[posted % slots->count] = post(slot(slots, posted), length);
		finish(requests[done % slots->count], length);
	}
	free(requests);
}

void transport_send_many(const struct slots *slots, size_t length, size_t count)
{
	many(post_send, slots, length, count);
}

void transport_receive_many(const struct slots *slots, size_t length, size_t count)
{
	many(post_receive, slots, length, count);
}
