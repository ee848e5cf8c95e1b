/* SPDX-License-Identifier: BSD-2-Clause */
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "expect.h"
#include "fake_omx.h"
#include "omx.h"
#include "open-mx.h"

#define ENDPOINTS 8

struct omx__request {
	TAILQ_ENTRY(omx__request) next;
	bool done;
	void *buffer;
	size_t length;
	uint64_t match_mask;
	omx_status_t status;
};

TAILQ_HEAD(request_list, omx__request);

/* Unexpected messages are requests that own their buffer. */
struct omx__endpoint {
	uint32_t number;
	unsigned int wakeups;
	struct request_list posted, unexpected, done;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static struct omx__endpoint *endpoints[ENDPOINTS];

static struct {
	enum fake_fault fault;
	uint64_t length;
	unsigned int countdown;
} order;

void fake_order(enum fake_fault fault, uint64_t length, unsigned int n)
{
	pthread_mutex_lock(&lock);
	order.fault = fault;
	order.length = length;
	order.countdown = n;
	pthread_mutex_unlock(&lock);
}

/* Losses befall sends, all else befalls receives: each counts its own. */
static enum fake_fault next_fault(uint64_t length, bool sending)
{
	enum fake_fault fault = order.fault;

	if (fault == FAKE_NO_FAULT || sending != (fault == FAKE_LOSE) ||
	    length != order.length || order.countdown--)
		return FAKE_NO_FAULT;
	order.fault = FAKE_NO_FAULT;
	return fault;
}

static struct omx__request *new_request(void *context, uint64_t match_info)
{
	struct omx__request *request = calloc(1, sizeof(*request));

