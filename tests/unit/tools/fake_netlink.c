/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>

#include "expect.h"
#include "fake_netlink.h"

int __real_socket(int domain, int type, int protocol);
int __wrap_socket(int domain, int type, int protocol);
int __real_setsockopt(int fd, int level, int name, const void *value, socklen_t length);
int __wrap_setsockopt(int fd, int level, int name, const void *value, socklen_t length);
ssize_t __real_send(int fd, const void *data, size_t length, int flags);
ssize_t __wrap_send(int fd, const void *data, size_t length, int flags);
ssize_t __real_recv(int fd, void *data, size_t length, int flags);
ssize_t __wrap_recv(int fd, void *data, size_t length, int flags);

static struct datagram queue[40];
static unsigned int queued, received;

unsigned int fake_joined;

void fake_reset(void)
{
	queued = 0;
	received = 0;
}

struct datagram *fake_datagram(void)
{
	struct datagram *next = &queue[queued++];

	EXPECT(queued <= sizeof(queue) / sizeof(queue[0]));
	next->length = 0;
	next->error = 0;
	return next;
}

/* ---- calls ---- */

int __wrap_socket(int domain, int type, int protocol)
{
	if (!fake_is_wanted())
		return __real_socket(domain, type, protocol);
	EXPECT(domain == AF_NETLINK && protocol == NETLINK_GENERIC);
	return open("/dev/null", O_RDWR | O_CLOEXEC);
}

int __wrap_setsockopt(int fd, int level, int name, const void *value, socklen_t length)
{
	if (!fake_is_wanted())
		return __real_setsockopt(fd, level, name, value, length);
	if (level == SOL_NETLINK && name == NETLINK_ADD_MEMBERSHIP)
		fake_joined |= 1u << *(const uint32_t *)value;
	return 0;
}

ssize_t __wrap_send(int fd, const void *data, size_t length, int flags)
{
	static struct netlink_request request;

	if (!fake_is_wanted())
		return __real_send(fd, data, length, flags);
	EXPECT(length <= sizeof(request));
	memcpy(&request, data, length);
	EXPECT(length == request.head.nlmsg_len);
	fake_requested(&request);
	return length;
}

ssize_t __wrap_recv(int fd, void *data, size_t length, int flags)
{
	struct datagram *next = &queue[received];

	if (!fake_is_wanted())
		return __real_recv(fd, data, length, flags);
	EXPECT(flags == MSG_TRUNC && received < queued);
	received++;
	if (next->error) {
		errno = next->error;
		return -1;
	}
	EXPECT(next->length <= length);
	memcpy(data, next->data, next->length);
	return next->length;
}

/* ---- messages ---- */

void fake_append(struct datagram *datagram, const void *data, size_t length)
{
	EXPECT(datagram->length + NLMSG_ALIGN(length) <= sizeof(datagram->data));
	memset(datagram->data + datagram->length, 0, NLMSG_ALIGN(length));
	memcpy(datagram->data + datagram->length, data, length);
	datagram->length += NLMSG_ALIGN(length);
}

size_t fake_begin(struct datagram *datagram, uint16_t type, uint16_t flags, uint32_t sequence)
{
	struct nlmsghdr head = {
		.nlmsg_type = type,
		.nlmsg_flags = flags,
		.nlmsg_seq = sequence,
	};
	size_t at = datagram->length;

	fake_append(datagram, &head, sizeof(head));
	return at;
}

size_t fake_begin_generic(struct datagram *datagram, uint16_t family, uint32_t sequence,
			  uint8_t command)
{
	struct genlmsghdr generic = { .cmd = command, .version = 1 };
	size_t at = fake_begin(datagram, family, NLM_F_MULTI, sequence);

	fake_append(datagram, &generic, sizeof(generic));
	return at;
}

void fake_end(struct datagram *datagram, size_t at)
{
	((struct nlmsghdr *)(datagram->data + at))->nlmsg_len = datagram->length - at;
}

void fake_put(struct datagram *datagram, uint16_t type, const void *data, size_t length)
{
	struct nlattr attribute = { .nla_type = type, .nla_len = NLA_HDRLEN + length };

	fake_append(datagram, &attribute, sizeof(attribute));
	fake_append(datagram, data, length);
}

void fake_put_u32(struct datagram *datagram, uint16_t type, uint32_t value)
{
	fake_put(datagram, type, &value, sizeof(value));
}

void fake_put_text(struct datagram *datagram, uint16_t type, const char *text)
{
	fake_put(datagram, type, text, strlen(text) + 1);
}

void fake_result(struct datagram *datagram, uint32_t sequence, int error, uint16_t flags,
		 const char *said)
{
	struct nlmsgerr result = { .error = error, .msg = { .nlmsg_len = 40 } };
	size_t at;

	at = fake_begin(datagram, NLMSG_ERROR, flags | (said ? NLM_F_ACK_TLVS : 0), sequence);
	fake_append(datagram, &result, sizeof(result));
	if (!(flags & NLM_F_CAPPED))		/* the request, without its head */
		fake_append(datagram, (char[24]){ 0 }, 24);
	if (said)
		fake_put_text(datagram, NLMSGERR_ATTR_MSG, said);
	fake_end(datagram, at);
}

void fake_done(struct datagram *datagram, uint32_t sequence, int error)
{
	size_t at = fake_begin(datagram, NLMSG_DONE, NLM_F_MULTI, sequence);

	fake_append(datagram, &error, sizeof(error));
	fake_end(datagram, at);
}

static void put_group(struct datagram *datagram, uint16_t index, const char *name, uint32_t id)
{
	static struct datagram group;

	group.length = 0;
	fake_put_u32(&group, CTRL_ATTR_MCAST_GRP_ID, id);
	fake_put_text(&group, CTRL_ATTR_MCAST_GRP_NAME, name);
	fake_put(datagram, index | NLA_F_NESTED, group.data, group.length);
}

void fake_families(uint32_t sequence, uint16_t number, const char *group, uint32_t id)
{
	struct datagram *datagram = fake_datagram();
	static struct datagram groups;
	size_t at = fake_begin_generic(datagram, GENL_ID_CTRL, sequence, CTRL_CMD_NEWFAMILY);

	groups.length = 0;
	fake_put(datagram, CTRL_ATTR_FAMILY_ID, &number, sizeof(number));
	put_group(&groups, 1, "others", 3);
	put_group(&groups, 2, group, id);
	fake_put(datagram, CTRL_ATTR_MCAST_GROUPS | NLA_F_NESTED, groups.data, groups.length);
	fake_end(datagram, at);
	fake_result(fake_datagram(), sequence, 0, NLM_F_CAPPED, NULL);
}
