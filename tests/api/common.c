// SPDX-License-Identifier: BSD-2-Clause
#include "common.h"

#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct options options = {
	.endpoint = 1,
	.timeout = 100,
};

static const char *role = "";

/* ---- checks ---------------------------------------------------------------- */

static const char *program(void)
{
	return program_invocation_short_name;
}

void check_failed(const char *file, int line, const char *what, const char *format, ...)
{
	va_list arguments;

	fprintf(stderr, "%s%s: %s:%d: not so: %s", program(), role, file, line, what);
	if (format[1]) {
		fputc(':', stderr);
		va_start(arguments, format);
		vfprintf(stderr, format, arguments);
		va_end(arguments);
	}
	fprintf(stderr, " (seed %llu)\n", (unsigned long long)options.seed);
	/* Other threads may be anywhere: no atexit. */
	fflush(NULL);
	_exit(1);
}

void check_return(const char *file, int line, const char *call, omx_return_t got,
		  omx_return_t wanted)
{
	if (got != wanted)
		check_failed(file, line, call, " returned %d (%s) instead of %d (%s)",
			     got, omx_strerror(got), wanted, omx_strerror(wanted));
}

void command(const char *text)
{
	int status = system(text);

	CHECK(!status, "%s: %d", text, status);
}

/* ---- time ------------------------------------------------------------------ */

double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + ts.tv_nsec * 1e-9;
}

void sleep_ms(unsigned int ms)
{
	struct timespec ts = { ms / 1000, ms % 1000 * 1000000L };

	while (nanosleep(&ts, &ts))
		;
}

void compute(double seconds)
{
	double end = now() + seconds;
	volatile unsigned long n = 0;

	while (now() < end)
		n++;
}

/* ---- contents -------------------------------------------------------------- */

void verify(const void *from, size_t length, uint64_t key)
{
	size_t at = differs_at(from, length, key, 0);

	CHECK(at == length, "message %#llx of %zu bytes is damaged at %zu",
	      (unsigned long long)key, length, at);
}

void *allocate(size_t size)
{
	void *p = malloc(size ? size : 1);

	CHECK(p, "%zu bytes", size);
	return p;
}

/* ---- the two sides --------------------------------------------------------- */

static const struct option long_options[] = {
	{ "server", no_argument, NULL, 's' },
	{ "client", required_argument, NULL, 'c' },
	{ "seed", required_argument, NULL, 'S' },
	{ "count", required_argument, NULL, 'n' },
	{ "length", required_argument, NULL, 'l' },
	{ "endpoint", required_argument, NULL, 'e' },
	{ "timeout", required_argument, NULL, 't' },
	{ "seconds", required_argument, NULL, 'd' },
	{ "window", required_argument, NULL, 'w' },
	{ "percent", required_argument, NULL, 'p' },
	{ "mode", required_argument, NULL, 'm' },
	{ "act", required_argument, NULL, 'a' },
	{ "state", required_argument, NULL, 'T' },
	{ NULL, 0, NULL, 0 },
};

static uint64_t number(const char *text)
{
	char *end;
	uint64_t value = strtoull(text, &end, 0);

	CHECK(*text && !*end, "%s is no number", text);
	return value;
}

static void take_option(int option)
{
	switch (option) {
	case 's': options.server = true; break;
	case 'c': options.peer = optarg; break;
	case 'S': options.seed = number(optarg); break;
	case 'n': options.count = number(optarg); break;
	case 'l': options.length = number(optarg); break;
	case 'e': options.endpoint = number(optarg); break;
	case 't': options.timeout = number(optarg); break;
	case 'd': options.seconds = number(optarg); break;
	case 'w': options.window = number(optarg); break;
	case 'p': options.percent = number(optarg); break;
	case 'm': options.mode = optarg; break;
	case 'a': options.act = optarg; break;
	case 'T': options.state = optarg; break;
	default: exit(2);
	}
}

static void out_of_time(int signal)
{
	static const char text[] = "a test program takes too long\n";

	(void)signal;
	if (write(STDERR_FILENO, text, sizeof(text) - 1) < 0)
		_exit(1);
	abort();
}

/* A kernel that checks itself takes many times as long. */
static void start_clock(void)
{
	alarm(access("/proc/lockdep_stats", F_OK) ? options.timeout : 10 * options.timeout);
}

