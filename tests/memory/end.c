// SPDX-License-Identifier: BSD-2-Clause
/*
 * A program exits, is killed, or executes another one with messages in flight.
 * Its pages are reused at once by other processes.  Their data must not be
 * sent, and nothing may be written to it.
 *
 *	--mode M	pin, overlap, unpinned, permanent, auto
 *	--act A		only this one: exit, exec, kill
 *	--state S	only this one: idle, declared, source, destination
 *	--count N	rounds of each act in each state
 *
 * In every round the client is a child process; its parent allocates the pages
 * that the child has freed.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "memory.h"

#define LONGEST		(4 << 20)
#define AFTER_EXEC	"--after-exec"
#define WHERE		"%s, %s, round %llu"
#define WHERE_VALUES	acts[the.act], states[the.state], (unsigned long long)the.number

enum act { EXIT, EXEC, KILL, ACTS };
enum state { IDLE, DECLARED, SOURCE, DESTINATION, STATES };

static const char *const acts[ACTS] = { "exit", "exec", "kill" };
static const char *const states[STATES] = { "idle", "declared", "source", "destination" };

struct round {
	enum act act;
	enum state state;
	uint64_t number;
	uint64_t match;
	size_t length;
	unsigned int delay;		/* us */
};

static struct round the;
static omx_endpoint_t ep;
static omx_endpoint_addr_t peer;
static uint8_t *box;

#define OWN_KEY		(the.match)
#define SENT_KEY	(the.match + 1)
#define SECRET_KEY	(the.match + 2)

static void draw_round(enum act act, enum state state, uint64_t number)
{
	uint64_t name = ((uint64_t)act * STATES + state) << 20 | number;
	struct random random = { options.seed ^ name * 0x2545f4914f6cdd1dull };

	the.act = act;
	the.state = state;
	the.number = number;
	the.match = (name + 1) * 8;
	the.length = 65537 + random_below(&random, LONGEST - 65537);
	/* At most a little longer than such a transfer takes. */
	the.delay = random_below(&random, the.length / 200);
}

/* ---- the child ------------------------------------------------------------------------ */

/*
 * The program that the child executes: it has memory of its own, which must
 * not change.
 */
static int after_exec(char **argv)
{
	size_t size = strtoull(argv[2], NULL, 0), at;
	uint64_t key = strtoull(argv[3], NULL, 0);
	uint8_t *memory = map_anonymous(NULL, size);

	fill(memory, size, key, 0);
	sleep_ms(30);
	at = differs_at(memory, size, key, 0);
	if (at == size)
		return 0;
	fprintf(stderr, "mem_end: after exec something was written, at %zu of %zu\n", at, size);
	return 1;
}

static void end_client(void)
{
	char size[32], key[32];

	switch (the.act) {
	case EXIT:
		_exit(0);
	case EXEC:
		snprintf(size, sizeof(size), "%zu", the.length);
		snprintf(key, sizeof(key), "%llu", (unsigned long long)SECRET_KEY);
		execl("/proc/self/exe", "mem_end", AFTER_EXEC, size, key, NULL);
		_exit(99);
	default:
		kill(getpid(), SIGKILL);
	}
}

static void *end_beside(void *unused)
{
	usleep(the.delay);
	end_client();
	return unused;
}

/* The results do not matter, since the process ends meanwhile. */
static void post_message(uint8_t *memory)
{
	omx_request_t request;
	pthread_t thread;

	CHECK(!pthread_create(&thread, NULL, end_beside, NULL));
	if (the.state == SOURCE)
		omx_isend(ep, memory, the.length, peer, the.match, NULL, &request);
	else
		omx_irecv(ep, memory, the.length, the.match, EXACT, NULL, &request);
	pause();
}

static void declare_region(uint8_t *memory)
{
	omx_seg_t seg = { memory, the.length };
	omx_region_t region;

	MUST(omx_region_declare(ep, &seg, 1, OMX_REGION_SEND | OMX_REGION_RECV, mode, &region));
}

static void be_child(void)
{
	uint8_t *memory = map_anonymous(NULL, the.length);

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	alarm(options.timeout);
	fill(memory, the.length, OWN_KEY, 0);
	MUST(omx_init());
	ep = meet(&peer);
	check_mode(ep);
	if (the.state == DECLARED) {
		declare_region(memory);
	} else {
		pass(ep, peer, false, memory, the.length, the.match + 3);
		pass(ep, peer, true, memory, the.length, the.match + 4);
		fill(memory, the.length, OWN_KEY, 0);
	}
	if (the.state == SOURCE || the.state == DESTINATION)
		post_message(memory);
	end_client();
}

/* ---- its parent ------------------------------------------------------------------------ */

