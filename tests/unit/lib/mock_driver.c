/* SPDX-License-Identifier: BSD-2-Clause */
#include "mock_driver.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "driver.h"

#define FD_BASE		1000
#define FILES		64
#define CHANNELS	64
#define OBJECTS		4096
#define COMMANDS	64
#define PAGE		((uint32_t)sysconf(_SC_PAGESIZE))
#define HELPER_DELAY_MS	2

struct entry {
	struct entry *next;
	struct omx_event event;
	uint32_t length;
	unsigned char payload[];
};

struct channel {
	bool used, dead, starved;
	uint32_t number;
	int peer;		/* index of its file */
	uint32_t peer_channel;
	uint64_t mac;
	uint32_t endpoint, session;
};

struct file {
	bool used, open;
	uint32_t board, endpoint, key, session;
	uint32_t slots;
	struct omx_ring_user *user;
	struct omx_ring_kernel *kernel;
	unsigned char *ring;
	struct channel channels[CHANNELS];
	struct entry *notes;	/* events that wait for room in the ring */
	struct entry *messages;	/* and messages, which leave some to the former */
};

struct message {	/* a medium one, not fetched yet */
	bool used;
	int file;
	uint64_t length;
	unsigned char *data;
};

struct region {
	bool used;
	int file;
	uint32_t flags, count;
	uint64_t length;
	struct omx_segment segments[OMX_SEGMENTS_MAX];
};

struct rendezvous {
	bool used, withdrawn;
	int sender, receiver;
	uint32_t sender_channel, region;
	uint64_t cookie, length, address;
};

struct held {		/* an answer that waits for mock_answer */
	struct held *next;
	int file;
	struct omx_event event;
};

