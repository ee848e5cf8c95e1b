/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Parallel sort, with and without logging [Besta15, section 5.2.4].  Each rank divides its
 * numbers among all ranks, gets its part of everybody's, and sorts what it has got.  With
 * logging, each rank has a log of the gets of the others with their data, from which a
 * rank that fails could be restored (get_log.c shows how).
 *
 *	logged_sort NUMBERS RANK BOARD...
 *
 * There is a BOARD for each rank, which may be the same, for instance
 * `logged_sort 100000 1 node1:0 node2:0` on node2.  The ranks sort the same numbers three
 * times: with one long get of each part; with short gets, because long ones cannot be
 * logged; and with short gets that are logged.  Rank 0 prints how long each takes.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "peer.h"

#define KEY		0x4a5f
#define RANKS_MAX	16u
#define NUMBERS_MAX	(1u << 20)	/* of a rank: the log has room for all of them */
#define LOG_SIZE	(16u << 20)
#define SHORT		1024u		/* fits a frame at any MTU from 1500 on */
#define UNDER_WAY	32u

static uint64_t rank, ranks;
static omx_endpoint_addr_t peers[RANKS_MAX];

static uint64_t *numbers, count;	/* the input */

/* What the others see of a rank, through a window. */
static struct exported {
	uint64_t start[RANKS_MAX + 1];	/* of each rank's part */
	uint64_t numbers[NUMBERS_MAX];
} *exported;

static uint64_t *sorted, sorted_count;	/* has room for 2 * count */

/* ---- ranks ------------------------------------------------------------------------ */

static void meet(char **boards)
{
	omx_status_t status;
	uint64_t i;

	for (i = 0; i < rank; i++) {
		receive_message(NULL, 0, i, &status);
		peers[i] = status.addr;
	}
	for (i = rank + 1; i < ranks; i++) {
		peers[i] = connect_to(boards[i], (uint32_t)i, KEY);
		send_message(peers[i], NULL, 0, rank);
	}
}

/* All ranks learn what each of them has. */
static void share(const void *mine, size_t length, void *all)
{
	omx_request_t in[RANKS_MAX], out[RANKS_MAX];
	static uint64_t round;
	uint64_t i;

	round++;
	memcpy((char *)all + rank * length, mine, length);
	for (i = 0; i < ranks; i++) {
		if (i == rank)
			continue;
		check("receive", omx_irecv(ep, (char *)all + i * length, length,
					   round * RANKS_MAX + i, ~0ull, NULL, &in[i]));
		check("send", omx_issend(ep, (void *)mine, length, peers[i],
					 round * RANKS_MAX + rank, NULL, &out[i]));
	}
	for (i = 0; i < ranks; i++) {
		if (i == rank)
			continue;
		finish(&in[i], NULL);
		finish(&out[i], NULL);
	}
}

static void wait_for_all(void)
{
	char here = 0, all[RANKS_MAX];

	share(&here, sizeof(here), all);
}

/* ---- sorting ---------------------------------------------------------------------- */

static uint64_t rank_of(uint64_t number)
{
	return (uint64_t)((unsigned __int128)number * ranks >> 64);
}

static void divide_numbers(void)
{
	uint64_t next[RANKS_MAX + 1], i;

	memset(exported->start, 0, sizeof(exported->start));
	for (i = 0; i < count; i++)
		exported->start[rank_of(numbers[i]) + 1]++;
	for (i = 0; i < ranks; i++)
		exported->start[i + 1] += exported->start[i];
	memcpy(next, exported->start, sizeof(next));
	for (i = 0; i < count; i++)
		exported->numbers[next[rank_of(numbers[i])]++] = numbers[i];
}

/* In gets of at most `piece` bytes, some of them at a time. */
static void get_bytes(uint64_t from, omx_key_t key, uint64_t offset, void *buffer,
		      uint64_t length, uint64_t piece)
{
	omx_request_t requests[UNDER_WAY] = { NULL };
	uint64_t at, i = 0;

	for (at = 0; at < length; at += piece) {
		uint64_t bytes = length - at < piece ? length - at : piece;
		omx_request_t *request = &requests[i++ % UNDER_WAY];

		if (*request)
			finish(request, NULL);
		check("get", omx_iget(ep, (char *)buffer + at, bytes, peers[from], key,
				      offset + at, NULL, request));
	}
	for (i = 0; i < UNDER_WAY; i++)
		if (requests[i])
			finish(&requests[i], NULL);
}

