/* SPDX-License-Identifier: BSD-2-Clause */
#include "fixture_memory.h"

unsigned char source[8][LARGE + 1], target[8][LARGE + 1];

struct counts counts_now(void)
{
	return (struct counts){
		mock_all_calls(), mock_calls(OMX_IOC_REGION_CREATE),
		mock_calls(OMX_IOC_REGION_DESTROY), mock_calls(OMX_IOC_SEND_RNDV),
		mock_calls(OMX_IOC_PULL),
	};
}

uint32_t created_since(const struct counts *before)
{
	return mock_calls(OMX_IOC_REGION_CREATE) - before->create;
}

uint32_t destroyed_since(const struct counts *before)
{
	return mock_calls(OMX_IOC_REGION_DESTROY) - before->destroy;
}

void set_both(struct pair *pair, omx_memory_mode_t mode)
{
	ok(omx_set_memory_mode(pair->a, mode));
	ok(omx_set_memory_mode(pair->b, mode));
}

void transfer(struct pair *pair, unsigned char *from, unsigned char *to, size_t length)
{
	omx_request_t send, receive;

	fill(from, length, (unsigned int)length);
	memset(to, 0, length);
	ok(omx_irecv(pair->b, to, length, 1, ALL, NULL, &receive));
	ok(omx_isend(pair->a, from, length, pair->to_b, 1, NULL, &send));
	assert_int_equal(finish(pair->b, &receive).code, OMX_SUCCESS);
	assert_int_equal(finish(pair->a, &send).code, OMX_SUCCESS);
	assert_true(filled(to, length, (unsigned int)length));
}

void halves(unsigned char *buffer, omx_seg_t *segs)
{
	segs[0] = (omx_seg_t){ buffer, LARGE / 2 };
	segs[1] = (omx_seg_t){ buffer + LARGE / 2 + 1, LARGE / 2 };
}

omx_region_t declare(omx_endpoint_t ep, void *buffer, size_t length, uint32_t access,
		     omx_memory_mode_t mode)
{
	omx_seg_t seg = { buffer, length };
	omx_region_t region;

	ok(omx_region_declare(ep, &seg, 1, access, mode, &region));
	return region;
}
