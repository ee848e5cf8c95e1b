/* SPDX-License-Identifier: GPL-2.0 */
#ifndef OMX_CHARDEV_H
#define OMX_CHARDEV_H

int omx_chardev_init(void);
void omx_chardev_exit(void);

#endif
