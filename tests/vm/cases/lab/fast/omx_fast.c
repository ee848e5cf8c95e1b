// SPDX-License-Identifier: BSD-2-Clause
/*
 * Makes a guest's processor fast: for lab run --virtual-time --speed N.
 *
 * In virtual time the emulator's clocks advance by one nanosecond with each
 * instruction, and it cannot do less.  So the kernel is told that its time stamp
 * counter counts N times as fast: all its clocks then advance by one nanosecond
 * in N instructions.  Its timer, which counts with the same clock, gets N times
 * as many ticks.  Devices of the emulator do not know of this; interfaces, queues
 * and programs are the kernel's own and do not see a difference.
 *
 * The scheduler keeps its own clock, which still counts instructions.
 */
#include <linux/clockchips.h>
#include <linux/clocksource.h>
#include <linux/module.h>
#include <linux/string.h>
#include <asm/msr.h>

#define SHIFT		20	/* small enough for a multiplier of 32 bits */
#define TIMER_MAX	0x7fffffffULL

static unsigned int speed = 1;
module_param(speed, uint, 0444);
MODULE_PARM_DESC(speed, "instructions in a nanosecond, 1 to 4000");

static unsigned long timer;
module_param(timer, ulong, 0444);
MODULE_PARM_DESC(timer, "what /proc/kallsyms says of lapic_events");

static u64 tsc_read(struct clocksource *cs)
{
	return rdtsc_ordered();
}

static struct clocksource tsc = {
	.name = "omx_fast",
	.rating = 500,
	.read = tsc_read,
	.mask = CLOCKSOURCE_MASK(64),
	.flags = CLOCK_SOURCE_IS_CONTINUOUS | CLOCK_SOURCE_VALID_FOR_HRES,
	.vdso_clock_mode = VDSO_CLOCKMODE_TSC,
	.owner = THIS_MODULE,
};

static struct clock_event_device *timer_device(void)
{
	struct clock_event_device *device;

	if (!timer || num_online_cpus() != 1)
		return NULL;
	device = per_cpu_ptr((struct clock_event_device __percpu *)timer, 0);
	return !strcmp(device->name, "lapic") && clockevent_state_oneshot(device) ? device : NULL;
}

/* The event that is set already comes too early, which is harmless. */
static void timer_speed_up(struct clock_event_device *device)
{
	u64 mult = (u64)device->mult * speed >> (device->shift - SHIFT);

	device->mult = mult;
	device->shift = SHIFT;
	device->max_delta_ns = div64_u64(TIMER_MAX << SHIFT, mult);
}

static int __init fast_init(void)
{
	struct clock_event_device *device = timer_device();
	int ret;

	if (!device || device->shift < SHIFT || !speed || speed > 4000) {
		pr_err("omx_fast: the timer is not the one that is expected\n");
		return -ENODEV;
	}
	ret = clocksource_register_khz(&tsc, tsc_khz * speed);
	if (ret)
		return ret;
	local_irq_disable();
	timer_speed_up(device);
	local_irq_enable();
	return 0;
}
module_init(fast_init);

/* Without an exit: clocks do not go back. */
MODULE_DESCRIPTION("A guest whose processor is fast");
MODULE_LICENSE("Dual BSD/GPL");
