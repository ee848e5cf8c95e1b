/* SPDX-License-Identifier: BSD-2-Clause */
/* Packet sockets, for programs that send frames of their own making. */
#ifndef TESTS_HARNESS_ETHERNET_H
#define TESTS_HARNESS_ETHERNET_H

#include <net/ethernet.h>
#include <stdint.h>

struct mmsghdr;

/* A raw socket that receives this protocol from the interface; with 0 nothing. */
int ethernet_open(const char *interface, uint16_t protocol);
/* All of them, however full the queue of the interface is. */
void ethernet_send(int fd, struct mmsghdr *messages, unsigned int count);
void ethernet_own_mac(const char *interface, uint8_t mac[ETH_ALEN]);

/* Ends the program with status 2 if this is no address. */
void ethernet_parse_mac(const char *text, uint8_t mac[ETH_ALEN]);

#endif
