/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the examples of one-sided communication share: arguments, an endpoint, peers that
 * find each other, and requests that are waited for.  Whatever fails ends the program.
 */
#ifndef PEER_H
#define PEER_H

#include <omx.h>

/* The endpoint that open_endpoint() has opened. */
extern omx_endpoint_t ep;

/* With --help prints how the program is called and ends; otherwise initializes omx. */
void begin(int argc, char **argv, const char *usage);
/* The arguments are wrong. */
_Noreturn void misused(const char *usage);
/* The number in this argument, which must lie between these. */
uint64_t number_in(const char *argument, const char *name, uint64_t least, uint64_t most);
_Noreturn void die(const char *format, ...) __attribute__((format(printf, 1, 2)));
void check(const char *what, omx_return_t ret);

/* Says "ready" when peers can connect to it. */
void open_endpoint(uint32_t number, uint32_t key);
void close_endpoint(void);
/* Waits some seconds for the peer to open its endpoint. */
omx_endpoint_addr_t connect_to(const char *board, uint32_t number, uint32_t key);

/* Waits until the request has ended, and clears it.  `status` may be NULL. */
void finish(omx_request_t *request, omx_status_t *status);
void receive_message(void *buffer, size_t length, uint64_t match, omx_status_t *status);
/* Returns when the message has been received. */
void send_message(omx_endpoint_addr_t to, const void *buffer, size_t length, uint64_t match);

/* Memory that is zero and present. */
void *allocate(size_t length);
double now(void);			/* s */

#endif
