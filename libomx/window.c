/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Windows are created, named by their keys, and revoked.  See window.h.
 *
 * Any thread may call the public functions, which acquire the endpoint's lock; it
 * is dropped while the driver waits for accesses to end, or while the endpoint
 * connects to itself.  All others need it.
 */
#include "window.h"

#include <errno.h>
#include <stdlib.h>

#include "connect.h"
#include "driver.h"
#include "error.h"
#include "pager.h"
#include "region.h"

/* The driver takes the program's rights as they are. */
_Static_assert(OMX_WINDOW_RIGHT_GET == OMX_WINDOW_GET && OMX_WINDOW_RIGHT_PUT == OMX_WINDOW_PUT &&
	       OMX_WINDOW_RIGHT_ATOMIC == OMX_WINDOW_ATOMIC &&
	       OMX_WINDOW_RIGHT_ACTIVE == OMX_WINDOW_ACTIVE, "rights differ");
_Static_assert(sizeof(omx_key_t) == sizeof(struct omx_key), "keys differ");

#define RIGHTS		(OMX_WINDOW_GET | OMX_WINDOW_PUT | OMX_WINDOW_ATOMIC)
#define ROOM_FIRST	16u

struct window {
	struct window *next;	/* in the same slot of ep->windows */
	uintptr_t handle;	/* by which the program knows it */
	struct omx_key key;	/* with its number in the driver */
	struct region *region;	/* the program's; NULL: any memory */
};

/* ---- the table ------------------------------------------------------------- */

/*
 * A handle is a number, not a pointer: that of the driver and, where pointers
 * have room for it, a count that starts again only with the process, so that
 * the handle of a window that was destroyed, or of another endpoint, is
 * recognized.
 */
static uintptr_t window_new_handle(uint32_t number)
{
	static uint32_t count;
	uint64_t high = __atomic_add_fetch(&count, 1, __ATOMIC_RELAXED);

	return (uintptr_t)(high << 32 | number);
}

static struct window **window_slot(struct window **windows, uint32_t room, uint32_t number)
{
	return &windows[number & (room - 1)];
}

/* The place that points to the window with this number; NULL: there is none. */
static struct window **window_find(const struct omx__endpoint *ep, uint32_t number)
{
	struct window **place;

	if (!ep->window_room)
		return NULL;
	place = window_slot(ep->windows, ep->window_room, number);
	while (*place && (*place)->key.window != number)
		place = &(*place)->next;
	return *place ? place : NULL;
}

static struct window **window_find_handle(const struct omx__endpoint *ep, omx_window_t window)
{
	uintptr_t handle = (uintptr_t)window;
	struct window **place = window_find(ep, (uint32_t)handle);

	return place && (*place)->handle == handle ? place : NULL;
}

static void window_enter(struct window **windows, uint32_t room, struct window *window)
{
	struct window **slot = window_slot(windows, room, window->key.window);

	window->next = *slot;
	*slot = window;
}

/* Makes room for one more. */
static bool windows_grow(struct omx__endpoint *ep)
{
	uint32_t room = ep->window_room ? 2 * ep->window_room : ROOM_FIRST;
	struct window **larger;

	if (ep->window_count < ep->window_room)
		return true;
	larger = calloc(room, sizeof(*larger));
	if (!larger)
		return false;
	for (uint32_t i = 0; i < ep->window_room; i++) {
		while (ep->windows[i]) {
			struct window *window = ep->windows[i];

			ep->windows[i] = window->next;
			window_enter(larger, room, window);
		}
	}
	free(ep->windows);
	ep->windows = larger;
	ep->window_room = room;
	return true;
}

omx_window_t omx__window_numbered(const struct omx__endpoint *ep, uint32_t number)
{
	struct window **place = window_find(ep, number);

	return place ? (omx_window_t)(*place)->handle : NULL;
}

bool omx__window_exists(const struct omx__endpoint *ep, omx_window_t handle)
{
	return window_find_handle(ep, handle) != NULL;
}

void omx__windows_free_all(struct omx__endpoint *ep)
{
	for (uint32_t i = 0; i < ep->window_room; i++) {
		while (ep->windows[i]) {
			struct window *window = ep->windows[i];

			ep->windows[i] = window->next;
			free(window);
		}
	}
	free(ep->windows);
	ep->windows = NULL;
	ep->window_room = 0;
	ep->window_count = 0;
}

