/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * netlink.c and objects.c with a kernel that is made up: the linker has them call these
 * instead of socket(), send() and recv().  Answers are prepared as datagrams; some are
 * those of a driver of another release, or of none.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/socket.h>

#include "complain.h"
#include "expect.h"
#include "netlink.h"
#include "objects.h"

#define FAMILY 33
#define CONTROLLER_GROUP 16
#define EVENTS_GROUP 7

int __wrap_socket(int domain, int type, int protocol);
int __wrap_setsockopt(int fd, int level, int name, const void *value, socklen_t length);
ssize_t __wrap_send(int fd, const void *data, size_t length, int flags);
ssize_t __wrap_recv(int fd, void *data, size_t length, int flags);

/* ---- the kernel ---- */

static struct datagram {
	_Alignas(8) char data[4096];
	size_t length;
	int error;			/* instead of data */
} queue[8];

static unsigned int queued, received;
static struct netlink_request sent;
static unsigned int joined;		/* a bit for each group */

int __wrap_socket(int domain, int type, int protocol)
{
	EXPECT(domain == AF_NETLINK && protocol == NETLINK_GENERIC);
	(void)type;
	return open("/dev/null", O_RDWR | O_CLOEXEC);
}

int __wrap_setsockopt(int fd, int level, int name, const void *value, socklen_t length)
{
	(void)fd;
	(void)length;
	if (level == SOL_NETLINK && name == NETLINK_ADD_MEMBERSHIP)
		joined |= 1u << *(const uint32_t *)value;
	return 0;
}

ssize_t __wrap_send(int fd, const void *data, size_t length, int flags)
{
	(void)fd;
	(void)flags;
	EXPECT(length <= sizeof(sent) && length == ((const struct nlmsghdr *)data)->nlmsg_len);
	memcpy(&sent, data, length);
	return length;
}

ssize_t __wrap_recv(int fd, void *data, size_t length, int flags)
{
	struct datagram *next = &queue[received++];

	(void)fd;
	EXPECT(flags == MSG_TRUNC && received <= queued);
	if (next->error) {
		errno = next->error;
		return -1;
	}
	memcpy(data, next->data, next->length < length ? next->length : length);
	return next->length;
}

static void kernel_reset(void)
{
	memset(queue, 0, sizeof(queue));
	queued = 0;
	received = 0;
}

static struct datagram *new_datagram(void)
{
	EXPECT(queued < sizeof(queue) / sizeof(queue[0]));
	return &queue[queued++];
}

static void append(struct datagram *datagram, const void *data, size_t length)
{
	memcpy(datagram->data + datagram->length, data, length);
	datagram->length += NLMSG_ALIGN(length);
}

static size_t message_begin(struct datagram *datagram, uint16_t type, uint16_t flags,
			    uint32_t sequence)
{
	struct nlmsghdr head = { .nlmsg_type = type, .nlmsg_flags = flags,
				 .nlmsg_seq = sequence };
	size_t at = datagram->length;

	append(datagram, &head, sizeof(head));
	return at;
}

static void message_end(struct datagram *datagram, size_t at)
{
	((struct nlmsghdr *)(datagram->data + at))->nlmsg_len = datagram->length - at;
}

static size_t generic_begin(struct datagram *datagram, uint16_t family, uint32_t sequence,
			    uint8_t command)
{
	struct genlmsghdr generic = { .cmd = command, .version = 1 };
	size_t at = message_begin(datagram, family, NLM_F_MULTI, sequence);

	append(datagram, &generic, sizeof(generic));
	return at;
}

static void put(struct datagram *datagram, uint16_t type, const void *data, size_t length)
{
	struct nlattr attribute = { .nla_type = type, .nla_len = NLA_HDRLEN + length };

	append(datagram, &attribute, sizeof(attribute));
	append(datagram, data, length);
}

static void put_u32(struct datagram *datagram, uint16_t type, uint32_t value)
{
	put(datagram, type, &value, sizeof(value));
}

static void put_text(struct datagram *datagram, uint16_t type, const char *text)
{
	put(datagram, type, text, strlen(text) + 1);
}

static void put_result(struct datagram *datagram, uint32_t sequence, int error, uint16_t flags,
		       const char *said)
{
	struct nlmsgerr result = { .error = error, .msg = { .nlmsg_len = 40 } };
	size_t at;

	at = message_begin(datagram, NLMSG_ERROR, flags | (said ? NLM_F_ACK_TLVS : 0), sequence);
	append(datagram, &result, sizeof(result));
	if (!(flags & NLM_F_CAPPED))		/* the request, without its head */
		append(datagram, (char[24]){ 0 }, 24);
	if (said)
		put_text(datagram, NLMSGERR_ATTR_MSG, said);
	message_end(datagram, at);
}

