/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * netlink.c and objects.c with a kernel that is made up.  Some of its answers are those of
 * a driver of another release, or of none.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "complain.h"
#include "expect.h"
#include "fake_netlink.h"
#include "netlink.h"
#include "objects.h"

static struct netlink_request sent;

bool fake_is_wanted(void)
{
	return true;
}

void fake_requested(const struct netlink_request *request)
{
	sent = *request;
}

static void put_board(struct datagram *datagram, uint32_t sequence, uint32_t number)
{
	size_t at = fake_begin_generic(datagram, FAKE_FAMILY, sequence, OMX_CMD_BOARD_GET);
	char ifname[16];

	snprintf(ifname, sizeof(ifname), "eth%" PRIu32, number);
	fake_put_u32(datagram, OMX_A_BOARD, number);
	fake_put_text(datagram, OMX_A_IFNAME, ifname);
	fake_put(datagram, OMX_A_MAC, "\x02\0\0\0\x01\x07", 6);
	fake_put_u32(datagram, OMX_A_ENDPOINTS_MAX, 4096);
	fake_put_u32(datagram, OMX_A_MAX + 5, 1);	/* of a later release */
	fake_end(datagram, at);
}

/* ---- opening ---- */

static void netlink_open_expect(struct netlink *netlink)
{
	fake_reset();
	fake_families(1, FAKE_FAMILY, "events", FAKE_EVENTS_GROUP);
	fake_families(2, GENL_ID_CTRL, "notify", FAKE_CONTROLLER_GROUP);
	EXPECT(netlink_open(netlink) == 0);
	EXPECT(netlink->family == FAKE_FAMILY && netlink->events == FAKE_EVENTS_GROUP);
	EXPECT(netlink->controller_events == FAKE_CONTROLLER_GROUP);
	fake_reset();
}

static void test_no_driver(void)
{
	static struct netlink netlink;

	fake_reset();
	fake_result(fake_datagram(), 1, -ENOENT, NLM_F_CAPPED, NULL);
	EXPECT(netlink_open(&netlink) == -1 && netlink.fd == -1);
	complain_forget();
}

/* ---- dumps ---- */

static void test_dump(struct netlink *netlink)
{
	uint32_t sequence = netlink->sequence + 1;
	struct board_list list;
	struct datagram *datagram = fake_datagram();

	put_board(datagram, sequence - 1, 9);	/* of an answer that nobody waits for any more */
	put_board(datagram, sequence, 0);
	put_board(datagram, sequence, 2);
	datagram = fake_datagram();
	put_board(datagram, sequence, 31);
	fake_done(datagram, sequence, 0);
	EXPECT(netlink_boards(netlink, 5, &list) == 0);
	EXPECT(list.count == 3 && list.endpoint_max == 4096);
	EXPECT(list.board[1].board == 2 && !strcmp(list.board[2].ifname, "eth31"));
	EXPECT(list.board[0].mac == 0x020000000107 && !*list.board[0].name);
	EXPECT(sent.head.nlmsg_type == FAKE_FAMILY && sent.head.nlmsg_flags & NLM_F_DUMP);
	EXPECT(sent.generic.cmd == OMX_CMD_BOARD_GET);
	EXPECT(attribute_u32((struct nlattr *)sent.attributes) == 5);
	fake_reset();
}

static void test_dump_that_fails(struct netlink *netlink)
{
	uint32_t sequence = netlink->sequence + 1;
	struct peer_list peers = { 0 };
	struct datagram *datagram = fake_datagram();

	fake_done(datagram, sequence, -EIO);
	EXPECT(netlink_peers(netlink, OMX_ANY, &peers) == -1);
	complain_forget();
	fake_reset();
	fake_result(fake_datagram(), sequence + 1, -ENODEV, NLM_F_CAPPED, "there is no such board");
	EXPECT(netlink_peers(netlink, 3, &peers) == 0 && !peers.count);
	fake_reset();
	fake_datagram()->error = ENOMEM;
	EXPECT(netlink_peers(netlink, 3, &peers) == -1);
	complain_forget();
	fake_reset();
}

/* ---- changes ---- */

static int change(struct netlink *netlink)
{
	struct netlink_request request;
	int error;

	netlink_request_init(&request, OMX_CMD_BOARD_ATTACH);
	netlink_request_add_string(&request, OMX_A_IFNAME, "eth0");
	error = netlink_change(netlink, &request);
	fake_reset();
	return error;
}

static void test_changes(struct netlink *netlink)
{
	fake_result(fake_datagram(), netlink->sequence + 1, 0, NLM_F_CAPPED, NULL);
	EXPECT(change(netlink) == 0 && !*netlink->said);
	fake_result(fake_datagram(), netlink->sequence + 1, -EADDRINUSE, NLM_F_CAPPED, "it is taken");
	EXPECT(change(netlink) == -EADDRINUSE && !strcmp(netlink->said, "it is taken"));
	fake_result(fake_datagram(), netlink->sequence + 1, -EBUSY, 0, "behind the request");
	EXPECT(change(netlink) == -EBUSY && !strcmp(netlink->said, "behind the request"));
	fake_result(fake_datagram(), netlink->sequence + 1, -EPERM, NLM_F_CAPPED, NULL);
	EXPECT(change(netlink) == -EPERM && !*netlink->said);
}

