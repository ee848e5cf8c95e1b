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

/* A process that has polled so often, and found nothing, may sleep ... */
#define IDLE_POLLS	16
/* ... if the last of these polls took less of the processor, each: it does not compute between. */
#define IDLE_TIMED	4
#define IDLE_POLL_NS	5000
/* At most so long (ns): what another thread or component waits for does not wake it. */
#define IDLE_SLEEP_NS	200000

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
static void idle_sleep(void)
{
	static const struct timespec most = { .tv_nsec = IDLE_SLEEP_NS };
	struct pollfd endpoint = { .fd = mtl_omx.fd, .events = POLLIN };

	(void)ppoll(&endpoint, 1, &most, NULL);
}

/* Before a poll; the caller has looked at all that earlier ones have found. */
static void idle_wait(void)
{
	static uint64_t since;	/* when the timed polls began */
	uint64_t now;

	if (mtl_omx.idle_polls != IDLE_POLLS - IDLE_TIMED && mtl_omx.idle_polls != IDLE_POLLS)
		return;
	now = processor_ns();
	if (mtl_omx.idle_polls == IDLE_POLLS) {
		if (now - since < IDLE_TIMED * IDLE_POLL_NS && !btl_is_used())
			idle_sleep();
		mtl_omx.idle_polls = IDLE_POLLS - IDLE_TIMED;
	}
	since = now;
}

int mtl_omx_idle(void)
{
	int count;

	/* Another thread may take the event that this one sleeps for. */
	if (!opal_progress_yield_when_idle || opal_using_threads())
		return mtl_omx_progress();
	idle_wait();
	count = mtl_omx_progress();
	mtl_omx.idle_polls = count ? 0 : mtl_omx.idle_polls + 1;
	return count;
}
