/* SPDX-License-Identifier: BSD-2-Clause */
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "complain.h"
#include "netlink.h"

#define CONTROLLER	"nlctrl"
#define CONTROLLER_EVENTS "notify"

/* ---- attributes ---- */

static size_t attribute_length(const struct nlattr *attribute)
{
	return attribute ? attribute->nla_len - NLA_HDRLEN : 0;
}

static const char *attribute_start(const struct nlattr *attribute)
{
	return (const char *)attribute + NLA_HDRLEN;
}

const void *attribute_data(const struct nlattr *attribute, size_t length)
{
	return attribute && attribute_length(attribute) >= length ? attribute_start(attribute) :
								   NULL;
}

uint32_t attribute_u32(const struct nlattr *attribute)
{
	const void *data = attribute_data(attribute, sizeof(uint32_t));
	uint32_t value = 0;

	if (data)
		memcpy(&value, data, sizeof(value));
	return value;
}

/* It need not be aligned. */
uint64_t attribute_u64(const struct nlattr *attribute)
{
	const void *data = attribute_data(attribute, sizeof(uint64_t));
	uint64_t value = 0;

	if (data)
		memcpy(&value, data, sizeof(value));
	return value;
}

void attribute_string(const struct nlattr *attribute, char *text, size_t size)
{
	size_t length = attribute_length(attribute);

	if (length >= size)
		length = size - 1;
	if (length)
		memcpy(text, attribute_start(attribute), length);
	text[length] = '\0';
	/* Programs and hosts choose their names: they are not to control the terminal. */
	for (; *text; text++)
		if (iscntrl((unsigned char)*text))
			*text = '?';
}

/* Up to the first one that does not fit in its message. */
static void attributes_read(const void *data, size_t length, const struct nlattr *table[],
			    unsigned int max)
{
	const char *at = data;

	memset(table, 0, (max + 1) * sizeof(*table));
	while (length >= NLA_HDRLEN) {
		const struct nlattr *attribute = (const struct nlattr *)at;
		unsigned int type = attribute->nla_type & NLA_TYPE_MASK;
		size_t step = NLA_ALIGN(attribute->nla_len);

		if (attribute->nla_len < NLA_HDRLEN || attribute->nla_len > length)
			return;
		if (type <= max)
			table[type] = attribute;
		if (step >= length)
			return;
		at += step;
		length -= step;
	}
}

/* ---- requests ---- */

void netlink_request_init(struct netlink_request *request, uint8_t command)
{
	memset(request, 0, sizeof(*request));
	request->head.nlmsg_len = NLMSG_LENGTH(GENL_HDRLEN);
	request->head.nlmsg_flags = NLM_F_REQUEST;
	request->generic.cmd = command;
	request->generic.version = OMX_NETLINK_VERSION;
}

/* There is room for all attributes of any request. */
void netlink_request_add(struct netlink_request *request, uint16_t type, const void *data,
			 size_t length)
{
	struct nlattr *attribute =
		(struct nlattr *)((char *)request + NLMSG_ALIGN(request->head.nlmsg_len));

	attribute->nla_type = type;
	attribute->nla_len = NLA_HDRLEN + length;
	if (length)
		memcpy((char *)attribute + NLA_HDRLEN, data, length);
	request->head.nlmsg_len = NLMSG_ALIGN(request->head.nlmsg_len) +
				  NLA_ALIGN(attribute->nla_len);
}

void netlink_request_add_u32(struct netlink_request *request, uint16_t attribute,
			     uint32_t value)
{
	netlink_request_add(request, attribute, &value, sizeof(value));
}

void netlink_request_add_string(struct netlink_request *request, uint16_t attribute,
				const char *text)
{
	netlink_request_add(request, attribute, text, strlen(text) + 1);
}

static int netlink_send(struct netlink *netlink, struct netlink_request *request,
			uint16_t family, uint16_t flags)
{
	request->head.nlmsg_type = family;
	request->head.nlmsg_flags |= flags;
	request->head.nlmsg_seq = ++netlink->sequence;
	netlink->said[0] = '\0';
	return send(netlink->fd, request, request->head.nlmsg_len, 0) < 0 ? -errno : 0;
}

/* ---- answers ---- */

/* Returns the length of what is in the buffer then, or -errno. */
static ssize_t netlink_receive(struct netlink *netlink)
{
	ssize_t length;

	do
		length = recv(netlink->fd, netlink->buffer, sizeof(netlink->buffer), MSG_TRUNC);
	while (length < 0 && errno == EINTR);
	if (length < 0)
		return -errno;
	return (size_t)length > sizeof(netlink->buffer) ? -EMSGSIZE : length;
}

