/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Conditional accesses and the keys for them: what comes first is kept, then the
 * access is performed as one without condition (mock_onesided.c).
 */
#include "mock_private.h"

#include <assert.h>
#include <errno.h>

#define WHENS	OMX_WHENS_MAX

/* In the order in which they came. */
struct when {
	bool used;
	struct file *file;
	uint32_t channel;
	bool is_put;
	struct omx_ioc_put_when put;
	struct omx_ioc_get_when get;
};

struct kept_key {
	bool used;
	struct file *to;		/* whose accesses it is for */
	uint32_t channel;		/* ... on this channel */
	struct omx_ioc_post_key key;
};

static struct when whens[WHENS];
static struct kept_key keys[OMX_KEYS_MAX];

void mock_forget_whens(const struct file *file)
{
	for (uint32_t i = 0; i < WHENS; i++) {
		if (whens[i].file == file)
			whens[i].used = false;
	}
	for (uint32_t i = 0; i < OMX_KEYS_MAX; i++) {
		if (keys[i].to == file)
			keys[i].used = false;
	}
}

void mock_reset_whens(void)
{
	for (uint32_t i = 0; i < WHENS; i++)
		assert(!whens[i].used);
	for (uint32_t i = 0; i < OMX_KEYS_MAX; i++)
		assert(!keys[i].used);
}

/* ---- firing ---------------------------------------------------------------- */

static bool fits(const struct when *when, const struct omx_ioc_post_key *key)
{
	struct omx_event event = {
		.type = OMX_EVENT_ACCESS_DONE, .status = OMX_STATUS_BAD_RANGE,
		.channel = when->channel,
		.cookie = when->is_put ? when->put.cookie : when->get.cookie,
	};
	uint64_t length = when->is_put ? when->put.buffer.length : when->get.length;

	if (length <= key->length)
		return true;
	if (when->is_put && when->put.region)
		event.type = OMX_EVENT_SEND_DONE;
	mock_answer_to(when->file, &event);
	return false;
}

static void fire_put(const struct when *when, const struct omx_ioc_post_key *key)
{
	const struct omx_ioc_put_when *put = &when->put;
	struct omx_ioc_put small = {
		.buffer = put->buffer, .key = key->key, .offset = key->offset,
		.immediate = put->immediate, .cookie = put->cookie, .channel = put->channel,
		.flags = put->flags,
	};
	struct omx_ioc_put_rndv large = {
		.key = key->key, .offset = key->offset, .immediate = put->immediate,
		.length = put->buffer.length, .cookie = put->cookie,
		.address = put->buffer.address, .channel = put->channel, .region = put->region,
		.flags = put->flags,
	};
	int err = put->region ? mock_do_put_rndv(when->file, &large) :
				mock_do_put(when->file, &small);

	assert(!err);
}

static void fire(const struct when *when, const struct omx_ioc_post_key *key)
{
	struct omx_ioc_get get = {
		.key = key->key, .offset = key->offset, .length = when->get.length,
		.cookie = when->get.cookie, .channel = when->get.channel,
	};
	int err = 0;

	if (!fits(when, key))
		return;
	if (when->is_put)
		fire_put(when, key);
	else if (when->get.region)
		mock_pull_get(when->file, &get, when->get.region, when->get.address);
	else
		err = mock_do_get(when->file, &get);
	assert(!err);
}

/* ---- accesses -------------------------------------------------------------- */

static uint64_t tag_of(const struct when *when)
{
	return when->is_put ? when->put.tag : when->get.tag;
}

static int post(const struct when *when)
{
	int err;

	if (!mock_live_channel(when->file, when->channel, &err))
		return err;
	for (uint32_t i = 0; i < OMX_KEYS_MAX; i++) {
		if (keys[i].used && keys[i].to == when->file && keys[i].channel == when->channel &&
		    keys[i].key.tag == tag_of(when)) {
			keys[i].used = false;
			fire(when, &keys[i].key);
			return 0;
		}
	}
	for (uint32_t i = 0; i < WHENS; i++) {
		if (!whens[i].used) {
			whens[i] = *when;
			return 0;
		}
	}
	return -EBUSY;
}

int mock_do_put_when(struct file *file, struct omx_ioc_put_when *put)
{
	const struct when when = {
		.used = true, .file = file, .channel = put->channel, .is_put = true, .put = *put,
	};

	assert(put->region || put->buffer.length <= OMX_MEDIUM_MAX);
	return post(&when);
}

int mock_do_get_when(struct file *file, struct omx_ioc_get_when *get)
{
	const struct when when = {
		.used = true, .file = file, .channel = get->channel, .get = *get,
	};

	assert(!get->reserved && (get->region || !get->address));
	if (!get->region && get->length > mock_longest_get())
		return -EMSGSIZE;
	return post(&when);
}

int mock_withdraw_when(const struct file *file, const struct omx_ioc_withdraw *withdraw)
{
	for (uint32_t i = 0; i < WHENS; i++) {
		uint64_t cookie = whens[i].is_put ? whens[i].put.cookie : whens[i].get.cookie;

		if (whens[i].used && whens[i].file == file && cookie == withdraw->cookie &&
		    whens[i].channel == withdraw->channel) {
			whens[i].used = false;
			return 0;
		}
	}
	return -ENOENT;
}

/* ---- keys ------------------------------------------------------------------ */

static enum omx_status keep(struct file *to, uint32_t channel,
			    const struct omx_ioc_post_key *key)
{
	for (uint32_t i = 0; i < OMX_KEYS_MAX; i++) {
		if (!keys[i].used) {
			keys[i] = (struct kept_key){
				.used = true, .to = to, .channel = channel, .key = *key,
			};
			return OMX_STATUS_OK;
		}
	}
	return OMX_STATUS_NO_MEMORY;
}

static enum omx_status take(struct file *to, uint32_t channel,
			    const struct omx_ioc_post_key *key)
{
	for (uint32_t i = 0; i < WHENS; i++) {
		if (whens[i].used && whens[i].file == to && whens[i].channel == channel &&
		    tag_of(&whens[i]) == key->tag) {
			whens[i].used = false;
			fire(&whens[i], key);
			return OMX_STATUS_OK;
		}
	}
	return keep(to, channel, key);
}

int mock_do_post_key(struct file *file, struct omx_ioc_post_key *key)
{
	struct omx_event event = {
		.type = OMX_EVENT_ACCESS_DONE, .channel = key->channel, .cookie = key->cookie,
		.length = key->length,
	};
	struct channel *channel;
	int err;

	assert(!key->reserved);
	channel = mock_live_channel(file, key->channel, &err);
	if (!channel)
		return err;
	if (!mock_take_room(channel))
		return -EAGAIN;
	event.status = (uint8_t)take(&mock_files[channel->peer], channel->peer_channel, key);
	mock_answer_to(file, &event);
	return 0;
}
