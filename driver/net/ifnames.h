/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The commands of the module parameter "ifnames", for main.c; attaching and detaching
 * by name, for netlink/change.c.
 */
#ifndef OMX_IFNAMES_H
#define OMX_IFNAMES_H

#include <linux/types.h>

struct net;

/*
 * Executes commands: "all", "none", or names separated by blanks or commas.
 * "eth0" and "+eth0" attach a device, "-eth0" detaches it if no endpoint is open
 * on it (-EBUSY), "--eth0" detaches it in any case.  Process context.
 */
int omx_ifnames_command(const char *words);
/* Writes the names of the attached devices.  Process context. */
int omx_ifnames_list(char *buffer, size_t size);

/*
 * A device that is attached already remains so, also when "all" is not in effect any
 * more.  The errors are those of omx_attach_error().  rtnl held.
 */
int omx_ifnames_attach(struct net *net, const char *name);
int omx_ifnames_detach(struct net *net, const char *name, bool force);

#endif
