/* SPDX-License-Identifier: BSD-2-Clause */
/* Charges always succeed, and are counted. */
#ifndef OMX_BUDGET_H
#define OMX_BUDGET_H

struct omx_budget {
	unsigned long used;
};

static inline void omx_budget_charge(struct omx_budget *budget, unsigned long bytes)
{
	budget->used += bytes;
}

#endif
