/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef OMX_TX_PAGE_POOL_H
#define OMX_TX_PAGE_POOL_H

unsigned int omx_page_pool_page_size(unsigned int length);

#endif
