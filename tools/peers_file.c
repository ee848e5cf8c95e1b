/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "address.h"
#include "complain.h"
#include "peers_file.h"
#include "text.h"

static const char blanks[] = " \t\r\n";

/*
 * Returns 1 for a peer, 0 for an empty line or comment, and -1 for a syntax
 * error.
 */
static int parse_line(char *line, struct omx_ioc_udp_peer *udp)
{
	struct omx_ioc_udp_peer other;
	char *address, *name, *rest;

	line[strcspn(line, "#")] = '\0';
	address = strtok_r(line, blanks, &rest);
	if (!address)
		return 0;
	name = strtok_r(NULL, blanks, &rest);
	if (name && (strtok_r(NULL, blanks, &rest) || !name_is_valid(name) ||
		     address_parse_number(name, &other) == 0))
		return -1;
	if (address_parse(address, udp) < 0 || (!name && !address_is_ip(udp)))
		return -1;
	if (!name)
		return 1;
	strcpy(udp->peer.name, name);
	udp->peer.flags = OMX_PEER_NAMED;
	return 1;
}

static int read_lines(FILE *file, const char *path, struct peer_list *list)
{
	unsigned int number = 0;
	char *line = NULL;
	size_t size = 0;
	int ret = 0;

	while (ret >= 0 && getline(&line, &size, file) >= 0) {
		struct omx_ioc_udp_peer peer = { 0 };

		number++;
		ret = parse_line(line, &peer);
		if (ret < 0)
			complain(NULL, "%s:%u: expected 'MAC NAME' or 'IP-ADDRESS [NAME]'",
				 path, number);
		else if (ret > 0)
			ret = peer_list_append(list, &peer);
	}
	free(line);
	return ret < 0 ? -1 : 0;
}

int peers_file_read(const char *path, struct peer_list *list)
{
	FILE *file = fopen(path, "re");
	int ret;

	if (!file) {
		complain_errno(NULL, "cannot read %s", path);
		return -1;
	}
	ret = read_lines(file, path, list);
	if (!ret && ferror(file)) {
		complain_errno(NULL, "cannot read %s", path);
		ret = -1;
	}
	fclose(file);
	return ret;
}
