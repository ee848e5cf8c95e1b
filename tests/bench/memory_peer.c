/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What memory costs: pinning, pages that are absent, the modes of omx.h. As in
 * peer.c a server does what the client orders; a line of JSON for each
 * figure. Both are on one machine and so have one clock.
 *
 * All buffers are ordinary pages, not huge ones.
 */
#define _GNU_SOURCE
#include <err.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "memory_end.h"
#include "meter.h"
#include "one_way.h"
#include "transport.h"

static const struct option known[] = {
	{ "serve", no_argument, NULL, 's' },
	{ "uncached", no_argument, NULL, 'u' },
	{ "overlap", no_argument, NULL, 'o' },
	{ "absent-source", no_argument, NULL, 'a' },
	{ "absent-destination", no_argument, NULL, 'd' },
	{ "sizes", required_argument, NULL, 'l' },
	{ "count", required_argument, NULL, 'n' },
	{ 0 }
};

/* Only what differs if work is done while frames travel. */
static bool overlap;

/* ---- ping-pong ---- */

static void exchange(struct end *in, struct end *out, const struct order *order)
{
	omx_request_t incoming = post_receive(in, order);
	omx_request_t outgoing = post_send(out, order);

	finish(incoming, order->size);
	finish(outgoing, order->size);
}

static uint64_t renew(struct end *end, const struct order *order)
{
	return order->fresh ? renew_end(end, order) : 0;
}

static void serve_pingpong(const struct order *order)
{
	struct end in = make_end(order, OMX_REGION_RECV);
	struct end out = make_end(order, OMX_REGION_SEND);
	uint64_t touching[COUNT_MAX] = { 0 }, i;
	omx_request_t incoming = post_receive(&in, order);

	transport_send(touching, 1);
	for (i = 0; i < order->count; i++) {
		finish(incoming, order->size);
		/* While the client can do nothing but wait. */
		touching[i] = renew(&in, order) + renew(&out, order);
		/* The next ping finds its receive posted. */
		if (i + 1 < order->count)
			incoming = post_receive(&in, order);
		finish(post_send(&out, order), order->size);
	}
	transport_send(touching, sizeof(touching));
	free_end(&in);
	free_end(&out);
}

/* ns one way, the median of all but the first few. */
static double run_pingpong(const struct order *order)
{
	struct end in = make_end(order, OMX_REGION_RECV);
	struct end out = make_end(order, OMX_REGION_SEND);
	uint64_t times[COUNT_MAX], theirs[COUNT_MAX], i, start, touching;

	transport_receive(theirs, 1);
	for (i = 0; i < order->count; i++) {
		start = now_ns();
		exchange(&in, &out, order);
		touching = renew(&in, order) + renew(&out, order);
		times[i] = now_ns() - start - touching;
	}
	transport_receive(theirs, sizeof(theirs));
	for (i = 0; i < order->count; i++)
		times[i] -= theirs[i];
	free_end(&in);
	free_end(&out);
	return summarize(times + WARMUP, order->count - WARMUP).median / 2.0;
}

/* ---- the server ---- */

static void serve(void)
{
	struct order order;

	transport_accept();
	for (;;) {
		transport_receive(&order, sizeof(order));
		if (order.kind == END)
			break;
		check("mode", omx_set_memory_mode(ep, (omx_memory_mode_t)order.mode));
		if (order.kind == PINGPONG)
			serve_pingpong(&order);
		else
			serve_one_way(&order);
	}
}

/* ---- the client's tables ---- */

static void say(const char *table, const char *name, uint64_t size, double ns)
{
	printf("{\"memory\": \"%s\", \"name\": \"%s\", \"size\": %" PRIu64 ", \"ns\": %.1f}\n",
	       table, name, size, ns);
}

static const uint64_t sizes[] = {
	4 * KIB, 64 * KIB, 256 * KIB, MIB, 4 * MIB, 16 * MIB,
};

#define LENGTH(array)	(sizeof(array) / sizeof((array)[0]))

static void pingpongs(const char *name, omx_memory_mode_t mode)
{
	uint64_t fresh, i;

	for (fresh = 0; fresh < (overlap ? 1 : 2); fresh++) {
		for (i = 1; i < LENGTH(sizes); i++) {
			struct order order = {
				.kind = PINGPONG, .size = sizes[i], .mode = mode,
				.count = how_often(sizes[i]), .fresh = fresh,
			};

			give_order(&order);
			say(fresh ? "fresh" : "reused", name, sizes[i], run_pingpong(&order));
		}
	}
}

