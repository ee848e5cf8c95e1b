/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Two endpoints that know each other, and short ways to say what tests say.
 */
#ifndef FIXTURE_H
#define FIXTURE_H

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "mock_driver.h"
#include "omx.h"

#define KEY	0x1234
#define ALL	UINT64_MAX
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

#define ok(call) assert_int_equal(call, OMX_SUCCESS)

struct pair {
	omx_endpoint_t a, b;
	int fd_a, fd_b;
	omx_endpoint_addr_t to_a, to_b;		/* for the other one */
};

/* cmocka setups and teardowns; state is a struct pair. */
int setup_library(void **state);	/* omx_init only */
int setup_pair(void **state);
int setup_local_pair(void **state);	/* on the board whose channels are local */
int setup_quiet_pair(void **state);	/* no helper thread */
int teardown(void **state);

/* Tests between one of these setups and the teardown. */
#define test_with(function, setup) cmocka_unit_test_setup_teardown(function, setup, teardown)
#define library_test(function)	test_with(function, setup_library)
#define pair_test(function)	test_with(function, setup_pair)
#define quiet_test(function)	test_with(function, setup_quiet_pair)

/* Tests that open their own. */
omx_endpoint_t open_with(uint32_t board, omx_endpoint_param_t *params, uint32_t count);
omx_endpoint_addr_t connect_to(omx_endpoint_t ep, omx_endpoint_t peer);
int fd_of(omx_endpoint_t ep);

/* A pattern that depends on the seed; and is it there? */
void fill(void *buffer, size_t length, unsigned int seed);
bool filled(const void *buffer, size_t length, unsigned int seed);

/* Waits for the request, which must end. */
omx_status_t finish(omx_endpoint_t ep, omx_request_t *request);

/* Is it done?  Tests it if so. */
bool done(omx_endpoint_t ep, omx_request_t *request, omx_status_t *status);

/* A send that nobody waits for, and a receive into nowhere that matches exactly. */
void send_tag(omx_endpoint_t ep, omx_endpoint_addr_t dest, uint64_t tag, size_t length);
omx_status_t receive_tag(omx_endpoint_t ep, uint64_t tag, size_t length);

/* Starts a thread that will sleep in a call, and returns when it does, or when it has ended. */
pthread_t start_sleeper(void *(*run)(void *), void *argument);

/* Does a probe find a message with this tag? */
bool probed(omx_endpoint_t ep, uint64_t tag);

#endif
