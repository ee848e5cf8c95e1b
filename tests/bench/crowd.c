/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Nodes that send messages at once: incast (all others to node 1), outcast (node 1 to
 * all others), all-to-all.  Each sender keeps a few messages under way to each of its
 * receivers.  A process on each node, the network namespace /run/netns/nodeI; the
 * processes share a clock and the memory in which they leave what they measure.
 *
 * A message carries the time at which it was sent.  What arrives between the end of the
 * warm-up and the end of the run counts.  Prints one line of JSON: for each flow the
 * messages, and the median and the longest time of one; and the transport's counters.
 */
#define _GNU_SOURCE
#include <err.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "crowd.h"
#include "meter.h"
#include "transport.h"

#define SAMPLES		256u
#define UNDER_WAY	(UINT64_C(1) << 20)	/* bytes that a sender has under way */
#define WINDOW_MIN	2u
#define WINDOW_MAX	32u
#define PAGE		4096u
#define MS		UINT64_C(1000000)

/* A sample of the times of messages of one flow, and the longest of all. */
struct flow {
	uint64_t messages, longest;
	uint64_t times[SAMPLES];
};

static struct shared {
	unsigned int met[4];		/* processes that have come so far */
	uint64_t begin, end;		/* of what counts; 0: not known yet */
	uint64_t counters[CROWD_NODES + 1][2][CROWD_COUNTERS];
	struct flow flows[];
} *shared;

static struct options {
	unsigned int nodes;
	const char *pattern;
	size_t size;
	const char *control;
	uint64_t warmup, duration;	/* ns */
} options = { .nodes = 2, .pattern = "incast", .size = 65536,
	      .warmup = 500 * MS, .duration = 2000 * MS };

static unsigned int self;
static uint64_t now;
static bool has_begun;

/* ---- what a transport uses ---- */

bool crowd_goes_on(void)
{
	now = now_ns();
	if (!has_begun && now >= shared->begin) {
		has_begun = true;
		crowd_read_counters(shared->counters[self][0]);
	}
	if (now < shared->end)
		return true;
	crowd_read_counters(shared->counters[self][1]);
	return false;
}

static struct flow *flow_of(unsigned int from, unsigned int to)
{
	return &shared->flows[(from - 1) * options.nodes + to - 1];
}

/* Every message has the same chance to be among the samples. */
static void add_sample(struct flow *flow, uint64_t time)
{
	uint64_t place = flow->messages++;

	if (place >= SAMPLES)
		place = random() % flow->messages;
	if (place < SAMPLES)
		flow->times[place] = time;
	if (time > flow->longest)
		flow->longest = time;
}

void crowd_received(unsigned int from, uint64_t departure)
{
	if (from < 1 || from > options.nodes || from == self)
		errx(1, "node %u: message from node %u", self, from);
	now = now_ns();
	if (now >= shared->begin && now < shared->end)
		add_sample(flow_of(from, self), now - departure);
}

void crowd_fail(const char *what, const char *error)
{
	if (shared->end && now_ns() >= shared->end)
		_exit(0);
	errx(1, "node %u: %s: %s", self, what, error);
}