static void start(int argc, char **argv)
{
	int option;

	while ((option = getopt_long(argc, argv, "", long_options, NULL)) != -1)
		take_option(option);
	if (!options.seed)
		options.seed = time(NULL) ^ (uint64_t)getpid() << 32;
	setvbuf(stdout, NULL, _IOLBF, 0);
	signal(SIGALRM, out_of_time);
	start_clock();
}

int run_alone(int argc, char **argv, void (*test)(void))
{
	start(argc, argv);
	test();
	return 0;
}

static void run_side(const char *name, void (*side)(void))
{
	role = name;
	side();
}

/* The server lives in a child; whichever fails first takes the other along. */
static pid_t server_pid;

static void server_ended(int signal)
{
	int status;

	(void)signal;
	/* Other children are the client's own; 0 would be any of them. */
	if (!server_pid || waitpid(server_pid, &status, WNOHANG) != server_pid)
		return;
	if (!WIFEXITED(status) || WEXITSTATUS(status))
		_exit(1);
	server_pid = 0;
}

static void run_both(void (*server)(void), void (*client)(void))
{
	sigset_t child;

	options.local = true;
	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	sigprocmask(SIG_BLOCK, &child, NULL);
	server_pid = fork();
	CHECK(server_pid >= 0);
	if (!server_pid) {
		options.server = true;
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		start_clock();
		run_side(" (server)", server);
		exit(0);
	}
	signal(SIGCHLD, server_ended);
	sigprocmask(SIG_UNBLOCK, &child, NULL);
	run_side(" (client)", client);
	while (server_pid)
		sleep_ms(10);
}

int run_sides(int argc, char **argv, void (*server)(void), void (*client)(void))
{
	start(argc, argv);
	if (options.server)
		run_side(" (server)", server);
	else if (options.peer)
		run_side(" (client)", client);
	else
		run_both(server, client);
	return 0;
}

static void (*pair_server)(void), (*pair_client)(void);

static void server_of_pair(void)
{
	MUST(omx_init());
	pair_server();
	MUST(omx_finalize());
}

static void client_of_pair(void)
{
	MUST(omx_init());
	pair_client();
	MUST(omx_finalize());
}

int run_pair(int argc, char **argv, void (*server)(void), void (*client)(void))
{
	pair_server = server;
	pair_client = client;
	return run_sides(argc, argv, server_of_pair, client_of_pair);
}

/* ---- endpoints ------------------------------------------------------------- */

omx_endpoint_t open_number(uint32_t number, omx_endpoint_param_t *params, uint32_t count)
{
	omx_endpoint_t ep;

	MUST(omx_open_endpoint(0, number, KEY, params, count, &ep));
	return ep;
}

omx_endpoint_t open_any(void)
{
	return open_number(OMX_ANY_ENDPOINT, NULL, 0);
}

static void own_identity(omx_endpoint_t ep, uint64_t *nic, uint32_t *number)
{
	omx_endpoint_addr_t addr;

	MUST(omx_get_endpoint_addr(ep, &addr));
	MUST(omx_decompose_endpoint_addr(addr, nic, number));
}

uint64_t nic_of(omx_endpoint_t ep)
{
	uint64_t nic;
	uint32_t number;

	own_identity(ep, &nic, &number);
	return nic;
}

uint32_t number_of(omx_endpoint_t ep)
{
	uint64_t nic;
	uint32_t number;

	own_identity(ep, &nic, &number);
	return number;
}

omx_endpoint_addr_t connect_to(omx_endpoint_t ep, uint64_t nic, uint32_t number)
{
	double end = now() + PATIENCE / 1000;
	omx_endpoint_addr_t addr;
	omx_return_t ret;

	while ((ret = omx_connect(ep, nic, number, KEY, 2000, &addr)) != OMX_SUCCESS) {
		CHECK(ret == OMX_REMOTE_ENDPOINT_BAD_ID || ret == OMX_TIMEOUT,
		      "connect: %s", omx_strerror(ret));
		CHECK(now() < end, "nobody opens endpoint %u there", number);
		sleep_ms(20);
	}
	return addr;
}

