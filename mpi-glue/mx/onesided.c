/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Puts and gets, which name memory of the peer's program by its address.  A window of
 * libomx that is the whole address space makes addresses of its offsets; its key comes
 * from the peer by way of the program: mx_export_memory there, mx_import_memory here.
 *
 * Any thread may call these functions.  One lock protects both tables; libomx is not
 * called with it except to create, name and destroy a window.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#include "error.h"
#include "memory.h"
#include "mx_extensions.h"
#include "omx.h"

#define BUCKETS	256u	/* a power of two */

struct exported {
	struct exported *next;
	mx_endpoint_t ep;
	omx_window_t window;
};

struct imported {
	struct imported *next;
	mx_endpoint_t ep;
	mx_endpoint_addr_t peer;
	omx_key_t key;
};

static pthread_mutex_t memory_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t memory_once = PTHREAD_ONCE_INIT;
static struct exported *exported;
static struct imported *imported[BUCKETS];

_Static_assert(sizeof(mx_memory_key_t) == sizeof(omx_key_t), "keys have one size");

/* ---- the lock: the child of a fork finds it free, whoever had it --------------- */

static void lock_before_fork(void)
{
	pthread_mutex_lock(&memory_lock);
}

static void unlock_after_fork(void)
{
	pthread_mutex_unlock(&memory_lock);
}

static void watch_fork(void)
{
	pthread_atfork(lock_before_fork, unlock_after_fork, unlock_after_fork);
}

static void memory_acquire(void)
{
	pthread_once(&memory_once, watch_fork);
	pthread_mutex_lock(&memory_lock);
}

static void memory_release(void)
{
	pthread_mutex_unlock(&memory_lock);
}

/* ---- the tables; all with the lock held ------------------------------------------ */

static struct exported **exported_find(mx_endpoint_t ep)
{
	struct exported **at = &exported;

	while (*at && (*at)->ep != ep)
		at = &(*at)->next;
	return at;
}

static struct imported **imported_bucket(mx_endpoint_addr_t peer)
{
	uint64_t mixed = (peer.stuff[0] ^ peer.stuff[1]) * 0x9e3779b97f4a7c15u;

	return &imported[mixed >> 32 & (BUCKETS - 1)];
}

static struct imported **imported_find(mx_endpoint_t ep, mx_endpoint_addr_t peer)
{
	struct imported **at = imported_bucket(peer);

	while (*at && ((*at)->ep != ep || memcmp(&(*at)->peer, &peer, sizeof(peer))))
		at = &(*at)->next;
	return at;
}

static void exported_drop(struct exported **at)
{
	struct exported *dropped = *at;

	*at = dropped->next;
	free(dropped);
}

static void imported_drop(struct imported **at)
{
	struct imported *dropped = *at;

	*at = dropped->next;
	free(dropped);
}

/* ---- endpoints and peers end --------------------------------------------------------- */

void mx__memory_forget_peer(mx_endpoint_t ep, mx_endpoint_addr_t peer)
{
	struct imported **at;

	memory_acquire();
	at = imported_find(ep, peer);
	if (*at)
		imported_drop(at);
	memory_release();
}

void mx__memory_forget(mx_endpoint_t ep)
{
	struct exported **window;
	struct imported **at;
	unsigned int i;

	memory_acquire();
	window = exported_find(ep);
	if (*window)
		exported_drop(window);
	for (i = 0; i < BUCKETS; i++) {
		at = &imported[i];
		while (*at) {
			if ((*at)->ep == ep)
				imported_drop(at);
			else
				at = &(*at)->next;
		}
	}
	memory_release();
}

/* ---- exporting ---------------------------------------------------------------------- */

