/* SPDX-License-Identifier: BSD-2-Clause */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "complain.h"
#include "trace.h"

#define BUFFER_KB "8192"	/* of each processor */
#define PAUSE_MS 20

static volatile sig_atomic_t stopped_by;

struct instance {
	char path[128];
	int pipe;
	char text[65536];
	size_t used;
};

static void record_stop(int signal)
{
	stopped_by = signal;
}

/* ---- the instance ---- */

static const char *find_tracefs(void)
{
	static const char *const places[] = {
		"/sys/kernel/tracing", "/sys/kernel/debug/tracing",
	};
	char path[64];
	unsigned int i;

	for (i = 0; i < 2; i++) {
		snprintf(path, sizeof(path), "%s/instances", places[i]);
		if (!access(path, X_OK))
			return places[i];
	}
	if (geteuid()) {
		complain("run it as root", "needs tracefs");
		return NULL;
	}
	if (!mount("tracefs", places[0], "tracefs", 0, NULL))
		return places[0];
	complain_errno(NULL, "cannot mount tracefs on %s (this kernel may be built without it)",
		       places[0]);
	return NULL;
}

static int write_file(const struct instance *instance, const char *name, const char *text)
{
	char path[192];
	int fd, failed;

	snprintf(path, sizeof(path), "%s/%s", instance->path, name);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	failed = fd < 0 || write(fd, text, strlen(text)) < 0;
	if (fd >= 0)
		close(fd);
	return failed ? -1 : 0;
}

static void remove_instance(struct instance *instance)
{
	if (instance->pipe >= 0)
		close(instance->pipe);
	write_file(instance, "events/omx/enable", "0");
	if (rmdir(instance->path))
		complain_errno(NULL, "cannot remove %s", instance->path);
}

static int set_up(struct instance *instance)
{
	char path[192];

	if (write_file(instance, "events/omx/enable", "1")) {
		complain("load the module first (modprobe omx)",
			 "this kernel has no tracepoints of omx");
		return -1;
	}
	if (write_file(instance, "trace_clock", "mono") ||
	    write_file(instance, "buffer_size_kb", BUFFER_KB)) {
		complain_errno(NULL, "cannot set up %s", instance->path);
		return -1;
	}
	snprintf(path, sizeof(path), "%s/trace_pipe", instance->path);
	instance->pipe = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (instance->pipe < 0) {
		complain_errno(NULL, "cannot open %s", path);
		return -1;
	}
	return 0;
}

static int make_instance(struct instance *instance)
{
	const char *tracefs = find_tracefs();

	if (!tracefs)
		return -1;
	snprintf(instance->path, sizeof(instance->path), "%s/instances/omx_trace-%d", tracefs,
		 getpid());
	instance->pipe = -1;
	instance->used = 0;
	if (mkdir(instance->path, 0700)) {
		complain_errno(geteuid() ? "run it as root" : NULL, "cannot make %s",
			       instance->path);
		return -1;
	}
	if (!set_up(instance))
		return 0;
	remove_instance(instance);
	return -1;
}

/* ---- lines ---- */

static void take_lines(struct instance *instance, trace_take take, void *context)
{
	char *line = instance->text, *end;

	instance->text[instance->used] = 0;
	while ((end = strchr(line, '\n'))) {
		*end = 0;
		take(context, line);
		line = end + 1;
	}
	instance->used -= line - instance->text;
	if (instance->used == sizeof(instance->text) - 1)
		instance->used = 0;	/* no line is that long */
	memmove(instance->text, line, instance->used);
}

/* All there is now. */
static void record_drain(struct instance *instance, trace_take take, void *context)
{
	ssize_t got;

	while ((got = read(instance->pipe, instance->text + instance->used,
			   sizeof(instance->text) - 1 - instance->used)) > 0) {
		instance->used += got;
		take_lines(instance, take, context);
	}
}

/* ---- the command ---- */

static pid_t record_start(char **command)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	execvp(command[0], command);
	warn("%s", command[0]);
	_exit(127);
}

/* Returns the exit status of the command, as a shell reports it. */
static int record_follow(struct instance *instance, pid_t pid, trace_take take, void *context)
{
	struct pollfd pipe = { .fd = instance->pipe, .events = POLLIN };
	int status, told = 0;

	while (waitpid(pid, &status, WNOHANG) == 0) {
		if (stopped_by != told) {
			told = stopped_by;
			kill(pid, told);
		}
		/*
		 * The kernel wakes readers only when much has been recorded,
		 * hence a timeout.
		 */
		poll(&pipe, 1, PAUSE_MS);
		record_drain(instance, take, context);
	}
	write_file(instance, "tracing_on", "0");
	record_drain(instance, take, context);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void catch_signals(void)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
	struct sigaction action = { .sa_handler = record_stop };
	unsigned int i;

	for (i = 0; i < sizeof(signals) / sizeof(*signals); i++)
		sigaction(signals[i], &action, NULL);
}

int trace_record(char **command, trace_take take, void *context)
{
	static struct instance instance;
	int status = -1;
	pid_t pid;

	catch_signals();
	if (make_instance(&instance))
		return -1;
	pid = record_start(command);
	if (pid < 0)
		complain_errno(NULL, "cannot start %s", command[0]);
	else
		status = record_follow(&instance, pid, take, context);
	remove_instance(&instance);
	return status;
}

int trace_read(const char *path, trace_take take, void *context)
{
	FILE *in = strcmp(path, "-") ? fopen(path, "r") : stdin;
	size_t size = 0;
	char *line = NULL;
	ssize_t length;
	int failed;

	if (!in) {
		complain_errno(NULL, "%s", path);
		return -1;
	}
	while ((length = getline(&line, &size, in)) > 0) {
		if (line[length - 1] == '\n')
			line[length - 1] = 0;
		take(context, line);
	}
	failed = ferror(in);
	if (failed)
		complain_errno(NULL, "cannot read %s", path);
	free(line);
	if (in != stdin)
		fclose(in);
	return failed ? -1 : 0;
}
