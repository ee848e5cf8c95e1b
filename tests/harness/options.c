// SPDX-License-Identifier: BSD-2-Clause
/* Reads the options of a test program, at its start. */
#include "options.h"

#include <getopt.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "check.h"

struct options options = {
	.endpoint = 1,
	.timeout = 100,
};

static const struct option long_options[] = {
	{ "server", no_argument, NULL, 's' },
	{ "client", required_argument, NULL, 'c' },
	{ "seed", required_argument, NULL, 'S' },
	{ "count", required_argument, NULL, 'n' },
	{ "length", required_argument, NULL, 'l' },
	{ "endpoint", required_argument, NULL, 'e' },
	{ "timeout", required_argument, NULL, 't' },
	{ "seconds", required_argument, NULL, 'd' },
	{ "window", required_argument, NULL, 'w' },
	{ "percent", required_argument, NULL, 'p' },
	{ "mode", required_argument, NULL, 'm' },
	{ "act", required_argument, NULL, 'a' },
	{ "state", required_argument, NULL, 'T' },
	{ NULL, 0, NULL, 0 },
};

static uint64_t parse_number(const char *text)
{
	char *end;
	uint64_t value = strtoull(text, &end, 0);

	CHECK(*text && !*end, "%s is no number", text);
	return value;
}

static void apply_option(int option)
{
	switch (option) {
	case 's': options.server = true; break;
	case 'c': options.peer = optarg; break;
	case 'S': options.seed = parse_number(optarg); break;
	case 'n': options.count = parse_number(optarg); break;
	case 'l': options.length = parse_number(optarg); break;
	case 'e': options.endpoint = parse_number(optarg); break;
	case 't': options.timeout = parse_number(optarg); break;
	case 'd': options.seconds = parse_number(optarg); break;
	case 'w': options.window = parse_number(optarg); break;
	case 'p': options.percent = parse_number(optarg); break;
	case 'm': options.mode = optarg; break;
	case 'a': options.act = optarg; break;
	case 'T': options.state = optarg; break;
	default: exit(2);
	}
}

int read_options(int argc, char **argv)
{
	int option;

	while ((option = getopt_long(argc, argv, "", long_options, NULL)) != -1)
		apply_option(option);
	return optind;
}

uint64_t any_seed(void)
{
	return time(NULL) ^ (uint64_t)getpid() << 32;
}
