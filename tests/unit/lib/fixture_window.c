/* SPDX-License-Identifier: BSD-2-Clause */
#include "fixture_window.h"

unsigned char memory[WINDOW_SIZE] __attribute__((aligned(8)));
unsigned char local[WINDOW_SIZE] __attribute__((aligned(8)));

omx_window_t make_window(omx_endpoint_t ep, void *address, size_t length, uint32_t rights,
			 omx_key_t *key)
{
	omx_window_t window;

	ok(omx_window_create(ep, address, length, rights, NULL, &window));
	assert_non_null(window);
	ok(omx_window_key(ep, window, key));
	return window;
}

omx_key_t memory_key(struct pair *pair)
{
	omx_key_t key;

	make_window(pair->b, memory, sizeof(memory), RIGHTS, &key);
	return key;
}

omx_status_t put(struct pair *pair, omx_key_t key, const void *buffer, size_t length,
		 uint64_t offset)
{
	omx_request_t request;

	ok(omx_iput(pair->a, buffer, length, pair->to_b, key, offset, NULL, &request));
	return finish(pair->a, &request);
}

omx_status_t get(struct pair *pair, omx_key_t key, void *buffer, size_t length,
		 uint64_t offset)
{
	omx_request_t request;

	ok(omx_iget(pair->a, buffer, length, pair->to_b, key, offset, NULL, &request));
	return finish(pair->a, &request);
}

omx_status_t change(struct pair *pair, omx_key_t key, omx_atomic_t operation, uint32_t size,
		    uint64_t offset, uint64_t operand, uint64_t compare, void *before)
{
	omx_request_t request;

	ok(omx_iatomic(pair->a, operation, size, pair->to_b, key, offset, operand, compare,
		       before, NULL, &request));
	return finish(pair->a, &request);
}

bool flushed(struct pair *pair, uint32_t timeout)
{
	uint32_t result;

	ok(omx_flush(pair->a, pair->to_b, &result, timeout));
	return result;
}

bool all_flushed(omx_endpoint_t ep, uint32_t timeout)
{
	uint32_t result;

	ok(omx_flush_all(ep, &result, timeout));
	return result;
}
