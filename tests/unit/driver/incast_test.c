// SPDX-License-Identifier: BSD-2-Clause
/*
 * Many pulls at once in virtual time: their senders share a switch port with a short
 * queue.  The limit of the board is estimate.c's, and turns are taken as in
 * pull/schedule.c.  The port must be busy, and must not overflow.
 */
#include "test.h"

#include "incoming/estimate.c"
#include "pull/pull_window.c"

#define PULLS_MAX	1000
#define HEAP_MAX	65536
#define FRAME		1500
#define PAYLOAD		1464
#define MERGED_MAX	44	/* 64 KiB */

/* As in response.c, pull.h and pull_timer.c. */
#define PATIENCE_MIN_US	1000
#define TIMEOUT_US	10000

struct event {
	u64 at;			/* ns */
	u64 order;
	u32 pull, frame;	/* frame == UINT32_MAX: the timer */
};

struct mark {
	u32 delivered;
	bool was_quiet;
};

struct pull {
	struct omx_pull_window window;
	struct mark marks[OMX_PULL_BLOCKS];
	u32 next;		/* in the queue of those that wait */
	bool waits;
	u64 progress;		/* us */
	u64 length;
	u32 rtt, base;		/* us */
	u64 done;		/* bytes */
};

struct port {
	u64 frame_ns;		/* to transmit one */
	u64 free_at;
	u32 queue;		/* frames */
	u64 delay;		/* ns, from request to the port */
	u32 loss;		/* of a thousand, somewhere */
	u64 moderation;		/* ns from one interrupt to the next, at least */
	u64 interrupt_at;
	u64 sender_moderation;	/* the same of senders, for requests; 0: none */
	u64 sent, dropped;
};

static struct {
	u64 now;		/* ns */
	struct event heap[HEAP_MAX];
	u32 count;
	u64 order;
	struct port port;
	struct pull pull[PULLS_MAX];
	u32 pulls;
	u32 part;		/* frames that a pull requests at once */
	u32 first, last;	/* of the queue; UINT32_MAX: it is empty */
	struct omx_estimate estimate;
	u32 requested, outstanding;	/* bytes */
	u64 again, arrived;	/* frames */
} sim;

/* ---- events ---- */

static bool is_before(const struct event *a, const struct event *b)
{
	return a->at != b->at ? a->at < b->at : a->order < b->order;
}

static void event_push(u64 at, u32 pull, u32 frame)
{
	struct event event = { at, sim.order++, pull, frame };
	u32 i = sim.count++;

	assert_true(sim.count < HEAP_MAX);
	while (i && is_before(&event, &sim.heap[(i - 1) / 2])) {
		sim.heap[i] = sim.heap[(i - 1) / 2];
		i = (i - 1) / 2;
	}
	sim.heap[i] = event;
}

static struct event event_pop(void)
{
	struct event first = sim.heap[0];
	struct event last = sim.heap[--sim.count];
	u32 i = 0, child;

	while ((child = 2 * i + 1) < sim.count) {
		if (child + 1 < sim.count && is_before(&sim.heap[child + 1], &sim.heap[child]))
			child++;
		if (!is_before(&sim.heap[child], &last))
			break;
		sim.heap[i] = sim.heap[child];
		i = child;
	}
	sim.heap[i] = last;
	return first;
}

static u32 now_us(void)
{
	return sim.now / 1000;
}

/* ---- the port: frames of one request enter it one behind the other ---- */

/* When the board gets the frame that is there now. */
static u64 port_interrupt(struct port *port)
{
	if (port->free_at > port->interrupt_at)
		port->interrupt_at = max(port->free_at, port->interrupt_at + port->moderation);
	return port->interrupt_at;
}

static u64 port_requested_at(const struct port *port)
{
	if (!port->sender_moderation)
		return sim.now;
	return (sim.now / port->sender_moderation + 1) * port->sender_moderation;
}