struct fault {
	unsigned long command;
	int err, skip, times;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static struct file files[FILES];
static struct message messages[OBJECTS];
static struct region *regions[OBJECTS];
static struct rendezvous rendezvous[OBJECTS];
static struct held *held, **held_end = &held;
static struct fault faults[8];
static uint32_t calls[COMMANDS];
static uint32_t region_count, region_flags, prefetch_flags, sessions, generations, ring_slots, abi;
static int room, open_error, map_skip;
static bool holding;

static struct file *file_of(int fd)
{
	assert(fd >= FD_BASE && fd < FD_BASE + FILES && files[fd - FD_BASE].used);
	return &files[fd - FD_BASE];
}

static int index_of(const struct file *file)
{
	return (int)(file - files);
}

/* ---- the ring ------------------------------------------------------------ */

static uint32_t slots_for(uint32_t length)
{
	return 1 + (length + OMX_SLOT_SIZE - 1) / OMX_SLOT_SIZE;
}

static bool is_message(const struct entry *entry)
{
	return entry->event.type == OMX_EVENT_RECV || entry->event.type == OMX_EVENT_RNDV;
}

static bool put(struct file *file, const struct entry *entry)
{
	uint32_t tail = __atomic_load_n(&file->user->utail, __ATOMIC_ACQUIRE);
	uint32_t head = file->kernel->khead;
	uint32_t slots = slots_for(entry->length);
	uint32_t to_end = file->slots - (head & (file->slots - 1));
	uint32_t pad = slots > to_end ? to_end : 0;
	uint32_t reserve = is_message(entry) ? file->slots / 16 : 0;
	struct omx_event *event;

	if (head - tail + pad + slots + reserve > file->slots)
		return false;
	if (pad) {
		event = (void *)(file->ring + (size_t)(head & (file->slots - 1)) * OMX_SLOT_SIZE);
		memset(event, 0, sizeof(*event));
		event->slots = (uint16_t)pad;
		head += pad;
	}
	event = (void *)(file->ring + (size_t)(head & (file->slots - 1)) * OMX_SLOT_SIZE);
	*event = entry->event;
	if (!event->slots)
		event->slots = (uint16_t)slots;
	memcpy(event + 1, entry->payload, entry->length);
	__atomic_store_n(&file->kernel->khead, head + slots, __ATOMIC_RELEASE);
	pthread_cond_broadcast(&changed);
	return true;
}

static bool flush_list(struct file *file, struct entry **list)
{
	while (*list && put(file, *list)) {
		struct entry *first = *list;

		*list = first->next;
		free(first);
	}
	return !*list;
}

static void flush_backlog(struct file *file)
{
	bool empty = flush_list(file, &file->notes) && flush_list(file, &file->messages);

	__atomic_store_n(&file->kernel->kbacklog, !empty, __ATOMIC_SEQ_CST);
}

static void post(struct file *file, const struct omx_event *event, const void *payload,
		 uint32_t length)
{
	struct entry *entry = malloc(sizeof(*entry) + length);
	struct entry **end;

	entry->next = NULL;
	entry->event = *event;
	entry->length = length;
	if (length)
		memcpy(entry->payload, payload, length);
	for (end = is_message(entry) ? &file->messages : &file->notes; *end;)
		end = &(*end)->next;
	*end = entry;
	flush_backlog(file);
}

/* Nothing is delivered behind CHANNEL_DEAD. */
static void drop_messages(struct file *file, uint32_t channel)
{
	struct entry **link = &file->messages;

	while (*link) {
		struct entry *entry = *link;

		if (entry->event.channel == channel) {
			*link = entry->next;
			free(entry);
		} else {
			link = &entry->next;
		}
	}
}

static void answer(struct file *file, const struct omx_event *event)
{
	struct held *later;

	if (!holding) {
		post(file, event, NULL, 0);
		return;
	}
	later = calloc(1, sizeof(*later));
	later->file = index_of(file);
	later->event = *event;
	*held_end = later;
	held_end = &later->next;
}

/* ---- channels -------------------------------------------------------------- */

static struct channel *channel_to(struct file *file, const struct file *peer)
{
	for (uint32_t i = 0; i < CHANNELS; i++) {
		struct channel *channel = &file->channels[i];

		if (channel->used && !channel->dead && channel->peer == index_of(peer))
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
		.used = true, .peer = index_of(peer), .mac = MOCK_MAC(peer->board),
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

static struct channel *live_channel(struct file *file, uint32_t number, int *err)
{
	struct channel *channel = channel_numbered(file, number);

	*err = channel ? -ENOTCONN : -ENOENT;
	return channel && !channel->dead ? channel : NULL;
}

static void end_rendezvous(struct rendezvous *rndv, enum omx_status status, uint64_t length)
{
	struct omx_event event = {
		.type = OMX_EVENT_SEND_DONE, .status = (uint8_t)status,
		.channel = rndv->sender_channel, .cookie = rndv->cookie, .length = length,
	};

	rndv->used = false;
	if (files[rndv->sender].open)
		answer(&files[rndv->sender], &event);
}

static void kill_channel(struct file *file, struct channel *channel, enum omx_status status)
{
	uint32_t number = channel->number;
	struct omx_event event = {
		.type = OMX_EVENT_CHANNEL_DEAD, .status = (uint8_t)status, .channel = number,
	};
	uint32_t i;

	channel->dead = true;
	drop_messages(file, number);
	for (i = 1; i < OBJECTS; i++) {
		if (rendezvous[i].used && rendezvous[i].sender == index_of(file) &&
		    rendezvous[i].sender_channel == number)
			end_rendezvous(&rendezvous[i], status, 0);
	}
	post(file, &event, NULL, 0);
}

/* ---- memory ------------------------------------------------------------------ */

/* Copies between a buffer in the form of the ioctls and plain memory. */
static void move(const struct omx_segment *segments, uint32_t count, unsigned char *plain,
		 uint64_t length, bool out)
{
	for (uint32_t i = 0; i < count && length; i++) {
		uint64_t part = segments[i].length < length ? segments[i].length : length;
		void *memory = (void *)(uintptr_t)segments[i].address;

		if (part)
			memcpy(out ? plain : memory, out ? memory : plain, part);
		plain += part;
		length -= part;
	}
}

static uint32_t segments_of(const struct omx_buffer *buffer, struct omx_segment *segments)
{
	uint64_t sum = 0;

	assert(buffer->segment_count <= OMX_SEGMENTS_MAX && !buffer->reserved);
	if (!buffer->segment_count) {
		segments[0] = (struct omx_segment){ buffer->address, buffer->length };
		return 1;
	}
	memcpy(segments, (void *)(uintptr_t)buffer->address,
	       buffer->segment_count * sizeof(*segments));
	for (uint32_t i = 0; i < buffer->segment_count; i++)
		sum += segments[i].length;
	assert(sum == buffer->length);
	return buffer->segment_count;
}

static void move_buffer(const struct omx_buffer *buffer, unsigned char *plain,
			uint64_t length, bool out)
{
	struct omx_segment segments[OMX_SEGMENTS_MAX];
	uint32_t count = segments_of(buffer, segments);

	assert(length <= buffer->length);
	move(segments, count, plain, length, out);
}

/* ---- ioctls --------------------------------------------------------------------- */

static int do_info(struct omx_ioc_info *info)
{
	*info = (struct omx_ioc_info){
		.abi_version = abi, .board_max = OMX_BOARD_MAX,
		.endpoint_max = OMX_ENDPOINT_MAX, .counter_max = MOCK_COUNTERS,
	};
	return 0;
}

static bool board_exists(uint32_t board)
{
	return board == 0 || board == 2;
}

static int do_board(struct omx_ioc_board *board)
{
	if (!board_exists(board->board))
		return -ENODEV;
	board->flags = OMX_BOARD_UP;
	board->mac = MOCK_MAC(board->board);
	board->mtu = 9000;
	board->numa_node = -1;
	strcpy(board->ifname, board->board ? "eth2" : "eth0");
	strcpy(board->name, board->board ? "node1:2" : "node1:0");
	return 0;
}

static int do_counters(struct omx_ioc_counters *counters)
{
	uint64_t *values = (void *)(uintptr_t)counters->values;

	if (!board_exists(counters->board))
		return -ENODEV;
	for (uint32_t i = 0; i < counters->count && i < MOCK_COUNTERS; i++)
		values[i] = 0x100000000ull + i;
	counters->count = MOCK_COUNTERS;
	return 0;
}

static int do_counter_label(struct omx_ioc_counter_label *label)
{
	if (label->index >= MOCK_COUNTERS)
		return -EINVAL;
	strcpy(label->label, "counter");
	return 0;
}

static int do_peer_by_mac(struct omx_ioc_peer *peer)
{
	if (peer->mac != MOCK_SILENT_MAC)
		return -ENOENT;
	strcpy(peer->name, "node2:0");
	peer->flags = OMX_PEER_NAMED;
	return 0;
}

static int do_peer_by_name(struct omx_ioc_peer *peer)
{
	if (strcmp(peer->name, "node2:0"))
		return -ENOENT;
	peer->mac = MOCK_SILENT_MAC;
	return 0;
}

static struct file *find_endpoint(uint32_t board, uint32_t endpoint)
{
	for (int i = 0; i < FILES; i++) {
		if (files[i].open && files[i].board == board && files[i].endpoint == endpoint)
			return &files[i];
	}
	return NULL;
}

static int do_open(struct file *file, struct omx_ioc_open *open)
{
	if (open->board == OMX_ANY)
		open->board = 0;
	if (!board_exists(open->board))
		return -ENODEV;
	if (open->endpoint == OMX_ANY) {
		for (open->endpoint = 0; find_endpoint(open->board, open->endpoint);)
			open->endpoint++;
	}
	if (find_endpoint(open->board, open->endpoint))
		return -EBUSY;

	file->open = true;
	file->board = open->board;
	file->endpoint = open->endpoint;
	file->key = open->key;
	file->session = ++sessions;
	file->slots = ring_slots;
	file->user = calloc(1, PAGE);
	file->kernel = calloc(1, PAGE + (size_t)file->slots * OMX_SLOT_SIZE);
	file->ring = (unsigned char *)file->kernel + PAGE;
	file->kernel->kboard_flags = OMX_BOARD_UP;
	/* So that the indices wrap during the tests. */
	file->kernel->khead = file->user->utail = 0u - file->slots;
	file->notes = file->messages = NULL;
	open->session = file->session;
	open->ring_slots = file->slots;
	open->mac = MOCK_MAC(file->board);
	return 0;
}

static int do_connect(struct file *file, struct omx_ioc_connect *connect)
{
	struct omx_event event = { .type = OMX_EVENT_CONNECTED, .cookie = connect->cookie };
	uint32_t board = (uint32_t)(connect->mac - MOCK_MAC(0));
	struct file *peer;

	if (connect->mac == MOCK_SILENT_MAC)
		return 0;
	if (connect->mac < MOCK_MAC(0) || !board_exists(board))
		return -EHOSTUNREACH;
	peer = find_endpoint(board, connect->endpoint);
	if (!peer) {
		event.status = OMX_STATUS_BAD_ENDPOINT;
	} else if (peer->key != connect->key) {
		event.status = OMX_STATUS_BAD_KEY;
	} else {
		event.channel = join(file, peer);
		event.session = peer->session;
	}
	answer(file, &event);
	return 0;
}

static int do_channel_info(struct file *file, struct omx_ioc_channel_info *info)
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

static int do_disconnect(struct file *file, struct omx_ioc_disconnect *disconnect)
{
	struct channel *channel = channel_numbered(file, disconnect->channel);

	if (!channel)
		return -ENOENT;
	for (uint32_t i = 1; i < OBJECTS; i++) {
		if (rendezvous[i].used && rendezvous[i].sender == index_of(file) &&
		    rendezvous[i].sender_channel == disconnect->channel)
			end_rendezvous(&rendezvous[i], OMX_STATUS_ABORTED, 0);
	}
	channel->used = !channel->dead;
	return 0;
}

static bool take_room(struct channel *channel)
{
	if (!room) {
		channel->starved = true;
		return false;
	}
	if (room > 0)
		room--;
	return true;
}

static uint32_t keep_message(const struct file *file, unsigned char *data, uint64_t length)
{
	uint32_t i;

	for (i = 1; messages[i].used; i++)
		assert(i + 1 < OBJECTS);
	messages[i] = (struct message){
		.used = true, .file = index_of(file), .data = data, .length = length,
	};
	return i;
}

static int do_send(struct file *file, struct omx_ioc_send *send)
{
	uint64_t length = send->buffer.length;
	struct omx_event event = {
		.type = OMX_EVENT_RECV, .match_info = send->match_info, .length = length,
	};
	struct channel *channel;
	struct file *peer;
	unsigned char *data;
	int err;

	channel = live_channel(file, send->channel, &err);
	if (!channel)
		return err;
	if (length > OMX_MEDIUM_MAX)
		return -EINVAL;
	if (!take_room(channel))
		return -EAGAIN;

	peer = &files[channel->peer];
	event.channel = channel->peer_channel;
	data = malloc(length ? length : 1);
	move_buffer(&send->buffer, data, length, true);
	if (length <= OMX_TINY_MAX) {
		memcpy(event.data, data, length);
		post(peer, &event, NULL, 0);
	} else if (length <= OMX_SMALL_MAX) {
		post(peer, &event, data, (uint32_t)length);
	} else {
		event.message = keep_message(peer, data, length);
		post(peer, &event, NULL, 0);
		return 0;
	}
	free(data);
	return 0;
}

static struct region *region_of(const struct file *file, uint32_t number)
{
	if (!number || number >= OBJECTS || !regions[number] || !regions[number]->used ||
	    regions[number]->file != index_of(file))
		return NULL;
	return regions[number];
}

static void check_memory(const struct file *file, uint32_t number, uint64_t address,
			 uint64_t length, uint32_t access)
{
	const struct region *region = region_of(file, number);

	if (number == OMX_REGION_IMPLICIT)
		return;
	assert(!address && region && region->flags & access && region->length >= length);
}

static int do_send_rndv(struct file *file, struct omx_ioc_send_rndv *send)
{
	struct omx_event event = {
		.type = OMX_EVENT_RNDV, .match_info = send->match_info, .length = send->length,
	};
	struct channel *channel;
	uint32_t i;
	int err;

	channel = live_channel(file, send->channel, &err);
	if (!channel)
		return err;
	if (!take_room(channel))
		return -EAGAIN;
	assert(!send->length == !send->region);
	if (send->length)
		check_memory(file, send->region, send->address, send->length, OMX_REGION_READ);
	for (i = 1; rendezvous[i].used; i++)
		assert(i + 1 < OBJECTS);
	rendezvous[i] = (struct rendezvous){
		.used = true, .sender = index_of(file), .receiver = channel->peer,
		.sender_channel = send->channel, .region = send->region,
		.cookie = send->cookie, .length = send->length, .address = send->address,
	};
	event.channel = channel->peer_channel;
	event.remote_message = i;
	post(&files[channel->peer], &event, NULL, 0);
	return 0;
}

static void move_memory(const struct file *file, uint32_t number, uint64_t address,
			unsigned char *data, uint64_t length, bool out)
{
	const struct omx_segment implicit = { address, length };
	const struct region *region = region_of(file, number);

	if (number == OMX_REGION_IMPLICIT)
		move(&implicit, 1, data, length, out);
	else
		move(region->segments, region->count, data, length, out);
}

/* False: the sender has taken its memory back. */
static bool transfer(const struct rendezvous *rndv, const struct file *file,
		     const struct omx_ioc_pull *pull)
{
	const struct file *sender = &files[rndv->sender];
	unsigned char *data;

	check_memory(file, pull->region, pull->address, pull->length, OMX_REGION_WRITE);
	if (rndv->withdrawn ||
	    (rndv->region != OMX_REGION_IMPLICIT && !region_of(sender, rndv->region)))
		return false;
	data = malloc(pull->length);
	move_memory(sender, rndv->region, rndv->address, data, pull->length, true);
	move_memory(file, pull->region, pull->address, data, pull->length, false);
	free(data);
	return true;
}

static int do_pull(struct file *file, struct omx_ioc_pull *pull)
{
	struct omx_event event = {
		.type = OMX_EVENT_PULL_DONE, .channel = pull->channel, .cookie = pull->cookie,
		.length = pull->length,
	};
	struct rendezvous *rndv;
	int err;

	if (!live_channel(file, pull->channel, &err))
		return err;
	if (pull->remote_message >= OBJECTS)
		return -EINVAL;
	rndv = &rendezvous[pull->remote_message];
	if (!rndv->used || rndv->receiver != index_of(file))
		return -EINVAL;
	assert(pull->msg_length == rndv->length && pull->length <= rndv->length);
	assert(!pull->reserved && pull->status < OMX_STATUSES);
	if (pull->status) {
		assert(!pull->length);
		end_rendezvous(rndv, pull->status, 0);
		return 0;
	}
	if (pull->length) {
		if (!transfer(rndv, file, pull))
			event.status = OMX_STATUS_BAD_REGION;
		answer(file, &event);
	}
	end_rendezvous(rndv, pull->length < rndv->length ? OMX_STATUS_TRUNCATED : OMX_STATUS_OK,
		       pull->length);
	return 0;
}

static int do_region_create(struct file *file, struct omx_ioc_region *region)
{
	struct region *made;
	uint32_t i;

	assert(region->flags & (OMX_REGION_READ | OMX_REGION_WRITE));
	assert(region->flags < OMX_REGION_MODE(OMX_MEMORY_MODES) && !(region->flags & 0xfc));
	assert(region->buffer.length);
	for (i = 1; regions[i] && regions[i]->used; i++)
		assert(i + 1 < OBJECTS);
	if (!regions[i])
		regions[i] = calloc(1, sizeof(*regions[i]));
	made = regions[i];
	made->used = true;
	made->file = index_of(file);
	made->flags = region_flags = region->flags;
	made->length = region->buffer.length;
	made->count = segments_of(&region->buffer, made->segments);
	region->region = i;
	region_count++;
	return 0;
}

/* The message with this cookie is not to be pulled any more. */
static int withdraw(const struct file *file, uint64_t cookie)
{
	for (uint32_t i = 1; i < OBJECTS; i++) {
		if (rendezvous[i].used && rendezvous[i].sender == index_of(file) &&
		    rendezvous[i].cookie == cookie) {
			rendezvous[i].withdrawn = true;
			return 0;
		}
	}
	return -ENOENT;
}

static int do_region_destroy(struct file *file, struct omx_ioc_region *region)
{
	struct region *gone = region_of(file, region->region);

	if (region->region == OMX_REGION_IMPLICIT)
		return withdraw(file, region->buffer.address);
	assert(gone);
	gone->used = false;
	region_count--;
	return 0;
}

/* The first page is nobody's. */
static int do_prefetch(struct omx_ioc_prefetch *prefetch)
{
	assert(prefetch->flags & (OMX_REGION_READ | OMX_REGION_WRITE));
	assert(prefetch->flags < 8 && prefetch->length && !prefetch->reserved);
	prefetch_flags = prefetch->flags;
	return prefetch->address < PAGE ? -EFAULT : 0;
}

static int do_fetch(struct file *file, struct omx_ioc_fetch *fetch)
{
	struct message *message;
	uint64_t length = fetch->buffer.length;

	if (!fetch->message || fetch->message >= OBJECTS)
		return -EINVAL;
	message = &messages[fetch->message];
	if (!message->used || message->file != index_of(file))
		return -EINVAL;
	if (length > message->length)
		length = message->length;
	if (length)
		move_buffer(&fetch->buffer, message->data, length, false);
	free(message->data);
	message->used = false;
	return 0;
}

static struct timespec after_ms(uint32_t milliseconds)
{
	struct timespec time;

	clock_gettime(CLOCK_REALTIME, &time);
	time.tv_sec += milliseconds / 1000;
	time.tv_nsec += (long)(milliseconds % 1000) * 1000000;
	if (time.tv_nsec >= 1000000000) {
		time.tv_sec++;
		time.tv_nsec -= 1000000000;
	}
	return time;
}

static bool rendezvous_lies(struct file *file)
{
	uint32_t i = __atomic_load_n(&file->user->utail, __ATOMIC_ACQUIRE);

	while (i != file->kernel->khead) {
		const struct omx_event *event = (void *)(file->ring +
			(size_t)(i & (file->slots - 1)) * OMX_SLOT_SIZE);

		if (event->type == OMX_EVENT_RNDV)
			return true;
		i += event->slots ? event->slots : 1;
	}
	return false;
}

static int wait_as_helper(struct file *file, const struct omx_ioc_wait *wait)
{
	while (file->kernel->kwakeups == wait->wakeups) {
		struct timespec time = after_ms(HELPER_DELAY_MS);
		bool before = rendezvous_lies(file);

		while (pthread_cond_timedwait(&changed, &lock, &time) != ETIMEDOUT)
			;
		if (before && rendezvous_lies(file))
			return 0;
	}
	return 0;
}

static int do_wait(struct file *file, struct omx_ioc_wait *wait)
{
	struct timespec time = after_ms(wait->timeout_ms);

	flush_backlog(file);
	if (wait->flags & OMX_WAIT_HELPER)
		return wait_as_helper(file, wait);
	while (file->kernel->khead == wait->head && file->kernel->kwakeups == wait->wakeups) {
		if (wait->timeout_ms == OMX_ANY)
			pthread_cond_wait(&changed, &lock);
		else if (pthread_cond_timedwait(&changed, &lock, &time) == ETIMEDOUT)
			return -ETIMEDOUT;
	}
	return 0;
}

static int do_wakeup(struct file *file)
{
	file->kernel->kwakeups++;
	pthread_cond_broadcast(&changed);
	return 0;
}

static int run(struct file *file, unsigned long command, void *argument)
{
	switch (command) {
	case OMX_IOC_INFO: return do_info(argument);
	case OMX_IOC_BOARD: return do_board(argument);
	case OMX_IOC_COUNTERS: return do_counters(argument);
	case OMX_IOC_COUNTER_LABEL: return do_counter_label(argument);
	case OMX_IOC_PEER_BY_MAC: return do_peer_by_mac(argument);
	case OMX_IOC_PEER_BY_NAME: return do_peer_by_name(argument);
	case OMX_IOC_OPEN: return do_open(file, argument);
	}
	assert(file->open);
	switch (command) {
	case OMX_IOC_CONNECT: return do_connect(file, argument);
	case OMX_IOC_CHANNEL_INFO: return do_channel_info(file, argument);
	case OMX_IOC_DISCONNECT: return do_disconnect(file, argument);
	case OMX_IOC_SEND: return do_send(file, argument);
	case OMX_IOC_SEND_RNDV: return do_send_rndv(file, argument);
	case OMX_IOC_PULL: return do_pull(file, argument);
	case OMX_IOC_REGION_CREATE: return do_region_create(file, argument);
	case OMX_IOC_REGION_DESTROY: return do_region_destroy(file, argument);
	case OMX_IOC_PREFETCH: return do_prefetch(argument);
	case OMX_IOC_FETCH: return do_fetch(file, argument);
	case OMX_IOC_WAIT: return do_wait(file, argument);
	case OMX_IOC_WAKEUP: return do_wakeup(file);
	case OMX_IOC_KICK: flush_backlog(file); return 0;
	}
	abort();
}

static int fault_of(unsigned long command)
{
	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
		struct fault *fault = &faults[i];

		if (fault->command != command || !fault->times)
			continue;
		if (fault->skip) {
			fault->skip--;
			continue;
		}
		fault->times--;
		return fault->err;
	}
	return 0;
}

/* ---- libomx/driver.h -------------------------------------------------------------- */

int omx__driver_open(void)
{
	int i, err;

	pthread_mutex_lock(&lock);
	err = open_error;
	open_error = 0;
	for (i = 0; files[i].used; i++)
		assert(i + 1 < FILES);
	if (!err) {
		memset(&files[i], 0, sizeof(files[i]));
		files[i].used = true;
	}
	pthread_mutex_unlock(&lock);
	return err ? err : FD_BASE + i;
}

static void free_list(struct entry *list)
{
	while (list) {
		struct entry *first = list;

		list = first->next;
		free(first);
	}
}

static void forget_all_of(struct file *file)
{
	for (uint32_t i = 1; i < OBJECTS; i++) {
		if (messages[i].used && messages[i].file == index_of(file)) {
			free(messages[i].data);
			messages[i].used = false;
		}
		if (regions[i] && regions[i]->used && regions[i]->file == index_of(file)) {
			regions[i]->used = false;
			region_count--;
		}
		if (rendezvous[i].used && rendezvous[i].sender == index_of(file))
			rendezvous[i].used = false;
	}
	free_list(file->notes);
	free_list(file->messages);
}

static void leave_peers(struct file *file)
{
	for (int i = 0; i < FILES; i++) {
		struct channel *channel;

		if (!files[i].open || &files[i] == file)
			continue;
		channel = channel_to(&files[i], file);
		if (channel)
			kill_channel(&files[i], channel, OMX_STATUS_CLOSED);
	}
}

void omx__driver_close(int fd)
{
	struct file *file;

	pthread_mutex_lock(&lock);
	file = file_of(fd);
	if (file->open) {
		file->open = false;
		leave_peers(file);
		forget_all_of(file);
		free(file->user);
		free(file->kernel);
	}
	file->used = false;
	pthread_mutex_unlock(&lock);
}

int omx__driver_ioctl(int fd, unsigned long command, void *argument)
{
	int err;

	pthread_mutex_lock(&lock);
	calls[_IOC_NR(command)]++;
	err = fault_of(command);
	if (!err)
		err = run(file_of(fd), command, argument);
	pthread_mutex_unlock(&lock);
	return err;
}

void *omx__driver_map(int fd, uint64_t offset, size_t length, bool writable)
{
	struct file *file = file_of(fd);

	assert(file->open);
	if (map_skip >= 0 && map_skip-- == 0)
		return NULL;
	if (offset == OMX_MAP_USER) {
		assert(length == PAGE && writable);
		return file->user;
	}
	assert(offset == OMX_MAP_RING && !writable);
	assert(length == PAGE + (size_t)file->slots * OMX_SLOT_SIZE);
	return file->kernel;
}

void omx__driver_unmap(const void *map, size_t length)
{
	(void)map, (void)length;
}

/* ---- fork() ------------------------------------------------------------------------- */

/* A helper may have the lock, or sleep, at that moment: the child has no helper. */
static void before_fork(void)
{
	pthread_mutex_lock(&lock);
}

static void after_fork(void)
{
	pthread_mutex_unlock(&lock);
}

static void in_child(void)
{
	changed = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
	pthread_mutex_unlock(&lock);
}

/* Before the library does the same: its part in the child comes after ours. */
static __attribute__((constructor)) void prepare_for_fork(void)
{
	pthread_atfork(before_fork, after_fork, in_child);
}

/* ---- for the tests ------------------------------------------------------------------- */

void mock_reset(void)
{
	for (int i = 0; i < FILES; i++)
		assert(!files[i].used);
	for (int i = 1; i < OBJECTS; i++) {
		assert(!messages[i].used && !rendezvous[i].used);
		assert(!regions[i] || !regions[i]->used);
	}
	while (held) {
		struct held *first = held;

		held = first->next;
		free(first);
	}
	held_end = &held;
	memset(faults, 0, sizeof(faults));
	memset(calls, 0, sizeof(calls));
	region_count = 0;
	region_flags = 0;
	prefetch_flags = 0;
	ring_slots = 256;
	abi = OMX_ABI_VERSION;
	room = -1;
	map_skip = -1;
	open_error = 0;
	holding = false;
}

void mock_set_ring_slots(uint32_t slots)
{
	ring_slots = slots;
}

void mock_fail(unsigned long command, int err, int skip, int times)
{
	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
		if (!faults[i].times) {
			faults[i] = (struct fault){ command, err, skip, times };
			return;
		}
	}
	abort();
}

void mock_fail_open(int err)
{
	open_error = err;
}

void mock_fail_map(int skip)
{
	map_skip = skip;
}

void mock_set_abi(uint32_t version)
{
	abi = version;
}

uint32_t mock_calls(unsigned long command)
{
	uint32_t count;

	pthread_mutex_lock(&lock);
	count = calls[_IOC_NR(command)];
	pthread_mutex_unlock(&lock);
	return count;
}

uint32_t mock_all_calls(void)
{
	uint32_t count = 0;

	pthread_mutex_lock(&lock);
	for (int i = 0; i < COMMANDS; i++)
		count += calls[i];
	pthread_mutex_unlock(&lock);
	return count;
}

uint32_t mock_regions(void)
{
	return region_count;
}

uint32_t mock_region_flags(void)
{
	return region_flags;
}

uint32_t mock_prefetch_flags(void)
{
	return prefetch_flags;
}

void mock_set_room(int count)
{
	pthread_mutex_lock(&lock);
	room = count;
	pthread_mutex_unlock(&lock);
}

void mock_grant_room(int count)
{
	pthread_mutex_lock(&lock);
	room = count;
	for (int i = 0; i < FILES; i++) {
		for (uint32_t j = 0; files[i].open && j < CHANNELS; j++) {
			struct channel *channel = &files[i].channels[j];
			struct omx_event event = {
				.type = OMX_EVENT_SEND_SPACE, .channel = channel->number,
			};

			if (channel->used && !channel->dead && channel->starved)
				post(&files[i], &event, NULL, 0);
			channel->starved = false;
		}
	}
	pthread_mutex_unlock(&lock);
}

void mock_hold(bool hold)
{
	pthread_mutex_lock(&lock);
	holding = hold;
	pthread_mutex_unlock(&lock);
}

void mock_answer(void)
{
	pthread_mutex_lock(&lock);
	while (held) {
		struct held *first = held;

		held = first->next;
		if (files[first->file].open)
			post(&files[first->file], &first->event, NULL, 0);
		free(first);
	}
	held_end = &held;
	pthread_mutex_unlock(&lock);
}

void mock_post(int fd, const struct omx_event *event, const void *payload, uint32_t length)
{
	pthread_mutex_lock(&lock);
	post(file_of(fd), event, payload, length);
	pthread_mutex_unlock(&lock);
}

void mock_kill_channels(int fd, enum omx_status status)
{
	struct file *file = file_of(fd);

	pthread_mutex_lock(&lock);
	for (uint32_t i = 0; i < CHANNELS; i++) {
		if (file->channels[i].used && !file->channels[i].dead)
			kill_channel(file, &file->channels[i], status);
	}
	pthread_mutex_unlock(&lock);
}

uint32_t mock_channel(int fd)
{
	struct file *file = file_of(fd);

	for (uint32_t i = 0; i < CHANNELS; i++) {
		if (file->channels[i].used)
			return file->channels[i].number;
	}
	return OMX_ANY;
}

void mock_remove_board(uint32_t board)
{
	struct omx_event event = { .type = OMX_EVENT_BOARD, .status = OMX_STATUS_BOARD_REMOVED };

	pthread_mutex_lock(&lock);
	for (int i = 0; i < FILES; i++) {
		if (files[i].open && files[i].board == board)
			post(&files[i], &event, NULL, 0);
	}
	pthread_mutex_unlock(&lock);
}

uint32_t mock_backlog(int fd)
{
	const struct entry *entry;
	uint32_t length = 0;

	pthread_mutex_lock(&lock);
	for (entry = file_of(fd)->messages; entry; entry = entry->next)
		length++;
	for (entry = file_of(fd)->notes; entry; entry = entry->next)
		length++;
	pthread_mutex_unlock(&lock);
	return length;
}
