/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Whether to offer omx when nobody has asked for it.
 *
 * All processes of a job must come to the same answer, before any of them has
 * heard of another.  What all of them can see is the driver's table of peers:
 * a host is in it if it runs the driver and can be reached.  So the answer is
 * yes if every host of the job is; a host without the driver is missing in
 * everybody else's table and finds no driver itself.  On a single host shared
 * memory is faster, and there is nothing to ask the table about.
 *
 * A job that another one spawns has to say what that one says: Open MPI hands
 * its parameters in the environment on.
 */
#include "compat.h"

#include "glue.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "opal/util/output.h"

#define BOARDS_TRIED	8	/* of a peer */

static bool is_named(const char *host, size_t length)
{
	char name[OMX_HOSTNAMELEN_MAX];
	uint64_t nic_id;
	int board;

	for (board = 0; board < BOARDS_TRIED; board++) {
		int written = snprintf(name, sizeof(name), "%.*s:%d", (int)length, host, board);

		if (written > 0 && (size_t)written < sizeof(name) &&
		    omx_hostname_to_nic_id(name, &nic_id) == OMX_SUCCESS)
			return true;
	}
	return false;
}

/* Launchers may say more or less of the domain than the host does of itself. */
static bool is_peer(const char *host)
{
	return is_named(host, strlen(host)) || is_named(host, strcspn(host, "."));
}

/* To be freed; NULL: the launcher has not said. */
static char *host_of(uint32_t rank)
{
	opal_process_name_t name = { .jobid = OMPI_PROC_MY_NAME->jobid, .vpid = rank };
	char *host = NULL;
	int ret;

	OPAL_MODEX_RECV_VALUE_OPTIONAL(ret, PMIX_HOSTNAME, &name, &host, PMIX_STRING);
	return ret == OPAL_SUCCESS ? host : NULL;
}

static bool say_no(const struct omx_glue *glue, const char *why, const char *host)
{
	opal_output_verbose(5, glue->framework->framework_output,
			    "%s: not used: %s%s", glue->name, why, host ? host : "");
	return false;
}

static bool ask_table(const struct omx_glue *glue)
{
	char *own = host_of(OMPI_PROC_MY_NAME->vpid);
	char *last = NULL;	/* neighbours in rank share a host more often than not */
	bool known = own, several = false;
	uint32_t rank;

	for (rank = 0; known && rank < ompi_process_info.num_procs; rank++) {
		char *host = host_of(rank);

		known = host != NULL;
		if (host && (!last || strcmp(host, last))) {
			several |= strcmp(host, own) != 0;
			known = is_peer(host);	/* our own name, too: others ask for it */
			if (!known)
				say_no(glue, "this is not a peer: ", host);
		}
		free(last);
		last = host;
	}
	free(last);
	free(own);
	if (!known)
		return say_no(glue, "not every host of the job is a known peer", NULL);
	return several ? true : say_no(glue, "the job has one host only", NULL);
}

#define ANSWER	"OMPI_MCA_mtl_omx_answer"

bool omx_glue_everywhere(const struct omx_glue *glue)
{
	const char *parents = getenv("OMPI_PARENT_PORT") ? getenv(ANSWER) : NULL;
	bool answer = parents ? !strcmp(parents, "yes") : ask_table(glue);

	setenv(ANSWER, answer ? "yes" : "no", 1);
	return answer;
}
