// SPDX-License-Identifier: BSD-2-Clause
/*
 * Prefetching: pages become resident whether the program waits for them or not.
 * Without OMX_PREFETCH_WAIT the call never blocks, not even on pages that only
 * the program itself can supply, and neither does closing the endpoint.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "endpoints.h"
#include "memory.h"
#include "threads.h"
#include "userfault.h"

#define PAGES	1024
#define LENGTH	((size_t)PAGES * PAGE)
#define SPARSE	(64ull << 30)	/* more than can be prefetched in minutes */
#define CLOSES	10
#define CLOSE_S	0.8		/* the quickest: 0.2 s where nothing else runs */

static omx_endpoint_t ep;

static unsigned int count_resident(void *memory)
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
	AWAIT(count_resident(memory) >= PAGES, 30, 1, "%u of %u pages", count_resident(memory),
	      PAGES);
}

static void waited_for(void)
{
	uint8_t *memory = map_anonymous(NULL, LENGTH);

	EQUAL(count_resident(memory), 0);
	MUST(omx_prefetch(ep, memory, LENGTH, OMX_PREFETCH_RECV | OMX_PREFETCH_WAIT));
	EQUAL(count_resident(memory), PAGES);
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
	/* Only a hint, without a result. */
	MUST(omx_prefetch(ep, memory, LENGTH, OMX_PREFETCH_SEND));
}

/*
 * Posts more prefetches than the library queues, and closes the endpoint
 * before they are done.
 */
static void prefetch_many(void)
{
	uint8_t *memory = map_anonymous(NULL, LENGTH);
	unsigned int i;

	MUST(omx_prefetch(ep, memory, LENGTH, OMX_PREFETCH_RECV));
	all_come(memory);
	CHECK(!madvise(memory, LENGTH, MADV_DONTNEED));
	for (i = 0; i < 1000; i++)
		MUST(omx_prefetch(ep, memory, LENGTH, OMX_PREFETCH_RECV));
}

static double time_to_close(omx_endpoint_t closed)
{
	double begin = now();

	MUST(omx_close_endpoint(closed));
	return now() - begin;
}

/*
 * Closes an endpoint while a thread of the library waits for a page that
 * nobody supplies.
 */
static double close_while_stuck(void)
{
	uint8_t *memory = map_anonymous(NULL, LENGTH);
	int faults = open_userfault(O_NONBLOCK);	/* poll() wants that */
	struct pollfd asked = { .fd = faults, .events = POLLIN };
	unsigned int before = threads();
	omx_endpoint_t stuck = open_any();
	double took;

	watch(faults, memory, LENGTH);
	MUST(omx_prefetch(stuck, memory, LENGTH, OMX_PREFETCH_SEND));
	EQUAL(poll(&asked, 1, 30000), 1);
	took = time_to_close(stuck);
	supply_zeros(faults, memory, LENGTH);
	wait_for_threads(before);
	CHECK(!close(faults) && !munmap(memory, LENGTH));
	return took;
}

static double close_while_busy(void)
{
	void *sparse = mmap(NULL, SPARSE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
			    -1, 0);
	unsigned int before = threads();
	omx_endpoint_t busy = open_any();
	double took;

	CHECK(sparse != MAP_FAILED, "%m");
	/* Pages, not huge ones. */
	CHECK(!madvise(sparse, SPARSE, MADV_NOHUGEPAGE) || errno == EINVAL, "%m");
	MUST(omx_prefetch(busy, sparse, SPARSE, OMX_PREFETCH_SEND));
	sleep_ms(20);
	took = time_to_close(busy);
	wait_for_threads(before);
	CHECK(!munmap(sparse, SPARSE));
	return took;
}

static void closed_meanwhile(const char *how, double (*close_once)(void))
{
	double least = close_once();
	unsigned int i;

	for (i = 1; i < CLOSES && least >= CLOSE_S; i++) {
		double took = close_once();

		least = took < least ? took : least;
	}
	printf("mem_prefetch: closed while %s: %.0f ms\n", how, least * 1000);
	CHECK(least < CLOSE_S, "%s", how);
}

static void run_test(void)
{
	MUST(omx_init());
	closed_meanwhile("stuck", close_while_stuck);
	closed_meanwhile("busy", close_while_busy);
	ep = open_any();
	waited_for();
	not_waited_for();
	prefetch_many();
	MUST(omx_close_endpoint(ep));
	MUST(omx_finalize());
}

int main(int argc, char **argv)
{
	return run_alone(argc, argv, run_test);
}
