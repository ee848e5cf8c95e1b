// SPDX-License-Identifier: BSD-2-Clause
/*
 * Prefetching: pages come whether the program waits for them or not, and who
 * does not ask to wait never waits, not even for pages that only itself can
 * supply.
 */
#include <sys/mman.h>
#include <unistd.h>

#include "common.h"
#include "memory.h"
#include "userfault.h"

#define PAGES	1024
#define LENGTH	((size_t)PAGES * PAGE)

static omx_endpoint_t ep;

static unsigned int resident(void *memory)
{
	static unsigned char page[PAGES];
	unsigned int count = 0, i;

	CHECK(!mincore(memory, LENGTH, page));
	for (i = 0; i < PAGES; i++)
		count += page[i] & 1;
	return count;
}

static void all_come(void *memory)
{
	double end = now() + 30;

	while (resident(memory) < PAGES) {
		CHECK(now() < end, "%u of %u pages", resident(memory), PAGES);
		sleep_ms(1);
	}
}

static void waited_for(void)
{
	uint8_t *memory = map_anonymous(NULL, LENGTH);

	EQUAL(resident(memory), 0);
	MUST(omx_prefetch(ep, memory, LENGTH, OMX_PREFETCH_RECV | OMX_PREFETCH_WAIT));
	EQUAL(resident(memory), PAGES);
	CHECK(!munmap(memory, LENGTH));
	RETURNS(omx_prefetch(ep, memory, LENGTH, OMX_PREFETCH_RECV | OMX_PREFETCH_WAIT),
		OMX_BAD_ERROR);
}

static void not_waited_for(void)
{
	uint8_t *memory = map_anonymous(NULL, LENGTH);
	int faults = open_userfault(0);

	watch(faults, memory, LENGTH);
	MUST(omx_prefetch(ep, memory, LENGTH, OMX_PREFETCH_SEND));
	supply_zeros(faults, memory, LENGTH);
	all_come(memory);
	CHECK(!close(faults) && !munmap(memory, LENGTH));
	/* A hint: nobody hears of it. */
	MUST(omx_prefetch(ep, memory, LENGTH, OMX_PREFETCH_SEND));
}

/* More than are kept; the endpoint is closed before they are done. */
static void many(void)
{
	uint8_t *memory = map_anonymous(NULL, LENGTH);
	unsigned int i;

	MUST(omx_prefetch(ep, memory, LENGTH, OMX_PREFETCH_RECV));
	all_come(memory);
	CHECK(!madvise(memory, LENGTH, MADV_DONTNEED));
	for (i = 0; i < 1000; i++)
		MUST(omx_prefetch(ep, memory, LENGTH, OMX_PREFETCH_RECV));
}

static void test(void)
{
	MUST(omx_init());
	ep = open_any();
	waited_for();
	not_waited_for();
	many();
	MUST(omx_close_endpoint(ep));
	MUST(omx_finalize());
}

int main(int argc, char **argv)
{
	return run_alone(argc, argv, test);
}
