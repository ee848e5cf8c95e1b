/* SPDX-License-Identifier: BSD-2-Clause */
/* Channels that cannot go on, beside those of a crowd. */
#ifndef SIM_STUCK_H
#define SIM_STUCK_H

/* Each begins them, to program 1 of node 0. */
void sim_stuck_refused(void);
void sim_stuck_cut(void);
void sim_stuck_narrow(void);
/* The others are done: those of sim_stuck_refused() go on, the others end. */
void sim_stuck_resume(void);
void sim_stuck_end(void);

#endif