static void put_done(struct datagram *datagram, uint32_t sequence, int error)
{
	size_t at = message_begin(datagram, NLMSG_DONE, NLM_F_MULTI, sequence);

	append(datagram, &error, sizeof(error));
	message_end(datagram, at);
}

static void put_board(struct datagram *datagram, uint32_t sequence, uint32_t number)
{
	size_t at = generic_begin(datagram, FAMILY, sequence, OMX_CMD_BOARD_GET);
	char ifname[16];

	snprintf(ifname, sizeof(ifname), "eth%" PRIu32, number);
	put_u32(datagram, OMX_A_BOARD, number);
	put_text(datagram, OMX_A_IFNAME, ifname);
	put(datagram, OMX_A_MAC, "\x02\0\0\0\x01\x07", 6);
	put_u32(datagram, OMX_A_ENDPOINTS_MAX, 4096);
	put_u32(datagram, OMX_A_MAX + 5, 1);	/* of a later release */
	message_end(datagram, at);
}

/* ---- opening ---- */

static void put_group(struct datagram *datagram, uint16_t index, const char *name, uint32_t id)
{
	struct datagram group = { .length = 0 };

	put_u32(&group, CTRL_ATTR_MCAST_GRP_ID, id);
	put_text(&group, CTRL_ATTR_MCAST_GRP_NAME, name);
	put(datagram, index | NLA_F_NESTED, group.data, group.length);
}

static void prepare_family(uint32_t sequence, uint16_t number, const char *group, uint32_t id)
{
	struct datagram *datagram = new_datagram(), groups = { .length = 0 };
	size_t at = generic_begin(datagram, GENL_ID_CTRL, sequence, CTRL_CMD_NEWFAMILY);

	put(datagram, CTRL_ATTR_FAMILY_ID, &number, sizeof(number));
	put_group(&groups, 1, "others", 3);
	put_group(&groups, 2, group, id);
	put(datagram, CTRL_ATTR_MCAST_GROUPS | NLA_F_NESTED, groups.data, groups.length);
	message_end(datagram, at);
	put_result(new_datagram(), sequence, 0, NLM_F_CAPPED, NULL);
}

static void netlink_open_expect(struct netlink *netlink)
{
	kernel_reset();
	prepare_family(1, FAMILY, "events", EVENTS_GROUP);
	prepare_family(2, GENL_ID_CTRL, "notify", CONTROLLER_GROUP);
	EXPECT(netlink_open(netlink) == 0);
	EXPECT(netlink->family == FAMILY && netlink->events == EVENTS_GROUP);
	EXPECT(netlink->controller_events == CONTROLLER_GROUP);
	kernel_reset();
}

static void test_no_driver(void)
{
	static struct netlink netlink;

	kernel_reset();
	put_result(new_datagram(), 1, -ENOENT, NLM_F_CAPPED, NULL);
	EXPECT(netlink_open(&netlink) == -1 && netlink.fd == -1);
	complain_forget();
}

/* ---- dumps ---- */

static void test_dump(struct netlink *netlink)
{
	uint32_t sequence = netlink->sequence + 1;
	struct board_list list;
	struct datagram *datagram = new_datagram();

	put_board(datagram, sequence - 1, 9);	/* of an answer that nobody waits for any more */
	put_board(datagram, sequence, 0);
	put_board(datagram, sequence, 2);
	datagram = new_datagram();
	put_board(datagram, sequence, 31);
	put_done(datagram, sequence, 0);
	EXPECT(netlink_boards(netlink, 5, &list) == 0);
	EXPECT(list.count == 3 && list.endpoint_max == 4096);
	EXPECT(list.board[1].board == 2 && !strcmp(list.board[2].ifname, "eth31"));
	EXPECT(list.board[0].mac == 0x020000000107 && !*list.board[0].name);
	EXPECT(sent.head.nlmsg_type == FAMILY && sent.head.nlmsg_flags & NLM_F_DUMP);
	EXPECT(sent.generic.cmd == OMX_CMD_BOARD_GET);
	EXPECT(attribute_u32((struct nlattr *)sent.attributes) == 5);
	kernel_reset();
}

