/* SPDX-License-Identifier: BSD-2-Clause */
#include "channel/private.h"
