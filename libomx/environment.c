/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Environment variables are read by a table of their names, ranges and settings.
 * See environment.h.
 */
#include "environment.h"

#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "omx_abi.h"
#include "open-mx.h"

#define UNEXP_QUEUE_MAX_DEFAULT	(1u << 30)
#define POLL_US_DEFAULT		50
#define SHARED_RNDV_DEFAULT	4096
#define RCACHE_COUNT_DEFAULT	256
#define RCACHE_BYTES_DEFAULT	(1u << 30)

static const struct omx__settings defaults = {
	.rndv_threshold = OMX_MEDIUM_MAX,
	.local_rndv_threshold = SHARED_RNDV_DEFAULT,
	.poll_us = POLL_US_DEFAULT,
	.any_endpoint = OMX_ANY,
	.timeout_ms = OMX_TIMEOUT_DEFAULT_MS,
	.progress_thread = 1,
	.unexp_queue_max = UNEXP_QUEUE_MAX_DEFAULT,
	.memory = OMX_AUTO,
	.rcache = 1,
	.rcache_count = RCACHE_COUNT_DEFAULT,
	.rcache_bytes = RCACHE_BYTES_DEFAULT,
};

struct omx__settings omx__settings = defaults;

static const char *const memory_modes[] = {
	[OMX_AUTO] = "auto",
	[OMX_UNPINNED] = "unpinned",
	[OMX_OVERLAP] = "overlap",
	[OMX_PIN] = "pin",
	[OMX_PERMANENT] = "permanent",
	[OMX_DEVICE] = "device",
};

/*
 * The value of a variable is one number, or two separated by a comma, each with
 * a largest value; or it is a word of a list, and the setting is its index.
 */
struct variable {
	const char *name;
	size_t offset;
	uint64_t max;
	size_t second_offset;	/* 0: there is no second number */
	uint64_t second_max;
	const char *const *words;	/* max + 1 of them */
};

#define AT(field) offsetof(struct omx__settings, field)

static const struct variable variables[] = {
	{ "OMX_RNDV_THRESHOLD", AT(rndv_threshold), OMX_MEDIUM_MAX, 0, 0, NULL },
	{ "OMX_SHARED_RNDV_THRESHOLD", AT(local_rndv_threshold), OMX_MEDIUM_MAX, 0, 0, NULL },
	{ "OMX_WAITSPIN", AT(wait_spin), 1, 0, 0, NULL },
	{ "OMX_POLL_US", AT(poll_us), OMX_POLL_US_MAX, 0, 0, NULL },
	{ "OMX_CTXIDS", AT(ctxid_bits), OMX_ENDPOINT_CONTEXT_ID_BITS_MAX,
	  AT(ctxid_shift), 63, NULL },
	{ "OMX_FATAL_ERRORS", AT(fatal_errors), 1, 0, 0, NULL },
	{ "OMX_VERBOSE", AT(verbose), UINT64_MAX, 0, 0, NULL },
	{ "OMX_ANY_ENDPOINT", AT(any_endpoint), OMX_ANY, 0, 0, NULL },
	{ "OMX_TIMEOUT_MS", AT(timeout_ms), OMX_ANY, 0, 0, NULL },
	{ "OMX_PROGRESS_THREAD", AT(progress_thread), 1, 0, 0, NULL },
	{ "OMX_UNEXP_QUEUE_MAX", AT(unexp_queue_max), UINT64_MAX, 0, 0, NULL },
	{ "OMX_MEMORY", AT(memory), OMX_MEMORY_MODES - 1, 0, 0, memory_modes },
	{ "OMX_RCACHE", AT(rcache), 1, 0, 0, NULL },
	{ "OMX_RCACHE_COUNT", AT(rcache_count), UINT32_MAX, 0, 0, NULL },
	{ "OMX_RCACHE_BYTES", AT(rcache_bytes), UINT64_MAX, 0, 0, NULL },
};

void omx__verbose(const char *format, ...)
{
	va_list arguments;

	if (!omx__settings.verbose)
		return;
	fputs("omx: ", stderr);
	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	fputc('\n', stderr);
}

static bool setting_parse(const char **text, uint64_t max, char terminator, uint64_t *value)
{
	unsigned long long number;
	char *end;

	if (**text < '0' || **text > '9')
		return false;
	errno = 0;
	number = strtoull(*text, &end, 0);
	if (errno || *end != terminator || number > max)
		return false;
	*text = end + (terminator != 0);
	*value = number;
	return true;
}

static bool parse_word(const char *text, const struct variable *variable, uint64_t *index)
{
	uint64_t i;

	for (i = 0; i <= variable->max; i++) {
		if (!strcmp(text, variable->words[i])) {
			*index = i;
			return true;
		}
	}
	return false;
}

static bool parse_variable(const struct variable *variable, const char *text,
			   struct omx__settings *settings)
{
	uint64_t first, second;

	if (variable->words) {
		if (!parse_word(text, variable, &first))
			return false;
	} else if (!variable->second_offset) {
		if (!setting_parse(&text, variable->max, 0, &first))
			return false;
	} else {
		if (!setting_parse(&text, variable->max, ',', &first) ||
		    !setting_parse(&text, variable->second_max, 0, &second))
			return false;
		*(uint64_t *)((char *)settings + variable->second_offset) = second;
	}
	*(uint64_t *)((char *)settings + variable->offset) = first;
	return true;
}

void omx__environment_read(void)
{
	struct omx__settings settings = defaults;
	size_t i;

	for (i = 0; i < sizeof(variables) / sizeof(variables[0]); i++) {
		const char *text = getenv(variables[i].name);

		if (text && !parse_variable(&variables[i], text, &settings))
			fprintf(stderr, "omx: %s=%s is not understood, ignored\n",
				variables[i].name, text);
	}
	omx__settings = settings;
}
