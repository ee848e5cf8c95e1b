/* SPDX-License-Identifier: BSD-2-Clause */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "trace.h"

/*
 * "      omx_perf-123     [001] d..1.   12.345678: omx_rndv_send: mac=..."
 * Names of programs may contain anything, so the line is read from its middle.
 */
static bool parse_head(const char *line, const char *middle, struct trace_event *event)
{
	const char *p = middle;
	char *end;

	while (p > line && !isspace((unsigned char)p[-1]))
		p--;
	event->time = strtoull(p, &end, 10) * 1000000;
	if (*end != '.')
		return false;
	event->time += strtoull(end + 1, &end, 10);
	if (end != middle)
		return false;
	while (p > line && *p != '[')
		p--;
	while (p > line && isspace((unsigned char)p[-1]))
		p--;
	while (p > line && isdigit((unsigned char)p[-1]))
		p--;
	event->pid = strtoul(p, NULL, 10);
	return p > line && p[-1] == '-';
}

enum trace_line trace_parse(const char *line, struct trace_event *event, uint64_t *lost)
{
	const char *middle = strstr(line, ": omx_"), *name, *end;
	const char *gone = strstr(line, "[LOST ");

	if (gone && !strncmp(line, "CPU:", 4)) {
		*lost = strtoull(gone + 6, NULL, 10);
		return TRACE_LOST;
	}
	if (*line == '#' || !middle || !parse_head(line, middle, event))
		return TRACE_OTHER;
	name = middle + 6;
	end = strchr(name, ':');
	if (!end || end - name >= (long)sizeof(event->name))
		return TRACE_OTHER;
	memcpy(event->name, name, end - name);
	event->name[end - name] = 0;
	event->fields = end + 1;
	return TRACE_EVENT;
}

uint64_t trace_field(const struct trace_event *event, const char *name, int base)
{
	size_t length = strlen(name);
	const char *p = event->fields;

	while ((p = strstr(p, name))) {
		if (p[-1] == ' ' && p[length] == '=')
			return strtoull(p + length + 1, NULL, base);
		p += length;
	}
	return 0;
}
