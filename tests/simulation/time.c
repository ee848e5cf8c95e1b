// SPDX-License-Identifier: BSD-2-Clause
/*
 * Virtual time: the heap of events, and the context in which each of them happens.
 *
 * An event runs to its end before the next one, but for softirqs: where BH comes back
 * on in process context, frames and timers that are due may be processed, as an
 * interrupt would have it, and where a device sends a frame, as other processors would
 * have it.  sim.interrupts says how often.
 */
#include "sim.h"

u64 sim_now, sim_boot;
unsigned long jiffies;
struct sim_context sim_context;
struct lock_class_key omx_lock_keys[32];
const char *const omx_lock_names[32];

static struct {
	struct sim_event **at;		/* from 1 */
	u32 count, room;
	u64 order;
	unsigned long first_jiffy;
	struct rcu_head *later;
	bool nested;
} events;

/* ---- the heap ---- */

static bool event_is_before(const struct sim_event *a, const struct sim_event *b)
{
	return a->at < b->at || (a->at == b->at && a->order < b->order);
}

static void heap_put(u32 place, struct sim_event *event)
{
	events.at[place] = event;
	event->place = place;
}

static void heap_up(u32 place, struct sim_event *event)
{
	while (place > 1 && event_is_before(event, events.at[place / 2])) {
		heap_put(place, events.at[place / 2]);
		place /= 2;
	}
	heap_put(place, event);
}

static void heap_down(u32 place, struct sim_event *event)
{
	u32 child;

	while ((child = 2 * place) <= events.count) {
		if (child < events.count &&
		    event_is_before(events.at[child + 1], events.at[child]))
			child++;
		if (!event_is_before(events.at[child], event))
			break;
		heap_put(place, events.at[child]);
		place = child;
	}
	heap_put(place, event);
}

bool sim_event_cancel(struct sim_event *event)
{
	struct sim_event *last;
	u32 place = event->place;

	if (!place)
		return false;
	event->place = 0;
	last = events.at[events.count--];
	if (last == event)
		return true;
	if (place > 1 && event_is_before(last, events.at[place / 2]))
		heap_up(place, last);
	else
		heap_down(place, last);
	return true;
}

void sim_event_at(struct sim_event *event, u64 at)
{
	sim_event_cancel(event);
	event->at = max(at, sim_now);
	event->order = ++events.order;
	if (events.count + 1 >= events.room) {
		events.room = events.room ? 2 * events.room : 1024;
		events.at = realloc(events.at, events.room * sizeof(*events.at));
	}
	heap_up(++events.count, event);
}

/* ---- contexts ---- */

void sim_lock_push(u8 class)
{
	struct sim_context *c = &sim_context;

	SIM_REQUIRE(c->held < (int)ARRAY_SIZE(c->classes));
	if (class) {
		int i;

		SIM_REQUIRE(c->softirq || c->bh_off);
		for (i = 0; i < c->held; i++)
			if (c->classes[i] >= class)
				SIM_FAIL("lock of class %u taken under one of class %u: "
					 "see observe/lock_order.h", class - 1,
					 c->classes[i] - 1);
	}
	c->classes[c->held++] = class;
}

/* Mostly the last one. */
void sim_lock_pop(u8 class)
{
	struct sim_context *c = &sim_context;
	int i = c->held - 1;

	while (i > 0 && c->classes[i] != class)
		i--;
	SIM_REQUIRE(i >= 0 && c->classes[i] == class);
	memmove(&c->classes[i], &c->classes[i + 1], c->held - i - 1);
	c->held--;
}

void sim_require_sleep(const char *what)
{
	const struct sim_context *c = &sim_context;

	if (c->softirq || c->bh_off || c->rcu || c->held)
		SIM_FAIL("%s where sleeping is forbidden", what);
}

static void context_require_clean(void)
{
	SIM_REQUIRE(!sim_context.held);
	SIM_REQUIRE(!sim_context.bh_off);
	SIM_REQUIRE(!sim_context.rcu);
}

static void set_now(u64 now)
{
	sim_now = now;
	jiffies = events.first_jiffy + now / SIM_TICK;
}

static void event_run(struct sim_event *event)
{
	sim_event_cancel(event);
	set_now(event->at);
	sim_current = event->node;
	sim_context.softirq = event->softirq;
	event->run(event);
	context_require_clean();
	sim_context.softirq = false;
}

static void softirqs_run(u64 until)
{
	struct sim_context outer = sim_context;
	struct sim_node *node = sim_current;

	events.nested = true;
	sim_context = (struct sim_context){ 0 };
	while (events.count && events.at[1]->softirq && events.at[1]->at <= until)
		event_run(events.at[1]);
	sim_context = outer;
	sim_current = node;
	events.nested = false;
}

void sim_bh_on(void)
{
	if (!events.nested && sim_chance(sim.interrupts))
		softirqs_run(sim_now + sim_below(20 * SIM_US));
}

void sim_other_processors_run(void)
{
	if (!events.nested && !sim_context.held && sim_chance(sim.interrupts))
		softirqs_run(sim_now + sim_below(sim_chance(20) ? SIM_MS : 20 * SIM_US));
}

/* ---- RCU ---- */

void call_rcu(struct rcu_head *head, void (*func)(struct rcu_head *head))
{
	head->func = func;
	head->next = events.later;
	events.later = head;
}

