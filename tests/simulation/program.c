// SPDX-License-Identifier: BSD-2-Clause
/*
 * Programs.  They call the driver as the library does through its ioctls: they send,
 * read the events of their ring, fetch and pull messages, and disconnect channels that
 * have ended.
 */
#include "channel/channel.h"
#include "channel/close.h"
#include "channel/connect.h"
#include "channel/cork.h"
#include "eager/eager_receive.h"
#include "eager/eager_send.h"
#include "net/frame.h"
#include "net/path_mtu.h"
#include "net/peer.h"
#include "program.h"
#include "pull/pull.h"
#include "pull/rndv.h"

#define KEY		0x1234
#define EVENTS_AT_ONCE	64		/* then others have their turn */
#define RETRY		(2 * SIM_MS)
#define SHORT_SLEEP	((u64)20 * SIM_MS)
#define BEHIND		0xa7		/* the byte behind a buffer */

void (*sim_on_reopen)(struct sim_program *program);

struct pull {
	struct list_head in_program;
	u64 match;
	u32 length;
	u32 channel, message;
	u8 *bytes;
};

struct unfetched {
	struct list_head in_program;
	u64 match;
	u32 length, message;
};

/* ---- when it runs ---- */

static void program_run_at(struct sim_program *program, u64 at)
{
	at = max(at, program->awake_at);
	if (!sim_event_is_queued(&program->event) || at < program->event.at)
		sim_event_at(&program->event, at);
}

void sim_program_notify(struct omx_endpoint *ep)
{
	struct sim_node *node = sim_current;
	struct sim_program *program = node && ep->index < SIM_ENDPOINTS ?
				      node->program[ep->index] : NULL;

	if (program && program->ep == ep && !program->closing)
		program_run_at(program, sim_now + sim_below(program->latency));
}

void sim_program_hurry(struct sim_program *program)
{
	program->sleep = min(program->sleep, SHORT_SLEEP);
	if (!program->ep || program->closing)
		return;
	program->awake_at = sim_now;
	program_run_at(program, sim_now);
}

/* ---- connecting ---- */

static void stream_retry(struct sim_stream *stream, u64 after)
{
	stream->state = SIM_IDLE;
	stream->next_at = sim_now + after;
	program_run_at(stream->from, stream->next_at);
}

static void stream_connect(struct sim_stream *stream)
{
	struct omx_ioc_connect ioc = {
		.mac = sim_node_mac(stream->to),
		.endpoint = stream->to_slot,
		.key = KEY,
		.timeout_ms = stream->from->timeout_ms,
		.cookie = stream->id,
	};

	if (omx_connect(stream->from->ep, &ioc))
		stream_retry(stream, RETRY);
	else
		stream->state = SIM_CONNECTING;
}

static void program_connected(struct sim_program *program, const struct omx_event *event)
{
	struct sim_stream *stream = sim.stream[event->cookie];

	SIM_REQUIRE(stream->from == program && stream->state == SIM_CONNECTING);
	SIM_TRACE("stream %u connected, status %u, channel %u", stream->id, event->status,
		  event->channel);
	stream->progress++;
	/* Only a driver that has responded says what it speaks. */
	SIM_REQUIRE(event->peer_abi == (event->status == OMX_STATUS_UNREACHABLE ? 0 :
					(OMX_ABI_OLDEST << 8 | OMX_ABI_VERSION)));
	if (event->status) {
		stream_retry(stream, sim_below(20 * SIM_MS));
		return;
	}
	stream->channel = event->channel;
	stream->state = SIM_OPEN;
	stream->next_at = sim_now;
	sim_ledger_connected(stream, event->session);
}

static void program_channel_dead(struct sim_program *program, const struct omx_event *event)
{
	struct omx_ioc_disconnect ioc = { .channel = event->channel };
	struct sim_stream *stream;

	SIM_TRACE("program %u: channel %u is dead, status %u", program->id, event->channel,
		  event->status);
	list_for_each_entry(stream, &program->streams, in_program)
		if (stream->state >= SIM_OPEN && stream->channel == event->channel) {
			stream->progress++;
			stream_retry(stream, sim_below(5 * SIM_MS));
		}
	SIM_REQUIRE(!omx_channel_disconnect(program->ep, &ioc));
}