/* ---- creating -------------------------------------------------------------- */

/*
 * The channel of the only peer that may use the window.  Drops the lock if that is
 * the endpoint itself and has no channel yet.
 */
static omx_return_t window_channel(struct omx__endpoint *ep, const omx_endpoint_addr_t *peer,
				   uint32_t *channel)
{
	struct partner *partner;
	omx_return_t ret;

	*channel = OMX_ANY;
	if (!peer)
		return OMX_SUCCESS;
	ret = omx__partner_by_address(ep, peer, &partner);
	if (ret)
		return ret;
	if (partner->state == PARTNER_IDLE) {
		ret = omx__connect_self_and_wait(ep);
		if (ret)
			return ret;
	}
	if (partner->state == PARTNER_DEAD)
		return partner->reason;
	*channel = partner->channel;
	return OMX_SUCCESS;
}

static omx_return_t window_error(int err)
{
	switch (err) {
	case -EBUSY:
		return OMX_NO_SYSTEM_RESOURCES;
	case -EINVAL:
		return OMX_SEGMENTS_BAD_COUNT;
	/* The peer is gone, and the event that says so has not been handled yet. */
	case -ENOENT:
		return OMX_REMOTE_ENDPOINT_CLOSED;
	default:
		return omx__error_from_errno(err);
	}
}

static omx_return_t window_make(struct omx__endpoint *ep, struct omx_ioc_window *ioc,
				struct region *region, omx_window_t *handle)
{
	struct window *window;
	int err;

	if (!windows_grow(ep))
		return OMX_NO_SYSTEM_RESOURCES;
	window = calloc(1, sizeof(*window));
	if (!window)
		return OMX_NO_SYSTEM_RESOURCES;
	err = omx__region_ioctl(ep, OMX_IOC_WINDOW_CREATE, ioc);
	if (err) {
		free(window);
		return window_error(err);
	}
	/* Peers may touch pages that are absent. */
	omx__pager_want(ep);
	window->handle = window_new_handle(ioc->key.window);
	window->key = ioc->key;
	window->region = region;
	if (region)
		region->users++;
	window_enter(ep->windows, ep->window_room, window);
	ep->window_count++;
	*handle = (omx_window_t)window->handle;
	return OMX_SUCCESS;
}

static bool window_rights_valid(uint32_t rights)
{
	return rights & RIGHTS && !(rights & ~(uint32_t)(RIGHTS | OMX_WINDOW_ACTIVE));
}

static bool window_range_valid(uint64_t address, uint64_t length)
{
	return length && address + length >= address;
}

static omx_return_t window_of_memory(struct omx__endpoint *ep, struct omx_ioc_window *ioc,
				     const omx_endpoint_addr_t *peer, omx_window_t *window)
{
	omx_return_t ret = ep->failed;

	if (ret)
		return ret;
	if (!window_rights_valid(ioc->rights))
		return OMX_ENDPOINT_PARAM_BAD_VALUE;
	if (!window_range_valid(ioc->address, ioc->length))
		return OMX_SEGMENTS_BAD_COUNT;
	ret = window_channel(ep, peer, &ioc->channel);
	return ret ? ret : window_make(ep, ioc, NULL, window);
}

omx_return_t omx_window_create(omx_endpoint_t ep, void *address, size_t length, uint32_t rights,
			       const omx_endpoint_addr_t *peer, omx_window_t *window)
{
	struct omx_ioc_window ioc = {
		.address = (uintptr_t)address, .length = length, .rights = rights,
		.region = OMX_REGION_IMPLICIT,
	};
	omx_return_t ret = omx__enter(ep);

	if (ret)
		return omx__return(NULL, ret, __func__);
	ret = window_of_memory(ep, &ioc, peer, window);
	omx__leave(ep);
	return omx__return(ret == OMX_BAD_ENDPOINT ? NULL : ep, ret, __func__);
}

/* Was the region declared for what the rights permit? */
static bool window_region_permits(const struct region *region, uint32_t rights)
{
	uint32_t access = 0;

	if (rights & (OMX_WINDOW_GET | OMX_WINDOW_ATOMIC))
		access |= OMX_REGION_READ;
	if (rights & (OMX_WINDOW_PUT | OMX_WINDOW_ATOMIC))
		access |= OMX_REGION_WRITE;
	return (region->flags & access) == access;
}

