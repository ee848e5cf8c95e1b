/* SPDX-License-Identifier: BSD-2-Clause */
/* Numbers, sizes, board addresses and names as users write and read them. */
#ifndef OMX_TOOLS_TEXT_H
#define OMX_TOOLS_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MAC_TEXT_LEN 18		/* 0 included */

/* Return -1 unless all of `text` is a number, size or address. */
int parse_u32(const char *text, uint32_t *value);
int parse_size(const char *text, uint64_t *value);	/* 64k, 4M, 6G: powers of 1024 */
int parse_mac(const char *text, uint64_t *mac);

/*
 * Whether the driver accepts it: a unicast address; a printable name without
 * blanks and slashes.
 */
bool mac_is_valid(uint64_t mac);
bool name_is_valid(const char *name);

const char *format_mac(uint64_t mac, char text[MAC_TEXT_LEN]);

#endif
