/* SPDX-License-Identifier: BSD-2-Clause */
/* A host that keeps to no window. */
#ifndef SIM_FLOOD_H
#define SIM_FLOOD_H

#include "program.h"

/* This node, which has no board, sends to the program from now on. */
void sim_flood_start(struct sim_node *node, const struct sim_program *victim);
/* Does nothing if there is no flood. */
void sim_flood_stop(void);

#endif