/* ---- sending ---- */

static long stream_send_large(struct sim_stream *stream, u64 match, u32 length)
{
	struct omx_ioc_send_rndv ioc = {
		.match_info = match,
		.length = length,
		.cookie = match,
		.address = length ? (uintptr_t)sim_bytes_of(match, length) : 0,
		.channel = stream->channel,
		.region = length ? OMX_REGION_IMPLICIT : 0,
	};

	return omx_rndv_send(stream->from->ep, &ioc);
}

static long stream_send_eager(struct sim_stream *stream, u64 match, u32 length)
{
	struct omx_ioc_send ioc = {
		.buffer.address = (uintptr_t)sim_bytes_of(match, length),
		.buffer.length = length,
		.match_info = match,
		.channel = stream->channel,
	};

	return omx_send_eager(stream->from->ep, &ioc);
}

/* 0, or why it cannot be sent now. */
static long stream_send(struct sim_stream *stream)
{
	u32 length = sim_length_of(stream, stream->sent);
	bool large = sim_is_large(stream, stream->sent);
	u64 match = sim_match_of(stream);
	long error;

	/* Before, for the case that it arrives while this goes on. */
	sim_ledger_sent(stream);
	error = (large ? stream_send_large : stream_send_eager)(stream, match, length);
	if (!error) {
		if (!large)
			omx_traffic_add(&stream->from->sent, 1, length);
		SIM_TRACE("stream %u: message %u of %u bytes sent%s", stream->id,
			  stream->sent - 1, length, large ? ", to be pulled" : "");
		return 0;
	}
	stream->sent--;
	if (large) {
		struct sim_large *last = list_last_entry(&stream->larges, struct sim_large,
							 in_stream);

		list_del(&last->in_stream);
		stream->large_count--;
		free(last);
	}
	return error;
}

static void stream_send_burst(struct sim_stream *stream)
{
	long error = 0;
	u32 i;

	for (i = 0; i < stream->burst && stream->sent < stream->total && !error; i++)
		error = stream_send(stream);
	switch (error) {
	case 0:
		stream->next_at = sim_now + (stream->pause ? sim_below(2 * stream->pause) : 0);
		break;
	case -EAGAIN:
		SIM_TRACE("stream %u has to wait", stream->id);
		stream->state = SIM_BLOCKED;
		break;
	case -EBUSY:
	case -ENOMEM:
		stream->next_at = sim_now + RETRY;
		break;
	case -ENOTCONN:
	case -ENOENT:
		stream->next_at = sim_now + RETRY;	/* an event says why */
		break;
	default:
		SIM_FAIL("sending failed with %ld", error);
	}
}

static void program_has_space(struct sim_program *program, u32 channel)
{
	struct sim_stream *stream;

	list_for_each_entry(stream, &program->streams, in_program)
		if (stream->state == SIM_BLOCKED && stream->channel == channel) {
			stream->state = SIM_OPEN;
			stream->next_at = sim_now;
		}
}

static void stream_go_on(struct sim_stream *stream)
{
	switch (stream->state) {
	case SIM_IDLE:
		if (stream->sent < stream->total && stream->next_at <= sim_now)
			stream_connect(stream);
		break;
	case SIM_OPEN:
		if (stream->sent < stream->total && stream->next_at <= sim_now)
			stream_send_burst(stream);
		break;
	default:
		return;
	}
	if ((stream->state == SIM_IDLE || stream->state == SIM_OPEN) &&
	    stream->sent < stream->total)
		program_run_at(stream->from, max(stream->next_at, sim_now + SIM_US));
}

/* ---- receiving ---- */

static void unfetched_add(struct sim_program *program, const struct omx_event *event)
{
	struct unfetched *message = calloc(1, sizeof(*message));

	message->match = event->match_info;
	message->length = event->length;
	message->message = event->message;
	list_add_tail(&message->in_program, &program->unfetched);
}

