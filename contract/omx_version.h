/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The version of the release.  The driver reports it; configure reads it for the
 * library and the tools.
 */
#ifndef OMX_VERSION_H
#define OMX_VERSION_H

#define OMX_VERSION	"0.1.0"		/* configure.ac reads it */

#endif
