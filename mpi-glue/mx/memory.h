/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What mx_export_memory and mx_import_memory have said of an endpoint.  libomx opens a
 * closed endpoint again, so it is forgotten when that happens.
 */
#ifndef MX_MEMORY_H
#define MX_MEMORY_H

#include "convert.h"

void mx__memory_forget(mx_endpoint_t ep);
void mx__memory_forget_peer(mx_endpoint_t ep, mx_endpoint_addr_t peer);

#endif
