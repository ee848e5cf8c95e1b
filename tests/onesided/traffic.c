// SPDX-License-Identifier: BSD-2-Clause
#include "traffic.h"

#include <stdlib.h>
#include <string.h>

#define UNDER_WAY	24
#define ROOM		(TRAFFIC_SIZE - PAGE)	/* for puts and gets */
#define LONG		300000

enum kind { PUT, GET, ATOMIC, KINDS };

struct access {
	omx_request_t request;		/* NULL: none */
	enum kind kind;
	size_t offset, length;
	uint64_t number;		/* in the order in which they are posted */
	uint64_t before;
	uint8_t *buffer;
};

static struct access accesses[UNDER_WAY];
static struct random chance_of;
static omx_return_t failure;
static uint64_t posted, failed_number;
uint64_t traffic_successes;

static size_t draw_length(void)
{
	switch (random_below(&chance_of, 6)) {
	case 0: return 1 + random_below(&chance_of, 32);
	case 1: case 2: return 1 + random_below(&chance_of, 1000);
	case 3: return 1 + random_below(&chance_of, 60000);
	case 4: return 65537 + random_below(&chance_of, LONG);
	default: return 8;
	}
}

static void post_access(const struct remote *remote, struct access *access)
{
	access->kind = random_below(&chance_of, KINDS);
	access->length = draw_length();
	access->offset = random_below(&chance_of, ROOM - access->length);
	access->number = posted++;
	access->buffer = allocate(access->length);
	if (access->kind == PUT) {
		fill(access->buffer, access->length, TRAFFIC_PUT, access->offset);
		MUST(omx_iput(remote->ep, access->buffer, access->length, remote->addr, remote->key,
			      access->offset, NULL, &access->request));
	} else if (access->kind == GET) {
		MUST(omx_iget(remote->ep, access->buffer, access->length, remote->addr, remote->key,
			      access->offset, NULL, &access->request));
	} else {
		access->length = 8;
		MUST(omx_iatomic(remote->ep, OMX_ATOMIC_ADD, 8, remote->addr, remote->key,
				 ROOM + access->offset % 500 * 8, 1, 0, &access->before, NULL,
				 &access->request));
	}
}

/* What a get brings may be there, whoever was first. */
static void check_bytes(const struct access *access)
{
	struct contents contents = { .count = 0 };
	size_t at;

	may_be(&contents, TRAFFIC_INITIAL, access->offset);
	may_be(&contents, TRAFFIC_PUT, access->offset);
	at = unlike_at(access->buffer, access->length, &contents);
	CHECK(at == access->length, "a get at %zu of %zu bytes brings what it must not at %zu",
	      access->offset, access->length, at);
}

static bool is_small(const struct access *access)
{
	return access->length <= 600;
}

/*
 * Once the window has gone, no small access succeeds any more.  The memory of a program
 * that is killed goes page by page before that, and accesses to it are aborted.
 */
static void note_failure(const struct access *access, omx_return_t code)
{
	check_gone(code);
	if (!failure)
		failure = code;
	if (is_small(access) && code != OMX_MESSAGE_ABORTED && access->number < failed_number)
		failed_number = access->number;
}

static void end_access(omx_endpoint_t ep, struct access *access)
{
	omx_return_t code;

	if (!access->request)
		return;
	code = finish(ep, &access->request).code;
	if (code == OMX_SUCCESS) {
		traffic_successes++;
		CHECK(!is_small(access) || access->number < failed_number,
		      "access %llu, %zu bytes, succeeds after %llu failed: %s",
		      (unsigned long long)access->number, access->length,
		      (unsigned long long)failed_number, omx_strerror(failure));
		if (access->kind == GET)
			check_bytes(access);
	} else {
		note_failure(access, code);
	}
	free(access->buffer);
}

omx_return_t traffic_run(const struct remote *remote, double seconds)
{
	double end = now() + seconds;
	unsigned int under_way = options.window ? options.window : UNDER_WAY;
	unsigned int i, n;

	CHECK(under_way <= UNDER_WAY);
	chance_of.state = any_seed();
	failure = OMX_SUCCESS;
	posted = 0;
	failed_number = UINT64_MAX;
	for (i = 0; !failure && now() < end; i = (i + 1) % under_way) {
		end_access(remote->ep, &accesses[i]);
		if (!failure)
			post_access(remote, &accesses[i]);
	}
	/* In the order in which they were posted. */
	for (n = 0; n < under_way; n++, i = (i + 1) % under_way)
		end_access(remote->ep, &accesses[i]);
	return failure;
}