/* What the kernel says besides the number of an error, behind `used` bytes of the message. */
static void netlink_read_reason(struct netlink *netlink, const struct nlmsghdr *head,
				size_t used)
{
	const struct nlattr *table[NLMSGERR_ATTR_MSG + 1];
	size_t length = NLMSG_PAYLOAD(head, 0);

	if (!(head->nlmsg_flags & NLM_F_ACK_TLVS) || used >= length)
		return;
	attributes_read((const char *)NLMSG_DATA(head) + used, length - used, table,
			NLMSGERR_ATTR_MSG);
	attribute_string(table[NLMSGERR_ATTR_MSG], netlink->said, sizeof(netlink->said));
}

/* 0, or -errno: the result of the request.  It is also that of a dump that ends. */
static int netlink_read_result(struct netlink *netlink, const struct nlmsghdr *head)
{
	size_t length = NLMSG_PAYLOAD(head, 0), used = NLMSG_ALIGN(sizeof(int));
	struct nlmsgerr error;

	if (head->nlmsg_type == NLMSG_DONE) {
		if (length < sizeof(int))
			return 0;
		memcpy(&error.error, NLMSG_DATA(head), sizeof(int));
	} else {
		if (length < sizeof(error))
			return -EPROTO;
		memcpy(&error, NLMSG_DATA(head), sizeof(error));
		used = NLMSG_ALIGN(sizeof(error));
		if (!(head->nlmsg_flags & NLM_F_CAPPED))	/* the request follows */
			used += NLMSG_ALIGN(error.msg.nlmsg_len) - NLMSG_HDRLEN;
	}
	if (error.error)
		netlink_read_reason(netlink, head, used);
	return error.error;
}

static int message_handle(const struct nlmsghdr *head, unsigned int max,
			  netlink_handler handler, void *context)
{
	const struct nlattr *table[OMX_A_MAX > CTRL_ATTR_MAX ? OMX_A_MAX + 1 : CTRL_ATTR_MAX + 1];
	const struct genlmsghdr *generic = NLMSG_DATA(head);
	size_t length = NLMSG_PAYLOAD(head, 0);

	if (length < GENL_HDRLEN)
		return -EPROTO;
	attributes_read((const char *)generic + GENL_HDRLEN, length - GENL_HDRLEN, table, max);
	return handler(generic->cmd, table, context);
}

/*
 * All messages of an answer.  Returns when it is complete: dumps end with NLMSG_DONE, other
 * answers with the acknowledgement.
 */
static int netlink_take_answer(struct netlink *netlink, unsigned int max,
			       netlink_handler handler, void *context)
{
	const struct nlmsghdr *head;
	ssize_t received;
	int length, ret;

	for (;;) {
		received = netlink_receive(netlink);
		if (received < 0)
			return received;
		length = received;
		for (head = (struct nlmsghdr *)netlink->buffer; NLMSG_OK(head, length);
		     head = NLMSG_NEXT(head, length)) {
			if (head->nlmsg_seq != netlink->sequence)
				continue;
			if (head->nlmsg_type == NLMSG_DONE || head->nlmsg_type == NLMSG_ERROR)
				return netlink_read_result(netlink, head);
			ret = handler ? message_handle(head, max, handler, context) : 0;
			if (ret)
				return ret;
		}
	}
}

int netlink_dump(struct netlink *netlink, struct netlink_request *request,
		 netlink_handler handler, void *context)
{
	int error = netlink_send(netlink, request, netlink->family, NLM_F_DUMP);

	return error ? error : netlink_take_answer(netlink, OMX_A_MAX, handler, context);
}

int netlink_change(struct netlink *netlink, struct netlink_request *request)
{
	int error = netlink_send(netlink, request, netlink->family, NLM_F_ACK);

	return error ? error : netlink_take_answer(netlink, OMX_A_MAX, NULL, NULL);
}

/* ---- families ---- */

struct family {
	uint16_t number;
	const char *group_name;
	uint32_t group;			/* 0: there is none of this name */
};

static void family_read_group(struct family *family, const struct nlattr *group)
{
	const struct nlattr *table[CTRL_ATTR_MCAST_GRP_MAX + 1];
	char name[GENL_NAMSIZ];

	attributes_read(attribute_start(group), attribute_length(group), table,
			CTRL_ATTR_MCAST_GRP_MAX);
	attribute_string(table[CTRL_ATTR_MCAST_GRP_NAME], name, sizeof(name));
	if (strcmp(name, family->group_name) == 0)
		family->group = attribute_u32(table[CTRL_ATTR_MCAST_GRP_ID]);
}

static int family_read(uint8_t command, const struct nlattr *const attribute[], void *context)
{
	const struct nlattr *groups[16];	/* of a family; ours has one */
	struct family *family = context;
	const uint16_t *number = attribute_data(attribute[CTRL_ATTR_FAMILY_ID], sizeof(*number));
	const struct nlattr *list = attribute[CTRL_ATTR_MCAST_GROUPS];
	unsigned int i;

	(void)command;
	if (number)
		family->number = *number;
	if (!list)
		return 0;
	attributes_read(attribute_start(list), attribute_length(list), groups, 15);
	for (i = 0; i < 16; i++)
		if (groups[i])
			family_read_group(family, groups[i]);
	return 0;
}

