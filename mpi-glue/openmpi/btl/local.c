/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Atomics on memory of this process, or memory that it shares with others of
 * its node.  The driver's are atomic with respect to these.
 */
#include "btl_omx.h"

static uint64_t local_changed(omx_atomic_t op, uint64_t before, uint64_t operand,
			      uint64_t compare)
{
	switch (op) {
	case OMX_ATOMIC_ADD:
		return before + operand;
	case OMX_ATOMIC_AND:
		return before & operand;
	case OMX_ATOMIC_OR:
		return before | operand;
	case OMX_ATOMIC_XOR:
		return before ^ operand;
	case OMX_ATOMIC_SWAP:
		return operand;
	default:
		return before == compare ? operand : before;
	}
}

/* False: the word was not *before, which is now what it was. */
static bool local_replace(void *word, uint32_t size, uint64_t *before, uint64_t after)
{
	uint32_t before32 = (uint32_t)*before;
	bool done;

	if (size == 8)
		return __atomic_compare_exchange_n((uint64_t *)word, before, after, false,
						   __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
	done = __atomic_compare_exchange_n((uint32_t *)word, &before32, (uint32_t)after, false,
					   __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
	*before = before32;
	return done;
}

uint64_t btl_omx_atomic_local(omx_atomic_t op, uint32_t size, void *word, uint64_t operand,
			      uint64_t compare)
{
	uint64_t before = 0;	/* a guess */

	while (!local_replace(word, size, &before, local_changed(op, before, operand, compare)))
		;
	return before;
}
