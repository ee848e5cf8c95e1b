/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The library: whether programs find it, and whether it and the driver understand each
 * other.  It is loaded in a process of its own, as programs load it: a wrong one may do
 * anything, and this tool shall not depend on it.
 */
#include "config.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "doctor/doctor.h"
#include "open-mx.h"

#define SONAME		"libomx.so.1"
#define PATIENCE_S	10	/* for a library that hangs */

struct trial {
	enum {
		TRIAL_CRASHED,		/* or it hangs; the process said nothing */
		TRIAL_NOT_FOUND,	/* or it cannot be loaded: error */
		TRIAL_NO_LIBRARY,	/* a file of this name that is something else */
		TRIAL_RAN,		/* result of omx_init() */
	} outcome;
	omx_return_t result;
	char path[PATH_MAX];
	char version[32];
	char error[256];
};

bool from_packages(void)
{
	return strncmp(LIBDIR, "/usr/lib", 8) == 0;
}

/* ---- in the other process ---- */

static void trial_call(void *library, struct trial *trial)
{
	omx_return_t (*initialize)(int api) = NULL;
	const char *(*version)(void) = NULL;
	Dl_info info;

	*(void **)&initialize = dlsym(library, "omx__init_api");
	*(void **)&version = dlsym(library, "omx_version");
	trial->outcome = TRIAL_NO_LIBRARY;
	if (!initialize || !version)
		return;
	if (dladdr(*(void **)&initialize, &info) && info.dli_fname)
		snprintf(trial->path, sizeof(trial->path), "%s", info.dli_fname);
	snprintf(trial->version, sizeof(trial->version), "%s", version());
	trial->result = initialize(OMX_API);
	trial->outcome = TRIAL_RAN;
}

static void trial_process(const char *name, int out)
{
	struct trial trial = { .outcome = TRIAL_NOT_FOUND };
	void *library;

	alarm(PATIENCE_S);
	/* What it says is for programs. */
	if (!freopen("/dev/null", "w", stderr) || !freopen("/dev/null", "w", stdout))
		_exit(1);
	library = dlopen(name, RTLD_LAZY | RTLD_LOCAL);
	if (library)
		trial_call(library, &trial);
	else
		snprintf(trial.error, sizeof(trial.error), "%s", dlerror());
	_exit(write(out, &trial, sizeof(trial)) != sizeof(trial));
}

/* ---- in this one ---- */

static void try_library(const char *name, struct trial *trial)
{
	int pipes[2], status;
	pid_t child;

	memset(trial, 0, sizeof(*trial));
	if (pipe(pipes) < 0)
		return;
	fflush(stdout);
	child = fork();
	if (!child) {
		close(pipes[0]);
		trial_process(name, pipes[1]);
	}
	close(pipes[1]);
	/* Less than a page would do; more comes in pieces. */
	for (size_t got = 0; got < sizeof(*trial);) {
		ssize_t n = read(pipes[0], (char *)trial + got, sizeof(*trial) - got);

		if (n <= 0) {
			memset(trial, 0, sizeof(*trial));
			break;
		}
		got += n;
	}
	close(pipes[0]);
	if (child > 0)
		waitpid(child, &status, 0);
}

/* Without a driver to be asked, nothing speaks against it. */
static bool trial_is_good(const struct trial *trial)
{
	return trial->outcome == TRIAL_RAN && trial->result != OMX_BAD_KERNEL_ABI &&
	       trial->result != OMX_BAD_LIB_ABI;
}

static bool path_list_has(const char *list, const char *file)
{
	const char *end = strrchr(file, '/');
	size_t length = end ? end - file : 0;

	while (list && *list) {
		size_t entry = strcspn(list, ":");

		if (length && entry == length && !strncmp(list, file, length))
			return true;
		list += entry + (list[entry] == ':');
	}
	return false;
}

/* The library that was installed with this tool is good, but another one is found, or none. */
static void mend_search(const struct trial *trial, struct finding *finding)
{
	if (path_list_has(getenv("LD_LIBRARY_PATH"), trial->path))
		finding_mend(finding, NULL, "export LD_LIBRARY_PATH=" LIBDIR ":$LD_LIBRARY_PATH");
	else	/* names are read in order, and the first directory counts */
		finding_mend(finding, NULL, "echo " LIBDIR
			     " >/etc/ld.so.conf.d/00-omx.conf && ldconfig");
}

static void mend_library(const struct trial *trial, struct finding *finding)
{
	static struct trial own;

	try_library(LIBDIR "/" SONAME, &own);
	if (trial_is_good(&own))
		mend_search(trial, finding);
	else if (from_packages())
		finding_mend(finding, NULL, "apt-get install --reinstall libomx1");
	else	/* in the directory of the sources */
		finding_mend(finding, NULL, "make install && ldconfig");
}

static void library_is_bad(const struct trial *trial, struct finding *finding)
{
	if (trial->outcome == TRIAL_NOT_FOUND)
		finding_say(finding, VERDICT_FAULT, "programs cannot load " SONAME ": %s",
			    trial->error);
	else if (trial->outcome == TRIAL_RAN && trial->result == OMX_BAD_KERNEL_ABI)
		finding_say(finding, VERDICT_FAULT,
			    "%s (omx %s) and the driver have no ABI in common", trial->path,
			    trial->version);
	else if (trial->outcome == TRIAL_RAN)
		finding_say(finding, VERDICT_FAULT,
			    "%s (omx %s) does not serve programs built for this release",
			    trial->path, trial->version);
	else
		finding_say(finding, VERDICT_FAULT,
			    "what programs load as " SONAME " is not omx's");
	mend_library(trial, finding);
}

void check_library(struct doctor *doctor, struct finding *finding)
{
	static struct trial trial;

	try_library(SONAME, &trial);
	if (!trial_is_good(&trial))
		library_is_bad(&trial, finding);
	else if (doctor->stage >= STAGE_DEVICE && trial.result == OMX_SUCCESS)
		finding_say(finding, VERDICT_OK, "%s (omx %s) and the driver agree", trial.path,
			    trial.version);
	else
		finding_say(finding, VERDICT_OK, "%s (omx %s) can be loaded", trial.path,
			    trial.version);
}