static void port_send(u32 pull, u32 frame)
{
	struct port *port = &sim.port;
	u64 at = port_requested_at(port) + port->delay;

	if (random_below(1000) < port->loss)
		return;
	port->sent++;
	if (port->free_at > at && port->free_at - at >= port->queue * port->frame_ns) {
		port->dropped++;
		return;
	}
	port->free_at = max(port->free_at, at) + port->frame_ns;
	event_push(port_interrupt(port), pull, frame);
}

static void answer(u32 pull, const struct omx_pull_request *request)
{
	u32 first = request->offset / PAYLOAD, i;

	for (i = 0; i < 32; i++)
		if (request->wanted >> i & 1)
			port_send(pull, first + i);
}

/* ---- as schedule.c ---- */

static bool board_take(u32 bytes)
{
	if (sim.outstanding + bytes > max(bytes, sim.estimate.limit))
		return false;
	sim.outstanding += bytes;
	sim.requested += bytes;
	return true;
}

static void queue_append(u32 number)
{
	struct pull *pull = &sim.pull[number];

	if (pull->waits)
		return;
	pull->waits = true;
	pull->next = UINT32_MAX;
	if (sim.first == UINT32_MAX)
		sim.first = number;
	else
		sim.pull[sim.last].next = number;
	sim.last = number;
}

static bool board_is_low(void)
{
	return sim.outstanding <= omx_estimate_low(&sim.estimate, sim.part);
}

/* ---- as request.c, response.c, delivery.c ---- */

static void pull_request_more(u32 number, bool has_turn)
{
	struct pull *pull = &sim.pull[number];
	struct omx_pull_window *window = &pull->window;
	struct omx_pull_request request;

	omx_pull_window_set_limit(window, sim.estimate.path / PAYLOAD);
	omx_pull_window_set_part(window, sim.part);
	while (omx_pull_window_wants(window)) {
		u32 slot = window->next_block % OMX_PULL_BLOCKS;
		u32 bytes = omx_pull_window_next_frames(window) * PAYLOAD;

		if (!(has_turn || sim.first == UINT32_MAX) || !board_take(bytes)) {
			queue_append(number);
			return;
		}
		has_turn = false;
		if (!omx_pull_window_is_in_block(window)) {
			pull->marks[slot].delivered = sim.requested - sim.outstanding;
			pull->marks[slot].was_quiet = sim.outstanding <= bytes;
		}
		if (!window->outstanding)
			pull->progress = now_us();
		omx_pull_window_request(window, now_us(), &request);
		answer(number, &request);
	}
}

static void board_continue(void)
{
	while (sim.first != UINT32_MAX && board_is_low()) {
		u32 number = sim.first;

		sim.first = sim.pull[number].next;
		sim.pull[number].waits = false;
		pull_request_more(number, true);
	}
}

static void pull_start(u32 number)
{
	if (!sim.outstanding)
		omx_estimate_resume(&sim.estimate);
	omx_pull_window_init(&sim.pull[number].window, sim.pull[number].length, PAYLOAD);
	pull_request_more(number, false);
}

static void sample_rtt(struct pull *pull, u64 block)
{
	u32 rtt = omx_pull_window_rtt(&pull->window, block, now_us());

	pull->rtt = pull->rtt ? pull->rtt + (s32)(rtt - pull->rtt) / 8 : rtt;
	if (rtt < pull->base || (!pull->base && pull->marks[block % OMX_PULL_BLOCKS].was_quiet))
		pull->base = rtt;
}

static void sample_rate(struct pull *pull, u64 block)
{
	omx_estimate_delivered(&sim.estimate, now_us(),
			       sim.requested - sim.outstanding -
			       pull->marks[block % OMX_PULL_BLOCKS].delivered,
			       omx_pull_window_rtt(&pull->window, block, now_us()), pull->base);
}

