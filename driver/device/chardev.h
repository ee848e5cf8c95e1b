/* SPDX-License-Identifier: GPL-2.0 */
/*
 * /dev/omx: main.c makes the device when the module is loaded and removes it when
 * the module is unloaded.  Process context.
 */
#ifndef OMX_CHARDEV_H
#define OMX_CHARDEV_H

int omx_chardev_init(void);
void omx_chardev_exit(void);

#endif
