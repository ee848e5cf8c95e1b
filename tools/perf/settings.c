/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#include "../complain.h"
#include "../options.h"
#include "omx_abi.h"
#include "open-mx.h"
#include "settings.h"

#define WINDOW_LIMIT	65536
#define NUMBER_LIMIT	(1u << 24)	/* messages of one round are numbered by 24 bits */

enum {
	OPTION_VERIFY = OPTION_JSON + 1,
	OPTION_POLL,
	OPTION_WINDOW,
	OPTION_TIMEOUT,
	OPTION_SIZES,
	OPTION_PUT,
	OPTION_GET,
	OPTION_CAS,
};

#define CAS_LENGTH	8
#define END_DEFAULT	((4u << 20) + 1)

const char *perf_mode_name(enum perf_access access, enum perf_mode mode)
{
	static const char *const names[PERF_ACCESSES][PERF_MODES] = {
		[ACCESS_NONE] = { "ping-pong", "unidirectional", "bidirectional" },
		[ACCESS_PUT] = { "put", "put, unidirectional" },
		[ACCESS_GET] = { "get", "get, unidirectional" },
		[ACCESS_CAS] = { "compare-and-swap", "compare-and-swap, unidirectional" },
	};

	return names[access][mode];
}

static const struct argp_option argp_options[] = {
	{ NULL, 0, NULL, 0, "Both sides:", 1 },
	{ "board", 'b', "N", 0, "Local board (default 0)", 1 },
	{ "endpoint", 'e', "N", 0, "Local endpoint (default: server 0, client any)", 1 },
	{ "serve-forever", 's', NULL, 0, "Server: take the next client when one is done", 1 },
	{ "wait", 'w', NULL, 0, "Sleep until something happens (default)", 1 },
	{ "poll", OPTION_POLL, NULL, 0, "Spin instead", 1 },
	{ "yield", 'y', NULL, 0, "Spin, yielding the processor in between", 1 },
	{ "aligned", 'a', NULL, 0, "Buffers aligned to 64 KiB", 1 },
	{ "timeout", OPTION_TIMEOUT, "SECONDS", 0,
	  "Give a silent other side up (default 30)", 1 },
	{ "verbose", 'v', NULL, 0, "Say what is being done", 1 },

	{ NULL, 0, NULL, 0, "Client:", 2 },
	{ "dest", 'd', "HOST", 0, "Be the client of the server on this board, host "
	  "or MAC address", 2 },
	{ "remote-endpoint", 'r', "N", 0, "The server's endpoint (default 0)", 2 },
	{ "put", OPTION_PUT, NULL, 0, "Write to a window of the server instead of sending "
	  "messages", 2 },
	{ "get", OPTION_GET, NULL, 0, "Read from a window of the server", 2 },
	{ "cas", OPTION_CAS, NULL, 0,
	  "Compare and swap a word of 8 bytes in a window of the server", 2 },
	{ "unidirectional", 'U', NULL, 0, "Stream to the server instead of ping-pong; "
	  "accesses: have many outstanding instead of one", 2 },
	{ "bidirectional", 'B', NULL, 0, "Stream in both directions at once", 2 },
	{ "verify", OPTION_VERIFY, NULL, 0, "Both sides check every byte", 2 },
	{ "synchronous", 'Y', NULL, 0, "Send with omx_issend", 2 },
	{ "window", OPTION_WINDOW, "N", 0, "Messages outstanding in streams "
	  "(default 64, fewer for large ones)", 2 },

	{ NULL, 0, NULL, 0, "Client, lengths and counts:", 3 },
	{ "start", 'S', "LENGTH", 0, "First length (default 0)", 3 },
	{ "end", 'E', "LENGTH", 0, "All lengths are less than this (default 4M + 1)", 3 },
	{ "multiplier", 'M', "N", 0, "Next length: so many times the last (default 2)", 3 },
	{ "increment", 'I', "N", 0, "Next length: plus so many bytes (default 0)", 3 },
	{ "sizes", OPTION_SIZES, "LENGTH,...", 0, "Only these lengths", 3 },
	{ "iterations", 'N', "N", 0, "Messages per length (default 1000, fewer for "
	  "large ones)", 3 },
	{ "warmup", 'W', "N", 0, "Messages before that are not measured (default 10, "
	  "or a tenth of the iterations)", 3 },
	{ "pause", 'P', "MS", 0, "Pause before each length (default 0)", 3 },
	{ "json", OPTION_JSON, "FILE", 0, "Write the results as JSON to FILE; "
	  "- is standard output, the table then goes to standard error", 3 },
	{ 0 }
};

