/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Atomics on memory of this process, or memory that it shares with others of
 * its node.  The driver's are atomic with respect to these.
 */
#include "btl_omx.h"

static uint32_t local_change32(omx_atomic_t op, uint32_t *word, uint32_t operand,
			       uint32_t compare)
{
	switch (op) {
	case OMX_ATOMIC_ADD:
		return __atomic_fetch_add(word, operand, __ATOMIC_SEQ_CST);
	case OMX_ATOMIC_AND:
		return __atomic_fetch_and(word, operand, __ATOMIC_SEQ_CST);
	case OMX_ATOMIC_OR:
		return __atomic_fetch_or(word, operand, __ATOMIC_SEQ_CST);
	case OMX_ATOMIC_XOR:
		return __atomic_fetch_xor(word, operand, __ATOMIC_SEQ_CST);
	case OMX_ATOMIC_SWAP:
		return __atomic_exchange_n(word, operand, __ATOMIC_SEQ_CST);
	default:
		__atomic_compare_exchange_n(word, &compare, operand, false, __ATOMIC_SEQ_CST,
					    __ATOMIC_SEQ_CST);
		return compare;
	}
}

static uint64_t local_change64(omx_atomic_t op, uint64_t *word, uint64_t operand,
			       uint64_t compare)
{
	switch (op) {
	case OMX_ATOMIC_ADD:
		return __atomic_fetch_add(word, operand, __ATOMIC_SEQ_CST);
	case OMX_ATOMIC_AND:
		return __atomic_fetch_and(word, operand, __ATOMIC_SEQ_CST);
	case OMX_ATOMIC_OR:
		return __atomic_fetch_or(word, operand, __ATOMIC_SEQ_CST);
	case OMX_ATOMIC_XOR:
		return __atomic_fetch_xor(word, operand, __ATOMIC_SEQ_CST);
	case OMX_ATOMIC_SWAP:
		return __atomic_exchange_n(word, operand, __ATOMIC_SEQ_CST);
	default:
		__atomic_compare_exchange_n(word, &compare, operand, false, __ATOMIC_SEQ_CST,
					    __ATOMIC_SEQ_CST);
		return compare;
	}
}

uint64_t btl_omx_atomic_local(omx_atomic_t op, uint32_t size, void *word, uint64_t operand,
			      uint64_t compare)
{
	if (size == 4)
		return local_change32(op, word, (uint32_t)operand, (uint32_t)compare);
	return local_change64(op, word, operand, compare);
}
