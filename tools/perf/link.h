/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An endpoint that talks to one other endpoint. The functions return 0, or -1
 * after printing why they failed.
 */
#ifndef OMX_PERF_LINK_H
#define OMX_PERF_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "omx.h"
#include "open-mx.h"
#include "watchdog.h"

struct settings;

/* Prints why WHAT cannot be done and what to do about it; returns -1. */
int link_fail(const char *what, omx_return_t ret);

struct link {
	omx_endpoint_t ep;
	omx_endpoint_addr_t peer;
	uint32_t endpoint;		/* number of ours */
	bool poll;
	bool yield;
	bool broken;			/* a call failed: send no more control messages */
	uint32_t timeout;		/* seconds */
	struct watchdog watchdog;
	char name[OMX_HOSTNAMELEN_MAX];	/* of our board */
	char ifname[OMX_HOSTNAMELEN_MAX];
};

int link_open(struct link *link, const struct settings *settings);
void link_close(struct link *link);	/* also after link_open() failed */

/* Looks HOST, HOST:0 or a MAC address up and connects; waits a few seconds for it to appear. */
int link_connect(struct link *link, const char *host, uint32_t endpoint);

/*
 * From now on, waits fail if `bytes` outstanding bytes make no progress for
 * too long. With link_idle() they last for ever.
 */
void link_expect(struct link *link, uint64_t bytes);
void link_idle(struct link *link);

int link_send(struct link *link, void *buffer, size_t length, uint64_t match_info,
	      bool synchronous, void *context, omx_request_t *request);
int link_receive(struct link *link, void *buffer, size_t length, uint64_t match_info,
		 uint64_t match_mask, void *context, omx_request_t *request);

/* Where in a window of the peer. */
struct remote {
	omx_key_t key;
	uint64_t offset;
};

int link_put(struct link *link, const void *buffer, size_t length, const struct remote *remote,
	     void *context, omx_request_t *request);
int link_get(struct link *link, void *buffer, size_t length, const struct remote *remote,
	     void *context, omx_request_t *request);
/* Compares and swaps a word of 8 bytes; `before` is what it was. */
int link_cas(struct link *link, uint64_t compare, uint64_t swap, uint64_t *before,
	     const struct remote *remote, void *context, omx_request_t *request);

/* Waits until the request, or any request, completes without an error. */
int link_wait(struct link *link, omx_request_t *request, omx_status_t *status);
int link_wait_any(struct link *link, omx_status_t *status);

#endif