static void program_fetch(struct sim_program *program, struct unfetched *message)
{
	struct omx_ioc_fetch ioc = { .message = message->message };
	u32 n = sim_chance(10) ? sim_below(message->length + 1) : message->length;
	static u8 buffer[OMX_MEDIUM_MAX + 1];

	/* It may want the beginning only. */
	ioc.buffer.address = (uintptr_t)buffer;
	ioc.buffer.length = n;
	buffer[n] = BEHIND;
	SIM_REQUIRE(!omx_fetch(program->ep, &ioc));
	SIM_REQUIRE(buffer[n] == BEHIND);
	sim_ledger_check_beginning(message->match, message->length, buffer, n);
	list_del(&message->in_program);
	free(message);
}

static const void *event_payload(const struct sim_program *program,
				 const struct omx_event *event)
{
	return event->length <= OMX_TINY_MAX ? (const void *)event->data : event + 1;
}

static void program_received(struct sim_program *program, const struct omx_event *event)
{
	sim_ledger_delivered(program, event->match_info, event->length);
	if (event->message)
		unfetched_add(program, event);
	else
		sim_ledger_check_bytes(event->match_info, event_payload(program, event),
				       event->length);
}

static void pull_free(struct pull *pull)
{
	list_del(&pull->in_program);
	free(pull->bytes);
	free(pull);
}

static void program_announced(struct sim_program *program, const struct omx_event *event)
{
	struct pull *pull = calloc(1, sizeof(*pull));

	sim_ledger_delivered(program, event->match_info, event->length);
	pull->match = event->match_info;
	pull->length = event->length;
	pull->channel = event->channel;
	pull->message = event->remote_message;
	list_add_tail(&pull->in_program, &program->waiting);
}

static bool pull_begin(struct sim_program *program, struct pull *pull)
{
	struct omx_ioc_pull ioc = {
		.length = pull->length,
		.msg_length = pull->length,
		.cookie = (uintptr_t)pull,
		.channel = pull->channel,
		.remote_message = pull->message,
	};
	long error;

	if (pull->length) {
		pull->bytes = malloc(pull->length);
		ioc.address = (uintptr_t)pull->bytes;
		ioc.region = OMX_REGION_IMPLICIT;
	}
	list_move_tail(&pull->in_program, &program->pulls);
	error = omx_pull(program->ep, &ioc);
	if (!error)
		return true;
	free(pull->bytes);
	pull->bytes = NULL;
	list_move(&pull->in_program, &program->waiting);
	if (error == -EBUSY || error == -ENOMEM || error == -EAGAIN)
		return false;
	SIM_REQUIRE(error == -ENOTCONN || error == -ENOENT);
	pull_free(pull);
	return true;
}

static void program_pull_done(struct sim_program *program, const struct omx_event *event)
{
	struct pull *pull = (struct pull *)(uintptr_t)event->cookie;

	SIM_TRACE("program %u: pull of %u bytes done, status %u", program->id, pull->length,
		  event->status);
	if (event->status == OMX_STATUS_OK) {
		SIM_REQUIRE(event->length == pull->length);
		sim_ledger_check_bytes(pull->match, pull->bytes, pull->length);
	}
	sim_ledger_pulled(pull->match, event->status);
	pull_free(pull);
}

/* ---- its ring ---- */

static void program_send_done(struct sim_program *program, const struct omx_event *event)
{
	sim_ledger_send_done(sim.stream[event->cookie >> 44], event);
}

/* What the event says of messages that have arrived. */
static void program_count(struct sim_program *program, const struct omx_event *event)
{
	if (event->type == OMX_EVENT_RECV ||
	    (event->type == OMX_EVENT_PULL_DONE && event->status == OMX_STATUS_OK))
		omx_traffic_add(&program->received, 1, event->length);
	else if (event->type == OMX_EVENT_SEND_DONE && event->status == OMX_STATUS_OK)
		omx_traffic_add(&program->sent, 1, event->length);
}