omx_endpoint_addr_t connect_self(omx_endpoint_t ep)
{
	return connect_to(ep, nic_of(ep), number_of(ep));
}

static uint64_t peer_nic(omx_endpoint_t ep)
{
	char name[OMX_HOSTNAMELEN_MAX];
	uint64_t nic;

	if (!options.peer)
		return nic_of(ep);
	snprintf(name, sizeof(name), "%s", options.peer);
	MUST(omx_hostname_to_nic_id(name, &nic));
	return nic;
}

#define HELLO	(CONTROL + 1)
#define BARRIER	(CONTROL + 2)

omx_endpoint_addr_t find_peer(omx_endpoint_t ep)
{
	omx_endpoint_addr_t peer;

	if (options.server)
		return receive(ep, NULL, 0, HELLO).addr;
	peer = connect_to(ep, peer_nic(ep), options.endpoint);
	send_sync(ep, peer, NULL, 0, HELLO);
	return peer;
}

omx_endpoint_t meet_with(omx_endpoint_addr_t *peer, omx_endpoint_param_t *params,
			 uint32_t count)
{
	omx_endpoint_t ep = open_number(options.endpoint + !options.server, params, count);

	*peer = find_peer(ep);
	return ep;
}

omx_endpoint_t meet(omx_endpoint_addr_t *peer)
{
	return meet_with(peer, NULL, 0);
}

void barrier(omx_endpoint_t ep, omx_endpoint_addr_t peer)
{
	omx_request_t send, recv;

	MUST(omx_irecv(ep, NULL, 0, BARRIER, EXACT, NULL, &recv));
	MUST(omx_issend(ep, NULL, 0, peer, BARRIER, NULL, &send));
	finish_with(ep, &send, OMX_SUCCESS);
	finish_with(ep, &recv, OMX_SUCCESS);
}

void part(omx_endpoint_t ep, omx_endpoint_addr_t peer)
{
	barrier(ep, peer);
	MUST(omx_close_endpoint(ep));
}

/* ---- requests -------------------------------------------------------------- */

omx_status_t finish(omx_endpoint_t ep, omx_request_t *request)
{
	omx_status_t status;
	uint32_t result;

	MUST(omx_wait(ep, request, &status, &result, PATIENCE));
	CHECK(result == 1, "a request does not end");
	CHECK(!*request);
	return status;
}

omx_status_t finish_with(omx_endpoint_t ep, omx_request_t *request, omx_return_t code)
{
	omx_status_t status = finish(ep, request);

	CHECK(status.code == code, "request ended with %d (%s) instead of %d (%s)",
	      status.code, omx_strerror(status.code), code, omx_strerror(code));
	return status;
}

bool is_done(omx_endpoint_t ep, omx_request_t *request, omx_status_t *status)
{
	uint32_t result;

	MUST(omx_test(ep, request, status, &result));
	CHECK(result <= 1);
	return result;
}

void send_sync(omx_endpoint_t ep, omx_endpoint_addr_t to, void *buffer, size_t length,
	       uint64_t match)
{
	omx_request_t request;

	MUST(omx_issend(ep, buffer, length, to, match, NULL, &request));
	finish_with(ep, &request, OMX_SUCCESS);
}

omx_status_t receive(omx_endpoint_t ep, void *buffer, size_t length, uint64_t match)
{
	omx_request_t request;

	MUST(omx_irecv(ep, buffer, length, match, EXACT, NULL, &request));
	return finish_with(ep, &request, OMX_SUCCESS);
}

void send_pattern(omx_endpoint_t ep, omx_endpoint_addr_t to, size_t length, uint64_t match)
{
	omx_request_t request;
	void *buffer = allocate(length);

	fill(buffer, length, match, 0);
	MUST(omx_isend(ep, buffer, length, to, match, NULL, &request));
	finish_with(ep, &request, OMX_SUCCESS);
	free(buffer);
}

void receive_pattern(omx_endpoint_t ep, size_t length, uint64_t match)
{
	void *buffer = allocate(length);
	omx_status_t status = receive(ep, buffer, length, match);

	EQUAL(status.msg_length, length);
	EQUAL(status.xfer_length, length);
	EQUAL(status.match_info, match);
	verify(buffer, length, match);
	free(buffer);
}
