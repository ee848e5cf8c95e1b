/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A partner is an endpoint of a peer that an endpoint communicates with.  It
 * exists as long as its channel in the driver, and as a dead partner for some
 * time afterwards, so that calls with its address can return the reason.
 *
 * Must hold the endpoint's lock.
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
 * Partners are found by the low bits of their channel's number.  There are as many
 * slots as an endpoint may have channels: the driver never gives two live
 * channels the same low bits.
 */
#define CHANNEL_SLOTS	8192u

enum partner_state {
	PARTNER_IDLE,	/* the endpoint itself, before its first message to itself */
	PARTNER_LIVE,
	PARTNER_DEAD,
};

struct partner {
	struct list queued;	/* sends and accesses waiting for room, in order */
	struct list active;	/* rendezvous sends, pulls and accesses that the driver has */
	struct list dead_node;	/* DEAD: ep->dead_partners */
	uint64_t rndv_threshold;	/* longest eager message */
	omx_endpoint_addr_t addr;
	uint32_t channel;
	struct partner *next;		/* in the same slot */
	uint32_t index;		/* in ep->partners */
	uint32_t messages;	/* unexpected messages that point to this partner */
	uint32_t accesses;	/* that have not ended */
	uint32_t repeated;	/* of these: posted again, and not answered; see refused.c */
	bool local;		/* on this host, and the driver performs accesses at once */
	uint32_t longest_get;	/* whose data fits the frame of the response */
	uint8_t state;
	omx_return_t reason;	/* DEAD: why */
	uint64_t mac;
	uint32_t endpoint;
	uint32_t session;
	void *context;
};

/* Creates the partner that is the endpoint itself.  0 or -errno. */
int omx__partner_create_self(struct omx__endpoint *ep, uint32_t session);

/*
 * Finds the partner with this address.  REMOTE_ENDPOINT_BAD_ID: it is no address;
 * REMOTE_ENDPOINT_BAD_SESSION: it is not valid any more.
 */
omx_return_t omx__partner_by_address(struct omx__endpoint *ep, const omx_endpoint_addr_t *addr,
				     struct partner **partner);

/* Creates the partner of a new channel.  NULL: out of memory. */
struct partner *omx__partner_introduce(struct omx__endpoint *ep, uint32_t channel);

/* Submits queued sends and accesses until the driver accepts no more. */
void omx__partner_flush(struct omx__endpoint *ep, struct partner *partner);

/* Ends all requests of the partner. */
void omx__partner_abort(struct omx__endpoint *ep, struct partner *partner, omx_return_t code);

/* The channel of the partner is lost. */
void omx__partner_die(struct omx__endpoint *ep, struct partner *partner, omx_return_t reason);

/*
 * The program disconnects: ends the requests of the partner and makes its address
 * invalid.  If the peer continues to send, it appears with another address.
 */
void omx__partner_disconnect(struct omx__endpoint *ep, struct partner *partner);

void omx__partners_free_all(struct omx__endpoint *ep);

#endif
