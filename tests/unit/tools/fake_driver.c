/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A stand-in for /dev/omx, so that a whole tool can run without the driver: the linker
 * has the tool call these instead of open() and ioctl().  The file that $FAKE_DRIVER
 * names says what one reading after the other finds; each begins with a request for
 * board 0, and the last one remains:
 *
 *	reading
 *	board NUMBER INTERFACE NAME MAC
 *	counter LABEL|VALUE OF THE FIRST BOARD|OF THE SECOND|...
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "expect.h"
#include "omx_abi.h"

#define FAKE_COUNTERS 200

int __real_ioctl(int fd, unsigned long request, void *argument);
int __wrap_ioctl(int fd, unsigned long request, void *argument);
int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);

static struct {
	struct omx_ioc_board board[OMX_BOARD_MAX];
	unsigned int boards;
	char label[FAKE_COUNTERS][OMX_COUNTER_LABEL_LEN];
	uint64_t value[FAKE_COUNTERS][OMX_BOARD_MAX];
	unsigned int counters;
} driver;

static unsigned int readings;

static void read_board_line(const char *line)
{
	struct omx_ioc_board *board = &driver.board[driver.boards++];
	unsigned int mac[6], i;

	memset(board, 0, sizeof(*board));
	EXPECT(sscanf(line, "%u %15s %79s %x:%x:%x:%x:%x:%x", &board->board, board->ifname,
		      board->name, mac, mac + 1, mac + 2, mac + 3, mac + 4, mac + 5) == 9);
	for (i = 0; i < 6; i++)
		board->mac = board->mac << 8 | mac[i];
	board->flags = OMX_BOARD_UP;
	board->peers = 2;
}

static void read_counter_line(char *line)
{
	char *word = strtok(line, "|");
	unsigned int i;

	EXPECT(driver.counters < FAKE_COUNTERS && strlen(word) < OMX_COUNTER_LABEL_LEN);
	strcpy(driver.label[driver.counters], word);
	for (i = 0; i < OMX_BOARD_MAX && (word = strtok(NULL, "|")); i++)
		driver.value[driver.counters][i] = strtoull(word, NULL, 10);
	driver.counters++;
}

static void read_driver(void)
{
	FILE *file = fopen(getenv("FAKE_DRIVER"), "r");
	unsigned int found = 0;
	char line[512];

	EXPECT(file);
	while (fgets(line, sizeof(line), file)) {
		line[strcspn(line, "\n")] = '\0';
		if (!strcmp(line, "reading")) {
			if (found && found >= readings)
				break;
			found++;
			memset(&driver, 0, sizeof(driver));
		} else if (!strncmp(line, "board ", 6))
			read_board_line(line + 6);
		else if (!strncmp(line, "counter ", 8))
			read_counter_line(line + 8);
	}
	fclose(file);
}

/* OMX_BOARD_MAX if there is no such board. */
static unsigned int find_board(uint32_t number)
{
	unsigned int i;

	for (i = 0; i < driver.boards; i++)
		if (driver.board[i].board == number)
			return i;
	return OMX_BOARD_MAX;
}

static int fail(int error)
{
	errno = error;
	return -1;
}

static int answer_info(struct omx_ioc_info *info)
{
	memset(info, 0, sizeof(*info));
	info->abi_version = OMX_ABI_VERSION;
	info->board_max = OMX_BOARD_MAX;
	info->counter_max = driver.counters;
	return 0;
}

static int answer_board(struct omx_ioc_board *board)
{
	unsigned int i = find_board(board->board);

	if (i == OMX_BOARD_MAX)
		return fail(ENODEV);
	*board = driver.board[i];
	return 0;
}

static int answer_label(struct omx_ioc_counter_label *question)
{
	if (question->index >= driver.counters)
		return fail(ENOENT);
	strcpy(question->label, driver.label[question->index]);
	return 0;
}

static int answer_counters(struct omx_ioc_counters *question)
{
	unsigned int board = find_board(question->board), i;
	uint64_t *values = (uint64_t *)(uintptr_t)question->values;

	if (board == OMX_BOARD_MAX)
		return fail(ENODEV);
	for (i = 0; i < question->count && i < driver.counters; i++)
		values[i] = driver.value[i][board];
	return 0;
}

int __wrap_open(const char *path, int flags, ...)
{
	va_list arguments;
	int mode;

	va_start(arguments, flags);
	mode = flags & O_CREAT ? va_arg(arguments, int) : 0;
	va_end(arguments);
	if (!strcmp(path, "/dev/omx") && getenv("FAKE_DRIVER"))
		path = "/dev/null";
	return __real_open(path, flags, mode);
}

int __wrap_ioctl(int fd, unsigned long request, void *argument)
{
	if (_IOC_TYPE(request) != OMX_IOC_MAGIC)
		return __real_ioctl(fd, request, argument);
	if (request == OMX_IOC_BOARD && *(uint32_t *)argument == 0)
		readings++;
	read_driver();
	switch (request) {
	case OMX_IOC_INFO:
		return answer_info(argument);
	case OMX_IOC_BOARD:
		return answer_board(argument);
	case OMX_IOC_COUNTER_LABEL:
		return answer_label(argument);
	case OMX_IOC_COUNTERS:
		return answer_counters(argument);
	case OMX_IOC_COUNTERS_CLEAR:
		return fail(EPERM);
	default:
		return fail(ENOTTY);
	}
}