static void program_handle(struct sim_program *program, const struct omx_event *event)
{
	program_count(program, event);
	switch (event->type) {
	case OMX_EVENT_SKIP:
	case OMX_EVENT_BOARD:
		break;
	case OMX_EVENT_RECV:
		program_received(program, event);
		break;
	case OMX_EVENT_RNDV:
		program_announced(program, event);
		break;
	case OMX_EVENT_CONNECTED:
		program_connected(program, event);
		break;
	case OMX_EVENT_SEND_DONE:
		program_send_done(program, event);
		break;
	case OMX_EVENT_PULL_DONE:
		program_pull_done(program, event);
		break;
	case OMX_EVENT_SEND_SPACE:
		program_has_space(program, event->channel);
		break;
	case OMX_EVENT_CHANNEL_DEAD:
		program_channel_dead(program, event);
		break;
	default:
		SIM_FAIL("event of type %u", event->type);
	}
}

static bool program_read_ring(struct sim_program *program)
{
	struct omx_ring *ring = &program->ep->ring;
	u32 n;

	for (n = 0; n < EVENTS_AT_ONCE && program->tail != ring->kernel->khead; n++) {
		struct omx_event *event = &ring->slot[program->tail % OMX_RING_SLOTS];
		u32 slots = event->slots;

		SIM_REQUIRE(slots);
		program_handle(program, event);
		program->tail += slots;
		WRITE_ONCE(ring->user->utail, program->tail);
	}
	if (READ_ONCE(ring->kernel->kbacklog))
		omx_endpoint_kick(program->ep);
	return program->tail != ring->kernel->khead;
}

static void program_handle_messages(struct sim_program *program)
{
	while (!list_empty(&program->unfetched))
		program_fetch(program, list_first_entry(&program->unfetched, struct unfetched,
							in_program));
	while (!list_empty(&program->waiting)) {
		if (pull_begin(program, list_first_entry(&program->waiting, struct pull,
							 in_program)))
			continue;
		program_run_at(program, sim_now + RETRY);
		break;
	}
}

/* ---- channels that it sends on ---- */

/* A channel has counted what waits, even if messages have joined others. */
static void program_check_pending(const struct omx_channel *ch)
{
	u32 bytes = 0, messages = 0, packets = 0;
	struct sk_buff *skb;

	skb_queue_walk(&ch->pending, skb) {
		const struct omx_pending_cb *cb = omx_pending_cb(skb);

		bytes += skb->truesize;
		messages += cb->messages;
		packets += cb->packets - cb->sent;
	}
	SIM_REQUIRE(ch->pending_bytes == bytes && ch->own_bytes == bytes);
	SIM_REQUIRE(ch->pending_packets == packets && ch->own_messages == messages);
}

#define CORK_MOST	(1000 * SIM_US)

/* Nothing else waits behind the packet that messages are added to. */
static void program_check_corked(const struct omx_channel *ch)
{
	const struct sk_buff *last = skb_peek_tail(&ch->pending);

	SIM_REQUIRE(!list_empty(&ch->in_cork) && last);
	SIM_REQUIRE(omx_packet_head(last)->type == OMX_WIRE_EAGER ||
		    omx_packet_head(last)->type == OMX_WIRE_BUNDLE ||
		    omx_packet_head(last)->type == OMX_WIRE_NOTIFY);
}

/* Frames fill pages if either host receives into pages, which the other one is told. */
static void program_check_frames(struct omx_channel *ch)
{
	struct omx_board *board = ch->ep->board;
	u32 mtu = omx_channel_mtu(ch), in_pages = omx_path_mtu_in_pages(mtu);
	struct omx_peer *peer;
	bool told;

	rcu_read_lock();
	peer = omx_peer_find(&board->peers, ch->mac);
	told = peer && peer->in_pages;
	rcu_read_unlock();
	SIM_REQUIRE(omx_channel_burst_mtu(ch) == (peer && (board->in_pages || told) ?
						  in_pages : mtu));
	if (in_pages < mtu && board->in_pages != told)
		sim.shortened[told]++;
}