static char *reserve(size_t length)
{
	char *memory = mmap(NULL, length, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (memory == MAP_FAILED)
		err(1, "buffers");
	return memory;
}

/* Of long buffers the first page only is private: thousands of them have to fit. */
static void share_rest(const struct crowd_buffers *buffers, unsigned int count)
{
	size_t length = buffers->stride - PAGE;
	int fd = memfd_create("body", 0);
	unsigned int i;

	if (fd < 0 || ftruncate(fd, length) < 0)
		err(1, "body");
	for (i = 0; i < count; i++)
		if (mmap(crowd_buffer(buffers, i) + PAGE, length, PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_FIXED | MAP_POPULATE, fd, 0) == MAP_FAILED)
			err(1, "body");
	close(fd);
}

/* All pages are there before the clock runs. */
struct crowd_buffers crowd_make_buffers(size_t size, unsigned int count)
{
	struct crowd_buffers buffers;
	unsigned int i;

	buffers.stride = size > PAGE ? (size + PAGE - 1) / PAGE * PAGE : (size + 63) / 64 * 64;
	buffers.base = reserve(buffers.stride * count);
	if (buffers.stride > PAGE)
		share_rest(&buffers, count);
	for (i = 0; i < count; i++)
		memset(crowd_buffer(&buffers, i), 'm', size < PAGE ? size : PAGE);
	return buffers;
}

/* ---- a process ---- */

static bool sends(unsigned int from, unsigned int to)
{
	if (from == to)
		return false;
	if (!strcmp(options.pattern, "incast"))
		return to == 1;
	if (!strcmp(options.pattern, "outcast"))
		return from == 1;
	return true;
}

static struct crowd plan(void)
{
	struct crowd crowd = {
		.self = self, .size = options.size, .control = options.control,
	};
	uint64_t window;
	unsigned int i, node;

	/* Each node begins with its successor, so that not all begin with the same one. */
	for (i = 1; i < options.nodes; i++) {
		node = (self - 1 + i) % options.nodes + 1;
		if (sends(self, node))
			crowd.to[crowd.to_count++] = node;
		if (sends(node, self))
			crowd.from[crowd.from_count++] = node;
	}
	/* The receivers must know it, too. */
	window = UNDER_WAY / options.size;
	if (strcmp(options.pattern, "incast"))
		window /= options.nodes - 1;
	crowd.window = window < WINDOW_MIN ? WINDOW_MIN : window > WINDOW_MAX ? WINDOW_MAX : window;
	return crowd;
}

static void enter_node(void)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/run/netns/node%u", self);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || setns(fd, CLONE_NEWNET) < 0)
		err(1, "%s", path);
	close(fd);
}

/* Until all processes have come here. */
static void meet(unsigned int place)
{
	__atomic_add_fetch(&shared->met[place], 1, __ATOMIC_RELEASE);
	while (__atomic_load_n(&shared->met[place], __ATOMIC_ACQUIRE) < options.nodes)
		usleep(1000);
}

static void await_begin(void)
{
	while (!__atomic_load_n(&shared->end, __ATOMIC_ACQUIRE))
		usleep(100);
}

static void be_node(unsigned int node)
{
	struct crowd crowd;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	self = node;
	srandom(node);
	enter_node();
	crowd = plan();
	crowd_listen(&crowd);
	meet(0);
	crowd_connect(&crowd);
	meet(1);
	crowd_prepare(&crowd);
	meet(2);
	await_begin();
	crowd_exchange(&crowd);
	meet(3);
	_exit(0);
}

/* ---- the one that starts them ---- */

static void start_nodes(pid_t *processes)
{
	unsigned int i;

	fflush(stdout);
	for (i = 1; i <= options.nodes; i++) {
		processes[i] = fork();
		if (processes[i] < 0)
			err(1, "fork");
		if (!processes[i])
			be_node(i);
	}
}

static void stop_if_one_failed(void)
{
	int status;
	pid_t pid = waitpid(-1, &status, WNOHANG);

	if (pid > 0 && (!WIFEXITED(status) || WEXITSTATUS(status)))
		errx(1, "a node failed");
}

static void sleep_until(uint64_t time)
{
	while (now_ns() < time) {
		stop_if_one_failed();
		usleep(1000);
	}
}

static void measure(struct meter *meter)
{
	uint64_t begin;

	while (__atomic_load_n(&shared->met[2], __ATOMIC_ACQUIRE) < options.nodes) {
		stop_if_one_failed();
		usleep(1000);
	}
	begin = now_ns() + options.warmup;
	shared->begin = begin;
	__atomic_store_n(&shared->end, begin + options.duration, __ATOMIC_RELEASE);
	sleep_until(begin);
	meter_start(meter);
	sleep_until(begin + options.duration);
	meter_stop(meter);
}

static void await_nodes(const pid_t *processes)
{
	unsigned int i;
	int status;

	for (i = 1; i <= options.nodes; i++)
		if (waitpid(processes[i], &status, 0) > 0 && status)
			errx(1, "node %u failed", i);
}

