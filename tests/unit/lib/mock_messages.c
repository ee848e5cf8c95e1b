/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Messages: eager ones, which the mock keeps if they are of medium size, and
 * large ones, which are announced and pulled.
 */
#include "mock_private.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct message {	/* a medium one, not fetched yet */
	bool used;
	int file;
	uint64_t length;
	unsigned char *data;
};

struct rendezvous {
	bool used, withdrawn;
	int sender, receiver;
	uint32_t sender_channel, region;
	uint64_t cookie, length, address;
	uint64_t skip;		/* bytes of the region before the message */
};

static struct message messages[OBJECTS];
static bool memory_low;
static struct rendezvous rendezvous[OBJECTS];

/* ---- eager ----------------------------------------------------------------- */

void mock_set_memory_low(bool low)
{
	memory_low = low;
}

static uint32_t keep_message(const struct file *file, unsigned char *data, uint64_t length)
{
	uint32_t i;

	for (i = 1; messages[i].used; i++)
		assert(i + 1 < OBJECTS);
	messages[i] = (struct message){
		.used = true, .file = mock_index_of(file), .data = data, .length = length,
	};
	return i;
}

int mock_do_send(struct file *file, struct omx_ioc_send *send)
{
	uint64_t length = send->buffer.length;
	struct omx_event event = {
		.type = OMX_EVENT_RECV, .match_info = send->match_info, .length = length,
	};
	struct channel *channel;
	struct file *peer;
	unsigned char *data;
	int err;

	channel = mock_live_channel(file, send->channel, &err);
	if (!channel)
		return err;
	if (length > OMX_MEDIUM_MAX)
		return -EINVAL;
	if (mock_files[channel->peer].user->uannounce & OMX_ANNOUNCE_PEERS)
		return -EMSGSIZE;
	if (!mock_take_room(channel))
		return -EAGAIN;

	peer = &mock_files[channel->peer];
	event.channel = channel->peer_channel;
	data = malloc(length ? length : 1);
	mock_move_buffer(&send->buffer, data, length, true);
	if (length <= OMX_TINY_MAX) {
		memcpy(event.data, data, length);
		mock_post_to(peer, &event, NULL, 0);
	} else if (length <= OMX_SMALL_MAX) {
		mock_post_to(peer, &event, data, (uint32_t)length);
	} else {
		event.message = keep_message(peer, data, length);
		event.status = memory_low ? OMX_STATUS_NO_MEMORY : OMX_STATUS_OK;
		mock_post_to(peer, &event, NULL, 0);
		return 0;
	}
	free(data);
	return 0;
}

int mock_do_fetch(struct file *file, struct omx_ioc_fetch *fetch)
{
	struct message *message;
	uint64_t length = fetch->buffer.length;

	if (!fetch->message || fetch->message >= OBJECTS)
		return -EINVAL;
	message = &messages[fetch->message];
	if (!message->used || message->file != mock_index_of(file))
		return -EINVAL;
	if (length > message->length)
		length = message->length;
	if (length)
		mock_move_buffer(&fetch->buffer, message->data, length, false);
	free(message->data);
	message->used = false;
	return 0;
}

/* ---- large ----------------------------------------------------------------- */

int mock_do_send_rndv(struct file *file, struct omx_ioc_send_rndv *send)
{
	struct omx_event event = {
		.type = OMX_EVENT_RNDV, .match_info = send->match_info, .length = send->length,
	};
	struct channel *channel;
	uint32_t i;
	int err;

	channel = mock_live_channel(file, send->channel, &err);
	if (!channel)
		return err;
	if (!mock_take_room(channel))
		return -EAGAIN;
	assert(send->length || !send->region);
	if (send->region)
		mock_check_memory(file, send->region, send->address, send->length, OMX_REGION_READ);
	for (i = 1; rendezvous[i].used; i++)
		assert(i + 1 < OBJECTS);
	rendezvous[i] = (struct rendezvous){
		.used = true, .sender = mock_index_of(file), .receiver = channel->peer,
		.sender_channel = send->channel, .region = send->region,
		.cookie = send->cookie, .length = send->length, .address = send->address,
	};
	event.channel = channel->peer_channel;
	event.remote_message = i;
	mock_post_to(&mock_files[channel->peer], &event, NULL, 0);
	return 0;
}