static const char *const absent_tables[] = { "source", "destination" };
static const char *const isend_tables[] = { "isend", NULL };

/* One column of the tables about pages that are absent on that side. */
static void absent(enum side side, const char *name, struct order order)
{
	struct one_way times;
	uint64_t i;

	for (i = 0; i < LENGTH(sizes); i++) {
		order.size = sizes[i];
		times = one_way(order);
		say(absent_tables[side], name, sizes[i], times.whole);
		if (isend_tables[side] && sizes[i] > 64 * KIB)
			say(isend_tables[side], name, sizes[i], times.sending);
	}
	if (!isend_tables[side])
		return;
	order.size = 64 * KIB;
	order.eager = true;
	say(isend_tables[side], name, order.size, one_way(order).sending);
}

static void absent_pages(enum side side)
{
	/* The last one is the default, which stays. */
	static const char *const policies[] = { "pio", "pi4", "pia", "adaptive" };
	struct order order = { .mode = OMX_MEMORY_UNPINNED };
	uint64_t i;

	absent(side, "resident", order);
	order.absent[side] = 100;
	for (i = overlap ? LENGTH(policies) - 1 : 0; i < LENGTH(policies); i++) {
		set_parameter("fault_policy", policies[i]);
		absent(side, policies[i], order);
	}
	order.touch = true;
	absent(side, "touch", order);
}

static void fault_frequency(void)
{
	static const uint64_t percents[] = { 0, 10, 25, 50, 75, 100 };
	char name[8];
	uint64_t i, size;

	for (size = MIB; size <= 4 * MIB; size *= 4) {
		for (i = 0; i < LENGTH(percents); i++) {
			struct order order = {
				.size = size, .mode = OMX_MEMORY_UNPINNED,
				.absent[DESTINATION] = percents[i],
			};

			snprintf(name, sizeof(name), "%" PRIu64, percents[i]);
			say("frequency", name, size, one_way(order).whole);
		}
	}
}

static void resumptions(void)
{
	static const char *const resumes[] = { "ask", "1ms", "500us", "100us", "page-in" };
	uint64_t i, size;

	for (i = 0; i < LENGTH(resumes); i++) {
		set_parameter("fault_resume", resumes[i]);
		for (size = 64 * KIB; size <= MIB; size *= 16) {
			struct order order = {
				.size = size, .mode = OMX_MEMORY_UNPINNED, .absent[SOURCE] = 100,
			};

			say("resume", resumes[i], size, one_way(order).whole);
		}
	}
}

/* ---- what one program does alone ---- */

static uint64_t median(uint64_t *times)
{
	return summarize(times, COUNT_MAX).median;
}

static void declarations(const struct buffer *buffer, const char *name, omx_memory_mode_t mode)
{
	static const uint64_t pages[] = { 1, 16, 256, 1024 };
	uint64_t declaring[COUNT_MAX], releasing[COUNT_MAX], i, j, start;
	omx_region_t region;

	for (i = 0; i < LENGTH(pages); i++) {
		for (j = 0; j < COUNT_MAX; j++) {
			start = now_ns();
			region = declare(buffer, pages[i] * PAGE, OMX_REGION_SEND, mode);
			declaring[j] = now_ns() - start;
			start = now_ns();
			check("release", omx_region_release(ep, region));
			releasing[j] = now_ns() - start;
		}
		printf("{\"memory\": \"declare\", \"name\": \"%s\", \"size\": %" PRIu64
		       ", \"ns\": %" PRIu64 ", \"release_ns\": %" PRIu64 "}\n",
		       name, pages[i], median(declaring), median(releasing));
	}
}

/* Translations are forgotten, pages stay. */
static void forget(const struct buffer *buffer, uint64_t size)
{
	if (mprotect(buffer->base, size, PROT_NONE) < 0 ||
	    mprotect(buffer->base, size, PROT_READ | PROT_WRITE) < 0)
		err(1, "mprotect");
}

