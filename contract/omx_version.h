/* SPDX-License-Identifier: GPL-2.0 */
#ifndef OMX_VERSION_H
#define OMX_VERSION_H

#define OMX_VERSION	"0.1.0"		/* configure.ac reads it */

#endif
