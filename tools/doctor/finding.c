/* SPDX-License-Identifier: BSD-2-Clause */
/* What checks say, and what several of them use. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "doctor/doctor.h"

void finding_say(struct finding *finding, enum verdict verdict, const char *format, ...)
{
	va_list arguments;

	finding->verdict = verdict;
	va_start(arguments, format);
	vsnprintf(finding->text, sizeof(finding->text), format, arguments);
	va_end(arguments);
}

void finding_mend(struct finding *finding, const char *host, const char *format, ...)
{
	struct remedy *remedy = &finding->remedy[finding->remedies];
	va_list arguments;

	if (finding->remedies == REMEDIES_MAX)
		return;
	finding->remedies++;
	snprintf(remedy->host, sizeof(remedy->host), "%s", host ? host : "");
	va_start(arguments, format);
	vsnprintf(remedy->command, sizeof(remedy->command), format, arguments);
	va_end(arguments);
}

const char *shell_word(const char *name, const char *otherwise)
{
	static const char safe[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				   "0123456789._:@%+,-";
	size_t length = strspn(name, safe);

	return length && !name[length] && *name != '-' ? name : otherwise;
}

bool first_line(const char *command, char *line, int size)
{
	FILE *pipe = popen(command, "re");
	bool read;

	if (!pipe)
		return false;
	read = fgets(line, size, pipe);
	pclose(pipe);
	if (read)
		line[strcspn(line, "\n")] = '\0';
	return read && *line;
}

uint64_t clock_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

void sleep_ms(unsigned int ms)
{
	const struct timespec time = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L };

	nanosleep(&time, NULL);
}