/* What is corked is known to its program, and to the timer that lets it go soon. */
static void program_check_channels(struct sim_program *program)
{
	struct omx_cork *cork = &program->ep->cork;
	bool any = !list_empty(&cork->channels);
	struct sim_stream *stream;

	SIM_REQUIRE(READ_ONCE(program->ep->ring.kernel->kcorked) == any);
	SIM_REQUIRE(!any || (hrtimer_is_queued(&cork->timer) &&
			     cork->timer.event.at <= sim_now + CORK_MOST));
	list_for_each_entry(stream, &program->streams, in_program) {
		struct omx_channel *ch = stream->state >= SIM_OPEN ?
				omx_channel_get(program->ep, stream->channel) : NULL;

		if (!ch)
			continue;
		program_check_pending(ch);
		program_check_frames(ch);
		if (ch->corked)
			program_check_corked(ch);
		omx_channel_put(ch);
	}
}

/* It waits, or has looked for events and found none. */
static void program_waits(struct sim_program *program)
{
	omx_uncork(program->ep);
	/* The end of a pull may be corked as soon as softirqs run again. */
	SIM_REQUIRE(sim.seldom || !READ_ONCE(program->ep->ring.kernel->kcorked));
}

/* ---- sleeping ---- */

static void program_sleep(struct sim_program *program)
{
	u32 room = sim_chance(50) ? OMX_RING_SLOTS / 16 + sim_below(200) :
				    sim_below(OMX_RING_SLOTS);
	u32 head = program->ep->ring.kernel->khead;

	/* As if it had not read the slots before; it still needs those that it has not. */
	room = min(room, OMX_RING_SLOTS - (head - program->tail));
	if (sim_chance(program->hoards))
		WRITE_ONCE(program->ep->ring.user->utail, head + room - OMX_RING_SLOTS);
	program->awake_at = sim_now + sim_below(program->sleep);
	program_run_at(program, program->awake_at);
}

static void program_wakes(struct sim_program *program)
{
	WRITE_ONCE(program->ep->ring.user->utail, program->tail);
}

static void program_open(struct sim_program *program);

static void program_run(struct sim_event *event)
{
	struct sim_program *program = container_of(event, struct sim_program, event);
	struct task_struct *outer = current;
	struct sim_stream *stream;

	current = &program->task;
	if (!program->ep) {
		program_open(program);
	} else if (sim_chance(program->sleepy)) {
		program_sleep(program);
	} else {
		bool more;

		program_check_channels(program);
		program_wakes(program);
		more = program_read_ring(program);
		program_handle_messages(program);
		list_for_each_entry(stream, &program->streams, in_program)
			stream_go_on(stream);
		if (more || program->tail != program->ep->ring.kernel->khead)
			program_run_at(program, sim_now + SIM_US + sim_below(program->latency));
		else if (sim_chance(program->waits))
			program_waits(program);
	}
	current = outer;
}

/* ---- its life ---- */

static void program_open(struct sim_program *program)
{
	struct omx_ioc_open open = {
		.board = 0,
		.endpoint = program->slot,
		.key = KEY,
		.timeout_ms = program->timeout_ms,
	};
	struct omx_endpoint *ep = omx_endpoint_open(&program->node->net, &open);

	if (IS_ERR(ep)) {
		program_run_at(program, sim_now + RETRY);
		return;
	}
	SIM_TRACE("program %u has endpoint %u of node %u, session %08x", program->id,
		  program->slot, program->node->index, ep->session);
	program->ep = ep;
	program->tail = 0;
	program_run_at(program, sim_now + sim_below(SIM_MS));
}

static struct sim_program *program_make(struct sim_node *node, u32 slot)
{
	struct sim_program *program = calloc(1, sizeof(*program));

	program->event.node = node;
	program->event.run = program_run;
	program->id = ++sim.program_count;
	program->node = node;
	program->slot = slot;
	program->task.group_leader = &program->task;
	program->task.signal = &program->signal;
	program->task.start_boottime = program->id;
	program->task.uid = node->index;
	program->latency = 20 * SIM_US;
	program->waits = 100;
	INIT_LIST_HEAD(&program->streams);
	INIT_LIST_HEAD(&program->pulls);
	INIT_LIST_HEAD(&program->waiting);
	INIT_LIST_HEAD(&program->unfetched);
	return program;
}

struct sim_program *sim_program_start(struct sim_node *node, u32 slot)
{
	struct sim_program *program = program_make(node, slot);

