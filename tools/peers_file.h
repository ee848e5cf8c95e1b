/* SPDX-License-Identifier: BSD-2-Clause */
/* The file of static peers: lines "MAC hostname", # starts a comment. */
#ifndef OMX_TOOLS_PEERS_FILE_H
#define OMX_TOOLS_PEERS_FILE_H

#include "device.h"

/* 0, or -1 once the offending line is printed.  peer_list_free() in any case. */
int peers_file_read(const char *path, struct peer_list *list);

#endif