static void translations(const struct buffer *buffer)
{
	static const uint64_t pages[] = { 1, 16, 256, 1024 };
	uint64_t times[COUNT_MAX], i, j, start;

	for (i = 0; i < LENGTH(pages); i++) {
		for (j = 0; j < COUNT_MAX; j++) {
			forget(buffer, pages[i] * PAGE);
			start = now_ns();
			check("prefetch", omx_prefetch(ep, buffer->base, pages[i] * PAGE,
						       OMX_PREFETCH_SEND | OMX_PREFETCH_WAIT));
			times[j] = now_ns() - start;
		}
		say("declare", "prefetch", pages[i], median(times));
	}
}

static void one_page_in(const struct buffer *buffer)
{
	uint64_t times[COUNT_MAX], j, start;

	for (j = 0; j < COUNT_MAX; j++) {
		madvise(buffer->base, PAGE, MADV_DONTNEED);
		start = now_ns();
		check("prefetch", omx_prefetch(ep, buffer->base, PAGE,
					       OMX_PREFETCH_RECV | OMX_PREFETCH_WAIT));
		times[j] = now_ns() - start;
	}
	say("fault", "page in", PAGE, median(times));
}

static void alone(void)
{
	struct buffer buffer = make_buffer(1024 * PAGE, false);

	declarations(&buffer, "unpinned", OMX_MEMORY_UNPINNED);
	declarations(&buffer, "permanent", OMX_MEMORY_PERMANENT);
	translations(&buffer);
	one_page_in(&buffer);
	free_buffer(&buffer);
}

static void one_byte(void)
{
	struct order order = {
		.kind = PINGPONG, .size = 1, .count = 30, .mode = OMX_MEMORY_UNPINNED,
	};

	give_order(&order);
	say("fault", "exchange", 1, 2 * run_pingpong(&order));
}

static void measure_cached(void)
{
	if (!overlap) {
		alone();
		one_byte();
	}
	pingpongs("permanent", OMX_MEMORY_PERMANENT);
	pingpongs("pin", OMX_MEMORY_PIN);
	pingpongs("unpinned", OMX_MEMORY_UNPINNED);
	absent_pages(DESTINATION);
	absent_pages(SOURCE);
	if (overlap)
		return;
	fault_frequency();
	resumptions();
}

static void measure_uncached(void)
{
	struct order order = { .mode = OMX_MEMORY_PIN };

	pingpongs("pin uncached", OMX_MEMORY_PIN);
	pingpongs("overlap uncached", OMX_MEMORY_OVERLAP);
	order.absent[DESTINATION] = 100;
	absent(DESTINATION, "pin", order);
	order.absent[DESTINATION] = 0;
	order.absent[SOURCE] = 100;
	absent(SOURCE, "pin", order);
}

/* For the profiler: nothing but this. */
static void measure_again_and_again(struct order order, uint64_t count)
{
	for (; count > COUNT_MAX; count -= COUNT_MAX)
		one_way(order);
}

/* ---- the command line ---- */

static void usage(void)
{
	fprintf(stderr, "usage: memory_peer [--uncached] [--overlap] --serve\n"
		"       memory_peer [--uncached] [--overlap] HOST\n"
		"       memory_peer --absent-source | --absent-destination --sizes N"
		" --count N HOST\n");
	exit(2);
}

int main(int argc, char **argv)
{
	struct order end = { .kind = END };
	struct order only = { .mode = OMX_MEMORY_UNPINNED };
	bool server = false, uncached = false;
	uint64_t count = 0;
	int key;

	while ((key = getopt_long(argc, argv, "", known, NULL)) >= 0) {
		switch (key) {
		case 's': server = true; break;
		case 'u': uncached = true; break;
		case 'o': overlap = true; break;
		case 'a': only.absent[SOURCE] = 100; break;
		case 'd': only.absent[DESTINATION] = 100; break;
		case 'l': only.size = strtoull(optarg, NULL, 0); break;
		case 'n': count = strtoull(optarg, NULL, 0); break;
		default: usage();
		}
	}
	if (optind + !server != argc)
		usage();
	setenv("OMX_RCACHE", uncached ? "0" : "1", 1);
	/* Nothing is written while there is something to measure. */
	setvbuf(stdout, NULL, _IOFBF, 1 << 16);
	if (server) {
		serve();
	} else {
		transport_connect(argv[optind]);
		if (only.size)
			measure_again_and_again(only, count);
		else if (uncached)
			measure_uncached();
		else
			measure_cached();
		transport_send(&end, sizeof(end));
	}
	transport_close();
	return 0;
}
