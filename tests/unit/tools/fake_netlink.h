/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A stand-in for the kernel's side of netlink sockets: the linker has a program call these
 * functions instead of socket(), setsockopt(), send() and recv().  Answers are datagrams
 * that a test prepares, or makes of each request.
 */
#ifndef OMX_UNIT_TOOLS_FAKE_NETLINK_H
#define OMX_UNIT_TOOLS_FAKE_NETLINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "netlink.h"

#define FAKE_FAMILY 33
#define FAKE_CONTROLLER_GROUP 16
#define FAKE_EVENTS_GROUP 7

struct datagram {
	_Alignas(8) char data[NETLINK_BUFFER];
	size_t length;
	int error;			/* of recv(), instead of data */
};

/* ---- what each program that is linked with this defines ---- */

/* No: the program meets the real kernel. */
bool fake_is_wanted(void);
/* A request has been sent. */
void fake_requested(const struct netlink_request *request);

/* ---- datagrams ---- */

extern unsigned int fake_joined;	/* multicast groups: a bit for each */

/* Forgets those that were not received. */
void fake_reset(void);
/* Another one that will be received. */
struct datagram *fake_datagram(void);

/* These append to a datagram.  Messages begin, get attributes, and end. */
size_t fake_begin(struct datagram *datagram, uint16_t type, uint16_t flags, uint32_t sequence);
size_t fake_begin_generic(struct datagram *datagram, uint16_t family, uint32_t sequence,
			  uint8_t command);
void fake_append(struct datagram *datagram, const void *data, size_t length);
void fake_put(struct datagram *datagram, uint16_t type, const void *data, size_t length);
void fake_put_u32(struct datagram *datagram, uint16_t type, uint32_t value);
void fake_put_text(struct datagram *datagram, uint16_t type, const char *text);
void fake_end(struct datagram *datagram, size_t at);

/* Whole messages.  `said` may be NULL. */
void fake_result(struct datagram *datagram, uint32_t sequence, int error, uint16_t flags,
		 const char *said);
void fake_done(struct datagram *datagram, uint32_t sequence, int error);
/* What the controller says of the driver's family, and of its own. */
void fake_families(uint32_t sequence, uint16_t number, const char *group, uint32_t id);

#endif
