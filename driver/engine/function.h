/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The PCI function of omx-engine, the copy engine of tests/engine: its registers,
 * channels and interrupts.  device_engine.h uses it.  There is one, the first that is
 * found.
 */
#ifndef OMX_FUNCTION_H
#define OMX_FUNCTION_H

#include <linux/types.h>

#include "engine/engine_ring.h"

struct pci_dev;

#define OMX_RINGS_MAX	8

struct omx_function {
	struct pci_dev *pdev;
	void __iomem *registers;
	u32 max_length;			/* of a copy */
	bool has_pasid;			/* and page requests */
	unsigned int rings;
	struct omx_engine_ring ring[OMX_RINGS_MAX];
};

#ifdef OMX_PCI_ENGINE

/* ---- process context ---- */
void omx_function_init(void);
void omx_function_exit(void);

/* ---- any context ---- */
/* At once nothing is read or written any more, and nothing is on the rings. */
void omx_function_reset(struct omx_function *function);
/* Has a channel stopped with an error? */
bool omx_function_has_halted(struct omx_function *function);

#else

static inline void omx_function_init(void) { }
static inline void omx_function_exit(void) { }

#endif
#endif
