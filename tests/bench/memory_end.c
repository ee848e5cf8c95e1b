/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE
#include <err.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "memory_end.h"

/* ---- buffers ---- */

void touch(const struct buffer *buffer, bool write)
{
	volatile char *p = buffer->base;
	uint64_t i;

	for (i = 0; i < buffer->size; i += PAGE) {
		if (write)
			p[i] = 'x';
		else
			(void)p[i];
	}
}

void wipe(const struct buffer *buffer)
{
	uint64_t i;

	for (i = 0; i < buffer->size; i += PAGE)
		buffer->base[i] = 0;
}

void expect_touched(const struct buffer *buffer)
{
	uint64_t i;

	for (i = 0; i < buffer->size; i += PAGE)
		if (buffer->base[i] != 'x')
			errx(1, "byte %" PRIu64 " of a message is wrong", i);
}

static void map(struct buffer *buffer)
{
	int flags = MAP_PRIVATE | MAP_ANONYMOUS, fd = -1;

	if (buffer->shared) {
		flags = MAP_SHARED;
		fd = memfd_create("source", 0);
		if (fd < 0 || ftruncate(fd, (off_t)buffer->size) < 0)
			err(1, "memfd");
	}
	buffer->base = mmap(NULL, buffer->size, PROT_READ | PROT_WRITE, flags, fd, 0);
	if (buffer->base == MAP_FAILED)
		err(1, "buffers");
	if (fd >= 0)
		close(fd);
	madvise(buffer->base, buffer->size, MADV_NOHUGEPAGE);
}

struct buffer make_buffer(uint64_t size, bool shared)
{
	struct buffer buffer = { .size = size, .shared = shared };

	map(&buffer);
	touch(&buffer, true);
	return buffer;
}

void free_buffer(struct buffer *buffer)
{
	munmap(buffer->base, buffer->size);
}

void drop(const struct buffer *buffer, uint64_t percent)
{
	uint64_t i;

	if (percent == 100) {
		if (madvise(buffer->base, buffer->size, MADV_DONTNEED) < 0)
			err(1, "MADV_DONTNEED");
		return;
	}
	for (i = 0; i < buffer->size / PAGE; i++)
		if ((i + 1) * percent / 100 != i * percent / 100)
			madvise(buffer->base + i * PAGE, PAGE, MADV_DONTNEED);
}

/* What this program computed, whoever else ran meanwhile. */
static uint64_t own_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return now.tv_sec * UINT64_C(1000000000) + now.tv_nsec;
}

/* ---- ends ---- */

omx_region_t declare(const struct buffer *buffer, uint64_t size, uint32_t access,
		     omx_memory_mode_t mode)
{
	omx_seg_t seg = { .ptr = buffer->base, .len = size };
	omx_region_t region;

	check("declare", omx_region_declare(ep, &seg, 1, access, mode, &region));
	return region;
}

static void declare_end(struct end *end, const struct order *order)
{
	if (order->mode == OMX_MEMORY_PERMANENT)
		end->region = declare(&end->buffer, order->size, end->access,
				      OMX_MEMORY_PERMANENT);
}

static void release_end(struct end *end)
{
	if (end->region)
		check("release", omx_region_release(ep, end->region));
	end->region = NULL;
}

struct end make_end(const struct order *order, uint32_t access)
{
	bool shared = access == OMX_REGION_SEND && order->absent[SOURCE];
	struct end end = { .buffer = make_buffer(order->size, shared), .access = access };

	declare_end(&end, order);
	return end;
}

void free_end(struct end *end)
{
	release_end(end);
	free_buffer(&end->buffer);
}

uint64_t renew_end(struct end *end, const struct order *order)
{
	uint64_t start, touching;

	release_end(end);
	free_buffer(&end->buffer);
	map(&end->buffer);
	start = own_ns();
	touch(&end->buffer, true);
	touching = own_ns() - start;
	declare_end(end, order);
	return touching;
}

omx_request_t post_send(const struct end *end, const struct order *order)
{
	bool pulled = order->kind == ONE_WAY && !order->eager;
	omx_request_t request;

	if (end->region)
		check("send", omx_region_isend(ep, end->region, order->size, peer, MATCH,
					       NULL, &request));
	else if (pulled)
		check("send", omx_issend(ep, end->buffer.base, order->size, peer, MATCH,
					 NULL, &request));
	else
		check("send", omx_isend(ep, end->buffer.base, order->size, peer, MATCH,
					NULL, &request));
	return request;
}

omx_request_t post_receive(const struct end *end, const struct order *order)
{
	omx_request_t request;

	if (end->region)
		check("receive", omx_region_irecv(ep, end->region, order->size, MATCH,
						  ~UINT64_C(0), NULL, &request));
	else
		check("receive", omx_irecv(ep, end->buffer.base, order->size, MATCH,
					   ~UINT64_C(0), NULL, &request));
	return request;
}
