// SPDX-License-Identifier: GPL-2.0
/*
 * Keys of the peer for accesses that have not been posted yet: they wait in their
 * channel, in the order in which they came.
 *
 * when_fire.c keeps those that arrive, mostly in softirq; when.c takes them out, in
 * process context.  The channel frees them when it ends.
 */
#include <linux/slab.h>

#include "channel/channel.h"
#include "endpoint/budget.h"
#include "endpoint/endpoint.h"
#include "net/board.h"
#include "onesided/when.h"
#include "onesided/when_private.h"

/* At most OMX_KEYS_MAX are looked at. */
struct omx_kept_key *omx_key_take(struct omx_channel *ch, u64 tag)
{
	struct omx_kept_key *key;

	lockdep_assert_held(&ch->lock);
	list_for_each_entry(key, &ch->whens.keys, in_channel) {
		if (be64_to_cpu(key->body.tag) != tag)
			continue;
		list_del(&key->in_channel);
		ch->whens.key_count--;
		return key;
	}
	return NULL;
}

void omx_key_free(struct omx_kept_key *key)
{
	omx_account_uncharge_object(key->user, key);
	kfree(key);
}

u8 omx_key_keep(struct omx_channel *ch, const struct omx_wire_post_key *body)
{
	struct omx_account *user = omx_endpoint_user(ch->ep);
	struct omx_kept_key *key = NULL;

	lockdep_assert_held(&ch->lock);
	if (ch->whens.key_count < OMX_KEYS_MAX &&
	    omx_budget_has_room(&ch->ep->budget, OMX_ACCOUNT_REGION))
		key = omx_account_alloc(user, sizeof(*key), GFP_ATOMIC | __GFP_NOWARN);
	if (!key) {
		omx_count(ch->ep->board, KEY_REFUSED);
		return OMX_STATUS_NO_MEMORY;
	}
	key->user = user;
	key->body = *body;
	list_add_tail(&key->in_channel, &ch->whens.keys);
	ch->whens.key_count++;
	omx_count(ch->ep->board, KEY_KEPT);
	return OMX_STATUS_OK;
}

void omx_keys_drop(struct omx_channel *ch)
{
	struct omx_kept_key *key, *next;

	lockdep_assert_held(&ch->lock);
	list_for_each_entry_safe(key, next, &ch->whens.keys, in_channel)
		omx_key_free(key);
	INIT_LIST_HEAD(&ch->whens.keys);
	ch->whens.key_count = 0;
}
