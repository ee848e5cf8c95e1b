/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "atomic_file.h"
#include "complain.h"

/*
 * The rename would replace a symbolic link, or a device such as /dev/stdout: follow
 * the one and refuse the other.
 */
static char *find_target(const char *path)
{
	struct stat status;

	if (stat(path, &status) < 0)
		return errno == ENOENT ? strdup(path) : NULL;
	if (!S_ISREG(status.st_mode)) {
		errno = S_ISDIR(status.st_mode) ? EISDIR : EINVAL;
		return NULL;
	}
	return realpath(path, NULL);
}

/* Hidden, and with another end, so that nobody takes it for the file. */
static char *name_temporary(const char *path)
{
	const char *slash = strrchr(path, '/');
	int folder = slash ? slash - path + 1 : 0;
	char *name;

	if (asprintf(&name, "%.*s.%s.XXXXXX", folder, path, path + folder) < 0)
		return NULL;
	return name;
}

static int write_all(int fd, const char *text, size_t length)
{
	while (length) {
		ssize_t written = write(fd, text, length);

		if (written < 0)
			return -1;
		text += written;
		length -= written;
	}
	return 0;
}

/*
 * mkostemp() lets only the owner read what it makes.  The contents are on the disk
 * before the file has its name: a crash leaves no empty file.
 */
static int fill_temporary(char *name, const char *text, size_t length)
{
	int fd = mkostemp(name, O_CLOEXEC), ret, error;
	mode_t mask = umask(0);

	umask(mask);
	if (fd < 0)
		return -1;
	ret = fchmod(fd, 0666 & ~mask) || write_all(fd, text, length) || fsync(fd) ? -1 : 0;
	error = errno;
	if (close(fd) < 0 && !ret) {
		ret = -1;
		error = errno;
	}
	errno = error;
	return ret;
}

static int replace(const char *path, const char *text, size_t length)
{
	char *temporary = name_temporary(path);
	int ret = -1, error;

	if (temporary)
		ret = fill_temporary(temporary, text, length);
	if (!ret)
		ret = rename(temporary, path);
	error = errno;
	if (ret < 0 && temporary)
		unlink(temporary);
	free(temporary);
	errno = error;
	return ret;
}

int atomic_file_write(const char *path, const char *text, size_t length)
{
	char *target = find_target(path);
	int ret = -1;

	if (target)
		ret = replace(target, text, length);
	if (ret < 0)
		complain(NULL, "cannot write %s: %s", path,
			 errno == EINVAL ? "it is no regular file" : strerror(errno));
	free(target);
	return ret;
}
