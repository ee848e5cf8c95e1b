/* SPDX-License-Identifier: BSD-2-Clause */
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "../complain.h"
#include "../text.h"
#include "link.h"
#include "settings.h"

#define CONNECT_KEY		0x12345678
#define APPEAR_SECONDS		5	/* discovery takes 2; the server may start after us */
#define RETRY_MS		200
#define SLOWEST_BYTES_PER_S	(4u << 20)

static const char *link_hint(omx_return_t ret)
{
	switch (ret) {
	case OMX_NO_DEVICE_FILE:
	case OMX_NO_DRIVER:
		return "is the module loaded? try: modprobe omx";
	case OMX_ACCESS_DENIED:
		return "ask the administrator for access to it (ls -l /dev/omx)";
	case OMX_BOARD_NOT_FOUND:
		return "omx_info lists the boards there are";
	case OMX_BUSY:
		return "omx_endpoints tells who has it, --endpoint takes another";
	case OMX_NO_SYSTEM_RESOURCES:
		return "is a limit reached? omx_endpoints tells who has endpoints; "
		       "user_endpoints and user_memory_mb in /sys/module/omx/parameters "
		       "are the limits of one user";
	default:
		return NULL;
	}
}

int link_fail(const char *what, omx_return_t ret)
{
	complain(link_hint(ret), "cannot %s: %s", what, omx_strerror(ret));
	return -1;
}

static int link_describe(struct link *link)
{
	omx_endpoint_addr_t own;
	omx_return_t ret;
	uint64_t nic_id;

	ret = omx_get_endpoint_addr(link->ep, &own);
	if (ret == OMX_SUCCESS)
		ret = omx_decompose_endpoint_addr(own, &nic_id, &link->endpoint);
	if (ret == OMX_SUCCESS)
		ret = omx_get_info(link->ep, OMX_INFO_BOARD_HOSTNAME, NULL, 0,
				   link->name, sizeof(link->name));
	if (ret == OMX_SUCCESS)
		ret = omx_get_info(link->ep, OMX_INFO_BOARD_IFACENAME, NULL, 0,
				   link->ifname, sizeof(link->ifname));
	return ret == OMX_SUCCESS ? 0 : link_fail("ask for the board's name", ret);
}

static int link_prepare(struct link *link)
{
	omx_return_t ret;

	if (link_describe(link) < 0)
		return -1;
	ret = omx_set_request_timeout(link->ep, NULL, link->timeout * 1000);
	if (ret != OMX_SUCCESS)
		return link_fail("set the timeout", ret);
	return watchdog_start(&link->watchdog, link->ep);
}

int link_open(struct link *link, const struct settings *settings)
{
	omx_return_t ret;

	memset(link, 0, sizeof(*link));
	link->poll = settings->poll;
	link->yield = settings->yield;
	link->timeout = settings->timeout;
	omx_set_error_handler(NULL, OMX_ERRORS_RETURN);
	ret = omx_open_endpoint(settings->board, settings->endpoint, CONNECT_KEY,
				NULL, 0, &link->ep);
	if (ret != OMX_SUCCESS)
		return link_fail("open the endpoint", ret);
	if (link_prepare(link) == 0)
		return 0;
	omx_close_endpoint(link->ep);
	link->ep = NULL;
	return -1;
}

void link_close(struct link *link)
{
	if (!link->ep)
		return;
	watchdog_stop(&link->watchdog);
	omx_close_endpoint(link->ep);
	link->ep = NULL;
}

/* ---- connecting ---- */

static omx_return_t look_up(const char *host, uint64_t *nic_id)
{
	char name[OMX_HOSTNAMELEN_MAX];
	omx_return_t ret;

	if (parse_mac(host, nic_id) == 0)
		return OMX_SUCCESS;
	snprintf(name, sizeof(name), "%s", host);
	ret = omx_hostname_to_nic_id(name, nic_id);
	if (ret != OMX_PEER_NOT_FOUND)
		return ret;
	if (snprintf(name, sizeof(name), "%s:0", host) >= (int)sizeof(name))
		return ret;
	return omx_hostname_to_nic_id(name, nic_id);
}

static omx_return_t try_connect(struct link *link, const char *host, uint32_t endpoint)
{
	omx_return_t ret;
	uint64_t nic_id;

	ret = look_up(host, &nic_id);
	if (ret != OMX_SUCCESS)
		return ret;
	return omx_connect(link->ep, nic_id, endpoint, CONNECT_KEY,
			   link->timeout * 1000, &link->peer);
}

static bool may_appear(omx_return_t ret)
{
	return ret == OMX_PEER_NOT_FOUND || ret == OMX_REMOTE_ENDPOINT_BAD_ID ||
	       ret == OMX_REMOTE_ENDPOINT_CLOSED;
}

static int connect_failed(const char *host, uint32_t endpoint, omx_return_t ret)
{
	if (ret == OMX_PEER_NOT_FOUND)
		complain("omx_peers lists those known here", "no peer is called '%s'", host);
	else if (ret == OMX_REMOTE_ENDPOINT_BAD_ID || ret == OMX_REMOTE_ENDPOINT_CLOSED)
		complain("start omx_perf there first", "endpoint %" PRIu32 " of %s is not open",
			 endpoint, host);
	else if (ret == OMX_TIMEOUT || ret == OMX_REMOTE_ENDPOINT_UNREACHABLE)
		complain("omx_peers and omx_info say whether it is there",
			 "cannot connect to endpoint %" PRIu32 " of %s: no answer", endpoint, host);
	else
		complain(NULL, "cannot connect to endpoint %" PRIu32 " of %s: %s", endpoint,
			 host, omx_strerror(ret));
	return -1;
}

