/* SPDX-License-Identifier: BSD-2-Clause */
#include <inttypes.h>
#include <stdio.h>

#include "../complain.h"
#include "check.h"
#include "pattern.h"
#include "protocol.h"

#define GUARD_SEED 0x6775617264u

static void found_fault(struct check *check, struct fault fault)
{
	if (!check->faults++)
		check->first = fault;
}

void check_length(struct check *check, const omx_status_t *status,
		  uint64_t length, uint64_t number)
{
	if (status->xfer_length != length || status->msg_length != length)
		found_fault(check, (struct fault){
			.kind = FAULT_LENGTH, .length = length, .number = number,
			.expected = length, .found = status->xfer_length });
}

void check_status(struct check *check, const omx_status_t *status,
		  uint64_t length, uint64_t number)
{
	check_length(check, status, length, number);
	if (match_number(status->match_info) != number)
		found_fault(check, (struct fault){
			.kind = FAULT_ORDER, .length = length, .number = number,
			.expected = number, .found = match_number(status->match_info) });
}

void check_prepare(void *buffer, uint64_t length)
{
	pattern_fill((char *)buffer + length, GUARD_LENGTH, GUARD_SEED);
}

static void check_area(struct check *check, const void *area, size_t size, uint64_t seed,
		       struct fault fault)
{
	size_t offset = pattern_check(area, size, seed);

	if (offset == size)
		return;
	fault.offset = offset;
	fault.expected = pattern_byte(offset, seed);
	fault.found = ((const uint8_t *)area)[offset];
	found_fault(check, fault);
}

void check_data(struct check *check, const void *buffer, uint64_t length,
		uint64_t number, uint64_t seed)
{
	check->messages++;
	check_area(check, buffer, length, seed, (struct fault){
		.kind = FAULT_DATA, .length = length, .number = number });
	check_area(check, (const char *)buffer + length, GUARD_LENGTH, GUARD_SEED,
		   (struct fault){
		.kind = FAULT_GUARD, .length = length, .number = number });
}

void check_word(struct check *check, uint64_t expected, uint64_t found, uint64_t number)
{
	if (found != expected)
		found_fault(check, (struct fault){
			.kind = FAULT_WORD, .length = sizeof(found), .number = number,
			.expected = expected, .found = found });
}

/* All formats print the same three values: expected, found, offset. */
static const char *describe_fault(uint64_t kind)
{
	switch (kind) {
	case FAULT_LENGTH:
		return "%" PRIu64 " bytes were sent, %" PRIu64 " came";
	case FAULT_ORDER:
		return "number %" PRIu64 " was due, %" PRIu64 " came";
	case FAULT_DATA:
		return "byte 0x%02" PRIx64 " came as 0x%02" PRIx64 " at offset %" PRIu64;
	case FAULT_GUARD:
		return "byte 0x%02" PRIx64 " became 0x%02" PRIx64 " at offset %" PRIu64
		       " behind the buffer";
	case FAULT_WORD:
		return "the word should be %" PRIu64 ", it is %" PRIu64;
	default:
		return "fault %" PRIu64 " %" PRIu64 " %" PRIu64;
	}
}

void check_print(const struct check *check, const char *where)
{
	const struct fault *fault = &check->first;
	char text[128];

	if (!check->faults)
		return;
	snprintf(text, sizeof(text), describe_fault(fault->kind), fault->expected,
		 fault->found, fault->offset);
	complain(NULL, "%s: message %" PRIu64 " of %" PRIu64 " bytes: %s (%" PRIu64
		 " faults in all)", where, fault->number, fault->length, text,
		 check->faults);
}