uint32_t mock_announce_window(const struct channel *channel, int receiver, uint32_t region,
			      uint64_t address, uint64_t skip, uint64_t length)
{
	uint32_t i;

	for (i = 1; rendezvous[i].used; i++)
		assert(i + 1 < OBJECTS);
	/* Without a channel of the sender's, whose program does not know of it. */
	rendezvous[i] = (struct rendezvous){
		.used = true, .sender = channel->peer, .receiver = receiver,
		.region = region, .address = address, .skip = skip, .length = length,
	};
	return i;
}

static void end_rendezvous(struct rendezvous *rndv, enum omx_status status, uint64_t length)
{
	struct omx_event event = {
		.type = OMX_EVENT_SEND_DONE, .status = (uint8_t)status,
		.channel = rndv->sender_channel, .cookie = rndv->cookie, .length = length,
	};

	rndv->used = false;
	if (rndv->sender_channel && mock_files[rndv->sender].open)
		mock_answer_to(&mock_files[rndv->sender], &event);
}

void mock_end_sends(const struct file *file, uint32_t channel, enum omx_status status)
{
	for (uint32_t i = 1; i < OBJECTS; i++) {
		if (rendezvous[i].used && rendezvous[i].sender == mock_index_of(file) &&
		    rendezvous[i].sender_channel == channel)
			end_rendezvous(&rendezvous[i], status, 0);
	}
}

/* False: the sender has taken its memory back. */
static bool transfer(const struct rendezvous *rndv, const struct file *file,
		     const struct omx_ioc_pull *pull)
{
	const struct file *sender = &mock_files[rndv->sender];
	unsigned char *data;

	mock_check_memory(file, pull->region, pull->address, pull->length, OMX_REGION_WRITE);
	if (rndv->withdrawn ||
	    (rndv->region != OMX_REGION_IMPLICIT && rndv->region != OMX_REGION_DEVICE &&
	     !mock_region_of(sender, rndv->region)))
		return false;
	data = malloc(rndv->skip + pull->length);
	mock_move_memory(sender, rndv->region, rndv->address, data,
			 rndv->skip + pull->length, true);
	mock_move_memory(file, pull->region, pull->address, data + rndv->skip, pull->length,
			 false);
	free(data);
	return true;
}

int mock_do_pull(struct file *file, struct omx_ioc_pull *pull)
{
	struct omx_event event = {
		.type = OMX_EVENT_PULL_DONE, .channel = pull->channel, .cookie = pull->cookie,
		.length = pull->length,
	};
	struct rendezvous *rndv;
	int err;

	if (!mock_live_channel(file, pull->channel, &err))
		return err;
	if (pull->remote_message >= OBJECTS)
		return -EINVAL;
	rndv = &rendezvous[pull->remote_message];
	if (!rndv->used || rndv->receiver != mock_index_of(file))
		return -EINVAL;
	assert(pull->msg_length == rndv->length && pull->length <= rndv->length);
	assert(!pull->reserved && pull->status < OMX_STATUSES);
	if (pull->status) {
		assert(!pull->length);
		end_rendezvous(rndv, pull->status, 0);
		return 0;
	}
	if (pull->length) {
		if (!rndv->region)
			event.status = OMX_STATUS_FAULT;
		else if (!transfer(rndv, file, pull))
			event.status = OMX_STATUS_BAD_REGION;
		mock_answer_to(file, &event);
	}
	end_rendezvous(rndv, pull->length < rndv->length ? OMX_STATUS_TRUNCATED : OMX_STATUS_OK,
		       pull->length);
	return 0;
}

int mock_do_withdraw(const struct file *file, const struct omx_ioc_withdraw *withdraw)
{
	if (withdraw->flags == OMX_WITHDRAW_WHEN)
		return mock_withdraw_when(file, withdraw);
	assert(!withdraw->flags && !withdraw->channel);
	for (uint32_t i = 1; i < OBJECTS; i++) {
		if (rendezvous[i].used && rendezvous[i].sender == mock_index_of(file) &&
		    rendezvous[i].cookie == withdraw->cookie) {
			rendezvous[i].withdrawn = true;
			return 0;
		}
	}
	return -ENOENT;
}

/* ---- both ------------------------------------------------------------------ */

void mock_forget_messages(const struct file *file)
{
	for (uint32_t i = 1; i < OBJECTS; i++) {
		if (messages[i].used && messages[i].file == mock_index_of(file)) {
			free(messages[i].data);
			messages[i].used = false;
		}
		if (rendezvous[i].used && rendezvous[i].sender == mock_index_of(file))
			rendezvous[i].used = false;
	}
}

void mock_check_no_messages(void)
{
	for (int i = 1; i < OBJECTS; i++)
		assert(!messages[i].used && !rendezvous[i].used);
}
