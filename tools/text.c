/* SPDX-License-Identifier: BSD-2-Clause */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "omx_abi.h"
#include "text.h"

/* strtoull() accepts a minus sign and leading blanks, which are errors here. */
static int parse_digits(const char *text, uint64_t *value, char **end)
{
	if (!isdigit((unsigned char)*text))
		return -1;
	errno = 0;
	*value = strtoull(text, end, 0);
	return errno ? -1 : 0;
}

int parse_u32(const char *text, uint32_t *value)
{
	uint64_t wide;
	char *end;

	if (parse_digits(text, &wide, &end) < 0 || *end || wide > UINT32_MAX)
		return -1;
	*value = wide;
	return 0;
}

int parse_size(const char *text, uint64_t *value)
{
	static const char suffixes[] = "kmgt";
	const char *suffix;
	uint64_t number;
	unsigned int shift;
	char *end;

	if (parse_digits(text, &number, &end) < 0)
		return -1;
	if (*end) {
		suffix = strchr(suffixes, tolower((unsigned char)*end));
		if (!suffix || end[1])
			return -1;
		shift = 10 * (suffix - suffixes + 1);
		if (number > UINT64_MAX >> shift)
			return -1;
		number <<= shift;
	}
	*value = number;
	return 0;
}

int parse_mac(const char *text, uint64_t *mac)
{
	unsigned int i, digits = 0;
	uint64_t value = 0;

	for (i = 0; text[i]; i++) {
		if (i % 3 == 2) {
			if (text[i] != ':' && text[i] != '-')
				return -1;
			continue;
		}
		if (!isxdigit((unsigned char)text[i]) || ++digits > 12)
			return -1;
		value = value << 4 |
			(isdigit((unsigned char)text[i]) ? text[i] - '0' :
			 tolower((unsigned char)text[i]) - 'a' + 10);
	}
	if (i != MAC_TEXT_LEN - 1)
		return -1;
	*mac = value;
	return 0;
}

bool mac_is_valid(uint64_t mac)
{
	const uint64_t multicast = 1ull << 40;

	return mac && !(mac & multicast) && !(mac >> 48);
}

bool name_is_valid(const char *name)
{
	size_t i;

	for (i = 0; name[i]; i++)
		if (!isascii(name[i]) || !isgraph((unsigned char)name[i]) || name[i] == '/')
			return false;
	return i && i < OMX_NAME_LEN;
}

const char *format_mac(uint64_t mac, char text[MAC_TEXT_LEN])
{
	snprintf(text, MAC_TEXT_LEN, "%02x:%02x:%02x:%02x:%02x:%02x",
		 (unsigned int)(mac >> 40) & 0xff, (unsigned int)(mac >> 32) & 0xff,
		 (unsigned int)(mac >> 24) & 0xff, (unsigned int)(mac >> 16) & 0xff,
		 (unsigned int)(mac >> 8) & 0xff, (unsigned int)mac & 0xff);
	return text;
}
