/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is received by an engine behind an IOMMU (mode device), or by the processor
 * (mode unpinned), which iommu.sh compares.  As in memory_peer.c a server does what the
 * client orders; a line of JSON for each figure.
 */
#define _GNU_SOURCE
#include <err.h>
#include <fcntl.h>
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

#define SLOW_DISK	"/dev/nullb0"
#define SLOW_MATCH	UINT64_C(2)
#define SLOW_STRIDE	(64 * PAGE)	/* pages that the driver keeps apart */
#define SLOW_MAX	16
#define BEGUN_US	5000		/* by then a page that is absent is being read */
#define HITS		8
#define STREAM_BYTES	(128 * MIB)
#define STREAM_SLOTS	4

#define LENGTH(array)	(sizeof(array) / sizeof((array)[0]))

static const struct option known[] = {
	{ "serve", no_argument, NULL, 's' },
	{ "path", required_argument, NULL, 'p' },
	{ "mode", required_argument, NULL, 'm' },
	{ "one-way", required_argument, NULL, 'o' },
	{ "size", required_argument, NULL, 'z' },
	{ "absent", no_argument, NULL, 'a' },
	{ "touch", no_argument, NULL, 't' },
	{ "hits-beside", required_argument, NULL, 'h' },
	{ "work", required_argument, NULL, 'w' },
	{ 0 }
};

static const char *path = "";
static omx_memory_mode_t mode = OMX_MEMORY_UNPINNED;

static void say(const char *table, const char *name, uint64_t size, uint64_t ns)
{
	printf("{\"iommu\": \"%s\", \"path\": \"%s\", \"name\": \"%s\", \"size\": %" PRIu64
	       ", \"ns\": %" PRIu64 "}\n", table, path, name, size, ns);
}

/* ---- one message after the other ---- */

static void one_way_of(const char *name, struct order order)
{
	say("one way", name, order.size, one_way(order).whole);
}

static void one_way_of_sizes(const char *name, struct order order)
{
	static const uint64_t sizes[] = {
		4 * KIB, 16 * KIB, 64 * KIB, 256 * KIB, MIB, 4 * MIB,
	};
	uint64_t i;

	for (i = 0; i < LENGTH(sizes); i++) {
		order.size = sizes[i];
		one_way_of(name, order);
	}
}

/* ---- hits while others miss ---- */

/*
 * Messages of a page each, into pages of a disk that is slow, and the buffer of those that
 * hit, which is mapped before: while the kernel serves a page request, mmap() has to wait.
 */
static struct {
	omx_request_t request[SLOW_MAX];
	bool done[SLOW_MAX];		/* the client's */
	uint64_t count;
	struct end hit;			/* the rest is the server's */
	int disk;
	char *base;
} slow;

/* A private mapping: what is written to it does not make the disk's pages dirty. */
static void map_slow_pages(void)
{
	unsigned char resident;
	uint64_t i;

	slow.disk = open(SLOW_DISK, O_RDWR);
	if (slow.disk < 0)
		err(1, SLOW_DISK);
	slow.base = mmap(NULL, SLOW_MAX * SLOW_STRIDE, PROT_READ | PROT_WRITE, MAP_PRIVATE,
			 slow.disk, 0);
	if (slow.base == MAP_FAILED || madvise(slow.base, SLOW_MAX * SLOW_STRIDE, MADV_RANDOM) ||
	    posix_fadvise(slow.disk, 0, 0, POSIX_FADV_DONTNEED))
		err(1, "pages of " SLOW_DISK);
	for (i = 0; i < slow.count; i++)
		if (mincore(slow.base + i * SLOW_STRIDE, PAGE, &resident) || resident & 1)
			errx(1, "a page of " SLOW_DISK " is not absent");
}

static void receive_slowly(const struct order *order)
{
	uint64_t i;

	slow.count = order->count;
	slow.hit = make_end(order, OMX_REGION_RECV);
	map_slow_pages();
	for (i = 0; i < slow.count; i++)
		check("receive", omx_irecv(ep, slow.base + i * SLOW_STRIDE, PAGE, SLOW_MATCH,
					   ~UINT64_C(0), NULL, &slow.request[i]));
	transport_send(&(char){ 0 }, 1);
}

