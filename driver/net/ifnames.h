/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The commands of the module parameter "ifnames", for main.c.
 */
#ifndef OMX_IFNAMES_H
#define OMX_IFNAMES_H

#include <linux/types.h>

/*
 * Executes commands: "all", "none", or names separated by blanks or commas.
 * "eth0" and "+eth0" attach a device, "-eth0" detaches it if no endpoint is open
 * on it (-EBUSY), "--eth0" detaches it in any case.  Process context.
 */
int omx_ifnames_command(const char *words);
/* Writes the names of the attached devices.  Process context. */
int omx_ifnames_list(char *buffer, size_t size);

#endif