	SIM_REQUIRE(!node->program[slot]);
	node->program[slot] = program;
	program_run_at(program, sim_now + sim_below(SIM_MS));
	return program;
}

struct sim_stream *sim_stream_make(struct sim_program *from, struct sim_node *to, u32 slot,
				   enum sim_lengths lengths, u32 total)
{
	struct sim_stream *stream = calloc(1, sizeof(*stream));

	if (sim.stream_count == sim.stream_room) {
		sim.stream_room = 2 * sim.stream_room + 16;
		sim.stream = realloc(sim.stream, sim.stream_room * sizeof(*sim.stream));
	}
	stream->id = sim.stream_count;
	sim.stream[sim.stream_count++] = stream;
	stream->from = from;
	stream->node = from->node;
	list_add_tail(&stream->in_program, &from->streams);
	stream->to = to;
	stream->to_slot = slot;
	stream->lengths = lengths;
	stream->total = total;
	stream->burst = 4;
	INIT_LIST_HEAD(&stream->larges);
	program_run_at(from, sim_now + SIM_US);
	return stream;
}

/* The driver has counted what the program has seen, and what it has not read yet. */
static void program_check_traffic(struct sim_program *program)
{
	struct omx_ring *ring = &program->ep->ring;
	struct omx_traffic sent, received;
	struct omx_completion *completion;

	while (program->tail != ring->kernel->khead) {
		const struct omx_event *event = &ring->slot[program->tail % OMX_RING_SLOTS];

		program_count(program, event);
		program->tail += event->slots;
	}
	list_for_each_entry(completion, &ring->backlog, link)
		program_count(program, &completion->event);
	omx_channels_traffic(program->ep, &sent, &received);
	SIM_TRACE("program %u has sent %llu bytes and received %llu", program->id,
		  (unsigned long long)sent.bytes, (unsigned long long)received.bytes);
	SIM_REQUIRE(sent.messages == program->sent.messages &&
		    sent.bytes == program->sent.bytes);
	SIM_REQUIRE(received.messages == program->received.messages &&
		    received.bytes == program->received.bytes);
}

static void program_forget(struct sim_program *program)
{
	struct sim_stream *stream, *next;

	list_for_each_entry_safe(stream, next, &program->streams, in_program) {
		sim_ledger_forget_larges(stream);
		stream->from = NULL;
		list_del(&stream->in_program);
	}
	while (!list_empty(&program->pulls))
		pull_free(list_first_entry(&program->pulls, struct pull, in_program));
	while (!list_empty(&program->waiting))
		pull_free(list_first_entry(&program->waiting, struct pull, in_program));
	while (!list_empty(&program->unfetched)) {
		struct unfetched *message = list_first_entry(&program->unfetched,
							     struct unfetched, in_program);

		list_del(&message->in_program);
		free(message);
	}
}

static void program_close(void *arg)
{
	struct sim_program *program = arg, *again;
	struct sim_node *node = program->node;

	if (program->ep) {
		program_check_traffic(program);
		sim_ledger_receiver_ends(program);
		omx_endpoint_close(program->ep);
	}
	program_forget(program);
	sim_event_cancel(&program->event);
	node->program[program->slot] = NULL;
	SIM_TRACE("program %u has ended", program->id);
	if (program->reopen) {
		again = sim_program_start(node, program->slot);
		again->timeout_ms = program->timeout_ms;
		again->latency = program->latency;
		again->waits = program->waits;
		again->awake_at = sim_now + program->reopen_after;
		if (sim_on_reopen)
			sim_on_reopen(again);
	}
	free(program);
}

void sim_program_end(struct sim_program *program, bool killed)
{
	if (program->closing)
		return;
	SIM_TRACE("program %u %s", program->id, killed ? "is killed" : "exits");
	program->closing = true;
	program->task.flags |= PF_EXITING;
	if (killed) {
		program->signal.flags = SIGNAL_GROUP_EXIT;
		program->signal.group_exit_code = 9;
	}
	sim_event_cancel(&program->event);
	sim_fiber(program->node, &program->task, program_close, program);
}
