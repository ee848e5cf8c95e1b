// SPDX-License-Identifier: BSD-2-Clause
/*
 * What sleeps needs a stack of its own: closing an endpoint waits for its peers.  Other
 * events happen while a fiber sleeps.
 */
#include <ucontext.h>

#include "sim.h"

#define STACK	(128 << 10)

struct fiber {
	struct sim_event event;		/* it wakes up */
	ucontext_t context;
	struct task_struct *task;
	void (*run)(void *arg);
	void *arg;
	bool ended;
	struct fiber *next;		/* while it is unused */
	char stack[STACK];
};

static struct task_struct kernel_task = { .group_leader = &kernel_task };
static struct fiber *unused, *running;
static ucontext_t main_context;
static u32 count;

struct task_struct *current = &kernel_task;

u32 sim_fibers(void)
{
	return count;
}

static void fiber_main(void)
{
	running->run(running->arg);
	running->ended = true;
	swapcontext(&running->context, &main_context);
}

static void fiber_switch_to(struct fiber *fiber)
{
	SIM_REQUIRE(!running);
	running = fiber;
	current = fiber->task;
	swapcontext(&main_context, &fiber->context);
	current = &kernel_task;
	running = NULL;
	if (!fiber->ended)
		return;
	fiber->next = unused;
	unused = fiber;
	count--;
}

static void fiber_wake(struct sim_event *event)
{
	fiber_switch_to(container_of(event, struct fiber, event));
}

void sim_fiber(struct sim_node *node, struct task_struct *task, void (*run)(void *arg),
	       void *arg)
{
	struct fiber *fiber = unused;

	if (fiber)
		unused = fiber->next;
	else
		fiber = malloc(sizeof(*fiber));
	memset(fiber, 0, offsetof(struct fiber, stack));
	fiber->event.node = node;
	fiber->event.run = fiber_wake;
	fiber->task = task;
	fiber->run = run;
	fiber->arg = arg;
	getcontext(&fiber->context);
	fiber->context.uc_stack.ss_sp = fiber->stack;
	fiber->context.uc_stack.ss_size = sizeof(fiber->stack);
	makecontext(&fiber->context, fiber_main, 0);
	count++;
	sim_event_at(&fiber->event, sim_now);
}

static void fiber_sleep(u64 ns)
{
	sim_require_sleep("schedule_timeout()");
	SIM_REQUIRE(running);
	sim_event_at(&running->event, sim_now + ns);
	swapcontext(&running->context, &main_context);
}

long schedule_timeout_uninterruptible(long timeout)
{
	fiber_sleep((timeout + 1) * SIM_TICK);
	return 0;
}

void msleep(unsigned int ms)
{
	fiber_sleep(ms * SIM_MS);
}