/* As in the kernel, a small number is the offset of the head. */
void sim_kfree_rcu(struct rcu_head *head, size_t offset)
{
	call_rcu(head, (void (*)(struct rcu_head *head))offset);
}

static void grace_period(void)
{
	struct rcu_head *head;

	while ((head = events.later)) {
		events.later = head->next;
		if ((size_t)head->func < 4096)
			kfree((char *)head - (size_t)head->func);
		else
			head->func(head);
	}
}

void synchronize_rcu(void)
{
	sim_require_sleep("synchronize_rcu()");
	grace_period();
}

/* ---- the loop ---- */

void sim_time_start(void)
{
	SIM_REQUIRE(!events.count && !events.later);
	events.order = 0;
	/* Both wrap now and then within a run: jiffies as 32 bits, us as 32 bits. */
	events.first_jiffy = (1ul << 32) - 300 * HZ + random_below(&sim.kernel, 600 * HZ);
	sim_boot = SIM_S + random_below(&sim.kernel, 2 * 4295 * SIM_S);
	set_now(0);
	memset(&sim_context, 0, sizeof(sim_context));
}

bool sim_run(u64 until, bool (*done)(void))
{
	while (events.count && events.at[1]->at <= until) {
		event_run(events.at[1]);
		grace_period();
		if (done && done())
			return true;
	}
	set_now(max(until, sim_now));	/* an interrupt may have been later */
	grace_period();
	return done && done();
}

void sim_time_require_empty(void)
{
	if (events.count)
		SIM_FAIL("%u events are left, the first at %llu ns on node %d", events.count,
			 (unsigned long long)events.at[1]->at,
			 events.at[1]->node ? (int)events.at[1]->node->index : -1);
	SIM_REQUIRE(!events.later);
}

/* ---- timers ---- */

static void timer_run(struct sim_event *event)
{
	struct timer_list *timer = container_of(event, struct timer_list, event);

	timer->function(timer);
}

void timer_setup(struct timer_list *timer, void (*function)(struct timer_list *timer),
		 unsigned int flags)
{
	memset(timer, 0, sizeof(*timer));
	timer->event.softirq = true;
	timer->event.node = sim_current;
	timer->event.run = timer_run;
	timer->function = function;
}

int mod_timer(struct timer_list *timer, unsigned long expires)
{
	bool was_pending = timer_pending(timer);
	unsigned long at = time_after(expires, jiffies) ? expires : jiffies + 1;

	SIM_REQUIRE(timer->function);
	if (timer->shut)
		return 0;
	timer->expires = expires;
	sim_event_at(&timer->event, (at - events.first_jiffy) * SIM_TICK +
				    (timer->event.node ? timer->event.node->phase : 0));
	return was_pending;
}

int timer_reduce(struct timer_list *timer, unsigned long expires)
{
	if (timer_pending(timer) && time_before_eq(timer->expires, expires))
		return 1;
	return mod_timer(timer, expires);
}

int timer_delete(struct timer_list *timer)
{
	return sim_event_cancel(&timer->event);
}

int timer_delete_sync(struct timer_list *timer)
{
	return sim_event_cancel(&timer->event);
}

int timer_shutdown_sync(struct timer_list *timer)
{
	timer->shut = true;
	return sim_event_cancel(&timer->event);
}

static void hrtimer_run(struct sim_event *event)
{
	struct hrtimer *timer = container_of(event, struct hrtimer, event);

	if (timer->function(timer) == HRTIMER_RESTART)
		sim_event_at(&timer->event, timer->event.at);
}

void omx_hrtimer_setup(struct hrtimer *timer,
		       enum hrtimer_restart (*function)(struct hrtimer *timer),
		       clockid_t clock, enum hrtimer_mode mode)
{
	memset(timer, 0, sizeof(*timer));
	timer->event.softirq = true;
	timer->event.node = sim_current;
	timer->event.run = hrtimer_run;
	timer->function = function;
}

void hrtimer_start(struct hrtimer *timer, ktime_t time, enum hrtimer_mode mode)
{
	bool relative = mode == HRTIMER_MODE_REL || mode == HRTIMER_MODE_REL_SOFT;
	s64 at = relative ? (s64)sim_now + time : time - (s64)sim_boot;

	sim_event_at(&timer->event, max(at, (s64)0));
}

int hrtimer_cancel(struct hrtimer *timer)
{
	return sim_event_cancel(&timer->event);
}

u64 hrtimer_forward_now(struct hrtimer *timer, ktime_t interval)
{
	timer->event.at = sim_now + interval;
	return 1;
}

/* ---- work ---- */

static void work_run(struct sim_event *event)
{
	struct work_struct *work = container_of(event, struct work_struct, event);

	work->func(work);
}

void sim_work_init(struct work_struct *work, void (*func)(struct work_struct *work))
{
	memset(work, 0, sizeof(*work));
	work->event.node = sim_current;
	work->event.run = work_run;
	work->func = func;
}

bool sim_work_queue(struct work_struct *work, unsigned long delay, bool move)
{
	bool was_queued = sim_event_is_queued(&work->event);

	SIM_REQUIRE(work->func);
	if (was_queued && !move)
		return false;
	sim_event_at(&work->event, sim_now + delay * SIM_TICK + sim_below(50 * SIM_US));
	return !was_queued;
}

bool sim_work_cancel(struct work_struct *work)
{
	sim_require_sleep("cancel_work_sync()");
	return sim_event_cancel(&work->event);
}
