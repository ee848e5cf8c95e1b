// SPDX-License-Identifier: GPL-2.0
/*
 * Windows: the ioctls that create and revoke them, in process context, and the
 * lookup by key for every access that arrives, mostly in softirq.
 *
 * The secret in the key is all that keeps other peers away, so the comparison
 * takes the same time whatever is wrong with it.
 */
#include <linux/err.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/wait_bit.h>

#include "channel/channel.h"
#include "endpoint/endpoint.h"
#include "memory/region.h"
#include "net/board.h"
#include "onesided/active.h"
#include "onesided/large.h"
#include "onesided/window.h"

#define RIGHTS	(OMX_WINDOW_GET | OMX_WINDOW_PUT | OMX_WINDOW_ATOMIC)
#define LAST_WORD	(ARRAY_SIZE(((struct omx_window *)NULL)->secret) - 1)

/* ---- lookup ---- */

/* The compiler is kept from leaving the loop early.  Not every kernel has crypto_memneq(). */
static bool window_has_secret(const struct omx_window *window, const struct omx_wire_key *key)
{
	u32 differs = 0;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(window->secret); i++) {
		differs |= be32_to_cpu(key->secret[i]) ^ window->secret[i];
		OPTIMIZER_HIDE_VAR(differs);
	}
	return !differs;
}

static bool window_admits(const struct omx_window *window, const struct omx_channel *ch)
{
	const struct omx_window_peer *peer = &window->peer;

	return !window->is_private ||
	       (peer->mac == ch->mac && peer->endpoint == ch->peer_endpoint &&
		peer->session == ch->peer_session);
}

static bool window_has_range(const struct omx_window *window, u64 offset, u64 length)
{
	return length <= window->length && offset <= window->length - length;
}

u8 omx_window_find(struct omx_endpoint *ep, const struct omx_wire_key *key,
		   const struct omx_channel *ch, u8 right, u64 offset, u64 length,
		   struct omx_window **window)
{
	u32 id = be32_to_cpu(key->window);
	struct omx_window *found = omx_table_find(&ep->windows, id);

	if (!found || found->id != id || !window_has_secret(found, key) ||
	    !window_admits(found, ch)) {
		omx_count(ep->board, ACCESS_BAD_WINDOW);
		return OMX_STATUS_BAD_WINDOW;
	}
	if (!(found->rights & right)) {
		omx_count(ep->board, ACCESS_NO_RIGHT);
		return OMX_STATUS_NO_RIGHT;
	}
	if (!window_has_range(found, offset, length)) {
		omx_count(ep->board, ACCESS_BAD_RANGE);
		return OMX_STATUS_BAD_RANGE;
	}
	*window = found;
	return OMX_STATUS_OK;
}

/* ---- the end ---- */

void omx_window_put(struct omx_window *window)
{
	if (!refcount_dec_and_test(&window->ref)) {
		/* Pairs with the one in wait_var_event(): we see the waiter, or it sees this. */
		smp_mb();
		/* Only the address is used: the waiter may have freed the window. */
		wake_up_var(&window->ref);
		return;
	}
	atomic_dec(&window->region->windows);
	omx_region_put(window->region);
	omx_account_uncharge_object(window->user, window);
	kfree_rcu(window, rcu);
}

/*
 * After the first grace period small accesses have ended, and nobody begins a larger
 * one; after the second one nobody reads for a message that has been withdrawn.  If
 * the wait is interrupted, the last transfer frees the window.
 */
static long window_wait(struct omx_endpoint *ep, struct omx_window *window)
{
	long error;

	synchronize_rcu();
	omx_window_end_transfers(ep, window);
	error = wait_var_event_killable(&window->ref, refcount_read(&window->ref) == 1);
	synchronize_rcu();
	return error;
}

long omx_window_revoke(struct omx_endpoint *ep, void __user *arg)
{
	struct omx_window *window;
	struct omx_ioc_window ioc;
	long error;

	if (copy_from_user(&ioc, arg, sizeof(ioc)))
		return -EFAULT;
	window = omx_table_pop(&ep->windows, ioc.key.window);
	if (!window)
		return -ENOENT;
	error = window_wait(ep, window);
	omx_window_deactivate(ep, window);
	omx_window_put(window);
	return error;
}

void omx_windows_destroy(struct omx_endpoint *ep)
{
	struct omx_window *window;
	u32 slot = 0;

	while ((window = omx_table_next(&ep->windows, &slot))) {
		omx_table_remove(&ep->windows, window->id);
		omx_window_deactivate(ep, window);
		omx_window_put(window);
		cond_resched();
	}
}

