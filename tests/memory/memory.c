// SPDX-License-Identifier: BSD-2-Clause
#include "memory.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

omx_memory_mode_t mode = OMX_MEMORY_AUTO;

static const char *const modes[] = {
	[OMX_MEMORY_AUTO] = "auto",
	[OMX_MEMORY_UNPINNED] = "unpinned",
	[OMX_MEMORY_OVERLAP] = "overlap",
	[OMX_MEMORY_PIN] = "pin",
	[OMX_MEMORY_PERMANENT] = "permanent",
	[OMX_MEMORY_DEVICE] = "device",
};

#define MODES (sizeof(modes) / sizeof(modes[0]))

void memory_mode(int argc, char **argv)
{
	const char *name = getenv("OMX_MEMORY");
	unsigned int i;
	int a;

	for (a = 1; a + 1 < argc; a++)
		if (!strcmp(argv[a], "--mode"))
			name = argv[a + 1];
	if (!name)
		return;
	for (i = 0; i < MODES && strcmp(name, modes[i]); i++)
		;
	CHECK(i < MODES, "there is no mode %s", name);
	mode = i;
	setenv("OMX_MEMORY", name, 1);
}

void check_mode(omx_endpoint_t ep)
{
	omx_memory_mode_t is;

	MUST(omx_get_memory_mode(ep, &is));
	EQUAL(is, mode);
}

uint8_t *map_file(void *at, size_t size, int file, int flags)
{
	void *p = mmap(at, size, PROT_READ | PROT_WRITE,
		       flags | (at ? MAP_FIXED : 0), file, 0);

	CHECK(p != MAP_FAILED, "%zu bytes at %p: %m", size, at);
	return p;
}

uint8_t *map_anonymous(void *at, size_t size)
{
	return map_file(at, size, -1, MAP_PRIVATE | MAP_ANONYMOUS);
}

int memory_file(size_t size)
{
	int file = memfd_create("memory", MFD_CLOEXEC);

	CHECK(file >= 0);
	CHECK(!ftruncate(file, size));
	return file;
}

uint64_t vmstat(const char *name)
{
	unsigned long long value;
	uint64_t found = 0;
	char word[64];
	FILE *file = fopen("/proc/vmstat", "r");

	if (!file)
		return 0;
	while (fscanf(file, "%63s %llu", word, &value) == 2)
		if (!strcmp(word, name))
			found = value;
	fclose(file);
	return found;
}

uint64_t read_counter(const char *label)
{
	FILE *counters = popen("omx_counters --verbose", "r");
	unsigned long long value;
	uint64_t found = ~0ull;
	char line[200];
	int end;

	CHECK(counters);
	while (fgets(line, sizeof(line), counters)) {
		line[strcspn(line, "\n")] = 0;
		end = 0;
		if (sscanf(line, "%*u: %llu %n", &value, &end) == 1 && !strcmp(line + end, label))
			found = value;
	}
	CHECK(!pclose(counters));
	CHECK(found != ~0ull, "nobody counts \"%s\"", label);
	return found;
}

bool write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool ok;

	if (fd < 0)
		return false;
	ok = write(fd, text, strlen(text)) == (ssize_t)strlen(text);
	close(fd);
	return ok;
}

FILE *open_group_file(const char *name)
{
	FILE *file = fopen("/proc/self/cgroup", "r");
	char group[256], path[600];

	CHECK(file && fscanf(file, "0::%255s", group) == 1);
	fclose(file);
	for (;;) {
		snprintf(path, sizeof(path), "/sys/fs/cgroup%s/%s", group, name);
		file = fopen(path, "r");
		if (file || !strrchr(group, '/'))
			return file;
		*strrchr(group, '/') = '\0';
	}
}

/* ---- messages that may fail ---------------------------------------------------------- */

#define POSTED	(CONTROL + 100)
#define ENDED	(CONTROL + 101)

static omx_return_t tell_code(omx_endpoint_t ep, omx_endpoint_addr_t peer, omx_return_t code,
			      uint64_t match)
{
	uint32_t here = code, there = 0;

	MUST(omx_isend(ep, &here, sizeof(here), peer, match, NULL, NULL));
	receive(ep, &there, sizeof(there), match);
	return there;
}

omx_return_t conclude(omx_endpoint_t ep, omx_endpoint_addr_t peer, omx_return_t posted,
		      omx_request_t *request, omx_return_t *there)
{
	omx_return_t here = posted;
	uint32_t cancelled;

	*there = tell_code(ep, peer, posted, POSTED);
	if (posted == OMX_SUCCESS && *there == OMX_SUCCESS) {
		here = finish(ep, request).code;
	} else if (posted == OMX_SUCCESS && *there == OMX_MESSAGE_ABORTED) {
		here = finish_with(ep, request, OMX_MESSAGE_ABORTED).code;
	} else if (posted == OMX_SUCCESS) {
		MUST(omx_cancel(ep, request, &cancelled));
		CHECK(cancelled);
		here = OMX_CANCELLED;
	}
	*there = tell_code(ep, peer, here, ENDED);
	return here;
}

omx_return_t try_message(omx_endpoint_t ep, omx_endpoint_addr_t peer, bool from_server,
			 void *buffer, size_t length, uint64_t match, omx_return_t *there)
{
	omx_request_t request = NULL;
	omx_return_t posted;

	if (from_server == options.server)
		posted = omx_isend(ep, buffer, length, peer, match, NULL, &request);
	else
		posted = omx_irecv(ep, buffer, length, match, EXACT, NULL, &request);
	return conclude(ep, peer, posted, &request, there);
}

void pass(omx_endpoint_t ep, omx_endpoint_addr_t peer, bool from_server, void *buffer,
	  size_t length, uint64_t match)
{
	omx_return_t here, there;

	here = try_message(ep, peer, from_server, buffer, length, match, &there);
	CHECK(here == OMX_SUCCESS && there == OMX_SUCCESS, "%zu bytes: \"%s\" here, \"%s\" there",
	      length, omx_strerror(here), omx_strerror(there));
}
