/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A client that measures and a server that does what it is told: ping-pong,
 * one-way stream and rate of short messages over whichever transport is linked
 * in, the same messages, clock and counts for all of them.  A line of JSON for
 * each.
 */
#include <err.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "meter.h"
#include "transport.h"

#define SIZES_MAX	32
#define ARENA		(8u << 20)	/* what a stream has under way, at most */
#define STREAM_WINDOW	32
#define RATE_WINDOW	64		/* as in osu_mbw_mr */

enum kind { PINGPONG, STREAM, RATE, END };

static const char *const kind_names[] = { "pingpong", "stream", "rate" };

/*
 * One measurement; also the message by which the client orders it.  Of a rate
 * windows are counted, else messages.
 */
struct order {
	uint64_t kind, size, count, warmup;
};

struct options {
	const char *host;
	bool serve;
	bool wanted[END];	/* by kind */
	uint64_t sizes[SIZES_MAX];	/* of ping-pong and stream */
	unsigned int size_count;
	uint64_t count;		/* 0: by size */
};

static char *out_arena, *in_arena;

/* ---- how much of what ---- */

static uint64_t clamp(uint64_t value, uint64_t low, uint64_t high)
{
	return value < low ? low : value > high ? high : value;
}

static uint64_t per_size(uint64_t bytes, uint64_t size)
{
	return bytes / (size ? size : 1);
}

/* TCP needs a few megabytes until its buffers have grown. */
static struct order plan(enum kind kind, uint64_t size, uint64_t count)
{
	struct order order = { .kind = kind, .size = size };

	if (kind == PINGPONG) {
		/* The scheduler's accounts of two processes on one processor settle in some ms. */
		order.count = clamp(per_size(16 << 20, size), 5, 2000);
		order.warmup = clamp(per_size(16 << 20, size), 3, 2000);
	} else if (kind == STREAM) {
		order.count = clamp(per_size(64 << 20, size), 16, 2000);
		order.warmup = clamp(per_size(8 << 20, size), 4, 200);
	} else {
		order.count = 200;
		order.warmup = 20;
	}
	if (count)
		order.count = count;
	return order;
}

static struct slots make_slots(char *arena, uint64_t size, unsigned int most)
{
	uint64_t page = sysconf(_SC_PAGESIZE);
	uint64_t stride = (clamp(size, 1, ARENA / 2) + page - 1) / page * page;

	return (struct slots) {
		.base = arena,
		.stride = stride,
		.count = clamp(ARENA / stride, 2, most),
	};
}

/*
 * In huge pages, as a stock system gives them to large allocations; asked for,
 * so that it is not luck.  OMX_BENCH_PAGES=base takes ordinary ones.
 */
