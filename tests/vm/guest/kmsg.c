// SPDX-License-Identifier: BSD-2-Clause
/*
 * kmsg FILE: follow the kernel log, one readable line per record, to standard
 * output and to FILE. A reader that falls behind is told so and goes on,
 * where cat would stop.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* "priority,sequence,microseconds,flags;text\n KEY=value..." */
static int format_record(char *record, char *line, size_t size)
{
	unsigned long long usec = 0;
	unsigned int prio = 0;
	char *text = strchr(record, ';');

	if (!text)
		return 0;
	text++;
	text[strcspn(text, "\n")] = 0;
	sscanf(record, "%u,%*u,%llu", &prio, &usec);
	return snprintf(line, size, "<%u>[%5llu.%06llu] %s\n", prio & 7,
			usec / 1000000, usec % 1000000, text);
}

static void emit(int copy, const char *line, int len)
{
	if (write(STDOUT_FILENO, line, len) != len || write(copy, line, len) != len)
		exit(1);
}

int main(int argc, char **argv)
{
	static const char lost[] = "<4>lab: records of the kernel log were lost\n";
	char record[9000], line[9100];
	int copy, log = open("/dev/kmsg", O_RDONLY);

	if (argc != 2 || log < 0)
		return 2;
	copy = open(argv[1], O_WRONLY | O_CREAT | O_APPEND, 0644);
	if (copy < 0)
		return 2;
	for (;;) {
		ssize_t n = read(log, record, sizeof(record) - 1);

		if (n < 0 && errno == EPIPE) {
			emit(copy, lost, sizeof(lost) - 1);
			continue;
		}
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return 1;
		record[n] = 0;
		emit(copy, line, format_record(record, line, sizeof(line)));
	}
}
