/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The components for Open MPI: whether they are where the installed Open MPI looks.  That
 * is a directory of its own, unless its parameter mca_base_component_path says otherwise.
 */
#include <ctype.h>
#include <glob.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "doctor/doctor.h"

#define PARAMETER	"mca_base_component_path"
#define MTL		"mca_mtl_omx.so"
#define BTL		"mca_btl_omx.so"

/* ---- Open MPI's own directory ---- */

static bool glob_first(const char *pattern, char path[PATH_MAX])
{
	glob_t found;
	bool is_there = glob(pattern, 0, NULL, &found) == 0;

	if (is_there)
		snprintf(path, PATH_MAX, "%s", found.gl_pathv[0]);
	globfree(&found);
	return is_there;
}

/* It has components, or, where they are built in, a library for debuggers. */
static bool find_beside(const char *prefix, char directory[PATH_MAX])
{
	static const char *const patterns[] = {
		"lib*/*/openmpi/lib/openmpi*/libompi_dbg_msgq.so",
		"lib*/*/openmpi/lib/openmpi*/mca_*.so",
		"lib*/openmpi*/libompi_dbg_msgq.so",
		"lib*/openmpi*/mca_[!mb]*.so",		/* ours may be alone in such a one */
	};
	char pattern[PATH_MAX], file[PATH_MAX];
	size_t i;

	for (i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++) {
		if (snprintf(pattern, sizeof(pattern), "%s/%s", prefix, patterns[i]) >= PATH_MAX ||
		    !glob_first(pattern, file))
			continue;
		snprintf(directory, PATH_MAX, "%s", dirname(file));
		return true;
	}
	return false;
}

/* ompi_info itself loads all components, which takes a while. */
static bool find_own_directory(char directory[PATH_MAX])
{
	char line[PATH_MAX], program[PATH_MAX], *text;

	if (!first_line("command -v ompi_info", line, sizeof(line)) || !realpath(line, program))
		return false;
	if (find_beside(dirname(dirname(program)), directory))
		return true;
	if (!first_line("ompi_info --parsable --path pkglibdir 2>/dev/null", line, sizeof(line)))
		return false;
	text = strrchr(line, ':');
	snprintf(directory, PATH_MAX, "%s", text ? text + 1 : line);
	return true;
}

/* ---- the parameter ---- */

/* "NAME = VALUE", with blanks and comments as Open MPI takes them. */
static bool read_parameter(char *line, char value[PATH_MAX])
{
	char *at = line + strspn(line, " \t"), *end;

	if (strncmp(at, PARAMETER, strlen(PARAMETER)))
		return false;
	at += strlen(PARAMETER);
	at += strspn(at, " \t");
	if (*at++ != '=')
		return false;
	at += strspn(at, " \t");
	end = at + strcspn(at, "#\n");
	while (end > at && isspace((unsigned char)end[-1]))
		end--;
	snprintf(value, PATH_MAX, "%.*s", (int)(end - at), at);
	return true;
}

/* The last line counts. */
static bool read_parameters(const char *path, char value[PATH_MAX])
{
	FILE *file = fopen(path, "re");
	char line[PATH_MAX];
	bool found = false;

	while (file && fgets(line, sizeof(line), file))
		found = read_parameter(line, value) || found;
	if (file)
		fclose(file);
	return found;
}

/* Where Open MPI looks, in its own words; the first that is set counts. */
static void find_search_path(char value[PATH_MAX])
{
	const char *set = getenv("OMPI_MCA_mca_base_component_path");
	const char *home = getenv("HOME");
	char own[PATH_MAX];

	if (set) {
		snprintf(value, PATH_MAX, "%s", set);
		return;
	}
	snprintf(own, sizeof(own), "%s/.openmpi/mca-params.conf", home ? home : "");
	if (read_parameters(own, value) ||
	    read_parameters("/etc/openmpi/openmpi-mca-params.conf", value))
		return;
	snprintf(value, PATH_MAX, "SYSTEM_DEFAULT:USER_DEFAULT");
}

/* ---- the components ---- */

static bool directory_has(const char *directory, const char *file)
{
	char path[PATH_MAX];

	return snprintf(path, sizeof(path), "%s/%s", directory, file) < PATH_MAX &&
	       access(path, R_OK) == 0;
}

/* A name of the search path as a directory. */
static const char *expand_entry(const char *entry, const char *own, char path[PATH_MAX])
{
	const char *home = getenv("HOME");

	if (!strcasecmp(entry, "SYSTEM_DEFAULT"))
		return own;
	if (strcasecmp(entry, "USER_DEFAULT"))
		return entry;
	snprintf(path, PATH_MAX, "%s/.openmpi/components", home ? home : "");
	return path;
}

/* The list ends at a directory that is not there, as Open MPI reads it. */
static bool search_path_has(const char *search, const char *own, const char *file,
			    char found[PATH_MAX])
{
	char copy[PATH_MAX], path[PATH_MAX], *rest = copy, *entry;

	snprintf(copy, sizeof(copy), "%s", search);
	while ((entry = strsep(&rest, ":"))) {
		const char *directory = expand_entry(entry, own, path);

		if (*directory && directory_has(directory, file)) {
			snprintf(found, PATH_MAX, "%s", directory);
			return true;
		}
		if (access(directory, X_OK) < 0)
			break;
	}
	return false;
}

static void mend_component(const char *own, struct finding *finding)
{
	if (strcmp(COMPONENTDIR, own) && directory_has(COMPONENTDIR, MTL))
		finding_mend(finding, NULL, "ln -sf " COMPONENTDIR "/" MTL " " COMPONENTDIR "/" BTL
			     " %s/", own);
	else if (from_packages())
		finding_mend(finding, NULL, "apt-get install --reinstall omx-openmpi");
	else	/* in the directory of the sources */
		finding_mend(finding, NULL, "./configure --with-openmpi-components=%s && "
			     "make && make install", own);
}

void check_component(struct doctor *doctor, struct finding *finding)
{
	char own[PATH_MAX], search[PATH_MAX], found[PATH_MAX];

	(void)doctor;
	if (!find_own_directory(own)) {
		finding_say(finding, VERDICT_SKIPPED, "there is no Open MPI (ompi_info) here");
		return;
	}
	find_search_path(search);
	if (!search_path_has(search, own, MTL, found)) {
		finding_say(finding, VERDICT_FAULT, "Open MPI finds no " MTL " (in %.200s)",
			    strcmp(search, "SYSTEM_DEFAULT:USER_DEFAULT") ? search : own);
		mend_component(own, finding);
	} else if (!search_path_has(search, own, BTL, found)) {
		finding_say(finding, VERDICT_WARNING, "Open MPI finds " MTL ", but no " BTL);
		mend_component(own, finding);
	} else {
		finding_say(finding, VERDICT_OK, "Open MPI finds the components in %.200s", found);
	}
}