int link_connect(struct link *link, const char *host, uint32_t endpoint)
{
	const struct timespec pause = { .tv_nsec = RETRY_MS * 1000000 };
	unsigned int seconds = link->timeout < APPEAR_SECONDS ? link->timeout : APPEAR_SECONDS;
	unsigned int tries = seconds * 1000 / RETRY_MS;
	omx_return_t ret;

	while (may_appear(ret = try_connect(link, host, endpoint)) && tries--)
		nanosleep(&pause, NULL);
	return ret == OMX_SUCCESS ? 0 : connect_failed(host, endpoint, ret);
}

/* ---- messages ---- */

static int break_off(struct link *link, const char *what, omx_return_t ret)
{
	link->broken = true;
	return link_fail(what, ret);
}

void link_expect(struct link *link, uint64_t bytes)
{
	watchdog_limit(&link->watchdog, link->timeout + bytes / SLOWEST_BYTES_PER_S);
}

void link_idle(struct link *link)
{
	watchdog_limit(&link->watchdog, 0);
}

int link_send(struct link *link, void *buffer, size_t length, uint64_t match_info,
	      bool synchronous, void *context, omx_request_t *request)
{
	omx_return_t ret;

	if (synchronous)
		ret = omx_issend(link->ep, buffer, length, link->peer, match_info,
				 context, request);
	else
		ret = omx_isend(link->ep, buffer, length, link->peer, match_info,
				context, request);
	return ret == OMX_SUCCESS ? 0 : break_off(link, "send", ret);
}

int link_receive(struct link *link, void *buffer, size_t length, uint64_t match_info,
		 uint64_t match_mask, void *context, omx_request_t *request)
{
	omx_return_t ret;

	ret = omx_irecv(link->ep, buffer, length, match_info, match_mask, context, request);
	return ret == OMX_SUCCESS ? 0 : break_off(link, "receive", ret);
}

int link_put(struct link *link, const void *buffer, size_t length, const struct remote *remote,
	     void *context, omx_request_t *request)
{
	omx_return_t ret;

	ret = omx_iput(link->ep, buffer, length, link->peer, remote->key, remote->offset,
		       context, request);
	return ret == OMX_SUCCESS ? 0 : break_off(link, "put", ret);
}

int link_get(struct link *link, void *buffer, size_t length, const struct remote *remote,
	     void *context, omx_request_t *request)
{
	omx_return_t ret;

	ret = omx_iget(link->ep, buffer, length, link->peer, remote->key, remote->offset,
		       context, request);
	return ret == OMX_SUCCESS ? 0 : break_off(link, "get", ret);
}

int link_cas(struct link *link, uint64_t compare, uint64_t swap, uint64_t *before,
	     const struct remote *remote, void *context, omx_request_t *request)
{
	omx_return_t ret;

	ret = omx_iatomic(link->ep, OMX_ATOMIC_COMPARE_SWAP, sizeof(swap), link->peer,
			  remote->key, remote->offset, swap, compare, before, context, request);
	return ret == OMX_SUCCESS ? 0 : break_off(link, "compare and swap", ret);
}

/* After a wait or test without a completion: whether to try again. */
static int link_stay(struct link *link)
{
	if (watchdog_expired(&link->watchdog)) {
		link->broken = true;
		complain(NULL, "the other side has been silent for too long");
		return -1;
	}
	if (link->yield)
		sched_yield();
	return 0;
}

static int link_finish(struct link *link, const omx_status_t *status)
{
	watchdog_feed(&link->watchdog);
	if (status->code == OMX_SUCCESS)
		return 0;
	link->broken = true;
	complain(NULL, "a message of %" PRIu64 " bytes failed: %s", status->msg_length,
		 omx_strerror(status->code));
	return -1;
}

int link_wait(struct link *link, omx_request_t *request, omx_status_t *status)
{
	uint32_t done = 0;
	omx_return_t ret;

	for (;;) {
		if (link->poll)
			ret = omx_test(link->ep, request, status, &done);
		else
			ret = omx_wait(link->ep, request, status, &done,
				       OMX_TIMEOUT_INFINITE);
		if (ret != OMX_SUCCESS)
			return break_off(link, "wait", ret);
		if (done)
			return link_finish(link, status);
		if (link_stay(link) < 0)
			return -1;
	}
}

int link_wait_any(struct link *link, omx_status_t *status)
{
	uint32_t done = 0;
	omx_return_t ret;

	for (;;) {
		if (link->poll)
			ret = omx_test_any(link->ep, 0, 0, status, &done);
		else
			ret = omx_wait_any(link->ep, 0, 0, status, &done,
					   OMX_TIMEOUT_INFINITE);
		if (ret != OMX_SUCCESS)
			return break_off(link, "wait", ret);
		if (done)
			return link_finish(link, status);
		if (link_stay(link) < 0)
			return -1;
	}
}
