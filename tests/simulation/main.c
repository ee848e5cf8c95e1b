// SPDX-License-Identifier: BSD-2-Clause
/*
 * Runs seeds, in several processes: a seed that fails ends its process, and another one
 * goes on with the next seed.
 */
#include <getopt.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "crowd.h"
#include "plant.h"
#include "sim.h"

#define JOBS_MAX	64
#define SECONDS_MAX	120		/* for a seed */
#define RARE_SEEDS	1000

struct sim sim;
struct sim_node *sim_current;

static const char *program;

static const char help[] =
	"Usage: simulation [--seeds FIRST-LAST] [--jobs N]\n"
	"       simulation --seed N [--trace]\n"
	"Runs the driver's code on simulated nodes.  Each seed is another network with other\n"
	"troubles.  Prints the seeds that fail, and fails if there are any.\n"
	"  --seeds FIRST-LAST  (default 1-1000)\n"
	"  --jobs N            processes (default 1)\n"
	"  --seed N            one seed\n"
	"  --trace             prints every frame and what programs do\n"
	"  --failures N        gives up after so many seeds have failed (default 10)\n"
	"  --plant BUG         duplicate, ack, timer, pull, leak or bundle: is it found?\n"
	"Many nodes at once, without other troubles; prints a table:\n"
	"  --crowd KIND        incast, outcast, all-to-all, churn; or these four: every;\n"
	"                      vanish, unread, slow, flood, refused, cut, narrow: incast beside\n"
	"                      something that is wrong;\n"
	"                      users: two of each host send, by nine channels and by one\n"
	"  --nodes N           (default 1000)\n"
	"  --length BYTES      of a message (default 4096)\n"
	"  --messages N        of each stream (default 100)\n"
	"  --peers N           to which each node sends, all to all (default 16)\n"
	"  --mbits N           rate of the links (default 1000)\n"
	"  --delay N           us from node to node (default 10)\n"
	"  --queue N           frames that may wait for a node (default 100)\n"
	"  --mtu N             (default 1500)\n"
	"  --slow N            kbit/s of slow links (default 10000)\n"
	"  --loss N            of a million frames\n"
	"  --no-memory N       of a million allocations fail\n"
	"The run fails if its figures are worse:\n"
	"  --least-link N      percent of the link carries messages\n"
	"  --most-again N      percent of the frames are sent again\n"
	"  --most-ratio N      the slowest message takes so many times the median\n"
	"  --most-kib N        memory of a node\n"
	"  --most-share N      percent of the bytes of one user, for the other\n";

static struct sim_crowd crowd = {
	.seed = 1, .nodes = 1000, .peers = 16, .length = 4096, .messages = 100, .mbits = 1000,
	.delay_us = 10, .queue = 100, .mtu = 1500, .slow_kbits = 10000,
};

/* Shared by all processes. */
static struct shared {
	u64 at[JOBS_MAX];		/* the seed that the process runs */
	u64 seeds, frames, failed;
	u64 virtual_ms, peak;
	u64 bundles, bundled, split, unread, pushed, missed;
	u64 joined, kept, resumed, shortened[2];
} *shared;

static void print_replay(u64 seed)
{
	fprintf(stderr, "    %s%s%s --seed %llu --trace\n", program,
		sim_planted() ? " --plant " : "", sim_planted() ?: "",
		(unsigned long long)seed);
}

void sim_fail(const char *file, int line, const char *format, ...)
{
	va_list args;

	fflush(stdout);
	fprintf(stderr, "seed %llu: at %.6f s: %s:%d: ", (unsigned long long)sim.seed,
		sim_now / 1e9, file, line);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	print_replay(sim.seed);
	_exit(1);
}