static void test_dump_that_fails(struct netlink *netlink)
{
	uint32_t sequence = netlink->sequence + 1;
	struct peer_list peers = { 0 };
	struct datagram *datagram = new_datagram();

	put_done(datagram, sequence, -EIO);
	EXPECT(netlink_peers(netlink, OMX_ANY, &peers) == -1);
	complain_forget();
	kernel_reset();
	put_result(new_datagram(), sequence + 1, -ENODEV, NLM_F_CAPPED, "there is no such board");
	EXPECT(netlink_peers(netlink, 3, &peers) == 0 && !peers.count);
	kernel_reset();
	new_datagram()->error = ENOMEM;
	EXPECT(netlink_peers(netlink, 3, &peers) == -1);
	complain_forget();
	kernel_reset();
}

/* ---- changes ---- */

static int change(struct netlink *netlink)
{
	struct netlink_request request;
	int error;

	netlink_request_init(&request, OMX_CMD_BOARD_ATTACH);
	netlink_request_add_string(&request, OMX_A_IFNAME, "eth0");
	error = netlink_change(netlink, &request);
	kernel_reset();
	return error;
}

static void test_changes(struct netlink *netlink)
{
	put_result(new_datagram(), netlink->sequence + 1, 0, NLM_F_CAPPED, NULL);
	EXPECT(change(netlink) == 0 && !*netlink->said);
	put_result(new_datagram(), netlink->sequence + 1, -EADDRINUSE, NLM_F_CAPPED, "it is taken");
	EXPECT(change(netlink) == -EADDRINUSE && !strcmp(netlink->said, "it is taken"));
	put_result(new_datagram(), netlink->sequence + 1, -EBUSY, 0, "behind the request");
	EXPECT(change(netlink) == -EBUSY && !strcmp(netlink->said, "behind the request"));
	put_result(new_datagram(), netlink->sequence + 1, -EPERM, NLM_F_CAPPED, NULL);
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
	size_t at = generic_begin(datagram, family, 0, command);

	put_u32(datagram, attribute, value);
	message_end(datagram, at);
}

static void test_events(struct netlink *netlink)
{
	struct datagram *datagram = new_datagram();

	EXPECT(netlink_listen(netlink, 0) == 0);
	EXPECT(joined == (1u << EVENTS_GROUP | 1u << CONTROLLER_GROUP));
	put_event(datagram, FAMILY, OMX_CMD_LINK_UP, OMX_A_BOARD, 1);
	put_event(datagram, FAMILY + 1, OMX_CMD_BOARD_GET, OMX_A_BOARD, 3);
	put_event(datagram, GENL_ID_CTRL, CTRL_CMD_DELFAMILY, CTRL_ATTR_FAMILY_ID, FAMILY + 1);
	put_event(datagram, FAMILY, OMX_CMD_LINK_DOWN, OMX_A_BOARD, 2);
	EXPECT(netlink_next_events(netlink, see, &seen) == 0);
	EXPECT(seen == (1u << OMX_CMD_LINK_UP | 1u << OMX_CMD_LINK_DOWN) && seen_board == 2);
	new_datagram()->error = ENOBUFS;
	EXPECT(netlink_next_events(netlink, see, &seen) == -ENOBUFS);
	put_event(new_datagram(), GENL_ID_CTRL, CTRL_CMD_DELFAMILY, CTRL_ATTR_FAMILY_ID, FAMILY);
	EXPECT(netlink_next_events(netlink, see, &seen) == -ENODEV);
	kernel_reset();
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
	struct datagram *datagram = new_datagram();
	struct nlattr beyond = { .nla_type = OMX_A_VALUE, .nla_len = 200 };
	struct nlattr empty = { .nla_type = OMX_A_VALUE, .nla_len = 1 };
	unsigned int looked = 0;
	size_t at;

	at = generic_begin(datagram, FAMILY, 0, OMX_CMD_PEER_FOUND);
	put(datagram, OMX_A_BOARD, "\1\1", 2);
	put(datagram, OMX_A_TX_BYTES, "\1\1\1\1\1\1\1", 7);
	put(datagram, OMX_A_MAC, "\1", 1);
	put(datagram, OMX_A_NAME, "node1", 5);
	append(datagram, &beyond, sizeof(beyond));
	message_end(datagram, at);
	at = generic_begin(datagram, FAMILY, 0, OMX_CMD_PEER_FOUND);
	put(datagram, OMX_A_NAME, "nodes", 5);
	append(datagram, &empty, sizeof(empty));
	message_end(datagram, at);
	EXPECT(netlink_next_events(netlink, look, &looked) == 0 && looked == 2);
	at = message_begin(new_datagram(), FAMILY, 0, 0);	/* without a generic head */
	message_end(&queue[1], at);
	EXPECT(netlink_next_events(netlink, look, &looked) == -EPROTO);
	new_datagram()->length = 3;				/* no message at all */
	EXPECT(netlink_next_events(netlink, look, &looked) == 0 && looked == 2);
	kernel_reset();
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
