/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A stand-in for the driver, so that a whole tool can run without it, over a stand-in for
 * netlink.  The file that $FAKE_DRIVER names says what one reading after the other finds;
 * each begins with a request for the boards, and the last one remains:
 *
 *	reading
 *	board NUMBER INTERFACE NAME MAC
 *	counter LABEL|VALUE OF THE FIRST BOARD|OF THE SECOND|...
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "expect.h"
#include "fake_netlink.h"
#include "omx_abi.h"

#define FAKE_COUNTERS 200

struct fake_board {
	uint32_t number;
	char ifname[16];
	char name[OMX_NAME_LEN];
	unsigned char mac[6];
};

static struct {
	struct fake_board board[OMX_BOARD_MAX];
	unsigned int boards;
	char label[FAKE_COUNTERS][OMX_COUNTER_LABEL_LEN];
	uint64_t value[FAKE_COUNTERS][OMX_BOARD_MAX];
	unsigned int counters;
} driver;

static unsigned int readings;

static void read_board_line(const char *line)
{
	struct fake_board *board = &driver.board[driver.boards++];
	unsigned char *mac = board->mac;

	EXPECT(sscanf(line, "%u %15s %79s %hhx:%hhx:%hhx:%hhx:%hhx:%hhx", &board->number,
		      board->ifname, board->name, mac, mac + 1, mac + 2, mac + 3, mac + 4,
		      mac + 5) == 9);
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

/* ---- answers ---- */

/* Which board a dump is restricted to; OMX_ANY: none. */
static uint32_t asked_board(const struct netlink_request *request)
{
	const struct nlattr *attribute = (const struct nlattr *)request->attributes;

	if (request->head.nlmsg_len <= NLMSG_LENGTH(GENL_HDRLEN))
		return OMX_ANY;
	EXPECT(attribute->nla_type == OMX_A_BOARD);
	return attribute_u32(attribute);
}

static void put_board(struct datagram *datagram, const struct netlink_request *request,
		      unsigned int i)
{
	const struct fake_board *board = &driver.board[i];
	size_t at = fake_begin_generic(datagram, FAKE_FAMILY, request->head.nlmsg_seq,
				       OMX_CMD_BOARD_GET);

	fake_put_u32(datagram, OMX_A_BOARD, board->number);
	fake_put_text(datagram, OMX_A_IFNAME, board->ifname);
	fake_put_text(datagram, OMX_A_NAME, board->name);
	fake_put(datagram, OMX_A_MAC, board->mac, sizeof(board->mac));
	fake_put_u32(datagram, OMX_A_FLAGS, OMX_BOARD_UP);
	fake_put_u32(datagram, OMX_A_PEERS, 2);
	fake_end(datagram, at);
}

static void put_counters(struct datagram *datagram, const struct netlink_request *request,
			 unsigned int i)
{
	unsigned int counter;
	size_t at;

	for (counter = 0; counter < driver.counters; counter++) {
		at = fake_begin_generic(datagram, FAKE_FAMILY, request->head.nlmsg_seq,
					OMX_CMD_COUNTER_GET);
		fake_put_u32(datagram, OMX_A_BOARD, driver.board[i].number);
		fake_put_u32(datagram, OMX_A_COUNTER, counter);
		fake_put_text(datagram, OMX_A_LABEL, driver.label[counter]);
		fake_put(datagram, OMX_A_VALUE, &driver.value[counter][i], sizeof(uint64_t));
		fake_end(datagram, at);
	}
}

static void answer_dump(const struct netlink_request *request,
			void (*put)(struct datagram *datagram,
				    const struct netlink_request *request, unsigned int i))
{
	uint32_t only = asked_board(request), sequence = request->head.nlmsg_seq;
	unsigned int i, found = 0;

	EXPECT(request->head.nlmsg_flags & NLM_F_DUMP);
	for (i = 0; i < driver.boards; i++) {
		if (only != OMX_ANY && only != driver.board[i].number)
			continue;
		put(fake_datagram(), request, i);
		found++;
	}
	if (!found && only != OMX_ANY)
		fake_result(fake_datagram(), sequence, -ENODEV, NLM_F_CAPPED,
			    "there is no such board");
	else
		fake_done(fake_datagram(), sequence, 0);
}

static void answer_controller(const struct netlink_request *request)
{
	const char *name = request->attributes + NLA_HDRLEN;
	uint32_t sequence = request->head.nlmsg_seq;

	if (!strcmp(name, "omx"))
		fake_families(sequence, FAKE_FAMILY, "events", FAKE_EVENTS_GROUP);
	else
		fake_families(sequence, GENL_ID_CTRL, "notify", FAKE_CONTROLLER_GROUP);
}

bool fake_is_wanted(void)
{
	return getenv("FAKE_DRIVER");
}

void fake_requested(const struct netlink_request *request)
{
	fake_reset();
	if (request->head.nlmsg_type == GENL_ID_CTRL) {
		answer_controller(request);
		return;
	}
	if (request->generic.cmd == OMX_CMD_BOARD_GET)
		readings++;
	read_driver();
	switch (request->generic.cmd) {
	case OMX_CMD_BOARD_GET:
		answer_dump(request, put_board);
		break;
	case OMX_CMD_COUNTER_GET:
		answer_dump(request, put_counters);
		break;
	default:
		fake_result(fake_datagram(), request->head.nlmsg_seq, -EPERM, NLM_F_CAPPED, NULL);
	}
}
