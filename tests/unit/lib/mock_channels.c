/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Channels between the endpoints: made by connecting, used up by room, ended
 * by either side or by the test.
 */
#include "mock_private.h"

#include <assert.h>
#include <errno.h>

static uint32_t generations;
static int room;

static struct channel *channel_to(struct file *file, const struct file *peer)
{
	for (uint32_t i = 0; i < CHANNELS; i++) {
		struct channel *channel = &file->channels[i];

		if (channel->used && !channel->dead && channel->peer == mock_index_of(peer))
			return channel;
	}
	return NULL;
}

static struct channel *channel_numbered(struct file *file, uint32_t number)
{
	for (uint32_t i = 0; i < CHANNELS; i++) {
		if (file->channels[i].used && file->channels[i].number == number)
			return &file->channels[i];
	}
	return NULL;
}

/* A new number each time; the low bits of two that live may be the same. */
static struct channel *make_channel(struct file *file, const struct file *peer)
{
	struct channel *channel = channel_to(file, peer);
	uint32_t i;

	if (channel)
		return channel;
	for (i = 0; file->channels[i].used; i++)
		assert(i + 1 < CHANNELS);
	file->channels[i] = (struct channel){
		.used = true, .peer = mock_index_of(peer), .mac = MOCK_MAC(peer->board),
		.endpoint = peer->endpoint, .session = peer->session,
		.number = ++generations << 16 | i / 2,
	};
	return &file->channels[i];
}

static uint32_t join(struct file *file, struct file *peer)
{
	struct channel *here = make_channel(file, peer);
	struct channel *there = make_channel(peer, file);

	here->peer_channel = there->number;
	there->peer_channel = here->number;
	return here->number;
}

struct channel *mock_live_channel(struct file *file, uint32_t number, int *err)
{
	struct channel *channel = channel_numbered(file, number);

	*err = channel ? -ENOTCONN : -ENOENT;
	return channel && !channel->dead ? channel : NULL;
}

int mock_do_connect(struct file *file, struct omx_ioc_connect *connect)
{
	struct omx_event event = { .type = OMX_EVENT_CONNECTED, .cookie = connect->cookie };
	uint32_t board = (uint32_t)(connect->mac - MOCK_MAC(0));
	struct file *peer;

	if (connect->mac == MOCK_SILENT_MAC)
		return 0;
	if (connect->mac < MOCK_MAC(0) || !mock_board_exists(board))
		return -EHOSTUNREACH;
	peer = mock_find_endpoint(board, connect->endpoint);
	if (!peer) {
		event.status = OMX_STATUS_BAD_ENDPOINT;
	} else if (peer->key != connect->key) {
		event.status = OMX_STATUS_BAD_KEY;
	} else {
		event.channel = join(file, peer);
		event.session = peer->session;
	}
	mock_answer_to(file, &event);
	return 0;
}

int mock_do_channel_info(struct file *file, struct omx_ioc_channel_info *info)
{
	struct channel *channel = channel_numbered(file, info->channel);

	if (!channel)
		return -ENOENT;
	info->mac = channel->mac;
	info->endpoint = channel->endpoint;
	info->session = channel->session;
	info->flags = OMX_CHANNEL_LOCAL * (file->board == 2) +
		      (channel->dead ? OMX_CHANNEL_DEAD : 0);
	return 0;
}

int mock_do_disconnect(struct file *file, struct omx_ioc_disconnect *disconnect)
{
	struct channel *channel = channel_numbered(file, disconnect->channel);

	if (!channel)
		return -ENOENT;
	mock_end_sends(file, disconnect->channel, OMX_STATUS_ABORTED);
	channel->used = !channel->dead;
	return 0;
}

static void kill_channel(struct file *file, struct channel *channel, enum omx_status status)
{
	uint32_t number = channel->number;
	struct omx_event event = {
		.type = OMX_EVENT_CHANNEL_DEAD, .status = (uint8_t)status, .channel = number,
	};

	channel->dead = true;
	mock_drop_messages(file, number);
	mock_end_sends(file, number, status);
	mock_post_to(file, &event, NULL, 0);
}

void mock_leave_peers(struct file *file)
{
	for (int i = 0; i < FILES; i++) {
		struct channel *channel;

		if (!mock_files[i].open || &mock_files[i] == file)
			continue;
		channel = channel_to(&mock_files[i], file);
		if (channel)
			kill_channel(&mock_files[i], channel, OMX_STATUS_CLOSED);
	}
}

bool mock_take_room(struct channel *channel)
{
	if (!room) {
		channel->starved = true;
		return false;
	}
	if (room > 0)
		room--;
	return true;
}

void mock_reset_room(void)
{
	room = -1;
}

void mock_set_room(int count)
{
	pthread_mutex_lock(&mock_lock);
	room = count;
	pthread_mutex_unlock(&mock_lock);
}

void mock_grant_room(int count)
{
	pthread_mutex_lock(&mock_lock);
	room = count;
	for (int i = 0; i < FILES; i++) {
		for (uint32_t j = 0; mock_files[i].open && j < CHANNELS; j++) {
			struct channel *channel = &mock_files[i].channels[j];
			struct omx_event event = {
				.type = OMX_EVENT_SEND_SPACE, .channel = channel->number,
			};

			if (channel->used && !channel->dead && channel->starved)
				mock_post_to(&mock_files[i], &event, NULL, 0);
			channel->starved = false;
		}
	}
	pthread_mutex_unlock(&mock_lock);
}

void mock_kill_channels(int fd, enum omx_status status)
{
	struct file *file = mock_file_of(fd);

	pthread_mutex_lock(&mock_lock);
	for (uint32_t i = 0; i < CHANNELS; i++) {
		if (file->channels[i].used && !file->channels[i].dead)
			kill_channel(file, &file->channels[i], status);
	}
	pthread_mutex_unlock(&mock_lock);
}

uint32_t mock_channel(int fd)
{
	struct file *file = mock_file_of(fd);

	for (uint32_t i = 0; i < CHANNELS; i++) {
		if (file->channels[i].used)
			return file->channels[i].number;
	}
	return OMX_ANY;
}
