/* SPDX-License-Identifier: BSD-2-Clause */
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "advice.h"

static void read_flags(int fd, struct ifreq *request, struct link_state *state)
{
	if (ioctl(fd, SIOCGIFFLAGS, request) < 0)
		return;
	state->known = true;
	state->admin_up = request->ifr_flags & IFF_UP;
}

/*
 * Virtual devices do not support coalescing; there is no advice about it
 * then.
 */
static void read_coalescing(int fd, struct ifreq *request, struct link_state *state)
{
	struct ethtool_coalesce coalesce = { .cmd = ETHTOOL_GCOALESCE };

	request->ifr_data = (char *)&coalesce;
	if (ioctl(fd, SIOCETHTOOL, request) < 0)
		return;
	state->coalesce_known = true;
	state->adaptive_rx = coalesce.use_adaptive_rx_coalesce;
	state->rx_usecs = coalesce.rx_coalesce_usecs;
}

void link_state_read(const char *ifname, struct link_state *state)
{
	struct ifreq request = { 0 };
	int fd;

	memset(state, 0, sizeof(*state));
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return;
	strncpy(request.ifr_name, ifname, IFNAMSIZ - 1);
	read_flags(fd, &request, state);
	read_coalescing(fd, &request, state);
	close(fd);
}
