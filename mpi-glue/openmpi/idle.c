/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How a process waits if Open MPI is to yield when idle (mpi_yield_when_idle).
 *
 * To a scheduler, the yield that follows a poll in vain is a hint.  That of Linux before 6.6
 * lets a process go on that has had less of the processor than the others, although these, or
 * the softirqs that are charged to them, may be working for it.  So a process that polls in
 * vain sleeps until something arrives.
 */
#include "mtl_omx.h"

#include <poll.h>
#include <time.h>

#include "opal/mca/base/mca_base_var.h"
#include "opal/runtime/opal_progress.h"

/* A process sleeps after so many polls in vain in a row, and then after so many more. */
#define IDLE_POLLS		32
#define IDLE_POLLS_AGAIN	4
/* The first of them are not timed, so that short waits do not take longer. */
#define IDLE_POLLS_UNTIMED	8
/*
 * Between two of them it has not used the processor for longer: it would have computed.  (A
 * yield that lets others run takes up to 6 us of it.)
 */
#define IDLE_GAP_NS		10000
/* It sleeps for as long as it has polled in vain, if nothing arrives, but no longer than this. */
#define IDLE_SLEEP_NS		200000

static uint64_t processor_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return now.tv_sec * UINT64_C(1000000000) + now.tv_nsec;
}

/* Accesses to MPI's windows have events of that component's endpoint, or none at their target. */
static bool btl_is_used(void)
{
	const int index = mca_base_var_find("opal", "btl", "omx", "used");
	const bool *used;

	return index >= 0 && mca_base_var_get_value(index, &used, NULL, NULL) == OPAL_SUCCESS &&
	       *used;
}

/* Whatever arrives ends it, unexpected messages as well. */
static void idle_sleep(uint64_t ns)
{
	const struct timespec most = { .tv_nsec = ns < IDLE_SLEEP_NS ? ns : IDLE_SLEEP_NS };
	struct pollfd endpoint = { .fd = mtl_omx.fd, .events = POLLIN };

	(void)ppoll(&endpoint, 1, &most, NULL);
}

/* Before a poll that follows some in vain: the caller has looked at all that these have found. */
static void idle_wait(void)
{
	static uint64_t since, last;	/* processor time: the first and the latest timed poll */
	uint64_t now = processor_ns();

	if (mtl_omx.idle_polls == IDLE_POLLS_UNTIMED) {
		since = now;
	} else if (now - last > IDLE_GAP_NS ||
		   (mtl_omx.idle_polls >= IDLE_POLLS && btl_is_used())) {
		mtl_omx.idle_polls = 0;
	} else if (mtl_omx.idle_polls >= IDLE_POLLS) {
		idle_sleep(now - since);
		mtl_omx.idle_polls = IDLE_POLLS - IDLE_POLLS_AGAIN;
		now = processor_ns();
	}
	last = now;
}

int mtl_omx_idle(void)
{
	int count;

	/* Another thread may take the event that this one sleeps for. */
	if (!opal_progress_yield_when_idle || opal_using_threads())
		return mtl_omx_progress();
	if (mtl_omx.idle_polls >= IDLE_POLLS_UNTIMED)
		idle_wait();
	count = mtl_omx_progress();
	mtl_omx.idle_polls = count ? 0 : mtl_omx.idle_polls + 1;
	return count;
}