static void run_one(u64 seed)
{
	sim_run_seed(seed);
	__atomic_add_fetch(&shared->seeds, 1, __ATOMIC_RELAXED);
	__atomic_add_fetch(&shared->frames, sim.frames, __ATOMIC_RELAXED);
	__atomic_add_fetch(&shared->bundles, sim.bundles, __ATOMIC_RELAXED);
	__atomic_add_fetch(&shared->bundled, sim.bundled, __ATOMIC_RELAXED);
	__atomic_add_fetch(&shared->pushed, sim.pushed, __ATOMIC_RELAXED);
	__atomic_add_fetch(&shared->missed, sim.missed, __ATOMIC_RELAXED);
	__atomic_add_fetch(&shared->split, sim.split, __ATOMIC_RELAXED);
	__atomic_add_fetch(&shared->unread, sim.unread, __ATOMIC_RELAXED);
	__atomic_add_fetch(&shared->joined, sim.joined, __ATOMIC_RELAXED);
	__atomic_add_fetch(&shared->kept, sim.kept, __ATOMIC_RELAXED);
	__atomic_add_fetch(&shared->resumed, sim.resumed, __ATOMIC_RELAXED);
	__atomic_add_fetch(&shared->shortened[0], sim.shortened[0], __ATOMIC_RELAXED);
	__atomic_add_fetch(&shared->shortened[1], sim.shortened[1], __ATOMIC_RELAXED);
	if (sim.peak > shared->peak)
		shared->peak = sim.peak;
	__atomic_add_fetch(&shared->virtual_ms, sim_now / SIM_MS, __ATOMIC_RELAXED);
}

static void run_job(u32 job, u64 seed, u64 last, u32 jobs)
{
	for (; seed <= last; seed += jobs) {
		shared->at[job] = seed;
		alarm(SECONDS_MAX);
		run_one(seed);
	}
	_exit(0);
}

static pid_t start_job(u32 job, u64 seed, u64 last, u32 jobs)
{
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid)
		run_job(job, seed, last, jobs);
	return pid;
}

static void report_signal(int status, u64 seed)
{
	if (!WIFSIGNALED(status))
		return;
	fprintf(stderr, "seed %llu: %s\n", (unsigned long long)seed,
		strsignal(WTERMSIG(status)));
	print_replay(seed);
}

static void run_jobs(u64 first, u64 last, u32 jobs, u64 failures)
{
	pid_t pid[JOBS_MAX], ended;
	u32 running = 0, i;
	int status;

	for (i = 0; i < jobs; i++, running++)
		pid[i] = start_job(i, first + i, last, jobs);
	while (running && (ended = wait(&status)) > 0) {
		for (i = 0; pid[i] != ended; i++)
			;
		running--;
		if (!status)
			continue;
		report_signal(status, shared->at[i]);
		if (++shared->failed >= failures)
			continue;
		pid[i] = start_job(i, shared->at[i] + jobs, last, jobs);
		running++;
	}
}

/* So many seeds do what is rare as well, or it is not tested. */
static bool rare_happened(void)
{
	if (shared->seeds < RARE_SEEDS)
		return true;
	if (shared->bundles < 10 * shared->seeds || shared->split < shared->seeds / 200 ||
	    shared->unread < shared->seeds || shared->pushed < shared->seeds / 8 ||
	    shared->missed < shared->seeds / 3000 || shared->joined < shared->seeds ||
	    shared->kept < 2 * shared->seeds || shared->resumed < shared->seeds / 300 ||
	    !shared->shortened[0] || !shared->shortened[1]) {
		fprintf(stderr, "too few bundles or pushes, or what can happen is too rare\n");
		return false;
	}
	return true;
}

static int report(u64 first, u64 last)
{
	u64 seeds = last - first + 1;

	printf("%llu of %llu seeds passed, %llu failed: %llu frames in %.0f virtual seconds, "
	       "at most %.1f MiB of a node\n",
	       (unsigned long long)shared->seeds, (unsigned long long)seeds,
	       (unsigned long long)shared->failed, (unsigned long long)shared->frames,
	       shared->virtual_ms / 1e3, shared->peak / 1048576.0);
	printf("%llu bundles of %.1f messages, %llu of them delivered in parts; %llu copies for "
	       "them failed; %llu frames pushed, %llu messages announced behind theirs\n",
	       (unsigned long long)shared->bundles,
	       (double)shared->bundled / max(shared->bundles, 1ull), (unsigned long long)shared->split,
	       (unsigned long long)shared->unread, (unsigned long long)shared->pushed,
	       (unsigned long long)shared->missed);
	printf("%llu messages joined them with a page of their own; %llu stayed in their frames, "
	       "while %llu of them went on\n",
	       (unsigned long long)shared->joined, (unsigned long long)shared->kept,
	       (unsigned long long)shared->resumed);
	return shared->failed || shared->seeds != seeds || !rare_happened();
}

