/* SPDX-License-Identifier: BSD-2-Clause */
/* Where the messages of memory_peer and iommu_peer begin and end. */
#ifndef BENCH_MEMORY_END_H
#define BENCH_MEMORY_END_H

#include <stdbool.h>
#include <stdint.h>

#include "omx_peer.h"

#define KIB		UINT64_C(1024)
#define MIB		(KIB * KIB)
#define PAGE		(4 * KIB)

/* The last ones are iommu_peer's. */
enum kind { PINGPONG, ONE_WAY, END, SLOW, SLOW_END, STREAM };

/* A measurement of two; also the message by which the client orders it. */
struct order {
	uint64_t kind, size, count, mode;
	uint64_t fresh;			/* PINGPONG: buffers are mapped anew for each message */
	uint64_t absent[2];		/* ONE_WAY, by side: how many of a hundred pages */
	uint64_t touch;			/* ONE_WAY: the program touches all pages first */
	uint64_t eager;			/* ONE_WAY: short messages are not pulled */
};

enum side { SOURCE, DESTINATION };

struct buffer {
	char *base;
	uint64_t size;
	bool shared;			/* pages outlive MADV_DONTNEED */
};

struct buffer make_buffer(uint64_t size, bool shared);
void free_buffer(struct buffer *buffer);
void touch(const struct buffer *buffer, bool write);

/* Between these two a buffer that touch() has written to is received, or the program ends. */
void wipe(const struct buffer *buffer);
void expect_touched(const struct buffer *buffer);

/* So many of a hundred pages, evenly spread, are no longer mapped. */
void drop(const struct buffer *buffer, uint64_t percent);

omx_region_t declare(const struct buffer *buffer, uint64_t size, uint32_t access,
		     omx_memory_mode_t mode);

/* In mode permanent its messages go by region. */
struct end {
	struct buffer buffer;
	uint32_t access;
	omx_region_t region;
};

struct end make_end(const struct order *order, uint32_t access);
void free_end(struct end *end);

/* Returns the time that touching took, which is no part of any mode. */
uint64_t renew_end(struct end *end, const struct order *order);

omx_request_t post_send(const struct end *end, const struct order *order);
omx_request_t post_receive(const struct end *end, const struct order *order);

#endif
