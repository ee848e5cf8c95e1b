// SPDX-License-Identifier: BSD-2-Clause
#include "atomic_model.h"

static int64_t as_signed(uint64_t word, uint32_t size)
{
	return size == 4 ? (int32_t)word : (int64_t)word;
}

static uint64_t result_of(omx_atomic_t operation, uint32_t size, uint64_t word, uint64_t operand,
			  uint64_t compare)
{
	int64_t a = as_signed(word, size), b = as_signed(operand, size);

	switch (operation) {
	case OMX_ATOMIC_ADD: return word + operand;
	case OMX_ATOMIC_AND: return word & operand;
	case OMX_ATOMIC_OR: return word | operand;
	case OMX_ATOMIC_XOR: return word ^ operand;
	case OMX_ATOMIC_SWAP: return operand;
	case OMX_ATOMIC_MIN: return a < b ? word : operand;
	case OMX_ATOMIC_MAX: return a > b ? word : operand;
	case OMX_ATOMIC_UMIN: return word < operand ? word : operand;
	case OMX_ATOMIC_UMAX: return word > operand ? word : operand;
	case OMX_ATOMIC_COMPARE_SWAP: return word == compare ? operand : word;
	}
	return 0;
}

uint64_t atomic_result(omx_atomic_t operation, uint32_t size, uint64_t word, uint64_t operand,
		       uint64_t compare)
{
	uint64_t mask = size == 4 ? 0xffffffff : ~0ull;

	return result_of(operation, size, word & mask, operand & mask, compare & mask) & mask;
}
