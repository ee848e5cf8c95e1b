// SPDX-License-Identifier: BSD-2-Clause
/*
 * mx_init and mx_finalize, error handlers before and between them, and the
 * texts of errors.
 */
#include "mx.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int calls;
static mx_return_t last;

static mx_return_t forgive_error(char *str, mx_return_t ret)
{
	CHECK(strstr(str, "mx_") == str, " %s", str);
	calls++;
	last = ret;
	return MX_SUCCESS;
}

/* ---- what exits: in a child whose standard error is read ---------------------- */

static int in_child(void (*what)(void), char *said, size_t size)
{
	int status, ends[2];
	ssize_t length;
	pid_t pid;

	CHECK(!pipe(ends));
	pid = fork();
	CHECK(pid >= 0);
	if (!pid) {
		dup2(ends[1], STDERR_FILENO);
		what();
		_exit(0);
	}
	close(ends[1]);
	length = read(ends[0], said, size - 1);
	said[length > 0 ? length : 0] = 0;
	CHECK(waitpid(pid, &status, 0) == pid);
	CHECK(WIFEXITED(status));
	close(ends[0]);
	return WEXITSTATUS(status);
}

static void fail_call(void)
{
	uint64_t nic;

	mx_board_number_to_nic_id(31, &nic);
}

static void fail_as_usual(void)
{
	FINE(mx_init());
	fail_call();
}

static void fail_before_init(void)
{
	fail_call();
}

static void fail_and_return(void)
{
	mx_set_error_handler(MX_ERRORS_RETURN);
	fail_as_usual();
}

static void fail_and_exit(void)
{
	mx_set_error_handler(MX_ERRORS_RETURN);
	FINE(mx_init());
	CHECK(mx_set_error_handler(MX_ERRORS_ARE_FATAL) == MX_ERRORS_RETURN);
	fail_call();
}

static void fail_with_environment(void)
{
	setenv("MX_ERRORS_ARE_FATAL", "0", 1);
	fail_as_usual();
}

static void check_defaults(void)
{
	char said[500];

	CHECK(in_child(fail_as_usual, said, sizeof(said)) != 0);
	CHECK(strstr(said, mx_strerror(MX_BOARD_UNKNOWN)), " %s", said);
	CHECK(strstr(said, "mx_board_number_to_nic_id"), " %s", said);
	CHECK(in_child(fail_before_init, said, sizeof(said)) != 0);
	CHECK(strstr(said, mx_strerror(MX_NOT_INITIALIZED)), " %s", said);
	CHECK(in_child(fail_and_exit, said, sizeof(said)) != 0);
	EQUAL(in_child(fail_and_return, said, sizeof(said)), 0);
	CHECK(!*said, " %s", said);
	EQUAL(in_child(fail_with_environment, said, sizeof(said)), 0);
}

/* ---- Myricom's environment, in a child -------------------------------------------- */

static void cache_off(void)
{
	unsetenv("OMX_RCACHE");
	setenv("MX_RCACHE", "0", 1);
	FINE(mx_init());
	CHECK(!strcmp(getenv("OMX_RCACHE"), "0"));
}

static void cache_on(void)
{
	unsetenv("OMX_RCACHE");
	setenv("MX_RCACHE", "2", 1);
	setenv("MX_DISABLE_SELF", "1", 1);
	setenv("MX_DISABLE_SHMEM", "1", 1);
	setenv("MX_PIPELINE_LOG", "0", 1);
	FINE(mx_init());
	CHECK(!getenv("OMX_RCACHE"));
}

static void cache_as_omx_says(void)
{
	setenv("OMX_RCACHE", "1", 1);
	setenv("MX_RCACHE", "0", 1);
	FINE(mx_init());
	CHECK(!strcmp(getenv("OMX_RCACHE"), "1"));
}

static void check_environment(void)
{
	char said[500];

	EQUAL(in_child(cache_off, said, sizeof(said)), 0);
	EQUAL(in_child(cache_on, said, sizeof(said)), 0);
	CHECK(!*said, " %s", said);
	EQUAL(in_child(cache_as_omx_says, said, sizeof(said)), 0);
}

/* ---- what returns --------------------------------------------------------------- */

static void not_initialized(void)
{
	char name[MX_MAX_HOSTNAME_LEN] = "node1:0";
	mx_endpoint_t ep;
	uint32_t number;
	uint64_t nic;

	GIVES(mx_finalize(), MX_NOT_INITIALIZED);
	GIVES(mx_open_endpoint(0, 1, KEY, NULL, 0, &ep), MX_NOT_INITIALIZED);
	GIVES(mx_board_number_to_nic_id(0, &nic), MX_NOT_INITIALIZED);
	GIVES(mx_nic_id_to_board_number(1, &number), MX_NOT_INITIALIZED);
	GIVES(mx_hostname_to_nic_id(name, &nic), MX_NOT_INITIALIZED);
	GIVES(mx_nic_id_to_hostname(1, name), MX_NOT_INITIALIZED);
	GIVES(mx_get_info(NULL, MX_NIC_COUNT, NULL, 0, &number, sizeof(number)),
	      MX_NOT_INITIALIZED);
	GIVES(mx_get_info(NULL, MX_NATIVE_REQUESTS, NULL, 0, &number, sizeof(number)),
	      MX_NOT_INITIALIZED);
}

static void check_versions(void)
{
	EQUAL(MX_API, 0x301);
	GIVES(mx__init_api(0x200), MX_BAD_LIB_VERSION);
	GIVES(mx__init_api(0x400), MX_BAD_LIB_VERSION);
	FINE(mx__init_api(0x300));
	GIVES(mx_init(), MX_ALREADY_INITIALIZED);
	FINE(mx_finalize());
}

static void own_handler(void)
{
	mx_error_handler_t old = mx_set_error_handler(forgive_error);
	uint64_t nic;

	CHECK(old == MX_ERRORS_RETURN);
	calls = 0;
	FINE(mx_init());
	EQUAL(calls, 0);
	FINE(mx_board_number_to_nic_id(31, &nic));
	EQUAL(calls, 1);
	EQUAL(last, MX_BOARD_UNKNOWN);
	CHECK(mx_set_error_handler(old) == forgive_error);
	GIVES(mx_board_number_to_nic_id(31, &nic), MX_BOARD_UNKNOWN);
	EQUAL(calls, 1);
	CHECK(mx_set_error_handler(NULL) == old);
	CHECK(mx_set_error_handler(old) == MX_ERRORS_ARE_FATAL);
	FINE(mx_finalize());
}

static void check_texts(void)
{
	int i;

	for (i = 0; i <= MX_NOT_SUPPORTED_WITH_CONTEXT_ID; i++)
		CHECK(strcmp(mx_strerror(i), mx_strerror(999)), " %d", i);
	for (i = 0; i <= MX_STATUS_NO_RESOURCES; i++)
		CHECK(strcmp(mx_strstatus(i), mx_strstatus(999)), " %d", i);
	CHECK(!strcmp(mx_strerror(MX_SUCCESS), mx_strstatus(MX_STATUS_SUCCESS)));
	CHECK(*mx_strerror(-1) && *mx_strstatus(-1));
}

static void run_test(void)
{
	check_defaults();
	check_environment();
	mx_set_error_handler(MX_ERRORS_RETURN);
	check_texts();
	not_initialized();
	check_versions();
	own_handler();
	not_initialized();
}

int main(int argc, char **argv)
{
	return run_alone(argc, argv, run_test);
}