/* ---- the report ---- */

static void report_flow(struct flow *flow, unsigned int from, unsigned int to)
{
	uint64_t count = flow->messages < SAMPLES ? flow->messages : SAMPLES;

	printf("[%u, %u, %" PRIu64 ", %" PRIu64 ", %" PRIu64 "]", from, to, flow->messages,
	       count ? summarize(flow->times, count).median : 0, flow->longest);
}

static void report_flows(void)
{
	const char *separator = "";
	unsigned int from, to;

	printf(", \"flows\": [");
	for (from = 1; from <= options.nodes; from++) {
		for (to = 1; to <= options.nodes; to++) {
			if (!sends(from, to))
				continue;
			printf("%s", separator);
			report_flow(flow_of(from, to), from, to);
			separator = ", ";
		}
	}
	printf("]");
}

static uint64_t counted(unsigned int counter)
{
	uint64_t sum = 0;
	unsigned int node;

	for (node = 1; node <= options.nodes; node++)
		sum += shared->counters[node][1][counter] - shared->counters[node][0][counter];
	return sum;
}

static void report_counters(void)
{
	const char *separator = "";
	unsigned int i;

	printf(", \"counters\": {");
	for (i = 0; crowd_counter_name(i); i++) {
		printf("%s\"%s\": %" PRIu64, separator, crowd_counter_name(i), counted(i));
		separator = ", ";
	}
	printf("}");
}

static void report(const struct meter *meter)
{
	printf("{\"crowd\": \"%s\", \"pattern\": \"%s\", \"size\": %zu, \"window\": %u"
	       ", \"duration_ns\": %" PRIu64 ", \"elapsed_ns\": %" PRIu64 ", \"busy_ns\": %" PRIu64,
	       transport_name, options.pattern, options.size, plan().window,
	       options.duration, meter->elapsed, meter->busy);
	report_flows();
	report_counters();
	printf("}\n");
}

/* ---- the command line ---- */

static void usage(void)
{
	fprintf(stderr, "usage: %s_crowd --nodes N --pattern incast|outcast|all-to-all --size N"
		" [--control NAME] [--warmup MS] [--duration MS]\n", transport_name);
	exit(2);
}

static uint64_t number(const char *text, uint64_t min, uint64_t max)
{
	char *end;
	uint64_t value = strtoull(text, &end, 0);

	if (end == text || *end || value < min || value > max)
		usage();
	return value;
}

static void parse(int argc, char **argv)
{
	static const struct option known[] = {
		{ "nodes", required_argument, NULL, 'n' },
		{ "pattern", required_argument, NULL, 'p' },
		{ "size", required_argument, NULL, 's' },
		{ "control", required_argument, NULL, 'c' },
		{ "warmup", required_argument, NULL, 'w' },
		{ "duration", required_argument, NULL, 'd' },
		{ 0 }
	};
	int key;

	while ((key = getopt_long(argc, argv, "", known, NULL)) >= 0) {
		switch (key) {
		case 'n': options.nodes = number(optarg, 2, CROWD_NODES); break;
		case 'p': options.pattern = optarg; break;
		case 's': options.size = number(optarg, sizeof(uint64_t), 16 << 20); break;
		case 'c': options.control = optarg; break;
		case 'w': options.warmup = number(optarg, 0, 1000000) * MS; break;
		case 'd': options.duration = number(optarg, 1, 1000000) * MS; break;
		default: usage();
		}
	}
	if (optind != argc || (strcmp(options.pattern, "incast") &&
			       strcmp(options.pattern, "outcast") &&
			       strcmp(options.pattern, "all-to-all")))
		usage();
}

int main(int argc, char **argv)
{
	pid_t processes[CROWD_NODES + 1];
	struct meter meter;
	size_t length;

	parse(argc, argv);
	length = sizeof(*shared) + options.nodes * options.nodes * sizeof(*shared->flows);
	shared = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		err(1, "memory");
	start_nodes(processes);
	measure(&meter);
	await_nodes(processes);
	report(&meter);
	return 0;
}