static omx_return_t export_create(mx_endpoint_t ep, struct exported **at)
{
	const uint32_t rights = OMX_WINDOW_RIGHT_GET | OMX_WINDOW_RIGHT_PUT;
	struct exported *new = malloc(sizeof(*new));
	omx_return_t ret;

	if (!new)
		return OMX_NO_SYSTEM_RESOURCES;
	ret = omx_window_create(ep, NULL, OMX_WINDOW_ALL, rights, NULL, &new->window);
	if (ret) {
		free(new);
		return ret;
	}
	new->ep = ep;
	new->next = *at;
	*at = new;
	return OMX_SUCCESS;
}

static omx_return_t export_key(mx_endpoint_t ep, mx_memory_key_t *key)
{
	struct exported **at = exported_find(ep);
	omx_key_t own;
	omx_return_t ret = *at ? OMX_SUCCESS : export_create(ep, at);

	if (!ret)
		ret = omx_window_key(ep, (*at)->window, &own);
	if (!ret)
		memcpy(key, &own, sizeof(own));
	return ret;
}

mx_return_t mx_export_memory(mx_endpoint_t ep, mx_memory_key_t *key)
{
	omx_return_t ret;

	memory_acquire();
	ret = export_key(ep, key);
	memory_release();
	return mx__return(ep, ret, __func__);
}

/* Waits for accesses without the lock. */
mx_return_t mx_withdraw_memory(mx_endpoint_t ep)
{
	omx_window_t window = NULL;
	struct exported **at;

	memory_acquire();
	at = exported_find(ep);
	if (*at) {
		window = (*at)->window;
		exported_drop(at);
	}
	memory_release();
	if (!window)
		return mx__error_report(ep, MX_BAD_REQUEST, __func__);
	return mx__return(ep, omx_window_destroy(ep, window), __func__);
}

/* ---- importing ------------------------------------------------------------------------ */

static omx_return_t import_key(mx_endpoint_t ep, mx_endpoint_addr_t peer,
			       const mx_memory_key_t *key)
{
	struct imported **at = imported_find(ep, peer), *new;

	if (!*at) {
		new = malloc(sizeof(*new));
		if (!new)
			return OMX_NO_SYSTEM_RESOURCES;
		*new = (struct imported){ .ep = ep, .peer = peer };
		*at = new;
	}
	memcpy(&(*at)->key, key, sizeof(*key));
	return OMX_SUCCESS;
}

mx_return_t mx_import_memory(mx_endpoint_t ep, mx_endpoint_addr_t peer,
			     const mx_memory_key_t *key)
{
	omx_return_t ret;

	memory_acquire();
	ret = import_key(ep, peer, key);
	memory_release();
	return mx__return(ep, ret, __func__);
}

static bool imported_key(mx_endpoint_t ep, mx_endpoint_addr_t peer, omx_key_t *key)
{
	const struct imported *found;

	memory_acquire();
	found = *imported_find(ep, peer);
	if (found)
		*key = found->key;
	memory_release();
	return found;
}

/* ---- puts and gets ----------------------------------------------------------------------- */

mx_return_t mx_iput(mx_endpoint_t ep, void *local_addr, uint32_t length,
		    mx_endpoint_addr_t dest, uint64_t remote_addr, void *context,
		    mx_request_t *request)
{
	omx_key_t key;

	if (!imported_key(ep, dest, &key))
		return mx__error_report(ep, MX_FAILURE, __func__);
	return mx__return(ep, omx_iput(ep, local_addr, length, mx__address_in(dest), key,
				       remote_addr, context, request), __func__);
}

mx_return_t mx_iget(mx_endpoint_t ep, void *local_addr, uint32_t length,
		    mx_endpoint_addr_t dest, uint64_t remote_addr, void *context,
		    mx_request_t *request)
{
	omx_key_t key;

	if (!imported_key(ep, dest, &key))
		return mx__error_report(ep, MX_FAILURE, __func__);
	return mx__return(ep, omx_iget(ep, local_addr, length, mx__address_in(dest), key,
				       remote_addr, context, request), __func__);
}
