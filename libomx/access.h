/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * An access is a put, get or atomic operation in a window of a peer.  See access.c,
 * which starts them, and access_end.c.  A key that is posted for accesses of a peer is
 * handled as one (when.c).
 *
 * Called by progress.c, request.c, flush.c and when.c.  Must hold the endpoint's lock,
 * unless noted.
 */
#ifndef OMX_ACCESS_H
#define OMX_ACCESS_H

#include "endpoint.h"
#include "omx.h"

/* What every public function that accesses is given, apart from the memory. */
struct access_args {
	enum request_type type;
	const omx_endpoint_addr_t *dest;
	const omx_key_t *key;		/* NULL: not known yet */
	void *context;
	omx_request_t *request;		/* NULL: the program does not wait for its end */
	bool conditional;
	struct access access;		/* except the key */
};

/*
 * Makes a request.  The endpoint's lock must not be held; on success it is, and the
 * caller sets the request's memory.
 */
omx_return_t omx__access_begin(struct omx__endpoint *ep, const struct access_args *args,
			       struct omx__request **req);
/* Undoes that; `ret` says why. */
omx_return_t omx__access_give_up(struct omx__endpoint *ep, struct omx__request *req,
				 omx_return_t ret);
/* Submits what omx__access_begin() has made and releases the lock. */
omx_return_t omx__access_finish(struct omx__endpoint *ep, struct omx__request *req,
				const struct access_args *args);
/* All three for contiguous memory, and for segments.  The lock must not be held. */
omx_return_t omx__access_contiguous(struct omx__endpoint *ep, void *buffer, size_t length,
				    const struct access_args *args);
omx_return_t omx__access_segments(struct omx__endpoint *ep, const omx_seg_t *segs, uint32_t nseg,
				  const struct access_args *args);

/*
 * From here to its end an access is one that omx_flush waits for.  Conditional ones are
 * not counted: they may wait for ever.
 */
void omx__access_count(struct omx__request *req);
void omx__access_uncount(struct omx__request *req);

/*
 * Asks the partner whether it has consumed the log entries up to *stamp (0: all) that
 * accesses of this endpoint have caused.  When the request has ended with success, *stamp
 * is 0 if it has, and else what to ask for the next time.
 */
omx_return_t omx__access_ask(struct omx__endpoint *ep, struct partner *partner, uint64_t *stamp,
			     struct omx__request **req);

/* The access has ended during the call, with this status of the driver. */
void omx__access_end(struct omx__request *req, uint32_t status);

/* The driver's answer to an access has arrived; the event has this many slots. */
void omx__access_done(struct omx__endpoint *ep, const struct omx_event *event, uint32_t slots);

#endif
