/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A window is memory of this program that peers access by its key.  The driver does
 * everything but keep the program's handles: see window.c.
 *
 * Called by access.c, when.c, active.c, log.c, put_event.c and endpoint.c.  Must hold the
 * endpoint's lock.
 */
#ifndef OMX_WINDOW_H
#define OMX_WINDOW_H

#include <endian.h>
#include <string.h>

#include "endpoint.h"
#include "omx.h"

/* The program's form of a key is the same on all hosts: big endian. */
static inline omx_key_t omx__key_export(const struct omx_key *key)
{
	const uint32_t words[4] = {
		htobe32(key->window), htobe32(key->secret[0]), htobe32(key->secret[1]),
		htobe32(key->secret[2]),
	};
	omx_key_t exported;

	memcpy(&exported, words, sizeof(exported));
	return exported;
}

static inline struct omx_key omx__key_import(const omx_key_t *key)
{
	uint32_t words[4];

	memcpy(words, key, sizeof(words));
	return (struct omx_key){
		.window = be32toh(words[0]),
		.secret = { be32toh(words[1]), be32toh(words[2]), be32toh(words[3]) },
	};
}

/* The handle of the window that the driver knows by this number; NULL: there is none. */
omx_window_t omx__window_numbered(const struct omx__endpoint *ep, uint32_t number);

/* False: this is not the handle of a window of the endpoint. */
bool omx__window_key(const struct omx__endpoint *ep, omx_window_t window, struct omx_key *key);
/* Is this the handle of a window of the endpoint? */
bool omx__window_exists(const struct omx__endpoint *ep, omx_window_t handle);

/* Frees the library's memory only: the driver has freed its part already. */
void omx__windows_free_all(struct omx__endpoint *ep);

#endif