/* ---- creation ---- */

/* How the region must be accessible for these rights. */
static u8 window_region_access(u32 rights)
{
	return (rights & (OMX_WINDOW_GET | OMX_WINDOW_ATOMIC) ? OMX_REGION_READ : 0) |
	       (rights & (OMX_WINDOW_PUT | OMX_WINDOW_ATOMIC) ? OMX_REGION_WRITE : 0);
}

/* A reference on the region, which cannot be destroyed any more. */
static struct omx_region *window_get_region(struct omx_endpoint *ep,
					    const struct omx_ioc_window *ioc)
{
	u8 access = window_region_access(ioc->rights);
	struct omx_region *region;
	int error = 0;

	region = omx_region_of_message(ep, ioc->region, ioc->address, ioc->length, access);
	if (IS_ERR(region))
		return region;
	if ((region->access & access) != access || ioc->offset > region->length - ioc->length)
		error = -EINVAL;
	else if (!atomic_inc_unless_negative(&region->windows))
		error = -ENOENT;
	if (!error)
		return region;
	omx_region_put(region);
	return ERR_PTR(error);
}

static int window_set_peer(struct omx_endpoint *ep, struct omx_window *window, u32 channel)
{
	struct omx_channel *ch;

	if (channel == OMX_ANY)
		return 0;
	ch = omx_channel_get(ep, channel);
	if (!ch)
		return -ENOENT;
	window->is_private = true;
	window->peer = (struct omx_window_peer){
		.mac = ch->mac,
		.session = ch->peer_session,
		.endpoint = ch->peer_endpoint,
	};
	omx_channel_put(ch);
	return 0;
}

/* One bit tells initiators whether pages may become active. */
static void window_draw_secret(struct omx_window *window)
{
	u32 *last = &window->secret[LAST_WORD];

	get_random_bytes(window->secret, sizeof(window->secret));
	*last &= ~OMX_KEY_ACTIVE;
	if (window->rights & OMX_WINDOW_ACTIVE)
		*last |= OMX_KEY_ACTIVE;
}

static struct omx_window *window_alloc(struct omx_endpoint *ep,
				       const struct omx_ioc_window *ioc)
{
	struct omx_account *user = omx_endpoint_user(ep);
	struct omx_window *window = omx_account_alloc(user, sizeof(*window), GFP_KERNEL_ACCOUNT);
	int error;

	if (!window)
		return ERR_PTR(-ENOMEM);
	refcount_set(&window->ref, 1);
	window->user = user;
	window->start = ioc->offset;
	window->length = ioc->length;
	window->rights = ioc->rights;
	window_draw_secret(window);
	error = window_set_peer(ep, window, ioc->channel);
	if (!error) {
		window->region = window_get_region(ep, ioc);
		if (!IS_ERR(window->region))
			return window;
		error = PTR_ERR(window->region);
	}
	omx_account_uncharge_object(user, window);
	kfree(window);
	return ERR_PTR(error);
}

static bool window_arguments_are_valid(const struct omx_ioc_window *ioc)
{
	return ioc->rights & RIGHTS && !(ioc->rights & ~(RIGHTS | OMX_WINDOW_ACTIVE)) &&
	       !ioc->reserved &&
	       (ioc->region != OMX_REGION_IMPLICIT || !ioc->offset);
}

long omx_window_create(struct omx_endpoint *ep, void __user *arg)
{
	struct omx_window *window;
	struct omx_ioc_window ioc;
	int error;

	if (copy_from_user(&ioc, arg, sizeof(ioc)))
		return -EFAULT;
	if (!window_arguments_are_valid(&ioc))
		return -EINVAL;
	if (!omx_endpoint_takes(ep, &ep->windows, OMX_ACCOUNT_REGION))
		return -EDQUOT;
	window = window_alloc(ep, &ioc);
	if (IS_ERR(window))
		return PTR_ERR(window);
	/* Once it has a number another thread may revoke it. */
	refcount_inc(&window->ref);
	error = omx_table_add(&ep->windows, window, &window->id, GFP_KERNEL_ACCOUNT);
	if (error)
		omx_window_put(window);
	ioc.key.window = window->id;
	memcpy(ioc.key.secret, window->secret, sizeof(ioc.key.secret));
	omx_window_put(window);
	if (error)
		return error == -ENOSPC ? -EBUSY : error;
	/* If this fails the window stays until the endpoint closes. */
	return copy_to_user(arg, &ioc, sizeof(ioc)) ? -EFAULT : 0;
}
