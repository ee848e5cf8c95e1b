// SPDX-License-Identifier: BSD-2-Clause
/*
 * What the driver would say of frames: reads them from its input, each behind 4 bytes with
 * its length (big endian), and prints for each "-" or the name of the counter.  The test of
 * the dissector compares that with what tshark says.
 */
#include <arpa/inet.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "net/wire.c"

static const char *verdict_name(int verdict)
{
	switch (verdict) {
	case 0:
		return "-";
	case OMX_COUNTER_DROP_LENGTH:
		return "drop_length";
	case OMX_COUNTER_DROP_VERSION:
		return "drop_version";
	case OMX_COUNTER_DROP_TYPE:
		return "drop_type";
	case OMX_COUNTER_DROP_FIELD:
		return "drop_field";
	}
	return "another counter";
}

/* In memory of exactly its length, so that ASan sees a byte too many. */
static int verdict_on(uint32_t length)
{
	uint8_t *frame = malloc(length);
	int verdict;

	if (!frame || fread(frame, 1, length, stdin) != length) {
		fprintf(stderr, "no frame of %u bytes\n", length);
		exit(1);
	}
	verdict = omx_wire_validate(frame, length, length);
	free(frame);
	return verdict;
}

int main(void)
{
	uint32_t length;

	while (fread(&length, sizeof(length), 1, stdin) == 1)
		puts(verdict_name(verdict_on(ntohl(length))));
	return 0;
}