/* ---- events ---- */

static unsigned int seen, seen_board;

static int see(uint8_t command, const struct nlattr *const attribute[], void *context)
{
	EXPECT(context == &seen);
	seen |= 1u << command;
	seen_board = attribute_u32(attribute[OMX_A_BOARD]);
	return 0;
}

static void put_event(struct datagram *datagram, uint16_t family, uint8_t command,
		      uint16_t attribute, uint16_t value)
{
	size_t at = fake_begin_generic(datagram, family, 0, command);

	fake_put_u32(datagram, attribute, value);
	fake_end(datagram, at);
}

static void test_events(struct netlink *netlink)
{
	struct datagram *datagram = fake_datagram();

	EXPECT(netlink_listen(netlink, 0) == 0);
	EXPECT(fake_joined == (1u << FAKE_EVENTS_GROUP | 1u << FAKE_CONTROLLER_GROUP));
	put_event(datagram, FAKE_FAMILY, OMX_CMD_LINK_UP, OMX_A_BOARD, 1);
	put_event(datagram, FAKE_FAMILY + 1, OMX_CMD_BOARD_GET, OMX_A_BOARD, 3);
	put_event(datagram, GENL_ID_CTRL, CTRL_CMD_DELFAMILY, CTRL_ATTR_FAMILY_ID, FAKE_FAMILY + 1);
	put_event(datagram, FAKE_FAMILY, OMX_CMD_LINK_DOWN, OMX_A_BOARD, 2);
	EXPECT(netlink_next_events(netlink, see, &seen) == 0);
	EXPECT(seen == (1u << OMX_CMD_LINK_UP | 1u << OMX_CMD_LINK_DOWN) && seen_board == 2);
	fake_datagram()->error = ENOBUFS;
	EXPECT(netlink_next_events(netlink, see, &seen) == -ENOBUFS);
	put_event(fake_datagram(), GENL_ID_CTRL, CTRL_CMD_DELFAMILY, CTRL_ATTR_FAMILY_ID, FAKE_FAMILY);
	EXPECT(netlink_next_events(netlink, see, &seen) == -ENODEV);
	fake_reset();
}

/* ---- attributes that are not what they should be ---- */

static int look(uint8_t command, const struct nlattr *const attribute[], void *context)
{
	char name[4];

	(void)command;
	EXPECT(attribute_u32(attribute[OMX_A_BOARD]) == 0);	/* it has two bytes */
	EXPECT(attribute_u64(attribute[OMX_A_TX_BYTES]) == 0);
	EXPECT(!attribute_data(attribute[OMX_A_MAC], 6));
	attribute_string(attribute[OMX_A_NAME], name, sizeof(name));
	EXPECT(!strcmp(name, "nod"));				/* nothing ends it */
	EXPECT(!attribute[OMX_A_VALUE]);			/* behind the end */
	++*(unsigned int *)context;
	return 0;
}

static void test_wrong_attributes(struct netlink *netlink)
{
	struct datagram *datagram = fake_datagram();
	struct nlattr beyond = { .nla_type = OMX_A_VALUE, .nla_len = 200 };
	struct nlattr empty = { .nla_type = OMX_A_VALUE, .nla_len = 1 };
	unsigned int looked = 0;
	size_t at;

	at = fake_begin_generic(datagram, FAKE_FAMILY, 0, OMX_CMD_PEER_FOUND);
	fake_put(datagram, OMX_A_BOARD, "\1\1", 2);
	fake_put(datagram, OMX_A_TX_BYTES, "\1\1\1\1\1\1\1", 7);
	fake_put(datagram, OMX_A_MAC, "\1", 1);
	fake_put(datagram, OMX_A_NAME, "node1", 5);
	fake_append(datagram, &beyond, sizeof(beyond));
	fake_end(datagram, at);
	at = fake_begin_generic(datagram, FAKE_FAMILY, 0, OMX_CMD_PEER_FOUND);
	fake_put(datagram, OMX_A_NAME, "nodes", 5);
	fake_append(datagram, &empty, sizeof(empty));
	fake_end(datagram, at);
	EXPECT(netlink_next_events(netlink, look, &looked) == 0 && looked == 2);
	datagram = fake_datagram();
	at = fake_begin(datagram, FAKE_FAMILY, 0, 0);		/* without a generic head */
	fake_end(datagram, at);
	EXPECT(netlink_next_events(netlink, look, &looked) == -EPROTO);
	fake_datagram()->length = 3;				/* no message at all */
	EXPECT(netlink_next_events(netlink, look, &looked) == 0 && looked == 2);
	fake_reset();
}

int main(void)
{
	static struct netlink netlink;

	test_no_driver();
	netlink_open_expect(&netlink);
	test_dump(&netlink);
	test_dump_that_fails(&netlink);
	test_changes(&netlink);
	test_events(&netlink);
	test_wrong_attributes(&netlink);
	netlink_close(&netlink);
	return 0;
}
