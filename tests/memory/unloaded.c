// SPDX-License-Identifier: BSD-2-Clause
/*
 * A program loads the library, uses it, and unloads it while a thread of the
 * library waits for a page.  When the page comes the thread leaves, through code
 * that must still be there, and the program can load the library again.
 *
 * It is linked with nothing that needs the library.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "endpoints.h"
#include "omx.h"
#include "threads.h"
#include "userfault.h"

#define LENGTH		(1ul << 20)
#define ROUNDS		3

static void *library;

static void *find_symbol(const char *name)
{
	void *symbol = dlsym(library, name);

	CHECK(symbol, "%s: %s", name, dlerror());
	return symbol;
}

#define CALL(function, ...)	(((__typeof__(&function))find_symbol(#function))(__VA_ARGS__))
#define SUCCEEDS(function, ...)	EQUAL(CALL(function, __VA_ARGS__), OMX_SUCCESS)

static void finish_one(omx_endpoint_t ep, omx_request_t *request)
{
	omx_status_t status;
	uint32_t done;

	SUCCEEDS(omx_wait, ep, request, &status, &done, PATIENCE);
	CHECK(done);
	EQUAL(status.code, OMX_SUCCESS);
	EQUAL(status.xfer_length, LENGTH);
}

static void transfer_to_self(omx_endpoint_t ep)
{
	static char out[LENGTH], in[LENGTH];
	omx_request_t send, receive;
	omx_endpoint_addr_t self;

	memset(in, 0, LENGTH);
	memset(out, 1, LENGTH);
	SUCCEEDS(omx_get_endpoint_addr, ep, &self);
	SUCCEEDS(omx_irecv, ep, in, LENGTH, 1, EXACT, NULL, &receive);
	SUCCEEDS(omx_isend, ep, out, LENGTH, self, 1, NULL, &send);
	finish_one(ep, &send);
	finish_one(ep, &receive);
	CHECK(!memcmp(in, out, LENGTH));
}

/* Returns when a thread of the library waits for the memory. */
static void make_a_thread_wait(omx_endpoint_t ep, int faults, void *memory)
{
	struct pollfd asked = { .fd = faults, .events = POLLIN };

	watch(faults, memory, LENGTH);
	SUCCEEDS(omx_prefetch, ep, memory, LENGTH, OMX_PREFETCH_SEND);
	EQUAL(poll(&asked, 1, PATIENCE), 1);
}

static void load_and_unload(void)
{
	void *memory = mmap(NULL, LENGTH, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			    -1, 0);
	int faults = open_userfault(O_NONBLOCK);	/* poll() wants that */
	omx_endpoint_t ep;

	CHECK(memory != MAP_FAILED, "%m");
	library = dlopen("libomx.so.1", RTLD_NOW);
	CHECK(library, "%s", dlerror());
	SUCCEEDS(omx__init_api, OMX_API);
	SUCCEEDS(omx_open_endpoint, OMX_ANY_NIC, OMX_ANY_ENDPOINT, KEY, NULL, 0, &ep);
	transfer_to_self(ep);
	make_a_thread_wait(ep, faults, memory);
	SUCCEEDS(omx_close_endpoint, ep);
	SUCCEEDS(omx_finalize);
	CHECK(!dlclose(library), "%s", dlerror());
	/* The library's thread must still exist, or nothing is tested. */
	EQUAL(threads(), 2);
	supply_zeros(faults, memory, LENGTH);
	wait_for_threads(1);
	CHECK(!close(faults) && !munmap(memory, LENGTH));
}

int main(void)
{
	unsigned int round;

	for (round = 0; round < ROUNDS; round++)
		load_and_unload();
	printf("mem_unloaded: %u times\n", round);
	return 0;
}
