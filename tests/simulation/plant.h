/* SPDX-License-Identifier: BSD-2-Clause */
/* Bugs that are planted, to show that they are found. */
#ifndef SIM_PLANT_H
#define SIM_PLANT_H

#include <stdbool.h>

enum sim_plant {
	SIM_PLANT_NONE,
	SIM_PLANT_DUPLICATE,
	SIM_PLANT_ACK,
	SIM_PLANT_TIMER,
	SIM_PLANT_PULL,
	SIM_PLANT_LEAK,
	SIM_PLANT_BUNDLE,
};

/* False: there is no such bug. */
bool sim_plant(const char *name);
/* Its name; NULL: none is planted. */
const char *sim_planted(void);

#endif
