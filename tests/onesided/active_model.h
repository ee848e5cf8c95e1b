/* SPDX-License-Identifier: BSD-2-Clause */
/* What the flags of pages do to an access, computed anew from docs/ONE-SIDED.md. */
#ifndef TESTS_ONESIDED_ACTIVE_MODEL_H
#define TESTS_ONESIDED_ACTIVE_MODEL_H

#include "accesses.h"

struct outcome {
	bool refused;		/* MESSAGE_ABORTED at the initiator */
	bool performed;		/* the target's memory is accessed */
	bool logged;		/* there is an entry ... */
	bool with_data;		/* ... with the data */
	bool traced;		/* recorded, but in no log */
};

/* `flags` of each page of the window; pulled: the access is longer than packets carry. */
struct outcome outcome_of(omx_log_kind_t kind, const uint32_t *flags, uint64_t offset,
			  uint64_t length, bool pulled);

#endif