static void request_again(u32 number, const struct omx_pull_request *request)
{
	struct pull *pull = &sim.pull[number];

	if (!omx_estimate_lost(&sim.estimate, now_us(), pull->rtt, number + 1))
		omx_pull_window_lost(&pull->window);
	sim.again += hweight32(request->wanted);
	answer(number, request);
}

/* A frame, and new ones of its block directly behind it that are merged with it.  Returns how many. */
static u32 block_arrives(u32 number, u32 frame, u32 frames)
{
	struct pull *pull = &sim.pull[number];
	struct omx_pull_window *window = &pull->window;
	u64 offset = (u64)frame * PAYLOAD, block;
	u64 left = min_t(u64, (u64)frames * PAYLOAD, window->length - offset);
	struct omx_pull_request request;
	u32 bytes;

	if (omx_pull_window_judge(window, offset, min_t(u64, left, PAYLOAD), &block) != OMX_PULL_NEW)
		return 1;
	frames = omx_pull_window_contiguous(window, offset, left, block, &bytes);
	sim.arrived += frames;
	if (omx_pull_window_samples(window, block))
		sample_rtt(pull, block);
	omx_pull_window_received(window, offset, block, frames);
	sim.outstanding -= frames * PAYLOAD;
	if (omx_pull_window_is_timed(window, block)) {
		sample_rate(pull, block);
		omx_estimate_heard(&sim.estimate, now_us(), number + 1);
		omx_pull_window_grow(window);
	}
	pull->progress = now_us();
	pull->done += bytes;
	pull_request_more(number, false);
	if (omx_pull_window_gap(window, block, now_us(), max_t(u32, PATIENCE_MIN_US, 2 * pull->rtt),
				&request))
		request_again(number, &request);
	if (frames > 1)
		omx_estimate_burst(&sim.estimate, now_us(), sim.outstanding);
	return frames;
}

static void frames_arrive(u32 number, u32 frame, u32 frames)
{
	struct omx_pull_window *window = &sim.pull[number].window;

	while (frames) {
		u32 taken = block_arrives(number, frame, frames);

		frame += taken;
		frames -= taken;
	}
	if (omx_pull_window_done(window))
		pull_start(number);
	board_continue();
}

static void timer_fires(u32 number)
{
	struct pull *pull = &sim.pull[number];
	u32 patience = max_t(u32, TIMEOUT_US, 4 * pull->rtt);
	struct omx_pull_request request;

	if (pull->window.outstanding && now_us() - pull->progress >= patience)
		while (omx_pull_window_late(&pull->window, now_us(), patience, &request))
			request_again(number, &request);
	event_push(sim.now + 4000000, number, UINT32_MAX);
}

/* So many frames directly behind this one are delivered by the same interrupt, and merged with it. */
static u32 merged_with(const struct event *event)
{
	u32 frames = 1;

	while (frames < MERGED_MAX && sim.heap[0].at == event->at &&
	       sim.heap[0].pull == event->pull && sim.heap[0].frame == event->frame + frames) {
		event_pop();
		frames++;
	}
	return frames;
}

static void simulate(u64 ms)
{
	u64 end = sim.now + ms * 1000000;

	while (sim.heap[0].at < end) {
		struct event event = event_pop();

		sim.now = event.at;
		if (event.frame == UINT32_MAX)
			timer_fires(event.pull);
		else
			frames_arrive(event.pull, event.frame, merged_with(&event));
		assert_true(sim.outstanding <= OMX_ESTIMATE_MAX_BYTES);
	}
	sim.now = end;
}

static void set_up(u32 pulls, u64 length, u32 mbit, u32 delay_us, u32 queue)
{
	u32 i;

	memset(&sim, 0, sizeof(sim));
	random_seed(pulls);
	sim.port = (struct port){
		.frame_ns = (FRAME + 38) * 8000ULL / mbit,
		.queue = queue,
		.delay = delay_us * 1000ULL,
	};
	sim.first = UINT32_MAX;
	sim.pulls = pulls;
	sim.part = pulls < 10 ? 32 : 8;
	omx_estimate_init(&sim.estimate, FRAME);
	for (i = 0; i < pulls; i++) {
		sim.pull[i].length = length;
		pull_start(i);
		event_push(i * 4000, i, UINT32_MAX);
	}
}