static void parse_sizes(struct argp_state *state, struct settings *settings, char *list)
{
	char *word, *rest;

	for (word = strtok_r(list, ",", &rest); word; word = strtok_r(NULL, ",", &rest)) {
		settings->sizes = reallocarray(settings->sizes, settings->size_count + 1,
					       sizeof(*settings->sizes));
		if (!settings->sizes)
			argp_failure(state, EXIT_FAILURE, 0, "out of memory");
		settings->sizes[settings->size_count++] = option_size(state, "--sizes", word);
	}
	if (!settings->size_count)
		option_error(state, "--sizes needs a length");
}

static uint64_t parse_count(struct argp_state *state, const char *what, const char *text,
			    uint64_t min, uint64_t max)
{
	uint64_t value = option_size(state, what, text);

	if (value < min || value > max)
		option_error(state, "%s must be from %llu to %llu", what,
			     (unsigned long long)min, (unsigned long long)max);
	return value;
}

static uint32_t parse_endpoint(struct argp_state *state, const char *what, const char *text)
{
	uint32_t value = option_u32(state, what, text);

	if (value >= OMX_ENDPOINT_MAX && value != OMX_ANY_ENDPOINT)
		option_error(state, "%s must be from 0 to %u, not '%s'", what,
			     OMX_ENDPOINT_MAX - 1, text);
	return value;
}

