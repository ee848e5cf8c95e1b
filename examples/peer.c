/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "peer.h"

#define PATIENCE	20		/* s */

omx_endpoint_t ep;

/* ---- arguments and errors --------------------------------------------------------- */

void die(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	fputc('\n', stderr);
	exit(1);
}

void check(const char *what, omx_return_t ret)
{
	if (ret != OMX_SUCCESS)
		die("%s: %s", what, omx_strerror(ret));
}

void misused(const char *usage)
{
	fputs(usage, stderr);
	exit(2);
}

void begin(int argc, char **argv, const char *usage)
{
	if (argc == 2 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))) {
		fputs(usage, stdout);
		exit(0);
	}
	check("init", omx_init());
}

uint64_t number_in(const char *argument, const char *name, uint64_t least, uint64_t most)
{
	unsigned long long number;
	char *end;

	errno = 0;
	number = strtoull(argument, &end, 10);
	if (errno || end == argument || *end || *argument == '-' || number < least ||
	    number > most)
		die("%s: '%s' is not a number from %llu to %llu", name, argument,
		    (unsigned long long)least, (unsigned long long)most);
	return number;
}

/* ---- endpoints -------------------------------------------------------------------- */

void open_endpoint(uint32_t number, uint32_t key)
{
	check("open", omx_open_endpoint(0, number, key, NULL, 0, &ep));
	if (number == OMX_ANY_ENDPOINT)
		return;
	puts("ready");
	fflush(stdout);
}

void close_endpoint(void)
{
	check("close", omx_close_endpoint(ep));
	check("finalize", omx_finalize());
}

static void pause_shortly(void)
{
	const struct timespec time = { .tv_nsec = 10000000 };

	nanosleep(&time, NULL);
}

omx_endpoint_addr_t connect_to(const char *board, uint32_t number, uint32_t key)
{
	double deadline = now() + PATIENCE;
	omx_endpoint_addr_t peer;
	omx_return_t ret;
	uint64_t nic;

	check(board, omx_hostname_to_nic_id((char *)board, &nic));
	for (;;) {
		ret = omx_connect(ep, nic, number, key, 5000, &peer);
		if (ret != OMX_REMOTE_ENDPOINT_BAD_ID || now() > deadline)
			break;
		pause_shortly();
	}
	check(board, ret);
	return peer;
}

/* ---- requests and messages -------------------------------------------------------- */

void finish(omx_request_t *request, omx_status_t *status)
{
	omx_status_t unused;
	uint32_t done;

	status = status ? status : &unused;
	check("wait", omx_wait(ep, request, status, &done, OMX_TIMEOUT_INFINITE));
	check("request", status->code);
	*request = NULL;
}

void receive_message(void *buffer, size_t length, uint64_t match, omx_status_t *status)
{
	omx_request_t request;

	check("receive", omx_irecv(ep, buffer, length, match, ~0ull, NULL, &request));
	finish(&request, status);
}

void send_message(omx_endpoint_addr_t to, const void *buffer, size_t length, uint64_t match)
{
	omx_request_t request;

	check("send", omx_issend(ep, (void *)buffer, length, to, match, NULL, &request));
	finish(&request, NULL);
}

/* ---- the rest --------------------------------------------------------------------- */

void *allocate(size_t length)
{
	void *memory = mmap(NULL, length, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	if (memory == MAP_FAILED)
		die("%zu bytes of memory: %s", length, strerror(errno));
	return memory;
}

double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}