static void end_receiving_slowly(void)
{
	uint64_t i;

	for (i = 0; i < slow.count; i++) {
		finish(slow.request[i], PAGE);
		if (slow.base[i * SLOW_STRIDE] != 'x')
			errx(1, "a message into a page of " SLOW_DISK " is wrong");
	}
	munmap(slow.base, SLOW_MAX * SLOW_STRIDE);
	close(slow.disk);
	slow.base = NULL;
	free_end(&slow.hit);
	transport_send(&(char){ 0 }, 1);
}

static void send_slowly(const struct buffer *page, uint64_t count, uint64_t size)
{
	struct order order = { .kind = SLOW, .mode = mode, .count = count, .size = size };
	uint64_t i;
	char go;

	slow.count = count;
	give_order(&order);
	transport_receive(&go, sizeof(go));
	for (i = 0; i < count; i++)
		check("send", omx_issend(ep, page->base, PAGE, peer, SLOW_MATCH, NULL,
					 &slow.request[i]));
	usleep(BEGUN_US);
}

/* How many of them are. */
static uint64_t count_waiting(void)
{
	omx_status_t status;
	uint64_t i, waiting = 0;
	uint32_t done;

	for (i = 0; i < slow.count; i++) {
		check("test", omx_test(ep, &slow.request[i], &status, &done));
		if (done)
			check("message", status.code);
		slow.done[i] = done;
		waiting += !done;
	}
	return waiting;
}

static void end_sending_slowly(void)
{
	struct order order = { .kind = SLOW_END, .mode = mode };
	uint64_t i;
	char done;

	give_order(&order);
	for (i = 0; i < slow.count; i++)
		if (!slow.done[i])
			finish(slow.request[i], PAGE);
	transport_receive(&done, sizeof(done));
}

/*
 * Has the receiver start all its threads for page-in: it could not do that while the
 * kernel serves a page request, and everybody who then needs the mmap lock would wait.
 */
static void start_threads(const struct buffer *page)
{
	omx_memory_mode_t wanted = mode;

	mode = OMX_MEMORY_UNPINNED;
	send_slowly(page, SLOW_MAX, PAGE);
	end_sending_slowly();
	mode = wanted;
}

static void hits_beside(const struct buffer *page, uint64_t misses, uint64_t size)
{
	struct order order = { .mode = mode, .size = size, .count = WARMUP + HITS };
	struct one_way times;
	uint64_t waiting;

	send_slowly(page, misses, size);
	times = one_way(order);
	waiting = count_waiting();
	end_sending_slowly();
	printf("{\"iommu\": \"hit\", \"path\": \"%s\", \"name\": \"%" PRIu64 "\", \"size\": %" PRIu64
	       ", \"ns\": %" PRIu64 ", \"longest_ns\": %" PRIu64 ", \"waiting\": %" PRIu64 "}\n",
	       path, misses, size, times.whole, times.longest, waiting);
}

static void hits(uint64_t misses)
{
	static const uint64_t sizes[] = { 4 * KIB, 64 * KIB, MIB };
	struct buffer page = make_buffer(PAGE, false);
	uint64_t i;

	if (misses > SLOW_MAX)
		errx(1, "at most %d others", SLOW_MAX);
	start_threads(&page);
	for (i = 0; i < LENGTH(sizes); i++)
		hits_beside(&page, misses, sizes[i]);
	free_buffer(&page);
}

/* ---- the work of the processor ---- */

static struct slots stream_slots(const struct buffer *buffer, const struct order *order)
{
	return (struct slots) {
		.base = buffer->base, .stride = order->size, .count = STREAM_SLOTS,
	};
}

static void serve_stream(const struct order *order)
{
	struct buffer buffer = make_buffer(STREAM_SLOTS * order->size, false);
	struct slots slots = stream_slots(&buffer, order);

	wipe(&buffer);
	transport_receive_many(&slots, order->size, order->count);
	transport_send(&(char){ 0 }, 1);
	expect_touched(&buffer);
	free_buffer(&buffer);
}