static omx_return_t window_check_region(struct omx__endpoint *ep, omx_region_t handle,
					const struct omx_ioc_window *ioc, struct region **region)
{
	*region = omx__region_find(ep, (uintptr_t)handle);
	if (!*region || !window_region_permits(*region, ioc->rights))
		return OMX_BAD_REQUEST;
	if (!window_range_valid(ioc->offset, ioc->length) ||
	    ioc->offset + ioc->length > (*region)->buffer.length)
		return OMX_SEGMENTS_BAD_COUNT;
	return OMX_SUCCESS;
}

static omx_return_t window_of_declared(struct omx__endpoint *ep, omx_region_t handle,
				       struct omx_ioc_window *ioc,
				       const omx_endpoint_addr_t *peer, omx_window_t *window)
{
	struct region *region;
	omx_return_t ret = ep->failed;

	if (ret)
		return ret;
	if (!window_rights_valid(ioc->rights))
		return OMX_ENDPOINT_PARAM_BAD_VALUE;
	ret = window_channel(ep, peer, &ioc->channel);
	if (ret)
		return ret;
	/* Only now, because the lock may have been dropped. */
	ret = window_check_region(ep, handle, ioc, &region);
	if (ret)
		return ret;
	ioc->region = region->number;
	return window_make(ep, ioc, region, window);
}

omx_return_t omx_window_of_region(omx_endpoint_t ep, omx_region_t region, size_t offset,
				  size_t length, uint32_t rights, const omx_endpoint_addr_t *peer,
				  omx_window_t *window)
{
	struct omx_ioc_window ioc = { .offset = offset, .length = length, .rights = rights };
	omx_return_t ret = omx__enter(ep);

	if (ret)
		return omx__return(NULL, ret, __func__);
	ret = window_of_declared(ep, region, &ioc, peer, window);
	omx__leave(ep);
	return omx__return(ret == OMX_BAD_ENDPOINT ? NULL : ep, ret, __func__);
}

/* ---- naming and revoking ---------------------------------------------------- */

bool omx__window_key(const struct omx__endpoint *ep, omx_window_t window, struct omx_key *key)
{
	struct window **place = window_find_handle(ep, window);

	if (place)
		*key = (*place)->key;
	return place;
}

omx_return_t omx_window_key(omx_endpoint_t ep, omx_window_t window, omx_key_t *key)
{
	struct omx_key found;
	omx_return_t ret = omx__enter(ep);

	if (ret)
		return omx__return(NULL, ret, __func__);
	if (omx__window_key(ep, window, &found))
		*key = omx__key_export(&found);
	else
		ret = OMX_BAD_REQUEST;
	omx__leave(ep);
	return omx__return(ep, ret, __func__);
}

/*
 * Drops the lock: the driver may wait for accesses, and other threads need not
 * wait for them.  The endpoint is not freed meanwhile, because it has a user.
 */
static void window_revoke(struct omx__endpoint *ep, const struct window *window)
{
	struct omx_ioc_window ioc = { .key.window = window->key.window };

	ep->users++;
	omx__unlock(&ep->lock);
	omx__driver_ioctl(ep->fd, OMX_IOC_WINDOW_REVOKE, &ioc);
	omx__lock(&ep->lock);
	ep->users--;
	if (unlikely(ep->state != ENDPOINT_OPEN))
		omx__lock_changed(&ep->lock);
}

omx_return_t omx_window_destroy(omx_endpoint_t ep, omx_window_t handle)
{
	struct window **place, *window;
	omx_return_t ret = omx__enter(ep);

	if (ret)
		return omx__return(NULL, ret, __func__);
	place = window_find_handle(ep, handle);
	if (!place) {
		omx__leave(ep);
		return omx__return(ep, OMX_BAD_REQUEST, __func__);
	}
	window = *place;
	/* First: no other thread must find it while the lock is dropped. */
	*place = window->next;
	ep->window_count--;
	window_revoke(ep, window);
	if (window->region)
		window->region->users--;
	free(window);
	omx__leave(ep);
	return OMX_SUCCESS;
}
