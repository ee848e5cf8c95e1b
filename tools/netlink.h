/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Requests to the driver through its generic netlink family (omx_netlink.h), and its
 * events.  They concern the network namespace of the caller.
 *
 * Attributes are read from a table with one entry for each type, NULL if the message has
 * none.  What is missing reads as 0 or an empty text: a driver of another release may
 * have fewer attributes, or others that are ignored.
 */
#ifndef OMX_TOOLS_NETLINK_H
#define OMX_TOOLS_NETLINK_H

#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <stddef.h>
#include <stdint.h>

#include "omx_netlink.h"

#define NETLINK_BUFFER	65536

struct netlink {
	int fd;
	uint32_t sequence;
	uint16_t family;		/* the number of the driver's ... */
	uint32_t events;		/* ... and of its multicast group */
	uint32_t controller_events;	/* that of netlink itself, which says that families end */
	char said[256];			/* why the driver refused the last request, or empty */
	_Alignas(struct nlmsghdr) char buffer[NETLINK_BUFFER];
};

struct netlink_request {
	struct nlmsghdr head;
	struct genlmsghdr generic;
	char attributes[256];
};

/* Called for each message.  Another result than 0 ends the walk, and is returned. */
typedef int (*netlink_handler)(uint8_t command, const struct nlattr *const attribute[],
			       void *context);

/* Returns 0, or -1 after printing the reason; the second one 0 or -errno. */
int netlink_open(struct netlink *netlink);
int netlink_open_silently(struct netlink *netlink);
void netlink_close(struct netlink *netlink);

/* Prints "cannot WHAT: reason (hint)" for an error that these functions return; -1. */
int netlink_fail(const struct netlink *netlink, int error, const char *what, ...)
	__attribute__((format(printf, 3, 4)));

/* ---- requests: 0 or -errno ---- */

void netlink_request_init(struct netlink_request *request, uint8_t command);
void netlink_request_add(struct netlink_request *request, uint16_t attribute,
			 const void *data, size_t length);
void netlink_request_add_u32(struct netlink_request *request, uint16_t attribute,
			     uint32_t value);
void netlink_request_add_string(struct netlink_request *request, uint16_t attribute,
				const char *text);

int netlink_dump(struct netlink *netlink, struct netlink_request *request,
		 netlink_handler handler, void *context);
int netlink_change(struct netlink *netlink, struct netlink_request *request);

/* ---- events ---- */

/*
 * From now on the driver's events are kept for the socket, as many as fit in so many
 * bytes (0: the system's default).  0 or -errno.
 */
int netlink_listen(struct netlink *netlink, int bytes);
/*
 * Waits for events and has the handler called for each.  -ENOBUFS: events were lost;
 * -ENODEV: the module has been unloaded.
 */
int netlink_next_events(struct netlink *netlink, netlink_handler handler, void *context);

/* ---- attributes ---- */

uint32_t attribute_u32(const struct nlattr *attribute);
uint64_t attribute_u64(const struct nlattr *attribute);
/* NULL: it is absent, or shorter. */
const void *attribute_data(const struct nlattr *attribute, size_t length);
void attribute_string(const struct nlattr *attribute, char *text, size_t size);

#endif
