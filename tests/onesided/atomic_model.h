/* SPDX-License-Identifier: BSD-2-Clause */
/* What each atomic operation makes of a word. */
#ifndef TESTS_ONESIDED_ATOMIC_MODEL_H
#define TESTS_ONESIDED_ATOMIC_MODEL_H

#include "omx.h"

#define OPERATIONS	(OMX_ATOMIC_COMPARE_SWAP + 1)

/* Words of 4 bytes are the low half of what is passed and returned. */
uint64_t atomic_result(omx_atomic_t operation, uint32_t size, uint64_t word, uint64_t operand,
		       uint64_t compare);

#endif