static u64 number(const char *text, char end, const char **rest)
{
	char *stop;
	u64 value = strtoull(text, &stop, 10);

	if (stop == text || *stop != end) {
		fprintf(stderr, "%s is no number; see --help\n", text);
		exit(2);
	}
	if (rest)
		*rest = stop + 1;
	return value;
}

/* Numbers of options, which are larger than characters: where the value goes. */
#define OF_CROWD(member)	(0x1000 + offsetof(struct sim_crowd, member))

static void set_crowd(int option, u32 value)
{
	memcpy((char *)&crowd + option - 0x1000, &value, sizeof(value));
}

/* The status of the program. */
static int run_crowds(const char *kind)
{
	static const char *const every[] = { "incast", "outcast", "all-to-all", "churn" };
	bool all = !strcmp(kind, "every");
	u32 i;

	sim_crowd_print_head();
	for (i = 0; i < (all ? ARRAY_SIZE(every) : 1); i++)
		if (!sim_crowd_run(all ? every[i] : kind, &crowd)) {
			fprintf(stderr, "there is no %s; see --help\n", kind);
			return 2;
		}
	return 0;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "seeds", required_argument, NULL, 's' },
		{ "seed", required_argument, NULL, 'S' },
		{ "jobs", required_argument, NULL, 'j' },
		{ "failures", required_argument, NULL, 'f' },
		{ "plant", required_argument, NULL, 'p' },
		{ "trace", no_argument, NULL, 't' },
		{ "help", no_argument, NULL, 'h' },
		{ "crowd", required_argument, NULL, 'c' },
		{ "nodes", required_argument, NULL, OF_CROWD(nodes) },
		{ "length", required_argument, NULL, OF_CROWD(length) },
		{ "messages", required_argument, NULL, OF_CROWD(messages) },
		{ "peers", required_argument, NULL, OF_CROWD(peers) },
		{ "mbits", required_argument, NULL, OF_CROWD(mbits) },
		{ "delay", required_argument, NULL, OF_CROWD(delay_us) },
		{ "queue", required_argument, NULL, OF_CROWD(queue) },
		{ "mtu", required_argument, NULL, OF_CROWD(mtu) },
		{ "slow", required_argument, NULL, OF_CROWD(slow_kbits) },
		{ "loss", required_argument, NULL, OF_CROWD(loss) },
		{ "no-memory", required_argument, NULL, OF_CROWD(no_memory) },
		{ "least-link", required_argument, NULL, OF_CROWD(least_link) },
		{ "most-again", required_argument, NULL, OF_CROWD(most_again) },
		{ "most-ratio", required_argument, NULL, OF_CROWD(most_ratio) },
		{ "most-kib", required_argument, NULL, OF_CROWD(most_kib) },
		{ "most-share", required_argument, NULL, OF_CROWD(most_share) },
		{ NULL, 0, NULL, 0 },
	};
	u64 first = 1, last = 1000, failures = 10;
	bool one = false;
	const char *rest, *kind = NULL;
	u32 jobs = 1;
	int option;

	program = argv[0];
	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (option) {
		case 's':
			first = number(optarg, '-', &rest);
			last = number(rest, 0, NULL);
			break;
		case 'S':
			first = last = number(optarg, 0, NULL);
			one = true;
			break;
		case 'j':
			jobs = clamp_t(u64, number(optarg, 0, NULL), 1, JOBS_MAX);
			break;
		case 'f':
			failures = number(optarg, 0, NULL);
			break;
		case 'p':
			if (!sim_plant(optarg)) {
				fprintf(stderr, "there is no bug %s; see --help\n", optarg);
				return 2;
			}
			break;
		case 't':
			sim.trace = true;
			break;
		case 'h':
			fputs(help, stdout);
			return 0;
		case 'c':
			kind = optarg;
			break;
		case '?':
			return 2;
		default:
			set_crowd(option, number(optarg, 0, NULL));
		}
	}
	if (kind)
		return run_crowds(kind);
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		      -1, 0);
	if (one)
		run_one(first);
	else
		run_jobs(first, last, jobs, failures);
	return report(first, last);
}