	EXPECT(request);
	request->status.context = context;
	request->status.match_info = match_info;
	return request;
}

static void complete(struct omx__endpoint *ep, struct omx__request *request)
{
	request->done = true;
	TAILQ_INSERT_TAIL(&ep->done, request, next);
	pthread_cond_broadcast(&changed);
}

static void deliver(struct omx__endpoint *ep, struct omx__request *request,
		    const char *data, const omx_status_t *message)
{
	size_t length = message->msg_length;
	void *context = request->status.context;

	switch (next_fault(length, false)) {
	case FAKE_SHORT:
		length--;
		break;
	case FAKE_OVERRUN:
		((char *)request->buffer)[length] ^= 1;
		break;
	case FAKE_FLIP_BIT:
		memcpy(request->buffer, data, length);
		((char *)request->buffer)[length - 1] ^= 1;
		data = request->buffer;
		break;
	default:
		break;
	}
	if (length > request->length)
		length = request->length;
	memmove(request->buffer, data, length);
	request->status = *message;
	request->status.context = context;
	request->status.xfer_length = length;
	request->status.code = message->msg_length > request->length ?
		OMX_MESSAGE_TRUNCATED : OMX_SUCCESS;
	complete(ep, request);
}

static bool matches(const struct omx__request *receive, uint64_t match_info)
{
	return (match_info & receive->match_mask) == receive->status.match_info;
}

static void arrive(struct omx__endpoint *ep, const char *data, const omx_status_t *message)
{
	struct omx__request *request;

	TAILQ_FOREACH(request, &ep->posted, next)
		if (matches(request, message->match_info)) {
			TAILQ_REMOVE(&ep->posted, request, next);
			deliver(ep, request, data, message);
			return;
		}
	request = new_request(NULL, message->match_info);
	request->buffer = malloc(message->msg_length + 1);
	EXPECT(request->buffer);
	memcpy(request->buffer, data, message->msg_length);
	request->status = *message;
	TAILQ_INSERT_TAIL(&ep->unexpected, request, next);
}

omx_return_t omx_isend(omx_endpoint_t ep, void *buffer, size_t length,
		       omx_endpoint_addr_t dest, uint64_t match_info,
		       void *context, omx_request_t *request)
{
	omx_status_t message = {
		.addr.opaque[0] = ep->number,
		.match_info = match_info,
		.msg_length = length,
	};

	pthread_mutex_lock(&lock);
	if (next_fault(length, true) == FAKE_NO_FAULT && endpoints[dest.opaque[0]])
		arrive(endpoints[dest.opaque[0]], buffer, &message);
	*request = new_request(context, match_info);
	(*request)->status.msg_length = (*request)->status.xfer_length = length;
	complete(ep, *request);
	pthread_mutex_unlock(&lock);
	return OMX_SUCCESS;
}

/* ---- accesses ---- */

static struct omx__window {
	char *address;			/* NULL: there is no such window */
	size_t length;
	uint32_t rights;
	uint64_t secret;
} windows[ENDPOINTS];

omx_return_t omx_window_create(omx_endpoint_t ep, void *address, size_t length, uint32_t rights,
			       const omx_endpoint_addr_t *peer, omx_window_t *window)
{
	static uint64_t secret;
	unsigned int i;

	EXPECT(ep && address && length && rights && peer);
	pthread_mutex_lock(&lock);
	for (i = 0; i < ENDPOINTS && windows[i].address; i++)
		;
	EXPECT(i < ENDPOINTS);
	windows[i] = (struct omx__window){ address, length, rights, ++secret };
	*window = &windows[i];
	pthread_mutex_unlock(&lock);
	return OMX_SUCCESS;
}

omx_return_t omx_window_key(omx_endpoint_t ep, omx_window_t window, omx_key_t *key)
{
	EXPECT(ep);
	*key = (omx_key_t){ { (uint64_t)(window - windows), window->secret } };
	return OMX_SUCCESS;
}

omx_return_t omx_window_destroy(omx_endpoint_t ep, omx_window_t window)
{
	EXPECT(ep);
	pthread_mutex_lock(&lock);
	window->address = NULL;
	pthread_mutex_unlock(&lock);
	return OMX_SUCCESS;
}

/* With the lock held.  NULL: the target has given up, and its window is gone. */
static char *window_memory(omx_key_t key, uint32_t right, uint64_t offset, size_t length)
{
	const struct omx__window *window = &windows[key.opaque[0]];

	if (!window->address || window->secret != key.opaque[1])
		return NULL;
	EXPECT(window->rights & right);
	EXPECT(length <= window->length && offset <= window->length - length);
	return window->address + offset;
}

/* A loss is an access that never ends. */
static void end_access(struct omx__endpoint *ep, size_t length, bool refused, bool lost,
		       void *context, omx_request_t *request)
{
	*request = new_request(context, 0);
	(*request)->status.code = refused ? OMX_REMOTE_RDMA_WINDOW_BAD_ID : OMX_SUCCESS;
	(*request)->status.msg_length = (*request)->status.xfer_length = length;
	if (lost)
		TAILQ_INSERT_TAIL(&ep->posted, *request, next);
	else
		complete(ep, *request);
}

static void copy_access(char *to, const char *from, size_t length)
{
	memcpy(to, from, length);
	switch (next_fault(length, false)) {
	case FAKE_FLIP_BIT:
		to[length - 1] ^= 1;
		break;
	case FAKE_OVERRUN:
		to[length] ^= 1;
		break;
	default:
		break;
	}
}

omx_return_t omx_iput(omx_endpoint_t ep, const void *buffer, size_t length,
		      omx_endpoint_addr_t dest, omx_key_t key, uint64_t offset, void *context,
		      omx_request_t *request)
{
	char *memory;
	bool lost;

	EXPECT(dest.opaque[0] < ENDPOINTS);
	pthread_mutex_lock(&lock);
	lost = next_fault(length, true) != FAKE_NO_FAULT;
	memory = window_memory(key, OMX_WINDOW_RIGHT_PUT, offset, length);
	if (memory)
		copy_access(memory, buffer, length);
	end_access(ep, length, !memory, lost, context, request);
	pthread_mutex_unlock(&lock);
	return OMX_SUCCESS;
}

omx_return_t omx_iget(omx_endpoint_t ep, void *buffer, size_t length, omx_endpoint_addr_t dest,
		      omx_key_t key, uint64_t offset, void *context, omx_request_t *request)
{
	char *memory;

	EXPECT(dest.opaque[0] < ENDPOINTS);
	pthread_mutex_lock(&lock);
	memory = window_memory(key, OMX_WINDOW_RIGHT_GET, offset, length);
	if (memory)
		copy_access(buffer, memory, length);
	end_access(ep, length, !memory, false, context, request);
	pthread_mutex_unlock(&lock);
	return OMX_SUCCESS;
}

omx_return_t omx_iatomic(omx_endpoint_t ep, omx_atomic_t operation, uint32_t size,
			 omx_endpoint_addr_t dest, omx_key_t key, uint64_t offset,
			 uint64_t operand, uint64_t compare, void *before, void *context,
			 omx_request_t *request)
{
	uint64_t word;
	char *memory;

	EXPECT(operation == OMX_ATOMIC_COMPARE_SWAP && size == sizeof(word));
	EXPECT(dest.opaque[0] < ENDPOINTS);
	pthread_mutex_lock(&lock);
	memory = window_memory(key, OMX_WINDOW_RIGHT_ATOMIC, offset, size);
	if (memory) {
		memcpy(&word, memory, size);
		memcpy(before, &word, size);
		if (word == compare && next_fault(size, false) == FAKE_NO_FAULT)
			memcpy(memory, &operand, size);
	}
	end_access(ep, size, !memory, false, context, request);
	pthread_mutex_unlock(&lock);
	return OMX_SUCCESS;
}

/* ---- messages again ---- */

omx_return_t omx_issend(omx_endpoint_t ep, void *buffer, size_t length,
			omx_endpoint_addr_t dest, uint64_t match_info,
			void *context, omx_request_t *request)
{
	return omx_isend(ep, buffer, length, dest, match_info, context, request);
}

static void free_unexpected(struct omx__endpoint *ep, struct omx__request *message)
{
	TAILQ_REMOVE(&ep->unexpected, message, next);
	free(message->buffer);
	free(message);
}

omx_return_t omx_irecv(omx_endpoint_t ep, void *buffer, size_t length,
		       uint64_t match_info, uint64_t match_mask,
		       void *context, omx_request_t *request)
{
	struct omx__request *receive = new_request(context, match_info);
	struct omx__request *message;

	receive->buffer = buffer;
	receive->length = length;
	receive->match_mask = match_mask;
	pthread_mutex_lock(&lock);
	TAILQ_FOREACH(message, &ep->unexpected, next)
		if (matches(receive, message->status.match_info))
			break;
	if (message) {
		deliver(ep, receive, message->buffer, &message->status);
		free_unexpected(ep, message);
	} else {
		TAILQ_INSERT_TAIL(&ep->posted, receive, next);
	}
	pthread_mutex_unlock(&lock);
	*request = receive;
	return OMX_SUCCESS;
}

/* The one given, or the first of all, if it is done: taken and freed. */
static bool take(struct omx__endpoint *ep, omx_request_t *wanted, omx_status_t *status)
{
	struct omx__request *request = wanted ? *wanted : TAILQ_FIRST(&ep->done);

	if (!request || !request->done)
		return false;
	TAILQ_REMOVE(&ep->done, request, next);
	*status = request->status;
	free(request);
	if (wanted)
		*wanted = NULL;
	return true;
}

static omx_return_t wait_for(omx_endpoint_t ep, omx_request_t *request,
			     omx_status_t *status, uint32_t *result, bool sleep)
{
	unsigned int wakeups;

	pthread_mutex_lock(&lock);
	wakeups = ep->wakeups;
	while (!(*result = take(ep, request, status)) && sleep &&
	       wakeups == ep->wakeups)
		pthread_cond_wait(&changed, &lock);
	pthread_mutex_unlock(&lock);
	return OMX_SUCCESS;
}

omx_return_t omx_wait(omx_endpoint_t ep, omx_request_t *request, omx_status_t *status,
		      uint32_t *result, uint32_t timeout)
{
	EXPECT(timeout == OMX_TIMEOUT_INFINITE);
	return wait_for(ep, request, status, result, true);
}

omx_return_t omx_test(omx_endpoint_t ep, omx_request_t *request, omx_status_t *status,
		      uint32_t *result)
{
	return wait_for(ep, request, status, result, false);
}

omx_return_t omx_wait_any(omx_endpoint_t ep, uint64_t match_info, uint64_t match_mask,
			  omx_status_t *status, uint32_t *result, uint32_t timeout)
{
	EXPECT(!match_info && !match_mask && timeout == OMX_TIMEOUT_INFINITE);
	return wait_for(ep, NULL, status, result, true);
}

omx_return_t omx_test_any(omx_endpoint_t ep, uint64_t match_info, uint64_t match_mask,
			  omx_status_t *status, uint32_t *result)
{
	EXPECT(!match_info && !match_mask);
	return wait_for(ep, NULL, status, result, false);
}

omx_return_t omx_wakeup(omx_endpoint_t ep)
{
	pthread_mutex_lock(&lock);
	ep->wakeups++;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
	return OMX_SUCCESS;
}

omx_return_t omx_open_endpoint(uint32_t board, uint32_t endpoint, uint32_t key,
			       omx_endpoint_param_t *params, uint32_t count,
			       omx_endpoint_t *ep)
{
	struct omx__endpoint *new = calloc(1, sizeof(*new));

	EXPECT(new && board == 0 && key && !params && !count);
	TAILQ_INIT(&new->posted);
	TAILQ_INIT(&new->unexpected);
	TAILQ_INIT(&new->done);
	pthread_mutex_lock(&lock);
	if (endpoint == OMX_ANY_ENDPOINT)
		for (endpoint = 1; endpoints[endpoint]; endpoint++)
			;
	EXPECT(endpoint < ENDPOINTS && !endpoints[endpoint]);
	new->number = endpoint;
	endpoints[endpoint] = new;
	pthread_mutex_unlock(&lock);
	*ep = new;
	return OMX_SUCCESS;
}

static void free_list(struct request_list *list)
{
	struct omx__request *request;

	while ((request = TAILQ_FIRST(list))) {
		TAILQ_REMOVE(list, request, next);
		free(request);
	}
}

omx_return_t omx_close_endpoint(omx_endpoint_t ep)
{
	pthread_mutex_lock(&lock);
	endpoints[ep->number] = NULL;
	while (!TAILQ_EMPTY(&ep->unexpected))
		free_unexpected(ep, TAILQ_FIRST(&ep->unexpected));
	free_list(&ep->posted);
	free_list(&ep->done);
	free(ep);
	pthread_mutex_unlock(&lock);
	return OMX_SUCCESS;
}

omx_return_t omx_get_endpoint_addr(omx_endpoint_t ep, omx_endpoint_addr_t *addr)
{
	addr->opaque[0] = ep->number;
	addr->opaque[1] = 0;
	return OMX_SUCCESS;
}

omx_return_t omx_decompose_endpoint_addr(omx_endpoint_addr_t addr, uint64_t *nic_id,
					 uint32_t *endpoint)
{
	*nic_id = 1;
	*endpoint = addr.opaque[0];
	return OMX_SUCCESS;
}

omx_return_t omx_connect(omx_endpoint_t ep, uint64_t nic_id, uint32_t endpoint,
			 uint32_t key, uint32_t timeout, omx_endpoint_addr_t *addr)
{
	bool open;

	EXPECT(ep && nic_id == 1 && key && timeout);
	pthread_mutex_lock(&lock);
	open = endpoints[endpoint];
	pthread_mutex_unlock(&lock);
	addr->opaque[0] = endpoint;
	return open ? OMX_SUCCESS : OMX_REMOTE_ENDPOINT_BAD_ID;
}

omx_return_t omx_hostname_to_nic_id(char *hostname, uint64_t *nic_id)
{
	*nic_id = 1;
	return strcmp(hostname, "fake:0") == 0 ? OMX_SUCCESS : OMX_PEER_NOT_FOUND;
}

omx_return_t omx_get_info(omx_endpoint_t ep, omx_info_key_t key, const void *in_val,
			  uint32_t in_len, void *out_val, uint32_t out_len)
{
	EXPECT(ep && !in_val && !in_len && out_len >= 8);
	strcpy(out_val, key == OMX_INFO_BOARD_HOSTNAME ? "fake:0" : "eth0");
	return OMX_SUCCESS;
}

omx_return_t omx_set_request_timeout(omx_endpoint_t ep, omx_request_t request,
				     uint32_t milliseconds)
{
	EXPECT(ep && !request && milliseconds);
	return OMX_SUCCESS;
}

omx_return_t omx__errors_return(char *str, omx_return_t ret)
{
	(void)str;
	return ret;
}

omx_error_handler_t omx_set_error_handler(omx_endpoint_t ep, omx_error_handler_t handler)
{
	(void)ep;
	return handler;
}

const char *omx_strerror(omx_return_t ret)
{
	return ret == OMX_SUCCESS ? "success" : "an error";
}
