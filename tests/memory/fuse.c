// SPDX-License-Identifier: BSD-2-Clause
#include "fuse.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "endpoints.h"

#define DEVICE		"/dev/fuse"
#define WRITE_MAX	4096
#define VALID_S		3600

static size_t file_length;
static uint64_t last_node = FUSE_ROOT_ID, last_read = FUSE_ROOT_ID;

struct request {
	struct fuse_in_header header;
	char rest[FUSE_MIN_READ_BUFFER + WRITE_MAX];
};

bool has_fuse(void)
{
	return !access(DEVICE, R_OK | W_OK);
}

int mount_fuse(const char *directory, size_t length)
{
	int server = open(DEVICE, O_RDWR | O_CLOEXEC);
	char data[100];

	CHECK(server >= 0, "%m");
	file_length = length;
	snprintf(data, sizeof(data), "fd=%d,rootmode=40000,user_id=0,group_id=0", server);
	CHECK(!mount("omx_test", directory, "fuse", MS_NOSUID | MS_NODEV, data), "%m");
	return server;
}

static void send_answer(int server, const struct request *request, int error, void *body,
			size_t length)
{
	struct fuse_out_header header = {
		.len = (uint32_t)(sizeof(header) + length),
		.error = -error,
		.unique = request->header.unique,
	};
	struct iovec parts[] = { { &header, sizeof(header) }, { body, length } };
	ssize_t written = writev(server, parts, 2);

	/* The reader may have been killed. */
	CHECK(written == (ssize_t)header.len || errno == ENOENT, "%m");
}

static void answer_init(int server, const struct request *request)
{
	const struct fuse_init_in *in = (const void *)request->rest;
	struct fuse_init_out out = {
		.major = FUSE_KERNEL_VERSION,
		.minor = FUSE_KERNEL_MINOR_VERSION,
		.max_readahead = in->max_readahead,
		/*
		 * Without it, the kernel waits uninterruptibly for what it
		 * reads.
		 */
		.flags = FUSE_ASYNC_READ,
		.max_background = 64,
		.congestion_threshold = 48,
		.max_write = WRITE_MAX,
	};

	send_answer(server, request, 0, &out, sizeof(out));
}

static struct fuse_attr file_attributes(uint64_t node)
{
	bool is_root = node == FUSE_ROOT_ID;

	return (struct fuse_attr) {
		.ino = node,
		.size = is_root ? 0 : file_length,
		.mode = is_root ? S_IFDIR | 0755 : S_IFREG | 0644,
		.nlink = 1,
	};
}

static void answer_lookup(int server, const struct request *request)
{
	struct fuse_entry_out out = {
		.nodeid = ++last_node,
		.entry_valid = VALID_S,
		.attr_valid = VALID_S,
		.attr = file_attributes(last_node),
	};

	send_answer(server, request, 0, &out, sizeof(out));
}

static void answer_getattr(int server, const struct request *request)
{
	struct fuse_attr_out out = {
		.attr_valid = VALID_S,
		.attr = file_attributes(request->header.nodeid),
	};

	send_answer(server, request, 0, &out, sizeof(out));
}

static void answer_open(int server, const struct request *request)
{
	struct fuse_open_out out = { 0 };

	send_answer(server, request, 0, &out, sizeof(out));
}

/* Whether nobody has read the file before. */
static bool is_first_read(uint64_t node)
{
	bool is_first = node > last_read;

	if (is_first)
		last_read = node;
	return is_first;
}

/* Returns whether it was a file's first read; reads have no answer. */
static bool serve_request(int server, const struct request *request)
{
	switch (request->header.opcode) {
	case FUSE_READ:
		return is_first_read(request->header.nodeid);
	case FUSE_INIT:
		answer_init(server, request);
		break;
	case FUSE_LOOKUP:
		answer_lookup(server, request);
		break;
	case FUSE_GETATTR:
		answer_getattr(server, request);
		break;
	case FUSE_OPEN:
		answer_open(server, request);
		break;
	case FUSE_FORGET:
	case FUSE_BATCH_FORGET:
	case FUSE_INTERRUPT:
		break;
	default:
		send_answer(server, request, ENOSYS, NULL, 0);
	}
	return false;
}

bool serve_until_read(int server, unsigned int seconds)
{
	static struct request request;
	struct pollfd asked = { .fd = server, .events = POLLIN };

	while (poll(&asked, 1, (int)seconds * 1000) == 1) {
		if (read(server, &request, sizeof(request)) < 0)
			CHECK(errno == ENOENT || errno == EINTR, "%m");
		else if (serve_request(server, &request))
			return true;
	}
	return false;
}
