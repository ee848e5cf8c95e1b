/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Virtual time and what happens when it has come: timers in softirq, work in process
 * context.  Everything is an event in one heap; those of the same time happen in the
 * order in which they were queued.
 */
#ifndef SIM_TIME_H
#define SIM_TIME_H

#include "lock.h"

#define HZ			250	/* as Debian's kernels */
#define NSEC_PER_SEC		1000000000L
#define NSEC_PER_MSEC		1000000L
#define NSEC_PER_USEC		1000L
#define USEC_PER_SEC		1000000L
#define USEC_PER_MSEC		1000L
#define MSEC_PER_SEC		1000L
#define SIM_TICK		(NSEC_PER_SEC / HZ)

typedef s64 ktime_t;

struct sim_event {
	u64 at;				/* ns */
	u64 order;			/* of those at the same time */
	u32 place;			/* in the heap, from 1; 0: not queued */
	bool softirq;
	struct sim_node *node;		/* on which it happens, or NULL */
	void (*run)(struct sim_event *event);
};

extern u64 sim_now;			/* ns since the start */
extern u64 sim_boot;			/* ns: what the clocks show at the start */
extern unsigned long jiffies;

/* Queues an event, or moves it to another time. */
void sim_event_at(struct sim_event *event, u64 at);
bool sim_event_cancel(struct sim_event *event);
static inline bool sim_event_is_queued(const struct sim_event *event)
{
	return event->place;
}

static inline ktime_t ktime_get(void)
{
	return sim_boot + sim_now;
}

#define ktime_get_ns()			((u64)ktime_get())
#define ktime_get_mono_fast_ns()	((u64)ktime_get())
#define ktime_get_boottime_ns()		((u64)ktime_get())
#define ktime_get_seconds()		(ktime_get() / NSEC_PER_SEC)
#define ktime_to_us(t)			((t) / NSEC_PER_USEC)
#define ktime_to_ns(t)			(t)
#define ktime_add_ns(t, ns)		((t) + (s64)(ns))
#define ktime_add_us(t, us)		((t) + (s64)(us) * NSEC_PER_USEC)
#define ktime_sub(a, b)			((a) - (b))
#define ktime_us_delta(a, b)		(((a) - (b)) / NSEC_PER_USEC)
#define ns_to_ktime(ns)			((ktime_t)(ns))
#define us_to_ktime(us)			((ktime_t)(us) * NSEC_PER_USEC)
#define ms_to_ktime(ms)			((ktime_t)(ms) * NSEC_PER_MSEC)

#define time_after(a, b)	((long)((b) - (a)) < 0)
#define time_before(a, b)	time_after(b, a)
#define time_after_eq(a, b)	((long)((a) - (b)) >= 0)
#define time_before_eq(a, b)	time_after_eq(b, a)
#define time_is_before_jiffies(a)	time_after(jiffies, a)

static inline unsigned long msecs_to_jiffies(unsigned int ms)
{
	return DIV_ROUND_UP((u64)ms * HZ, 1000);
}

static inline unsigned long usecs_to_jiffies(unsigned int us)
{
	return DIV_ROUND_UP((u64)us * HZ, 1000000);
}

static inline unsigned int jiffies_to_msecs(unsigned long j)
{
	return j * (1000 / HZ);
}

static inline unsigned int jiffies_to_usecs(unsigned long j)
{
	return j * (1000000 / HZ);
}

/* ---- timers ---- */

struct timer_list {
	struct sim_event event;
	unsigned long expires;
	void (*function)(struct timer_list *timer);
	bool shut;
};

#define from_timer(var, timer, member) \
	container_of(timer, __typeof__(*(var)), member)

void timer_setup(struct timer_list *timer, void (*function)(struct timer_list *timer),
		 unsigned int flags);
int mod_timer(struct timer_list *timer, unsigned long expires);
int timer_reduce(struct timer_list *timer, unsigned long expires);
#define timer_delete	sim_timer_delete	/* POSIX has another one */
int timer_delete(struct timer_list *timer);
int timer_delete_sync(struct timer_list *timer);
int timer_shutdown_sync(struct timer_list *timer);

static inline bool timer_pending(const struct timer_list *timer)
{
	return sim_event_is_queued(&timer->event);
}

enum hrtimer_restart { HRTIMER_NORESTART, HRTIMER_RESTART };
enum hrtimer_mode { HRTIMER_MODE_REL, HRTIMER_MODE_REL_SOFT, HRTIMER_MODE_ABS,
		    HRTIMER_MODE_ABS_SOFT };

struct hrtimer {
	struct sim_event event;
	enum hrtimer_restart (*function)(struct hrtimer *timer);
};

void omx_hrtimer_setup(struct hrtimer *timer,
		       enum hrtimer_restart (*function)(struct hrtimer *timer),
		       clockid_t clock, enum hrtimer_mode mode);
void hrtimer_start(struct hrtimer *timer, ktime_t time, enum hrtimer_mode mode);
int hrtimer_cancel(struct hrtimer *timer);
#define hrtimer_try_to_cancel	hrtimer_cancel
#define hrtimer_active(timer)	sim_event_is_queued(&(timer)->event)
#define hrtimer_is_queued	hrtimer_active
u64 hrtimer_forward_now(struct hrtimer *timer, ktime_t interval);

/* ---- work ---- */

struct workqueue_struct;

struct work_struct {
	struct sim_event event;
	void (*func)(struct work_struct *work);
};

struct delayed_work {
	struct work_struct work;
};

#define omx_system_wq		NULL
#define to_delayed_work(work)	container_of(work, struct delayed_work, work)
#define __WORK_INITIALIZER(name, f)	{ .func = (f) }

void sim_work_init(struct work_struct *work, void (*func)(struct work_struct *work));
bool sim_work_queue(struct work_struct *work, unsigned long delay, bool move);
bool sim_work_cancel(struct work_struct *work);

#define INIT_WORK(work, func)		sim_work_init(work, func)
#define INIT_DELAYED_WORK(dwork, func)	sim_work_init(&(dwork)->work, func)
#define queue_work(queue, work)		sim_work_queue(work, 0, false)
#define schedule_work(work)		sim_work_queue(work, 0, false)
#define queue_delayed_work(queue, dwork, delay) \
	sim_work_queue(&(dwork)->work, delay, false)
#define mod_delayed_work(queue, dwork, delay) \
	sim_work_queue(&(dwork)->work, delay, true)
#define cancel_work_sync(work)		sim_work_cancel(work)
#define cancel_delayed_work_sync(dwork)	sim_work_cancel(&(dwork)->work)
#define cancel_delayed_work(dwork)	sim_work_cancel(&(dwork)->work)

struct ratelimit_state {
	int interval, burst, printed;
	unsigned long begin;
};

#define RATELIMIT_MSG_ON_RELEASE	1
#define ratelimit_set_flags(state, flags)	do { } while (0)

static inline void ratelimit_state_init(struct ratelimit_state *state, int interval, int burst)
{
	*state = (struct ratelimit_state){ .interval = interval, .burst = burst };
}

static inline bool __ratelimit(struct ratelimit_state *state)
{
	if (!state->begin || time_after(jiffies, state->begin + state->interval)) {
		state->begin = jiffies;
		state->printed = 0;
	}
	return state->printed < state->burst && ++state->printed;
}

#endif
