/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Partners: the endpoints that an endpoint talks with.  One lives as long as
 * its channel in the driver, and (dead) a while longer so that its address
 * still explains itself.  Must hold the endpoint's lock.
 */
#ifndef OMX_PARTNER_H
#define OMX_PARTNER_H

#include <stdbool.h>
#include <stdint.h>

#include "list.h"
#include "open-mx.h"

struct omx__request;

#define NO_CHANNEL	0xffffffffu

/*
 * Numbers of channels, which count up, are hashed by their low bits.  As many as
 * an endpoint may have channels: the driver gives no two live ones with the same.
 */
#define CHANNEL_SLOTS	8192u

enum partner_state {
	PARTNER_IDLE,	/* ourselves, before the first message */
	PARTNER_LIVE,
	PARTNER_DEAD,
};

struct partner {
	struct list queued;	/* sends waiting for room in the channel, in order */
	struct list active;	/* rendezvous sends and pulls that the driver has */
	struct list dead_node;	/* DEAD: ep->dead_partners */
	uint64_t rndv_threshold;	/* longest eager message */
	omx_endpoint_addr_t addr;
	uint32_t channel;
	struct partner *next;		/* whose channel's number ends in the same bits */
	uint32_t index;		/* in ep->partners */
	uint32_t messages;	/* unexpected ones that point here */
	uint8_t state;
	omx_return_t reason;	/* DEAD: why */
	uint64_t mac;
	uint32_t endpoint;
	uint32_t session;
	void *context;
};

/* What the endpoint itself is to itself.  0 or -errno. */
int omx__partner_create_self(struct omx__endpoint *ep, uint32_t session);

/*
 * The partner that addr means; REMOTE_ENDPOINT_BAD_ID: none;
 * REMOTE_ENDPOINT_BAD_SESSION: not any more.
 */
omx_return_t omx__partner_by_address(struct omx__endpoint *ep, const omx_endpoint_addr_t *addr,
				     struct partner **partner);

/* The partner of a channel, made known if it is new.  NULL: out of memory. */
struct partner *omx__partner_introduce(struct omx__endpoint *ep, uint32_t channel);

/* Hands queued sends to the driver until it takes no more. */
void omx__partner_flush(struct omx__endpoint *ep, struct partner *partner);

/* Ends its requests. */
void omx__partner_abort(struct omx__endpoint *ep, struct partner *partner, omx_return_t code);

/* Its channel is lost. */
void omx__partner_die(struct omx__endpoint *ep, struct partner *partner, omx_return_t reason);

/*
 * The program's wish: ends its requests, makes its address invalid.  If the
 * peer goes on sending, it appears with another one.
 */
void omx__partner_disconnect(struct omx__endpoint *ep, struct partner *partner);

void omx__partners_free_all(struct omx__endpoint *ep);

#endif