/* Percent of what the port can carry that arrives within `ms`, after a time to settle. */
static u32 utilization(u64 settle_ms, u64 ms)
{
	u64 before;

	simulate(settle_ms);
	before = sim.arrived;
	simulate(ms);
	return (sim.arrived - before) * sim.port.frame_ns / (ms * 10000);
}

/* Jain's index of fairness, in percent. */
static u32 fairness(void)
{
	double sum = 0, squares = 0;
	u32 i;

	for (i = 0; i < sim.pulls; i++) {
		sum += sim.pull[i].done;
		squares += (double)sim.pull[i].done * sim.pull[i].done;
	}
	return 100 * sum * sum / (sim.pulls * squares);
}

/* ---- tests ---- */

static void incast__short_queue_does_not_overflow(void **state)
{
	static const u32 pulls[] = { 1, 2, 3, 8, 63, 200, 1000 };
	u32 i;

	(void)state;
	for (i = 0; i < sizeof(pulls) / sizeof(pulls[0]); i++) {
		set_up(pulls[i], 1 << 20, 1000, 100, 100);
		assert_true(utilization(10, 1000) >= 97);
		assert_int_equal(sim.port.dropped, 0);
		assert_int_equal(sim.again, 0);
		if (pulls[i] <= 63)
			assert_true(fairness() >= 99);
	}
}

/* 10 Gb/s and 250 us: more than 200 frames are on their way. */
static void incast__long_path_is_filled(void **state)
{
	static const u32 pulls[] = { 1, 2, 8, 63 };
	u32 i;

	(void)state;
	for (i = 0; i < sizeof(pulls) / sizeof(pulls[0]); i++) {
		set_up(pulls[i], 64 << 20, 10000, 250, 1000);
		assert_true(utilization(20, 200) >= 95);
		assert_int_equal(sim.port.dropped, 0);
	}
}

/* The limit that fills the path overflows the port: few frames are lost to find that out. */
static void incast__long_path_with_short_queue(void **state)
{
	(void)state;
	set_up(63, 1 << 20, 1000, 2000, 100);
	assert_true(utilization(100, 2000) >= 90);
	assert_true(sim.again * 50 <= sim.arrived);
}

/* Queues that are shorter than what everything begins with. */
static void incast__very_short_queue(void **state)
{
	(void)state;
	set_up(63, 1 << 20, 1000, 100, 50);
	assert_true(utilization(100, 2000) >= 90);
	assert_true(sim.again * 50 <= sim.arrived);
}

static void incast__loss_does_not_stop(void **state)
{
	(void)state;
	set_up(8, 1 << 20, 1000, 100, 100);
	sim.port.loss = 10;
	assert_true(utilization(100, 2000) >= 80);
	assert_true(fairness() >= 95);
}

/* An idle path looks short, since its first interrupt comes at once. */
static void estimate__fills_the_path_of_a_moderated_device(void **state)
{
	(void)state;
	set_up(1, 64 << 20, 10000, 30, 1000);
	sim.port.moderation = 128000;
	assert_in_range(sim.estimate.limit, 1, OMX_ESTIMATE_START_FRAMES * FRAME);
	assert_true(utilization(100, 1000) >= 85);
	assert_true(sim.estimate.base_rtt < 64);
}

/* `count` bursts, each of them so long after the one before, and others are owed. */
static void bursts(struct omx_estimate *estimate, u32 *now, u32 count, u32 pause)
{
	while (count--) {
		*now += pause;
		omx_estimate_burst(estimate, *now, true);
	}
}

