/* SPDX-License-Identifier: BSD-2-Clause */
#include <assert.h>
#include <endian.h>
#include <string.h>

#include "../complain.h"
#include "link.h"
#include "protocol.h"

#define WORDS (sizeof(struct control) / sizeof(uint64_t))

static_assert(sizeof(struct control) % sizeof(uint64_t) == 0, "64-bit fields only");

int control_send(struct link *link, uint64_t match_info, struct control *control)
{
	uint64_t words[WORDS];
	omx_request_t request;
	omx_status_t status;
	size_t i;

	control->version = PROTOCOL_VERSION;
	memcpy(words, control, sizeof(words));
	for (i = 0; i < WORDS; i++)
		words[i] = htobe64(words[i]);
	if (link_send(link, words, sizeof(words), match_info, false, NULL, &request) < 0)
		return -1;
	return link_wait(link, &request, &status);
}

int control_receive(struct link *link, uint64_t match_info, struct control *control,
		    omx_endpoint_addr_t *from)
{
	uint64_t words[WORDS];
	omx_request_t request;
	omx_status_t status;
	size_t i;

	if (link_receive(link, words, sizeof(words), match_info, MATCH_WHOLE, NULL,
			 &request) < 0 ||
	    link_wait(link, &request, &status) < 0)
		return -1;
	if (status.xfer_length != sizeof(words)) {
		complain(NULL, "the other side is no omx_perf of this version");
		return -1;
	}
	for (i = 0; i < WORDS; i++)
		words[i] = be64toh(words[i]);
	memcpy(control, words, sizeof(words));
	if (from)
		*from = status.addr;
	return 0;
}
