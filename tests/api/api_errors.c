// SPDX-License-Identifier: BSD-2-Clause
/*
 * Error handlers: which one is called, with which error, and that its return
 * value replaces the error.
 */
#include "endpoints.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int calls;
static omx_return_t last;

static omx_return_t count_error(char *str, omx_return_t ret)
{
	CHECK(str && *str);
	calls++;
	last = ret;
	return ret;
}

static omx_return_t forgive_error(char *str, omx_return_t ret)
{
	CHECK(strstr(str, "omx_"), " %s", str);
	calls++;
	last = ret;
	return OMX_SUCCESS;
}

/* Handlers are called without locks, so they may call the library. */
static omx_return_t call_back(char *str, omx_return_t ret)
{
	uint64_t nic;

	(void)str;
	MUST(omx_board_number_to_nic_id(0, &nic));
	MUST(omx_close_endpoint(open_any()));
	return ret;
}

static omx_return_t fail_receive(omx_endpoint_t ep)
{
	omx_request_t request;

	return omx_irecv(ep, NULL, 0, 0xff, 0, NULL, &request);
}

static void default_returns(void)
{
	omx_endpoint_t ep = open_any();

	RETURNS(fail_receive(ep), OMX_BAD_MATCH_MASK);
	MUST(omx_close_endpoint(ep));
}

static void without_endpoint(void)
{
	omx_error_handler_t old = omx_set_error_handler(NULL, count_error);
	uint64_t nic;

	CHECK(old == OMX_ERRORS_RETURN);
	calls = 0;
	RETURNS(omx_board_number_to_nic_id(31, &nic), OMX_BOARD_NOT_FOUND);
	EQUAL(calls, 1);
	EQUAL(last, OMX_BOARD_NOT_FOUND);
	CHECK(omx_set_error_handler(NULL, old) == count_error);
	RETURNS(omx_board_number_to_nic_id(31, &nic), OMX_BOARD_NOT_FOUND);
	EQUAL(calls, 1);
}

static void endpoint_before_default(void)
{
	omx_endpoint_t one = open_any(), other = open_any();

	omx_set_error_handler(NULL, count_error);
	CHECK(omx_set_error_handler(one, forgive_error) == count_error);
	calls = 0;
	MUST(fail_receive(one));
	EQUAL(calls, 1);
	EQUAL(last, OMX_BAD_MATCH_MASK);
	RETURNS(fail_receive(other), OMX_BAD_MATCH_MASK);
	EQUAL(calls, 2);
	CHECK(omx_set_error_handler(one, OMX_ERRORS_RETURN) == forgive_error);
	RETURNS(fail_receive(one), OMX_BAD_MATCH_MASK);
	EQUAL(calls, 2);
	MUST(omx_close_endpoint(one));
	MUST(omx_close_endpoint(other));
	omx_set_error_handler(NULL, OMX_ERRORS_RETURN);
}

static void as_parameter(void)
{
	omx_endpoint_param_t param = { .key = OMX_ENDPOINT_PARAM_ERROR_HANDLER,
				       .val.error_handler = forgive_error };
	omx_endpoint_t ep = open_number(1, &param, 1);

	calls = 0;
	MUST(fail_receive(ep));
	EQUAL(calls, 1);
	MUST(omx_close_endpoint(ep));
}

static void from_within(void)
{
	omx_endpoint_t ep = open_any();

	omx_set_error_handler(ep, call_back);
	RETURNS(fail_receive(ep), OMX_BAD_MATCH_MASK);
	MUST(omx_close_endpoint(ep));
}

/* The status of a message is not passed to the error handler. */
static void statuses_are_no_errors(void)
{
	omx_endpoint_t ep = open_any();
	omx_endpoint_addr_t self = connect_self(ep);
	omx_request_t request;
	char byte;

	omx_set_error_handler(ep, count_error);
	calls = 0;
	MUST(omx_isend(ep, "ab", 2, self, 1, NULL, NULL));
	MUST(omx_irecv(ep, &byte, 1, 1, EXACT, NULL, &request));
	finish_with(ep, &request, OMX_MESSAGE_TRUNCATED);
	EQUAL(calls, 0);
	MUST(omx_close_endpoint(ep));
}

/* The default handler prints the error and ends the program. */
static void fail_fatally(void)
{
	char text[500] = "";
	int status, ends[2];
	pid_t pid;

	CHECK(!pipe(ends));
	pid = fork();
	CHECK(pid >= 0);
	if (!pid) {
		uint64_t nic;

		dup2(ends[1], STDERR_FILENO);
		MUST(omx_init());
		omx_set_error_handler(NULL, OMX_ERRORS_ARE_FATAL);
		omx_board_number_to_nic_id(31, &nic);
		_exit(0);
	}
	close(ends[1]);
	CHECK(read(ends[0], text, sizeof(text) - 1) > 10);
	CHECK(waitpid(pid, &status, 0) == pid);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) != 0);
	CHECK(strstr(text, omx_strerror(OMX_BOARD_NOT_FOUND)), " %s", text);
	close(ends[0]);
}

static void run_test(void)
{
	fail_fatally();
	MUST(omx_init());
	default_returns();
	without_endpoint();
	endpoint_before_default();
	as_parameter();
	from_within();
	statuses_are_no_errors();
	MUST(omx_finalize());
}

int main(int argc, char **argv)
{
	return run_alone(argc, argv, run_test);
}
