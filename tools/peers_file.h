/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The file of static peers. Each line is "MAC NAME" or "IP-ADDRESS-OR-HOST [NAME]";
 * # starts a comment.
 */
#ifndef OMX_TOOLS_PEERS_FILE_H
#define OMX_TOOLS_PEERS_FILE_H

#include "objects.h"

/*
 * Returns 0, or -1 after printing the wrong line. The caller frees the list
 * in both cases.
 */
int peers_file_read(const char *path, struct peer_list *list);

#endif