static int family_find(struct netlink *netlink, const char *name, struct family *family)
{
	struct netlink_request request;
	int error;

	netlink_request_init(&request, CTRL_CMD_GETFAMILY);
	netlink_request_add_string(&request, CTRL_ATTR_FAMILY_NAME, name);
	error = netlink_send(netlink, &request, GENL_ID_CTRL, NLM_F_ACK);
	return error ? error : netlink_take_answer(netlink, CTRL_ATTR_MAX, family_read, family);
}

/* ---- opening ---- */

static int netlink_no_family(int error)
{
	if (error != -ENOENT)
		return complain(NULL, "cannot find the netlink family of the driver: %s",
				strerror(-error));
	if (access("/dev/omx", F_OK) == 0)
		return complain("load a module that goes with this tool: "
				"modprobe -r omx && modprobe omx",
				"the module that is loaded has no netlink family");
	return complain("is the module loaded? try: modprobe omx",
			"there is no netlink family " OMX_NETLINK_FAMILY);
}

static int netlink_open_socket(struct netlink *netlink)
{
	const int on = 1;

	netlink->sequence = 0;
	netlink->fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC);
	if (netlink->fd < 0)
		return -errno;
	/* Reasons in words, and requests checked to the last bit; old kernels do without. */
	setsockopt(netlink->fd, SOL_NETLINK, NETLINK_EXT_ACK, &on, sizeof(on));
	setsockopt(netlink->fd, SOL_NETLINK, NETLINK_CAP_ACK, &on, sizeof(on));
	setsockopt(netlink->fd, SOL_NETLINK, NETLINK_GET_STRICT_CHK, &on, sizeof(on));
	return 0;
}

static int netlink_find_families(struct netlink *netlink)
{
	struct family controller = { .group_name = CONTROLLER_EVENTS };
	struct family driver = { .group_name = OMX_NETLINK_EVENTS };
	int error;

	error = family_find(netlink, OMX_NETLINK_FAMILY, &driver);
	if (!error)
		error = family_find(netlink, CONTROLLER, &controller);
	if (error)
		return error;
	netlink->family = driver.number;
	netlink->events = driver.group;
	netlink->controller_events = controller.group;
	return 0;
}

int netlink_open_silently(struct netlink *netlink)
{
	int error = netlink_open_socket(netlink);

	if (error)
		return error;
	error = netlink_find_families(netlink);
	if (error)
		netlink_close(netlink);
	return error;
}

int netlink_open(struct netlink *netlink)
{
	int error = netlink_open_silently(netlink);

	return error ? netlink_no_family(error) : 0;
}

void netlink_close(struct netlink *netlink)
{
	close(netlink->fd);
	netlink->fd = -1;
}

static const char *netlink_hint(int error)
{
	switch (error) {
	case EPERM:
	case EACCES:
		return "only the administrator may (CAP_NET_ADMIN)";
	case EOPNOTSUPP:
		return "module and tools are of different versions";
	default:
		return NULL;
	}
}

int netlink_fail(const struct netlink *netlink, int error, const char *what, ...)
{
	char text[256];
	va_list arguments;

	va_start(arguments, what);
	vsnprintf(text, sizeof(text), what, arguments);
	va_end(arguments);
	return complain(netlink_hint(-error), "cannot %s: %s", text,
			*netlink->said ? netlink->said : strerror(-error));
}

/* ---- events ---- */

static int netlink_join(const struct netlink *netlink, uint32_t group)
{
	return setsockopt(netlink->fd, SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, &group,
			  sizeof(group)) < 0 ? -errno : 0;
}

int netlink_listen(struct netlink *netlink, int bytes)
{
	int error;

	if (bytes && setsockopt(netlink->fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof(bytes)) < 0)
		return -errno;
	error = netlink_join(netlink, netlink->events);
	return error ? error : netlink_join(netlink, netlink->controller_events);
}

/* Does the controller say that this family has ended? */
static int family_check_end(uint8_t command, const struct nlattr *const attribute[],
			    void *context)
{
	const uint16_t *number = attribute_data(attribute[CTRL_ATTR_FAMILY_ID], sizeof(*number));
	const struct netlink *netlink = context;

	return command == CTRL_CMD_DELFAMILY && number && *number == netlink->family ?
		-ENODEV : 0;
}

int netlink_next_events(struct netlink *netlink, netlink_handler handler, void *context)
{
	ssize_t received = netlink_receive(netlink);
	const struct nlmsghdr *head;
	int length = received, ret;

	if (received < 0)
		return received;
	for (head = (struct nlmsghdr *)netlink->buffer; NLMSG_OK(head, length);
	     head = NLMSG_NEXT(head, length)) {
		if (head->nlmsg_type == netlink->family)
			ret = message_handle(head, OMX_A_MAX, handler, context);
		else if (head->nlmsg_type == GENL_ID_CTRL)
			ret = message_handle(head, CTRL_ATTR_MAX, family_check_end, netlink);
		else
			ret = 0;
		if (ret)
			return ret;
	}
	return 0;
}