static void run_stream(const struct order *order, struct meter *meter)
{
	struct buffer buffer = make_buffer(STREAM_SLOTS * order->size, false);
	struct slots slots = stream_slots(&buffer, order);
	char done;

	give_order(order);
	meter_start(meter);
	transport_send_many(&slots, order->size, order->count);
	transport_receive(&done, sizeof(done));
	meter_stop(meter);
	free_buffer(&buffer);
}

static void work(uint64_t size)
{
	struct order order = {
		.kind = STREAM, .mode = mode, .size = size, .count = STREAM_BYTES / size,
	};
	struct meter meter;

	run_stream(&order, &meter);
	printf("{\"iommu\": \"work\", \"path\": \"%s\", \"name\": \"\", \"size\": %" PRIu64
	       ", \"ns\": %" PRIu64 ", \"bytes\": %" PRIu64 "}\n", path, size, meter.busy,
	       order.count * size);
}

/* ---- the server ---- */

static void serve_hits_or_faults(const struct order *order)
{
	if (slow.base)
		receive_one_way(&slow.hit, order);
	else
		serve_one_way(order);
}

static void serve_order(const struct order *order)
{
	switch (order->kind) {
	case ONE_WAY: return serve_hits_or_faults(order);
	case SLOW: return receive_slowly(order);
	case SLOW_END: return end_receiving_slowly();
	case STREAM: return serve_stream(order);
	default: errx(1, "order %" PRIu64 " is not known", order->kind);
	}
}

static void serve(void)
{
	struct order order;

	transport_accept();
	for (;;) {
		transport_receive(&order, sizeof(order));
		if (order.kind == END)
			return;
		check("mode", omx_set_memory_mode(ep, (omx_memory_mode_t)order.mode));
		serve_order(&order);
	}
}

/* ---- the command line ---- */

static void usage(void)
{
	fprintf(stderr, "usage: iommu_peer --serve\n"
		"       iommu_peer --path NAME --mode device | unpinned\n"
		"                  --one-way NAME [--size N] [--absent [--touch]] HOST\n"
		"       ... --hits-beside N HOST\n"
		"       ... --work SIZE HOST\n");
	exit(2);
}

static omx_memory_mode_t mode_named(const char *name)
{
	if (!strcmp(name, "device"))
		return OMX_MEMORY_DEVICE;
	if (strcmp(name, "unpinned"))
		usage();
	return OMX_MEMORY_UNPINNED;
}

/* What the client is to measure: one of the three. */
struct wish {
	const char *one_way, *misses, *work;
	struct order order;		/* of the first; size 0: all sizes */
};

static void measure(const struct wish *wish)
{
	if (wish->misses)
		hits(strtoull(wish->misses, NULL, 0));
	else if (wish->work)
		work(strtoull(wish->work, NULL, 0));
	else if (!wish->one_way)
		usage();
	else if (wish->order.size)
		one_way_of(wish->one_way, wish->order);
	else
		one_way_of_sizes(wish->one_way, wish->order);
}

int main(int argc, char **argv)
{
	struct order end = { .kind = END };
	struct wish wish = { 0 };
	bool server = false;
	int key;

	while ((key = getopt_long(argc, argv, "", known, NULL)) >= 0) {
		switch (key) {
		case 's': server = true; break;
		case 'p': path = optarg; break;
		case 'm': mode = mode_named(optarg); break;
		case 'o': wish.one_way = optarg; break;
		case 'z': wish.order.size = strtoull(optarg, NULL, 0); break;
		case 'a': wish.order.absent[DESTINATION] = 100; break;
		case 't': wish.order.touch = true; break;
		case 'h': wish.misses = optarg; break;
		case 'w': wish.work = optarg; break;
		default: usage();
		}
	}
	if (optind + !server != argc)
		usage();
	if (server) {
		serve();
	} else {
		wish.order.mode = mode;
		transport_connect(argv[optind]);
		measure(&wish);
		transport_send(&end, sizeof(end));
	}
	transport_close();
	return 0;
}