static char *make_arena(char fill)
{
	const char *pages = getenv("OMX_BENCH_PAGES");
	bool base = pages && !strcmp(pages, "base");
	size_t huge = 2 << 20;
	char *arena = mmap(NULL, ARENA + huge, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (arena == MAP_FAILED)
		err(1, "buffers");
	arena = (char *)(((uintptr_t)arena + huge - 1) & ~(huge - 1));
	madvise(arena, ARENA, base ? MADV_NOHUGEPAGE : MADV_HUGEPAGE);
	memset(arena, fill, ARENA);
	return arena;
}

/* ---- the server ---- */

static void serve_pingpong(const struct order *order)
{
	transport_answer(in_arena, out_arena, order->size, order->warmup + order->count);
}

static void serve_stream(const struct order *order)
{
	struct slots slots = make_slots(in_arena, order->size, STREAM_WINDOW);

	transport_receive_many(&slots, order->size, order->warmup);
	transport_send(out_arena, 1);
	transport_receive_many(&slots, order->size, order->count);
	transport_send(out_arena, 1);
}

/* The client sends the next window once it knows that this one has come. */
static void serve_rate(const struct order *order)
{
	struct slots slots = make_slots(in_arena, order->size, RATE_WINDOW);
	uint64_t i;

	for (i = 0; i < order->warmup + order->count; i++) {
		transport_receive_many(&slots, order->size, RATE_WINDOW);
		transport_send(out_arena, 1);
	}
}

static void serve(void)
{
	static void (*const serve_kind[])(const struct order *) = {
		serve_pingpong, serve_stream, serve_rate,
	};
	struct order order;

	transport_accept();
	for (;;) {
		transport_receive(&order, sizeof(order));
		if (order.kind >= END)
			break;
		serve_kind[order.kind](&order);
	}
}

/* ---- the client ---- */

static void report(const struct order *order, const struct meter *meter)
{
	printf("{\"transport\": \"%s\", \"kind\": \"%s\", \"size\": %" PRIu64
	       ", \"count\": %" PRIu64 ", \"elapsed_ns\": %" PRIu64 ", \"busy_ns\": %" PRIu64,
	       transport_name, kind_names[order->kind], order->size, order->count,
	       meter->elapsed, meter->busy);
}

static void report_round_trips(uint64_t *round_trips, uint64_t count)
{
	struct summary summary = summarize(round_trips, count);

	printf(", \"one_way_ns\": %.1f, \"min_ns\": %.1f, \"p99_ns\": %.1f, \"max_ns\": %.1f",
	       summary.median / 2.0, summary.min / 2.0, summary.p99 / 2.0, summary.max / 2.0);
}

static void run_pingpong(const struct order *order)
{
	uint64_t *round_trips = calloc(order->count, sizeof(*round_trips));
	struct meter meter;
	uint64_t i, start;

	if (!round_trips)
		err(1, "round trips");
	/* Its pages too are there before the clock runs. */
	memset(round_trips, 0xff, order->count * sizeof(*round_trips));
	for (i = 0; i < order->warmup; i++)
		transport_exchange(out_arena, in_arena, order->size);
	meter_start(&meter);
	for (i = 0; i < order->count; i++) {
		start = now_ns();
		transport_exchange(out_arena, in_arena, order->size);
		round_trips[i] = now_ns() - start;
	}
	meter_stop(&meter);
	report(order, &meter);
	report_round_trips(round_trips, order->count);
	printf("}\n");
	free(round_trips);
}

static void send_all(const struct slots *slots, uint64_t size, uint64_t count)
{
	transport_send_many(slots, size, count);
	transport_receive(in_arena, 1);
}

static void run_stream(const struct order *order)
{
	struct slots slots = make_slots(out_arena, order->size, STREAM_WINDOW);
	struct meter meter;

	send_all(&slots, order->size, order->warmup);
	meter_start(&meter);
	send_all(&slots, order->size, order->count);
	meter_stop(&meter);
	report(order, &meter);
	printf(", \"bytes_per_s\": %.0f}\n",
	       order->size * order->count * 1e9 / meter.elapsed);
}

static void send_windows(const struct slots *slots, uint64_t size, uint64_t count)
{
	while (count--)
		send_all(slots, size, RATE_WINDOW);
}

static void run_rate(const struct order *order)
{
	struct slots slots = make_slots(out_arena, order->size, RATE_WINDOW);
	struct meter meter;

	send_windows(&slots, order->size, order->warmup);
	meter_start(&meter);
	send_windows(&slots, order->size, order->count);
	meter_stop(&meter);
	report(order, &meter);
	printf(", \"messages_per_s\": %.0f}\n", RATE_WINDOW * order->count * 1e9 / meter.elapsed);
}

static void run(enum kind kind, const uint64_t *sizes, unsigned int size_count, uint64_t count)
{
	static void (*const run_kind[])(const struct order *) = {
		run_pingpong, run_stream, run_rate,
	};
	struct order order;
	unsigned int i;

	for (i = 0; i < size_count; i++) {
		order = plan(kind, sizes[i], count);
		transport_send(&order, sizeof(order));
		run_kind[kind](&order);
	}
}

static void be_client(const struct options *options)
{
	static const uint64_t rate_sizes[] = { 8, 1 << 10 };
	struct order end = { .kind = END };

	transport_connect(options->host);
	if (options->wanted[PINGPONG])
		run(PINGPONG, options->sizes, options->size_count, options->count);
	if (options->wanted[STREAM])
		run(STREAM, options->sizes, options->size_count, options->count);
	if (options->wanted[RATE])
		run(RATE, rate_sizes, 2, options->count);
	transport_send(&end, sizeof(end));
}

/* ---- the command line ---- */

static void usage(void)
{
	fprintf(stderr, "usage: %s_peer --serve | [--pingpong] [--stream] [--rate]"
		" [--sizes N,N...] [--count N] HOST\n", transport_name);
	exit(2);
}

static uint64_t number(const char *text, const char *what, uint64_t max)
{
	char *end;
	uint64_t value = strtoull(text, &end, 0);

	if (end == text || *end || value > max)
		errx(2, "%s: a number up to %" PRIu64 " is wanted", what, max);
	return value;
}

static void take_sizes(struct options *options, char *list)
{
	char *word;

	options->size_count = 0;
	for (word = strtok(list, ","); word; word = strtok(NULL, ",")) {
		if (options->size_count == SIZES_MAX)
			errx(2, "--sizes: too many");
		options->sizes[options->size_count++] = number(word, "--sizes", ARENA / 2);
	}
}

static void parse(struct options *options, int argc, char **argv)
{
	static const struct option known[] = {
		{ "serve", no_argument, NULL, 's' },
		{ "pingpong", no_argument, NULL, 'p' },
		{ "stream", no_argument, NULL, 'u' },
		{ "rate", no_argument, NULL, 'r' },
		{ "sizes", required_argument, NULL, 'l' },
		{ "count", required_argument, NULL, 'n' },
		{ 0 }
	};
	int key;

	while ((key = getopt_long(argc, argv, "", known, NULL)) >= 0) {
		switch (key) {
		case 's': options->serve = true; break;
		case 'p': options->wanted[PINGPONG] = true; break;
		case 'u': options->wanted[STREAM] = true; break;
		case 'r': options->wanted[RATE] = true; break;
		case 'l': take_sizes(options, optarg); break;
		case 'n': options->count = number(optarg, "--count", 1 << 30); break;
		default: usage();
		}
	}
	options->host = argv[optind];
	if (options->serve ? optind != argc : optind + 1 != argc)
		usage();
}

int main(int argc, char **argv)
{
	struct options options = {
		.sizes = { 1, 128, 1 << 10, 4 << 10, 8 << 10, 16 << 10, 32 << 10, 64 << 10,
			   256 << 10, 1 << 20, 4 << 20 },
		.size_count = 11,
	};

	parse(&options, argc, argv);
	if (!options.wanted[PINGPONG] && !options.wanted[STREAM] && !options.wanted[RATE])
		options.wanted[PINGPONG] = options.wanted[STREAM] = true;
	/* Nothing is written while there is something to measure. */
	setvbuf(stdout, NULL, _IOFBF, 1 << 16);
	out_arena = make_arena('o');
	in_arena = make_arena('i');
	if (options.serve)
		serve();
	else
		be_client(&options);
	transport_close();
	return 0;
}