/* At least some of the child's pages, and all of them for a while. */
static void use_its_memory(void)
{
	uint8_t *memory = map_anonymous(NULL, the.length);
	size_t at;

	fill(memory, the.length, SECRET_KEY, 0);
	sleep_ms(20);
	at = differs_at(memory, the.length, SECRET_KEY, 0);
	CHECK(at == the.length, "written to memory of another process (" WHERE ")", WHERE_VALUES);
	munmap(memory, the.length);
}

static void client_round(void)
{
	pid_t child = fork();
	int status;

	CHECK(child >= 0);
	if (!child) {
		be_child();
		_exit(98);
	}
	CHECK(waitpid(child, &status, 0) == child);
	use_its_memory();
	if (the.act == KILL)
		CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL, "%d", status);
	else
		CHECK(WIFEXITED(status) && !WEXITSTATUS(status), "%d (" WHERE ")", status,
		      WHERE_VALUES);
}

/* ---- the server -------------------------------------------------------------------------- */

/* Errors that report that the child is gone. */
static bool is_end(omx_return_t code)
{
	return code == OMX_REMOTE_ENDPOINT_CLOSED || code == OMX_REMOTE_ENDPOINT_BAD_SESSION ||
	       code == OMX_REMOTE_ENDPOINT_BAD_ID || code == OMX_MESSAGE_ABORTED ||
	       code == OMX_REMOTE_RDMA_WINDOW_BAD_ID;
}

static unsigned int arrived, failed, unheard;

/* Each byte is the child's or what was there before. */
static void verify_box(bool whole)
{
	struct contents may = { .zero = !whole };
	size_t at;

	may_be(&may, OWN_KEY, 0);
	at = unlike_at(box, the.length, &may);
	CHECK(at == the.length, "byte %zu is not the child's (" WHERE ")", at, WHERE_VALUES);
}

/* A receive whose message was never sent does not complete, as it should. */
static bool was_unheard(omx_request_t *request)
{
	omx_status_t status;
	uint32_t result;

	MUST(omx_wait(ep, request, &status, &result, 3000));
	if (result) {
		CHECK(status.code == OMX_SUCCESS || is_end(status.code), "%s (" WHERE ")",
		      omx_strerror(status.code), WHERE_VALUES);
		verify_box(status.code == OMX_SUCCESS);
		arrived += status.code == OMX_SUCCESS;
		failed += status.code != OMX_SUCCESS;
		return false;
	}
	MUST(omx_cancel(ep, request, &result));
	CHECK(result, "it does not end (" WHERE ")", WHERE_VALUES);
	unheard++;
	return true;
}

static void serve_last(void)
{
	omx_request_t request;
	omx_status_t status;

	if (the.state == SOURCE) {
		memset(box, 0, the.length);
		MUST(omx_irecv(ep, box, the.length, the.match, EXACT, NULL, &request));
		was_unheard(&request);
	} else {
		fill(box, the.length, SENT_KEY, 0);
		MUST(omx_isend(ep, box, the.length, peer, the.match, NULL, &request));
		status = finish(ep, &request);
		CHECK(status.code == OMX_SUCCESS || is_end(status.code), "%s (" WHERE ")",
		      omx_strerror(status.code), WHERE_VALUES);
		arrived += status.code == OMX_SUCCESS;
		failed += status.code != OMX_SUCCESS;
	}
}

static void server_round(void)
{
	peer = find_peer(ep);
	if (the.state != DECLARED) {
		pass(ep, peer, false, box, the.length, the.match + 3);
		verify(box, the.length, OWN_KEY);
		pass(ep, peer, true, box, the.length, the.match + 4);
	}
	if (the.state == SOURCE || the.state == DESTINATION)
		serve_last();
}

/* ---- all of it ------------------------------------------------------------------------------ */

static void run_state(enum act act, enum state state)
{
	uint64_t number;

	arrived = failed = unheard = 0;
	for (number = 0; number < options.count; number++) {
		draw_round(act, state, number);
		if (options.server)
			server_round();
		else
			client_round();
	}
	if (options.server)
		printf("%-5s %-12s %llu rounds, %u arrived, %u failed, %u never left\n",
		       acts[act], states[state], (unsigned long long)options.count, arrived,
		       failed, unheard);
}

static void run_all(void)
{
	unsigned int act, state;

	for (act = 0; act < ACTS; act++)
		for (state = 0; state < STATES; state++)
			if ((!options.act || !strcmp(options.act, acts[act])) &&
			    (!options.state || !strcmp(options.state, states[state])))
				run_state(act, state);
}

static void run_server(void)
{
	ep = open_number(options.endpoint, NULL, 0);
	check_mode(ep);
	box = allocate(LONGEST);
	run_all();
	MUST(omx_close_endpoint(ep));
}

int main(int argc, char **argv)
{
	if (argc == 4 && !strcmp(argv[1], AFTER_EXEC))
		return after_exec(argv);
	options.count = 3;
	options.seed = 1;
	memory_mode(argc, argv);
	return run_pair(argc, argv, run_server, run_all);
}