/* Nothing was on its way meanwhile, though the last frames did not come as a burst. */
static void estimate__silence_is_no_pause(void **state)
{
	struct omx_estimate estimate;
	u32 now = 0, i;

	(void)state;
	omx_estimate_init(&estimate, FRAME);
	for (i = 0; i < 100; i++) {
		bursts(&estimate, &now, 1, 1000);
		omx_estimate_resume(&estimate);
	}
	assert_int_equal(estimate.pause, 0);
	bursts(&estimate, &now, 2, 1000);
	assert_true(estimate.pause > 0);
}

/* One burst may carry all that was outstanding. */
static void estimate__fills_the_path_of_a_device_that_waits_long(void **state)
{
	(void)state;
	set_up(1, 64 << 20, 10000, 10, 1000);
	sim.port.moderation = 250000;
	assert_true(utilization(100, 1000) >= 95);
}

/* Nor does the sender see a request before its own device interrupts. */
static void estimate__fills_a_path_moderated_at_both_ends(void **state)
{
	(void)state;
	set_up(1, 256 << 10, 4000, 30, 1000);
	sim.port.moderation = 128000;
	sim.port.sender_moderation = 128000;
	assert_true(utilization(100, 1000) >= 65);
}

/* The pauses of a device are no reason to overflow the queue in front of it. */
static void estimate__of_a_moderated_device_and_many_senders(void **state)
{
	(void)state;
	set_up(63, 1 << 20, 1000, 30, 100);
	sim.port.moderation = 128000;
	assert_true(utilization(100, 2000) >= 90);
	assert_true(sim.port.dropped * 100 <= sim.port.sent);
}

/* A queue that is always there must not pass for a long path. */
static void estimate__standing_queue_does_not_raise_the_limit(void **state)
{
	u32 limit;

	(void)state;
	set_up(63, 1 << 20, 1000, 100, 1000);
	simulate(100);
	limit = sim.estimate.limit;
	simulate(5000);
	assert_int_equal(sim.estimate.limit, limit);
}

static void estimate__starts_the_same_after_silence(void **state)
{
	u32 start;

	(void)state;
	set_up(1, 64 << 20, 10000, 250, 1000);
	start = sim.estimate.limit;
	assert_int_equal(start, OMX_ESTIMATE_START_FRAMES * FRAME);
	simulate(20);
	assert_true(sim.estimate.limit > 4 * start);
	omx_estimate_delivered(&sim.estimate, now_us() + 2 * OMX_ESTIMATE_PERIOD_US, FRAME, 250,
			       250);
	assert_int_equal(sim.estimate.limit, start);
}

static void estimate__losses_of_one_round_count_once(void **state)
{
	struct omx_estimate estimate;
	u32 limit, i;

	(void)state;
	omx_estimate_init(&estimate, FRAME);
	omx_estimate_delivered(&estimate, 1000, 1250 * 250, 250, 250);
	limit = estimate.limit;
	for (i = 0; i < 10; i++)
		assert_true(omx_estimate_lost(&estimate, 2000 + i, 300, 1));
	assert_int_equal(estimate.limit, limit / 10 * 7);
	omx_estimate_lost(&estimate, 2300, 300, 1);
	assert_int_equal(estimate.limit, limit / 10 * 7 / 10 * 7);
	/* However much is lost, a block and a half stay. */
	for (i = 0; i < 100; i++)
		omx_estimate_lost(&estimate, 3000 + 300 * i, 300, 1);
	assert_int_equal(estimate.limit, OMX_ESTIMATE_MIN_FRAMES * FRAME);
}

