// SPDX-License-Identifier: GPL-2.0
/*
 * The commands of the module parameter "ifnames": which network devices of the
 * caller's namespace are boards.
 *
 * main.c calls these functions when the parameter is written or read, and
 * netlink/change.c to attach and detach by name, in process context.
 */
#define pr_fmt(fmt) "omx: " fmt

#include <linux/netdevice.h>
#include <linux/nsproxy.h>
#include <linux/rtnetlink.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "net/attach.h"
#include "net/board.h"
#include "net/ifnames.h"

int omx_ifnames_attach(struct net *net, const char *name)
{
	struct net_device *dev = __dev_get_by_name(net, name);
	struct omx_board *board;

	if (!dev)
		return -ENODEV;
	board = omx_board_of(omx_net_of(net), dev);
	if (!board)
		return omx_board_attach(dev, false);
	WRITE_ONCE(board->automatic, false);
	return 0;
}

int omx_ifnames_detach(struct net *net, const char *name, bool force)
{
	struct net_device *dev = __dev_get_by_name(net, name);
	struct omx_board *board = NULL;

	if (dev)
		board = omx_board_of(omx_net_of(net), dev);
	return board ? omx_board_detach(board, force) : -ENODEV;
}

static int ifnames_execute(struct net *net, const char *word)
{
	struct omx_net *on = omx_net_of(net);

	if (!strcmp(word, "all")) {
		on->automatic = true;
		omx_attach_all(net);
		return 0;
	}
	if (!strcmp(word, "none")) {
		on->automatic = false;
		return omx_detach_all(net);
	}
	if (!strncmp(word, "--", 2))
		return omx_ifnames_detach(net, word + 2, true);
	if (*word == '-')
		return omx_ifnames_detach(net, word + 1, false);
	return omx_ifnames_attach(net, *word == '+' ? word + 1 : word);
}

/* Continues after a word that fails; the first error is returned. */
int omx_ifnames_command(const char *words)
{
	struct net *net = current->nsproxy->net_ns;
	char *copy = kstrdup(words, GFP_KERNEL);
	char *rest = copy, *word;
	int result = 0;

	if (!copy)
		return -ENOMEM;
	rtnl_lock();
	while ((word = strsep(&rest, " ,\t\n"))) {
		int error = *word ? ifnames_execute(net, word) : 0;

		if (error)
			pr_notice("ifnames: '%s': %s (error %d)\n", word, omx_attach_error(error),
				  error);
		result = result ?: error;
	}
	rtnl_unlock();
	kfree(copy);
	return result;
}

int omx_ifnames_list(char *buffer, size_t size)
{
	struct omx_net *on = omx_net_of(current->nsproxy->net_ns);
	struct omx_board *board;
	int length = 0;
	u32 i;

	rtnl_lock();
	for (i = 0; i < OMX_BOARD_MAX; i++) {
		board = omx_board_at(on, i);
		if (board)
			length += scnprintf(buffer + length, size - length,
					    "%s%s", length ? " " : "",
					    netdev_name(board->dev));
	}
	rtnl_unlock();
	length += scnprintf(buffer + length, size - length, "\n");
	return length;
}