static error_t parse_both(int key, char *argument, struct argp_state *state)
{
	struct settings *settings = state->input;

	switch (key) {
	case 'b':
		settings->board = option_board(state, argument);
		break;
	case 'e':
		settings->endpoint = parse_endpoint(state, "--endpoint", argument);
		break;
	case 's':
		settings->serve_forever = true;
		break;
	case 'w':
		settings->poll = false;
		break;
	case OPTION_POLL:
		settings->poll = true;
		break;
	case 'y':
		settings->poll = settings->yield = true;
		break;
	case 'a':
		settings->aligned = true;
		break;
	case OPTION_TIMEOUT:
		settings->timeout = parse_count(state, "--timeout", argument, 1, 1u << 20);
		break;
	case 'v':
		settings->verbose = true;
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static error_t parse_lengths(int key, char *argument, struct argp_state *state)
{
	struct settings *settings = state->input;

	switch (key) {
	case 'S':
		settings->start = option_size(state, "--start", argument);
		break;
	case 'E':
		settings->end = option_size(state, "--end", argument);
		break;
	case 'M':
		settings->multiplier = option_size(state, "--multiplier", argument);
		break;
	case 'I':
		settings->increment = option_size(state, "--increment", argument);
		break;
	case OPTION_SIZES:
		parse_sizes(state, settings, argument);
		break;
	case 'N':
		settings->iterations = parse_count(state, "--iterations", argument,
						   1, NUMBER_LIMIT);
		break;
	case 'W':
		settings->warmup = parse_count(state, "--warmup", argument, 0, NUMBER_LIMIT);
		break;
	default:
		return parse_both(key, argument, state);
	}
	return 0;
}

static void set_mode(struct argp_state *state, struct settings *settings, enum perf_mode mode)
{
	if (settings->mode && settings->mode != mode)
		option_error(state, "--unidirectional and --bidirectional exclude each other");
	settings->mode = mode;
}

static void set_access(struct argp_state *state, struct settings *settings,
		       enum perf_access access)
{
	if (settings->access && settings->access != access)
		option_error(state, "--put, --get and --cas exclude each other");
	settings->access = access;
}

static error_t settings_parse_option(int key, char *argument, struct argp_state *state)
{
	struct settings *settings = state->input;

	switch (key) {
	case 'd':
		settings->host = argument;
		break;
	case 'r':
		settings->remote_endpoint = parse_endpoint(state, "--remote-endpoint", argument);
		break;
	case 'U':
		set_mode(state, settings, PERF_UNIDIRECTIONAL);
		break;
	case 'B':
		set_mode(state, settings, PERF_BIDIRECTIONAL);
		break;
	case OPTION_PUT:
		set_access(state, settings, ACCESS_PUT);
		break;
	case OPTION_GET:
		set_access(state, settings, ACCESS_GET);
		break;
	case OPTION_CAS:
		set_access(state, settings, ACCESS_CAS);
		break;
	case OPTION_VERIFY:
		settings->verify = true;
		break;
	case 'Y':
		settings->synchronous = true;
		break;
	case OPTION_WINDOW:
		settings->window = parse_count(state, "--window", argument, 1, WINDOW_LIMIT);
		break;
	case 'P':
		settings->pause_ms = option_u32(state, "--pause", argument);
		break;
	case OPTION_JSON:
		settings->json = argument;
		break;
	default:
		return parse_lengths(key, argument, state);
	}
	return 0;
}

static const struct argp argp = {
	.options = argp_options,
	.parser = settings_parse_option,
	.doc = "Measure latency and throughput between two nodes.  "
	       "Start it without arguments on one (the server), then with "
	       "-d HOST on the other."
	       "\vLengths may end in k, M, G or T (powers of 1024).  Times are one "
	       "way: half a round trip in ping-pong, time per message in "
	       "streams; of accesses, from the call until they have been performed, "
	       "or time per access with -U.  MB/s are 1000000 bytes per second.",
	.children = common_options,
};

/*
 * Opened before measuring, so that an error does not cost minutes of results.
 */
static void open_json(struct settings *settings)
{
	if (strcmp(settings->json, "-") == 0)
		settings->json_file = stdout;
	else
		settings->json_file = fopen(settings->json, "we");
	if (!settings->json_file) {
		complain_errno(NULL, "cannot write %s", settings->json);
		exit(EXIT_FAILURE);
	}
	complain_in_json(settings->json_file);
}

static void refuse_options(const char *advice, const char *error)
{
	complain(advice, "%s", error);
	exit(EX_USAGE);
}

static void check_access(const struct settings *settings)
{
	if (!settings->access)
		return;
	if (settings->mode == PERF_BIDIRECTIONAL || settings->synchronous)
		refuse_options(NULL, "--bidirectional and --synchronous are of messages");
	if (settings->access == ACCESS_CAS &&
	    (settings->sizes || settings->start || settings->end != END_DEFAULT)) {
		complain(NULL, "--cas has one length, %u bytes", CAS_LENGTH);
		exit(EX_USAGE);
	}
}

/* A word has one length. */
static void choose_lengths(struct settings *settings)
{
	if (settings->access != ACCESS_CAS)
		return;
	settings->start = CAS_LENGTH;
	settings->end = CAS_LENGTH + 1;
}

void settings_parse(struct settings *settings, int argc, char **argv)
{
	*settings = (struct settings){
		.endpoint = OMX_ANY_ENDPOINT,
		.timeout = 30,
		.end = END_DEFAULT,
		.multiplier = 2,
		.iterations = AUTOMATIC,
		.warmup = AUTOMATIC,
		.window = AUTOMATIC,
	};
	options_parse(&argp, argc, argv, settings);
	if (!settings->host && (settings->verify || settings->mode || settings->access ||
				settings->sizes || settings->json))
		refuse_options("add -d HOST", "what to measure is the client's to say");
	check_access(settings);
	choose_lengths(settings);
	if (settings->endpoint == OMX_ANY_ENDPOINT && !settings->host)
		settings->endpoint = 0;
	if (settings->json)
		open_json(settings);
}

void settings_free(struct settings *settings)
{
	free(settings->sizes);
}
