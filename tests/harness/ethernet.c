// SPDX-License-Identifier: BSD-2-Clause
/* Packet sockets for the programs of fuzz, which need CAP_NET_RAW. */
#include "ethernet.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "check.h"

int ethernet_open(const char *interface, uint16_t protocol)
{
	struct sockaddr_ll address = {
		.sll_family = AF_PACKET,
		.sll_protocol = htons(protocol),
		.sll_ifindex = if_nametoindex(interface),
	};
	int fd;

	if (!address.sll_ifindex)
		die(interface);
	fd = socket(AF_PACKET, SOCK_RAW, 0);	/* receives nothing before bind() */
	if (fd < 0)
		die("socket");
	if (bind(fd, (struct sockaddr *)&address, sizeof(address)))
		die("bind");
	return fd;
}

void ethernet_send(int fd, struct mmsghdr *messages, unsigned int count)
{
	unsigned int done = 0;
	int result;

	while (done < count) {
		result = sendmmsg(fd, messages + done, count - done, 0);
		if (result > 0)
			done += result;
		else if (errno != ENOBUFS && errno != EAGAIN && errno != EINTR)
			die("sendmmsg");
	}
}

void ethernet_own_mac(const char *interface, uint8_t mac[ETH_ALEN])
{
	struct ifreq request = { 0 };
	int fd = socket(AF_PACKET, SOCK_RAW, 0);

	strncpy(request.ifr_name, interface, IFNAMSIZ - 1);
	if (fd < 0 || ioctl(fd, SIOCGIFHWADDR, &request))
		die(interface);
	memcpy(mac, request.ifr_hwaddr.sa_data, ETH_ALEN);
	close(fd);
}

void ethernet_parse_mac(const char *text, uint8_t mac[ETH_ALEN])
{
	unsigned int byte[ETH_ALEN], i;

	if (sscanf(text, "%x:%x:%x:%x:%x:%x", &byte[0], &byte[1], &byte[2], &byte[3],
		   &byte[4], &byte[5]) != ETH_ALEN) {
		fprintf(stderr, "%s: bad address %s\n", program_invocation_short_name, text);
		exit(2);
	}
	for (i = 0; i < ETH_ALEN; i++)
		mac[i] = byte[i];
}
