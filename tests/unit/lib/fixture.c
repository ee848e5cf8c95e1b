/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE
#include <stdatomic.h>
#include <unistd.h>

#include "fixture.h"

#define TIMEOUT_MS 10000

int setup_library(void **state)
{
	mock_reset();
	ok(omx_init());
	*state = calloc(1, sizeof(struct pair));
	return 0;
}

omx_endpoint_t open_with(uint32_t board, omx_endpoint_param_t *params, uint32_t count)
{
	omx_endpoint_t ep;

	ok(omx_open_endpoint(board, OMX_ANY_ENDPOINT, KEY, params, count, &ep));
	return ep;
}

int fd_of(omx_endpoint_t ep)
{
	int fd;

	ok(omx_get_endpoint_fd(ep, &fd));
	return fd;
}

omx_endpoint_addr_t connect_to(omx_endpoint_t ep, omx_endpoint_t peer)
{
	omx_endpoint_addr_t addr;
	uint64_t nic;
	uint32_t endpoint;

	ok(omx_get_endpoint_addr(peer, &addr));
	ok(omx_decompose_endpoint_addr(addr, &nic, &endpoint));
	ok(omx_connect(ep, nic, endpoint, KEY, TIMEOUT_MS, &addr));
	return addr;
}

static int setup_on_board(void **state, uint32_t board)
{
	struct pair *pair;

	setup_library(state);
	pair = *state;
	pair->a = open_with(board, NULL, 0);
	pair->b = open_with(board, NULL, 0);
	pair->fd_a = fd_of(pair->a);
	pair->fd_b = fd_of(pair->b);
	pair->to_b = connect_to(pair->a, pair->b);
	pair->to_a = connect_to(pair->b, pair->a);
	return 0;
}

int setup_pair(void **state)
{
	return setup_on_board(state, 0);
}

int setup_local_pair(void **state)
{
	return setup_on_board(state, 2);
}

int setup_quiet_pair(void **state)
{
	setenv("OMX_PROGRESS_THREAD", "0", 1);
	setup_pair(state);
	unsetenv("OMX_PROGRESS_THREAD");
	return 0;
}

int teardown(void **state)
{
	ok(omx_finalize());
	assert_int_equal(mock_regions(), 0);
	mock_reset();
	free(*state);
	return 0;
}

static unsigned char pattern(size_t i, unsigned int seed)
{
	return (unsigned char)((i * 7 + seed * 31 + (i >> 8) * 13 + (i >> 16)) & 0xff);
}

void fill(void *buffer, size_t length, unsigned int seed)
{
	for (size_t i = 0; i < length; i++)
		((unsigned char *)buffer)[i] = pattern(i, seed);
}

bool filled(const void *buffer, size_t length, unsigned int seed)
{
	for (size_t i = 0; i < length; i++) {
		if (((const unsigned char *)buffer)[i] != pattern(i, seed))
			return false;
	}
	return true;
}

omx_status_t finish(omx_endpoint_t ep, omx_request_t *request)
{
	omx_status_t status;
	uint32_t result;

	ok(omx_wait(ep, request, &status, &result, TIMEOUT_MS));
	assert_int_equal(result, 1);
	assert_null(*request);
	return status;
}

bool done(omx_endpoint_t ep, omx_request_t *request, omx_status_t *status)
{
	uint32_t result;

	ok(omx_test(ep, request, status, &result));
	return result;
}

void send_tag(omx_endpoint_t ep, omx_endpoint_addr_t dest, uint64_t tag, size_t length)
{
	unsigned char *buffer = malloc(length ? length : 1);
	omx_request_t request;

	fill(buffer, length, (unsigned int)tag);
	ok(omx_isend(ep, buffer, length, dest, tag, NULL, &request));
	assert_true(done(ep, &request, NULL));
	free(buffer);
}

omx_status_t receive_tag(omx_endpoint_t ep, uint64_t tag, size_t length)
{
	unsigned char *buffer = malloc(length ? length : 1);
	omx_request_t request;
	omx_status_t status;

	ok(omx_irecv(ep, buffer, length, tag, ALL, NULL, &request));
	status = finish(ep, &request);
	assert_true(filled(buffer, status.xfer_length, (unsigned int)tag));
	free(buffer);
	return status;
}

bool probed(omx_endpoint_t ep, uint64_t tag)
{
	uint32_t result;

	ok(omx_iprobe(ep, tag, ALL, NULL, &result));
	return result;
}

struct sleeper {
	void *(*run)(void *);
	void *argument;
	atomic_int tid;
};

static void *sleeper_run(void *argument)
{
	struct sleeper *sleeper = argument;
	void *(*run)(void *) = sleeper->run;
	void *run_argument = sleeper->argument;

	sleeper->tid = gettid();
	return run(run_argument);
}

/* The third field of proc_pid_stat(5), behind the name in brackets. */
static bool sleeps(pid_t tid)
{
	char path[64], state = 'S';
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", tid);
	file = fopen(path, "r");
	if (!file)
		return true;		/* it has ended */
	if (fscanf(file, "%*d (%*[^)]) %c", &state) != 1)
		state = 'S';		/* it has ended since */
	fclose(file);
	return state == 'S';
}

pthread_t start_sleeper(void *(*run)(void *), void *argument)
{
	struct sleeper sleeper = { .run = run, .argument = argument };
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, sleeper_run, &sleeper), 0);
	while (!sleeper.tid || !sleeps(sleeper.tid))
		usleep(1000);
	return thread;
}