/* Returns how many numbers of that rank are ours. */
static uint64_t get_part(uint64_t from, omx_key_t key, uint64_t *buffer, uint64_t room,
			 uint64_t piece)
{
	uint64_t part[2], length;

	get_bytes(from, key, rank * sizeof(uint64_t), part, sizeof(part), piece);
	length = part[1] - part[0];
	if (length > room)
		die("the numbers are not spread evenly");
	get_bytes(from, key, offsetof(struct exported, numbers) + part[0] * sizeof(uint64_t),
		  buffer, length * sizeof(uint64_t), piece);
	return length;
}

/* Begins with the next rank, so that they do not all ask the same one. */
static void get_parts(const omx_key_t *keys, uint64_t piece)
{
	uint64_t i, own = exported->start[rank + 1] - exported->start[rank];

	memcpy(sorted, &exported->numbers[exported->start[rank]], own * sizeof(uint64_t));
	sorted_count = own;
	for (i = 1; i < ranks; i++) {
		uint64_t from = (rank + i) % ranks;

		sorted_count += get_part(from, keys[from], &sorted[sorted_count],
					 2 * count - sorted_count, piece);
	}
}

static int compare(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

struct times {
	double total;
	double exchange;		/* of which */
};

static struct times sort_once(const omx_key_t *keys, uint64_t piece)
{
	double start, exchange, end;

	wait_for_all();
	start = now();
	divide_numbers();
	wait_for_all();
	exchange = now();
	get_parts(keys, piece);
	wait_for_all();
	end = now();
	qsort(sorted, sorted_count, sizeof(*sorted), compare);
	wait_for_all();
	return (struct times){ now() - start, end - exchange };
}

/* ---- is it right? ----------------------------------------------------------------- */

struct summary {
	uint64_t count, sum, mixed;	/* the last ones do not depend on the order */
	uint64_t first, last;
};

static struct summary summarize(const uint64_t *values, uint64_t length)
{
	struct summary summary = { .count = length };
	uint64_t i;

	for (i = 0; i < length; i++) {
		summary.sum += values[i];
		summary.mixed += (values[i] ^ values[i] >> 29) * 0x9e3779b97f4a7c15;
	}
	if (length) {
		summary.first = values[0];
		summary.last = values[length - 1];
	}
	return summary;
}

static void verify_order(const struct summary *all)
{
	uint64_t i, last = 0;

	for (i = 1; i < sorted_count; i++)
		if (sorted[i - 1] > sorted[i])
			die("rank %llu has not sorted", (unsigned long long)rank);
	for (i = 0; i < ranks; i++) {
		if (all[i].count && all[i].first < last)
			die("rank %llu has numbers of another one", (unsigned long long)i);
		last = all[i].count ? all[i].last : last;
	}
}

/* The ranks have all numbers, each of them once, and in order. */
static void verify(void)
{
	struct summary in[RANKS_MAX], out[RANKS_MAX], mine, difference = { 0 };
	uint64_t i;

	mine = summarize(numbers, count);
	share(&mine, sizeof(mine), in);
	mine = summarize(sorted, sorted_count);
	share(&mine, sizeof(mine), out);
	for (i = 0; i < ranks; i++) {
		difference.count += out[i].count - in[i].count;
		difference.sum += out[i].sum - in[i].sum;
		difference.mixed += out[i].mixed - in[i].mixed;
	}
	if (difference.count || difference.sum || difference.mixed)
		die("numbers are lost, or wrong");
	verify_order(out);
}

/* The log has what all others have got from here. */
static void verify_log(omx_log_t log)
{
	uint64_t own = exported->start[rank + 1] - exported->start[rank], bytes = 0;
	omx_log_entry_t entry;
	uint32_t result;

	for (;;) {
		check("poll", omx_log_poll(ep, log, &entry, &result));
		if (!result)
			break;
		if (entry.data_length != entry.length ||
		    memcmp(entry.data, (char *)exported + entry.offset, entry.length))
			die("an entry has other data than its get");
		bytes += entry.length;
		check("release", omx_log_release(ep, log));
	}
	if (bytes != (count - own) * sizeof(uint64_t) + (ranks - 1) * 2 * sizeof(uint64_t))
		die("the log has %llu bytes", (unsigned long long)bytes);
}

/* ---- all of it, in one way -------------------------------------------------------- */

static const struct way {
	const char *name;
	uint64_t piece;
	uint32_t is_logged;
} ways[] = {
	{ "long gets", UINT64_MAX, 0 },
	{ "short gets", SHORT, 0 },
	{ "short gets, logged", SHORT, 1 },
};

static omx_window_t export_numbers(uint32_t is_logged, omx_log_t log)
{
	uint32_t right = is_logged ? OMX_WINDOW_RIGHT_ACTIVE : 0;
	omx_window_t window;

	check("window", omx_window_create(ep, exported, sizeof(*exported),
					  OMX_WINDOW_RIGHT_GET | right, NULL, &window));
	if (is_logged)
		check("pages", omx_window_activate(ep, window, 0, sizeof(*exported),
						   OMX_ACTIVE_R | OMX_ACTIVE_RL |
						   OMX_ACTIVE_RLD | OMX_ACTIVE_E, log));
	return window;
}

static struct times run(const struct way *way)
{
	omx_key_t key, keys[RANKS_MAX];
	omx_window_t window;
	struct times times;
	omx_log_t log;

	check("log", omx_log_create(ep, LOG_SIZE, &log));
	window = export_numbers(way->is_logged, log);
	check("key", omx_window_key(ep, window, &key));
	share(&key, sizeof(key), keys);
	times = sort_once(keys, way->piece);
	verify();
	if (way->is_logged)
		verify_log(log);
	wait_for_all();
	check("window", omx_window_destroy(ep, window));
	check("log", omx_log_destroy(ep, log));
	if (!rank)
		printf("%s: %.3f ms, %.3f ms of it for the exchange\n", way->name,
		       times.total * 1e3, times.exchange * 1e3);
	return times;
}

static void run_all(void)
{
	struct times times[sizeof(ways) / sizeof(ways[0])];
	size_t i;

	for (i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
		times[i] = run(&ways[i]);
	if (!rank)
		printf("logging: %+.2f %% time, %+.2f %% of that for the exchange\n",
		       100 * (times[2].total / times[1].total - 1),
		       100 * (times[2].exchange / times[1].exchange - 1));
}

static void make_numbers(void)
{
	uint64_t i, state = rank + 1;

	numbers = allocate(count * sizeof(*numbers));
	exported = allocate(sizeof(*exported));
	sorted = allocate(2 * count * sizeof(*sorted));
	for (i = 0; i < count; i++) {		/* xorshift */
		state ^= state << 13;
		state ^= state >> 7;
		state ^= state << 17;
		numbers[i] = state * 0x2545f4914f6cdd1d;
	}
}

static const char usage[] =
	"usage: logged_sort NUMBERS RANK BOARD...\n"
	"\n"
	"Sorts random numbers, NUMBERS of each rank, with and without logging.  Start all ranks\n"
	"with the same boards: that of rank 0, for instance node1:0, and so on.\n";

int main(int argc, char **argv)
{
	begin(argc, argv, usage);
	if (argc < 5 || argc - 3 > (int)RANKS_MAX)
		misused(usage);
	ranks = (uint64_t)argc - 3;
	count = number_in(argv[1], "NUMBERS", 1000, NUMBERS_MAX);
	rank = number_in(argv[2], "RANK", 0, ranks - 1);
	make_numbers();
	open_endpoint((uint32_t)rank, KEY);
	meet(&argv[3]);
	run_all();
	close_endpoint();
	return 0;
}
