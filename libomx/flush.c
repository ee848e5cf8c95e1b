/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Public functions that block until accesses have ended.
 *
 * Any thread may call them.  They acquire the endpoint's lock, which is dropped
 * while they sleep.
 */
#include "access.h"
#include "error.h"
#include "log.h"
#include "omx.h"
#include "timer.h"
#include "wait.h"

/* How long omx_flush_active waits between two questions. */
#define PAUSE_MIN_MS	1
#define PAUSE_MAX_MS	100

/* The lock may have been dropped: the partner is looked up each time. */
static bool partner_is_flushed(struct omx__endpoint *ep, void *dest)
{
	struct partner *partner;

	return omx__partner_by_address(ep, dest, &partner) || !partner->accesses;
}

static bool endpoint_is_flushed(struct omx__endpoint *ep, void *unused)
{
	(void)unused;
	return !ep->accesses;
}

omx_return_t omx_flush(omx_endpoint_t ep, omx_endpoint_addr_t dest, uint32_t *result,
		       uint32_t timeout)
{
	struct partner *partner;
	uint32_t flushed;
	omx_return_t ret = omx__enter(ep);

	if (ret)
		return omx__return(NULL, ret, __func__);
	ret = omx__partner_by_address(ep, &dest, &partner);
	if (!ret)
		ret = omx__wait(ep, partner_is_flushed, &dest, false, &flushed, timeout);
	if (!ret)
		*result = flushed;
	omx__leave(ep);
	return omx__return(ret == OMX_BAD_ENDPOINT ? NULL : ep, ret, __func__);
}

omx_return_t omx_flush_all(omx_endpoint_t ep, uint32_t *result, uint32_t timeout)
{
	uint32_t flushed;
	omx_return_t ret = omx__enter(ep);

	if (ret)
		return omx__return(NULL, ret, __func__);
	ret = omx__wait(ep, endpoint_is_flushed, NULL, false, &flushed, timeout);
	if (!ret)
		*result = flushed;
	omx__leave(ep);
	return omx__return(ret == OMX_BAD_ENDPOINT ? NULL : ep, ret, __func__);
}

/* ---- active accesses --------------------------------------------------------- */

struct active_flush {
	omx_endpoint_addr_t dest;
	uint64_t deadline;
	uint64_t stamp;		/* of the entries to ask for; 0: all, or none is left */
	uint32_t wakeups;	/* omx_wakeup calls when the call began */
	uint32_t pause_ms;
};

static bool flush_is_over(const struct omx__endpoint *ep, const struct active_flush *flush)
{
	return ep->wakeups != flush->wakeups ||
	       (flush->deadline != NEVER && omx__now() >= flush->deadline);
}

/* The request must not outlive the stamp that it stores. */
static omx_return_t flush_wait_answer(struct omx__endpoint *ep, const struct active_flush *flush,
				      struct omx__request *req, uint32_t *answered)
{
	uint32_t milliseconds = omx__milliseconds_until(flush->deadline);
	omx_return_t ret = omx__wait_request(ep, req, answered, milliseconds);
	omx_status_t status;

	if (ret || !*answered) {
		omx__request_drop(req);
		return ret;
	}
	omx__request_take(req, &status);
	return status.code;
}

static omx_return_t flush_ask(struct omx__endpoint *ep, struct active_flush *flush,
			      uint32_t *answered)
{
	struct omx__request *req;
	struct partner *partner;
	omx_return_t ret = omx__partner_by_address(ep, &flush->dest, &partner);

	if (!ret)
		ret = omx__access_ask(ep, partner, &flush->stamp, &req);
	return ret ? ret : flush_wait_answer(ep, flush, req, answered);
}

static bool never(struct omx__endpoint *ep, void *unused)
{
	(void)ep, (void)unused;
	return false;
}

static omx_return_t flush_pause(struct omx__endpoint *ep, struct active_flush *flush)
{
	uint32_t left = omx__milliseconds_until(flush->deadline), unused;
	omx_return_t ret;

	ret = omx__wait(ep, never, NULL, false, &unused,
			flush->pause_ms < left ? flush->pause_ms : left);
	flush->pause_ms = 2 * flush->pause_ms < PAUSE_MAX_MS ? 2 * flush->pause_ms : PAUSE_MAX_MS;
	return ret;
}

/* The answer comes at once, so the peer keeps nothing for those who wait. */
static omx_return_t flush_logs(struct omx__endpoint *ep, struct active_flush *flush,
			       uint32_t *flushed)
{
	uint32_t answered;
	omx_return_t ret;

	for (;;) {
		*flushed = 0;
		ret = flush_ask(ep, flush, &answered);
		if (ret || !answered)
			return ret;
		*flushed = !flush->stamp;
		if (*flushed || flush_is_over(ep, flush))
			return OMX_SUCCESS;
		ret = flush_pause(ep, flush);
		if (ret)
			return ret;
	}
}

static omx_return_t flush_active(struct omx__endpoint *ep, struct active_flush *flush,
				 uint32_t *flushed)
{
	struct partner *partner;
	omx_return_t ret = omx__partner_by_address(ep, &flush->dest, &partner);

	if (ret)
		return ret;
	if (omx__in_log_handler(ep))
		return OMX_NOT_SUPPORTED_IN_HANDLER;
	flush->wakeups = ep->wakeups;
	ret = omx__wait(ep, partner_is_flushed, &flush->dest, false, flushed,
			omx__milliseconds_until(flush->deadline));
	if (ret || !*flushed)
		return ret;
	return flush_logs(ep, flush, flushed);
}

omx_return_t omx_flush_active(omx_endpoint_t ep, omx_endpoint_addr_t dest, uint32_t *result,
			      uint32_t timeout)
{
	struct active_flush flush = {
		.dest = dest, .deadline = omx__deadline(timeout), .pause_ms = PAUSE_MIN_MS,
	};
	uint32_t flushed;
	omx_return_t ret = omx__enter(ep);

	if (ret)
		return omx__return(NULL, ret, __func__);
	ret = flush_active(ep, &flush, &flushed);
	if (!ret)
		*result = flushed;
	omx__leave(ep);
	return omx__return(ret == OMX_BAD_ENDPOINT ? NULL : ep, ret, __func__);
}
