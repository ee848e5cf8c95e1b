/* SPDX-License-Identifier: BSD-2-Clause */
#include <inttypes.h>

#include "complain.h"
#include "text.h"
#include "trace.h"

#define ROWS_MAX 500		/* more rows than anyone would read */
#define WIDTH 1000
#define LEFT 330
#define TOP 70
#define ROW 18

static const struct {
	const char *colour, *text;
} looks[PHASES] = {
	[PHASE_PREPARE_SOURCE] = { "#9467bd", "preparing at the source" },
	[PHASE_ANNOUNCE] = { "#c7c7c7", "announcing" },
	[PHASE_WAIT_PROGRAM] = { "#7f7f7f", "waiting for the receiver" },
	[PHASE_PREPARE_DESTINATION] = { "#c5b0d5", "preparing at the destination" },
	[PHASE_TRANSFER] = { "#2ca02c", "transferring" },
	[PHASE_PAGE_SOURCE] = { "#d62728", "page-in at the source" },
	[PHASE_PAGE_DESTINATION] = { "#ff7f0e", "page-in at the destination" },
	[PHASE_FINISH] = { "#17becf", "telling the source" },
};

struct scale {
	uint64_t start, end;
};

static double x_of(const struct scale *scale, uint64_t time)
{
	return LEFT + (double)(time - scale->start) * WIDTH / (scale->end - scale->start);
}

/* 1, 2 or 5 times a power of ten, ten of them at most. */
static uint64_t svg_tick(uint64_t span)
{
	static const unsigned int factor[] = { 1, 2, 5 };
	uint64_t power;
	unsigned int i;

	for (power = 1; power < UINT64_MAX / 100; power *= 10)
		for (i = 0; i < 3; i++)
			if (span / (factor[i] * power) <= 10)
				return factor[i] * power;
	return span;
}

static void draw_axis(const struct scale *scale, unsigned int rows, FILE *out)
{
	uint64_t step = svg_tick(scale->end - scale->start), time;

	for (time = 0; time <= scale->end - scale->start; time += step) {
		double x = x_of(scale, scale->start + time);

		fprintf(out,
			"<line x1=\"%.1f\" y1=\"%d\" x2=\"%.1f\" y2=\"%u\" stroke=\"#ddd\"/>\n",
			x, TOP - 6, x, TOP + rows * ROW);
		fprintf(out, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%" PRIu64
			" us</text>\n", x, TOP - 10, time);
	}
}

static void draw_legend(FILE *out)
{
	unsigned int i;

	for (i = 0; i < PHASES; i++) {
		unsigned int x = 10 + i % 4 * 260, y = 8 + i / 4 * 18;

		fprintf(out, "<rect x=\"%u\" y=\"%u\" width=\"12\" height=\"12\" fill=\"%s\"/>"
			"<text x=\"%u\" y=\"%u\">%s</text>\n", x, y, looks[i].colour, x + 18,
			y + 10, looks[i].text);
	}
}

static void draw_message(const struct trace_message *message, const struct scale *scale,
			 unsigned int row, FILE *out)
{
	char from[MAC_TEXT_LEN], to[MAC_TEXT_LEN];
	unsigned int y = TOP + row * ROW, i;

	fprintf(out, "<text x=\"4\" y=\"%u\">%" PRIu32 ": %s:%" PRIu32 " &#8594; %s:%" PRIu32
		"</text>\n", y + 13, message->id, format_mac(message->source.mac, from),
		message->source.endpoint, format_mac(message->destination.mac, to),
		message->destination.endpoint);
	for (i = 0; i < message->segments; i++) {
		const struct trace_segment *segment = &message->segment[i];
		double x = x_of(scale, segment->start);

		fprintf(out, "<rect x=\"%.2f\" y=\"%u\" width=\"%.2f\" height=\"%d\" fill=\"%s\">"
			"<title>%" PRIu64 " bytes: %s, %" PRIu64 " us</title></rect>\n",
			x, y + 2, x_of(scale, segment->end) - x, ROW - 4,
			looks[segment->phase].colour, message->length,
			looks[segment->phase].text, segment->end - segment->start);
	}
}

static bool is_shown(const struct trace_message *message, uint64_t min_us)
{
	return trace_total(message) >= min_us && message->segments;
}

static unsigned int svg_measure(const struct trace_story *story, uint64_t min_us,
				struct scale *scale)
{
	unsigned int rows = 0;
	size_t i;

	*scale = (struct scale){ UINT64_MAX, 0 };
	for (i = 0; i < story->count && rows < ROWS_MAX; i++) {
		const struct trace_message *message = story->message[i];

		if (!is_shown(message, min_us))
			continue;
		if (message->start < scale->start)
			scale->start = message->start;
		if (message->end > scale->end)
			scale->end = message->end;
		rows++;
	}
	if (!rows)
		*scale = (struct scale){ 0, 1 };
	return rows;
}

int trace_draw(const struct trace_story *story, uint64_t min_us, FILE *out)
{
	struct scale scale;
	unsigned int rows = svg_measure(story, min_us, &scale), row = 0;
	size_t i;

	fprintf(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%u\" "
		"font-family=\"sans-serif\" font-size=\"11\">\n"
		"<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
		LEFT + WIDTH + 40, TOP + rows * ROW + 10);
	draw_legend(out);
	draw_axis(&scale, rows, out);
	for (i = 0; i < story->count && row < rows; i++)
		if (is_shown(story->message[i], min_us))
			draw_message(story->message[i], &scale, row++, out);
	fputs("</svg>\n", out);
	if (fflush(out) || ferror(out)) {
		complain_errno(NULL, "cannot write the drawing");
		return -1;
	}
	return 0;
}
