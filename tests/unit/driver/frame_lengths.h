/* SPDX-License-Identifier: BSD-2-Clause */
/* Those that pulls are tested with: very short, of usual MTUs, the longest. */
#ifndef FRAME_LENGTHS_H
#define FRAME_LENGTHS_H

#include <linux/types.h>

static const u32 frame_lengths[] = { 16, 1456, 1464, 4064, 8960, 65504, 65520 };

#define FRAME_LENGTHS	(sizeof(frame_lengths) / sizeof(frame_lengths[0]))

#endif
