/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A node of a crowd by omx: an endpoint, receives posted for all messages that can be
 * under way, blocking waits.
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "crowd.h"
#include "meter.h"
#include "omx.h"
#include "omx_abi.h"
#include "transport.h"

#define ENDPOINT	7
#define KEY		0x63726f77
#define CONNECT_TRIES	100	/* 5 s */
#define DEVICE		"/dev/omx"

const char transport_name[] = "omx";

/* A request that is posted again as soon as it has ended. */
struct request {
	char *buffer;
	omx_endpoint_addr_t to;
	bool outgoing;
};

static omx_endpoint_t ep;
static omx_endpoint_addr_t peers[CROWD_NODES];
static struct request *outgoing, *incoming;
static int device;

static void must(const char *what, omx_return_t ret)
{
	if (ret != OMX_SUCCESS)
		crowd_fail(what, omx_strerror(ret));
}

void crowd_listen(const struct crowd *crowd)
{
	(void)crowd;
	device = open(DEVICE, O_RDONLY | O_CLOEXEC);
	if (device < 0)
		err(1, DEVICE);
	must("init", omx_init());
	must("open endpoint", omx_open_endpoint(OMX_ANY_NIC, ENDPOINT, KEY, NULL, 0, &ep));
}

static omx_return_t try_connect(unsigned int node, omx_endpoint_addr_t *peer)
{
	char name[OMX_HOSTNAMELEN_MAX];
	omx_return_t ret;
	uint64_t nic;

	snprintf(name, sizeof(name), "node%u:0", node);
	ret = omx_hostname_to_nic_id(name, &nic);
	if (ret != OMX_SUCCESS)
		return ret;
	return omx_connect(ep, nic, ENDPOINT, KEY, 1000, peer);
}

void crowd_connect(const struct crowd *crowd)
{
	omx_return_t ret;
	unsigned int i;
	int try;

	for (i = 0; i < crowd->to_count; i++) {
		for (try = 0; (ret = try_connect(crowd->to[i], &peers[i])) != OMX_SUCCESS; try++) {
			if (try == CONNECT_TRIES)
				must("connect", ret);
			usleep(50000);
		}
	}
}

/* ---- requests ---- */

static void post_receive(const struct crowd *crowd, struct request *request)
{
	omx_request_t handle;

	must("receive", omx_irecv(ep, request->buffer, crowd->size, 0, 0, request, &handle));
}

/* The match info says who sends. */
static void post_send(const struct crowd *crowd, struct request *request)
{
	uint64_t departure = now_ns();
	omx_request_t handle;

	memcpy(request->buffer, &departure, sizeof(departure));
	must("send", omx_isend(ep, request->buffer, crowd->size, request->to, crowd->self,
			       request, &handle));
}

static struct request *make_requests(size_t size, unsigned int count, bool is_outgoing)
{
	struct crowd_buffers buffers = crowd_make_buffers(size, count);
	struct request *requests = calloc(count + 1, sizeof(*requests));
	unsigned int i;

	if (!requests)
		err(1, "requests");
	for (i = 0; i < count; i++) {
		requests[i].buffer = crowd_buffer(&buffers, i);
		requests[i].outgoing = is_outgoing;
	}
	return requests;
}

void crowd_prepare(const struct crowd *crowd)
{
	unsigned int i, count = crowd->from_count * crowd->window;

	if (count)
		incoming = make_requests(crowd->size, count, false);
	for (i = 0; i < count; i++)
		post_receive(crowd, &incoming[i]);
	count = crowd->to_count * crowd->window;
	if (count)
		outgoing = make_requests(crowd->size, count, true);
	for (i = 0; i < count; i++)
		outgoing[i].to = peers[i % crowd->to_count];
}

static void end_receive(const struct crowd *crowd, struct request *request,
			const omx_status_t *status)
{
	uint64_t departure;

	if (status->xfer_length != crowd->size)
		crowd_fail("receive", "a message of another length");
	memcpy(&departure, request->buffer, sizeof(departure));
	crowd_received(status->match_info, departure);
	post_receive(crowd, request);
}

void crowd_exchange(const struct crowd *crowd)
{
	unsigned int i, count = crowd->to_count * crowd->window;
	struct request *request;
	omx_status_t status;
	uint32_t done;

	for (i = 0; i < count; i++)
		post_send(crowd, &outgoing[i]);
	while (crowd_goes_on()) {
		must("wait", omx_wait_any(ep, 0, 0, &status, &done, CROWD_PATIENCE_MS));
		if (!done)
			continue;
		must("message", status.code);
		request = status.context;
		if (request->outgoing)
			post_send(crowd, request);
		else
			end_receive(crowd, request, &status);
	}
}

/* ---- counters ---- */

const char *crowd_counter_name(unsigned int i)
{
	static struct omx_ioc_counter_label question;
	int fd = open(DEVICE, O_RDONLY | O_CLOEXEC), ret;

	question.index = i;
	ret = ioctl(fd, OMX_IOC_COUNTER_LABEL, &question);
	close(fd);
	return ret < 0 ? NULL : question.label;
}

void crowd_read_counters(uint64_t *values)
{
	struct omx_ioc_counters question = {
		.count = CROWD_COUNTERS,
		.values = (uintptr_t)values,
	};

	if (ioctl(device, OMX_IOC_COUNTERS, &question) < 0)
		err(1, "counters");
}
