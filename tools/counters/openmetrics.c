/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Counters as OpenMetrics text, version 1.0.  node_exporter's textfile collector reads
 * it too, although it knows only the older format of Prometheus, because nothing is
 * used here that the latter forbids: no timestamps, no types but counter and gauge, no
 * quotation marks in a HELP line.  "# EOF" is a comment to it.
 */
#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "counters/counters.h"
#include "text.h"

#define PREFIX "omx_"

/* The words with underscores between them; an apostrophe separates none. */
void openmetrics_name(const char *label, char name[METRIC_NAME_LEN])
{
	size_t length = strlen(PREFIX);

	strcpy(name, PREFIX);
	for (; *label && length < METRIC_NAME_LEN - 1; label++) {
		if (isascii(*label) && isalnum((unsigned char)*label))
			name[length++] = tolower((unsigned char)*label);
		else if (*label != '\'' && name[length - 1] != '_')
			name[length++] = '_';
	}
	while (name[length - 1] == '_')
		length--;
	name[length] = '\0';
}

/* The name of an interface may have any byte but a blank, a slash and a colon. */
static void print_escaped(FILE *out, const char *text)
{
	for (; *text; text++) {
		if (*text == '\\' || *text == '"')
			fprintf(out, "\\%c", *text);
		else
			fputc(isascii(*text) && isprint((unsigned char)*text) ? *text : '?', out);
	}
}

static void print_label(FILE *out, const char *name, const char *value)
{
	fprintf(out, ",%s=\"", name);
	print_escaped(out, value);
	fputc('"', out);
}

/* The caller adds labels, and ends with "} VALUE\n". */
static void begin_sample(FILE *out, const char *name, const struct omx_ioc_board *board,
			 const char *host)
{
	fprintf(out, "%s{board=\"%" PRIu32 "\"", name, board->board);
	print_label(out, "interface", board->ifname);
	print_label(out, "host", host);
}

static void print_family(FILE *out, const char *name, const char *type, const char *help)
{
	fprintf(out, "# TYPE %s %s\n# HELP %s ", name, type, name);
	for (; *help; help++)
		fputc(isascii(*help) && isprint((unsigned char)*help) && !strchr("\\\"", *help) ?
		      *help : '\'', out);
	fputc('\n', out);
}

static void print_counter(FILE *out, const struct labels *labels, const struct reading *reading,
			  uint32_t counter, const char *host)
{
	const char *label = labels->label[counter];
	bool gauge = label_is_gauge(label);
	char name[METRIC_NAME_LEN + 8];
	unsigned int i;

	openmetrics_name(label, name);
	print_family(out, name, gauge ? "gauge" : "counter", label);
	if (!gauge)
		strcat(name, "_total");
	for (i = 0; i < reading->boards.count; i++) {
		begin_sample(out, name, &reading->boards.board[i], host);
		fprintf(out, "} %" PRIu64 "\n", reading_values(reading, labels, i)[counter]);
	}
}

/* No metric of type info, which node_exporter does not know. */
static void print_info(FILE *out, const struct board_list *boards, const char *host)
{
	char mac[MAC_TEXT_LEN];
	unsigned int i;

	print_family(out, "omx_board_info", "gauge", "name and MAC of a board");
	for (i = 0; i < boards->count; i++) {
		begin_sample(out, "omx_board_info", &boards->board[i], host);
		print_label(out, "name", boards->board[i].name);
		print_label(out, "mac", format_mac(boards->board[i].mac, mac));
		fprintf(out, "} 1\n");
	}
}

static void print_board_state(FILE *out, const struct board_list *boards, const char *host)
{
	unsigned int i;

	print_family(out, "omx_board_up", "gauge", "1 if the interface is up and has a carrier");
	for (i = 0; i < boards->count; i++) {
		begin_sample(out, "omx_board_up", &boards->board[i], host);
		fprintf(out, "} %d\n", boards->board[i].flags & OMX_BOARD_UP ? 1 : 0);
	}
	print_family(out, "omx_board_peers", "gauge", "peers that the board knows");
	for (i = 0; i < boards->count; i++) {
		begin_sample(out, "omx_board_peers", &boards->board[i], host);
		fprintf(out, "} %" PRIu32 "\n", boards->board[i].peers);
	}
}

void openmetrics_print(FILE *out, const struct labels *labels, const struct reading *reading,
		       const char *host)
{
	uint32_t i;

	print_info(out, &reading->boards, host);
	print_board_state(out, &reading->boards, host);
	for (i = 0; i < labels->count; i++)
		print_counter(out, labels, reading, i, host);
	fputs("# EOF\n", out);
}
