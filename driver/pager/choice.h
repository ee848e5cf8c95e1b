/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A choice is the value of a module parameter that is one of some words.
 */
#ifndef OMX_CHOICE_H
#define OMX_CHOICE_H

#include <linux/moduleparam.h>

struct omx_choice {
	const char *const *words;	/* the last one is followed by NULL */
	int value;			/* index of a word; READ_ONCE() */
};

/* For module_param_cb() with a struct omx_choice. */
extern const struct kernel_param_ops omx_choice_ops;

#endif
