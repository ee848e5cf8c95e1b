// SPDX-License-Identifier: GPL-2.0
/*
 * The kernel calls this to read and write parameters whose value is one of some
 * words, in process context and under kernel_param_lock().
 */
#include <linux/compiler.h>
#include <linux/mm.h>
#include <linux/string.h>
#include <linux/sysfs.h>

#include "pager/choice.h"

static int choice_set(const char *text, const struct kernel_param *param)
{
	struct omx_choice *choice = param->arg;
	int value = __sysfs_match_string(choice->words, -1, text);

	if (value < 0)
		return value;
	WRITE_ONCE(choice->value, value);
	return 0;
}

static int choice_get(char *buffer, const struct kernel_param *param)
{
	const struct omx_choice *choice = param->arg;

	return sysfs_emit(buffer, "%s\n", choice->words[READ_ONCE(choice->value)]);
}

const struct kernel_param_ops omx_choice_ops = {
	.set	= choice_set,
	.get	= choice_get,
};
