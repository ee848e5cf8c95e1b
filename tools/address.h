/* SPDX-License-Identifier: BSD-2-Clause */
/* Addresses of peers: a MAC, or an IP address or host name for those reached by UDP. */
#ifndef OMX_TOOLS_ADDRESS_H
#define OMX_TOOLS_ADDRESS_H

#include <stdbool.h>

#include "omx_abi.h"

#define ADDRESS_TEXT_LEN 64

/*
 * Sets the MAC or the IP address of the peer.  Returns 0, or -1 after printing why there
 * is none.  A host name stands for its first address.
 */
int address_parse(const char *text, struct omx_ioc_udp_peer *peer);
/* The same without asking anybody for names, and without a word. */
int address_parse_number(const char *text, struct omx_ioc_udp_peer *peer);
/* The same as the first, but without a word. */
int address_look_up(const char *text, struct omx_ioc_udp_peer *peer);
/* Is the peer reached by UDP? */
bool address_is_ip(const struct omx_ioc_udp_peer *peer);
bool address_is_same(const struct omx_ioc_udp_peer *a, const struct omx_ioc_udp_peer *b);
/* Why the peer cannot be reached; its error is not 0. */
const char *address_error(const struct omx_ioc_udp_peer *peer);
/* The IP address, or "-". */
const char *address_format(const struct omx_ioc_udp_peer *peer, char text[ADDRESS_TEXT_LEN]);

#endif
