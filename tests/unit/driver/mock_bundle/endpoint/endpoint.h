/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef OMX_ENDPOINT_H
#define OMX_ENDPOINT_H

#include "endpoint/budget.h"
#include "net/board.h"
#include "omx_abi.h"

struct omx_endpoint {
	struct omx_board *board;
	struct omx_budget budget;
};

#endif