/* Of three senders the first loses frames, then the second as well. */
static void estimate__losses_of_one_path_leave_the_limit(void **state)
{
	struct omx_estimate estimate;
	u32 i;

	(void)state;
	omx_estimate_init(&estimate, FRAME);
	for (i = 0; i < 30; i++) {
		omx_estimate_delivered(&estimate, 1000 * i, 1250000, 1000, 100);
		omx_estimate_heard(&estimate, 1000 * i, 1 + i % 3);
		if (i > 1)
			assert_false(omx_estimate_lost(&estimate, 1000 * i + 500, 300, 1));
	}
	assert_int_equal(estimate.limit, 250000);
	assert_true(omx_estimate_lost(&estimate, 30000, 300, 2));
	assert_int_equal(estimate.limit, 175000);
	/* When the others have been silent, it is alone with the board's link. */
	assert_true(omx_estimate_lost(&estimate, 31000 + OMX_ESTIMATE_PERIOD_US, 300, 3));
	assert_int_equal(estimate.limit, 122500);
}

/* The board receives 64 frames in 0.768 ms. */
static void estimate__slow_sender_is_charged_for_its_rate(void **state)
{
	struct omx_estimate estimate;
	u32 i, sum = 0;

	(void)state;
	omx_estimate_init(&estimate, FRAME);
	assert_int_equal(omx_estimate_charge(&estimate, 8 * FRAME, UINT32_MAX), 8 * FRAME);
	omx_estimate_delivered(&estimate, 1000, 125000, 1000, 40);
	assert_int_equal(estimate.limit, 64 * FRAME);
	assert_int_equal(omx_estimate_charge(&estimate, 8 * FRAME, 768), 8 * FRAME);
	/* A hundredth of the rate: 8 frames in 9.6 ms; a hundred of these fill the link. */
	for (i = 0; i < 100; i++)
		sum += omx_estimate_charge(&estimate, 8 * FRAME, 9600);
	assert_in_range(sum, estimate.limit * 99 / 100, estimate.limit);
	/* With nothing but such senders the rate stays known for a while. */
	for (i = 1; i <= 8; i++)
		omx_estimate_delivered(&estimate, 1000 + i * OMX_ESTIMATE_PERIOD_US, 1250, 1000, 40);
	assert_true(omx_estimate_is_slow(&estimate, 9600));
}

static void estimate__extremes(void **state)
{
	static const u32 values[] = { 0, 1, 1500, 65535, 1u << 31, UINT32_MAX };
	struct omx_estimate estimate;
	u32 i, j, k, l;

	(void)state;
	for (i = 1; i < 4; i++)
		for (j = 0; j < 6; j++)
			for (k = 0; k < 6; k++)
				for (l = 0; l < 6; l++) {
					omx_estimate_init(&estimate, values[i]);
					omx_estimate_delivered(&estimate, values[l], values[j],
							       values[k], values[l]);
					omx_estimate_lost(&estimate, values[k], values[l], 1);
					assert_in_range(omx_estimate_charge(&estimate, values[j],
									    values[l]),
							0, values[j]);
					assert_in_range(estimate.limit,
							OMX_ESTIMATE_MIN_FRAMES * values[i],
							OMX_ESTIMATE_MAX_BYTES);
				}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(incast__short_queue_does_not_overflow),
		cmocka_unit_test(incast__long_path_is_filled),
		cmocka_unit_test(incast__long_path_with_short_queue),
		cmocka_unit_test(incast__very_short_queue),
		cmocka_unit_test(incast__loss_does_not_stop),
		cmocka_unit_test(estimate__fills_the_path_of_a_moderated_device),
		cmocka_unit_test(estimate__fills_the_path_of_a_device_that_waits_long),
		cmocka_unit_test(estimate__fills_a_path_moderated_at_both_ends),
		cmocka_unit_test(estimate__of_a_moderated_device_and_many_senders),
		cmocka_unit_test(estimate__standing_queue_does_not_raise_the_limit),
		cmocka_unit_test(estimate__silence_is_no_pause),
		cmocka_unit_test(estimate__starts_the_same_after_silence),
		cmocka_unit_test(estimate__losses_of_one_round_count_once),
		cmocka_unit_test(estimate__losses_of_one_path_leave_the_limit),
		cmocka_unit_test(estimate__slow_sender_is_charged_for_its_rate),
		cmocka_unit_test(estimate__extremes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
