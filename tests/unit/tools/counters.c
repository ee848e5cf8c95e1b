/* SPDX-License-Identifier: BSD-2-Clause */
/* The parts of omx_counters that need no driver: each function names the case. */
#include "config.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "atomic_file.h"
#include "counters/counters.h"
#include "expect.h"
#include "jsonout.h"

enum { SENT, LOST, PINNED, COUNTERS };

static char label[COUNTERS][OMX_COUNTER_LABEL_LEN] = {
	"sent eager", "packet sent again after a timeout", "pages pinned now",
};
static const struct labels labels = { .count = COUNTERS, .label = label };

static const struct omx_ioc_board eth0 = {
	.board = 0, .mac = 0x020000000101, .ifname = "eth0", .name = "node1:0" };

/* Of one board; values is an array of COUNTERS. */
static struct reading make_reading(uint64_t *values, uint64_t seconds)
{
	struct reading reading = {
		.origin = { .boot = "a boot", .module = 7 },
		.monotonic = seconds * 1000000000,
		.value = values,
		.boards = { .count = 1, .board = { eth0 } },
	};

	return reading;
}

static struct change change_of(const struct reading *before, const struct reading *now,
			       uint32_t counter, enum restart restart, double seconds)
{
	struct board_change board;
	struct change change;

	board_change_find(&labels, before, now, 0, &board);
	EXPECT(board.restart == restart);
	EXPECT(board.seconds == seconds);
	change_find(&labels, &board, counter, &change);
	return change;
}

/* ---- changes ---- */

static void label_is_gauge__what_the_driver_does_not_add_up(void)
{
	EXPECT(label_is_gauge("pages pinned now"));
	EXPECT(label_is_gauge("pages pinned at most"));
	EXPECT(label_is_gauge("extents of 64 translations now"));
	EXPECT(!label_is_gauge("page pinned"));
	EXPECT(!label_is_gauge("now and then"));
	EXPECT(!label_is_gauge("now"));
}

static void change__of_64_bits(void)
{
	uint64_t first[COUNTERS] = { 1, UINT64_MAX - 3, 5 };
	uint64_t second[COUNTERS] = { UINT64_MAX, UINT64_MAX - 1, 2 };
	struct reading before = make_reading(first, 10), now = make_reading(second, 14);

	EXPECT(change_of(&before, &now, SENT, RESTART_NONE, 4).increase == UINT64_MAX - 1);
	EXPECT(change_of(&before, &now, LOST, RESTART_NONE, 4).increase == 2);
	EXPECT(change_of(&before, &now, LOST, RESTART_NONE, 4).per_second == 0.5);
	EXPECT(change_of(&before, &now, PINNED, RESTART_NONE, 4).difference == -3);
}

static void change__a_smaller_counter_means_that_all_were_cleared(void)
{
	uint64_t first[COUNTERS] = { 100, 5, 40 }, second[COUNTERS] = { 300, 4, 30 };
	struct reading before = make_reading(first, 10), now = make_reading(second, 14);
	struct change change = change_of(&before, &now, SENT, RESTART_CLEARED, 0);

	EXPECT(change.increase == 300 && !change.per_second);
	EXPECT(change_of(&before, &now, LOST, RESTART_CLEARED, 0).increase == 4);
	EXPECT(change_of(&before, &now, PINNED, RESTART_CLEARED, 0).difference == -10);
}

static void change__a_smaller_gauge_means_nothing(void)
{
	uint64_t first[COUNTERS] = { 100, 5, 40 }, second[COUNTERS] = { 100, 5, 0 };
	struct reading before = make_reading(first, 10), now = make_reading(second, 14);

	EXPECT(change_of(&before, &now, PINNED, RESTART_NONE, 4).difference == -40);
}

static void change__of_another_module_boot_or_board(void)
{
	uint64_t first[COUNTERS] = { 100, 5, 40 }, second[COUNTERS] = { 300, 6, 50 };
	struct reading before = make_reading(first, 10), now = make_reading(second, 14);

	now.origin.module = 8;
	EXPECT(change_of(&before, &now, SENT, RESTART_MODULE, 0).increase == 300);
	EXPECT(change_of(&before, &now, PINNED, RESTART_MODULE, 0).difference == 50);
	strcpy(now.origin.boot, "next boot");
	EXPECT(change_of(&before, &now, SENT, RESTART_HOST, 0).increase == 300);
	now = make_reading(second, 14);
	now.boards.board[0].mac++;
	EXPECT(change_of(&before, &now, SENT, RESTART_BOARD, 0).increase == 300);
	now = make_reading(second, 14);
	now.boards.board[0].board = 3;
	EXPECT(change_of(&before, &now, SENT, RESTART_BOARD, 0).increase == 300);
}

/* As in a container without /sys or /proc, in which one of the readings was taken. */
static void change__of_unknown_origin(void)
{
	uint64_t first[COUNTERS] = { 100, 5, 40 }, second[COUNTERS] = { 300, 6, 50 };
	struct reading before = make_reading(first, 10), now = make_reading(second, 14);

	before.origin.module = 0;
	EXPECT(change_of(&before, &now, SENT, RESTART_NONE, 4).increase == 200);
	*before.origin.boot = '\0';
	EXPECT(change_of(&before, &now, SENT, RESTART_NONE, 0).increase == 200);
}

static void change__within_no_time_has_no_rate(void)
{
	uint64_t first[COUNTERS] = { 100, 5, 40 }, second[COUNTERS] = { 300, 6, 50 };
	struct reading before = make_reading(first, 10), now = make_reading(second, 10);

	EXPECT(!change_of(&before, &now, SENT, RESTART_NONE, 0).per_second);
}

/* ---- text ---- */

static void format_time__is_utc(void)
{
	char text[TIME_TEXT_LEN];

	EXPECT(!strcmp(format_time(1795671213007, text), "2026-11-26T05:33:33.007Z"));
	EXPECT(!strcmp(format_time(0, text), "1970-01-01T00:00:00.000Z"));
	EXPECT(!strcmp(format_time(INT64_MAX, text), "292278994-08-17T07:12:55.807Z"));
}

static void interval_table__repeats_its_heading_after_a_page(void)
{
	uint64_t first[COUNTERS] = { 0 }, second[COUNTERS] = { 30, 1, 0 };
	struct reading before = make_reading(first, 0), now = make_reading(second, 3);
	struct interval_table table = { .page = 4 };
	struct board_change change;
	unsigned int headings = 0;
	char *text = NULL, *at;
	size_t size;
	int i;

	table.out = open_memstream(&text, &size);
	board_change_find(&labels, &before, &now, 0, &change);
	for (i = 0; i < 4; i++)
		interval_table_show(&table, &labels, 0, &change, false);
	board_change_find(&labels, &now, &now, 0, &change);
	interval_table_show(&table, &labels, 0, &change, false);
	fclose(table.out);
	for (at = text; (at = strstr(at, "per second")); at++)
		headings++;
	EXPECT(headings == 3);
	EXPECT(strstr(text, "      30            10  sent eager\n"));
	EXPECT(strstr(text, "       1          0.33  packet sent again"));
	EXPECT(strstr(text, "nothing changed\n"));
	EXPECT(!strstr(text, "pages pinned now"));
	free(text);
}

static void openmetrics_name__of_words(void)
{
	char name[METRIC_NAME_LEN], widest[OMX_COUNTER_LABEL_LEN];

	openmetrics_name("sent eager", name);
	EXPECT(!strcmp(name, "omx_sent_eager"));
	openmetrics_name("dropped: other protocol version", name);
	EXPECT(!strcmp(name, "omx_dropped_other_protocol_version"));
	openmetrics_name("frame not sent, no route to the peer's address", name);
	EXPECT(!strcmp(name, "omx_frame_not_sent_no_route_to_the_peers_address"));
	openmetrics_name("... waited (overlap miss)", name);
	EXPECT(!strcmp(name, "omx_waited_overlap_miss"));
	memset(widest, 'W', sizeof(widest) - 1);
	widest[sizeof(widest) - 1] = '\0';
	openmetrics_name(widest, name);
	EXPECT(strlen(name) == strlen("omx_") + sizeof(widest) - 1);
}

/* ---- files ---- */

static char folder[] = "/tmp/omx-counters-XXXXXX";

static const char *in_folder(const char *name)
{
	static char path[100];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return path;
}

static void expect_file(const char *name, const char *expected)
{
	FILE *file = fopen(in_folder(name), "r");
	char text[100] = "";

	EXPECT(file);
	EXPECT(fread(text, 1, sizeof(text) - 1, file) == strlen(expected));
	EXPECT(!strcmp(text, expected));
	fclose(file);
}

static void atomic_file__replaces_what_a_link_leads_to(void)
{
	struct stat status;

	umask(027);
	EXPECT(atomic_file_write(in_folder("file"), "first", 5) == 0);
	EXPECT(stat(in_folder("file"), &status) == 0 && (status.st_mode & 0777) == 0640);
	EXPECT(symlink("file", in_folder("link")) == 0);
	EXPECT(atomic_file_write(in_folder("link"), "second", 6) == 0);
	EXPECT(lstat(in_folder("link"), &status) == 0 && S_ISLNK(status.st_mode));
	expect_file("file", "second");
	unlink(in_folder("link"));
	unlink(in_folder("file"));
}

/*
 * A pipe stands for devices: if this failed, root would lose /dev/null.  The folder
 * cannot be removed if anything was left in it.
 */
static void atomic_file__refuses_what_it_would_replace(void)
{
	struct stat status;

	EXPECT(mkfifo(in_folder("pipe"), 0600) == 0);
	EXPECT(atomic_file_write(in_folder("pipe"), "x", 1) < 0);
	EXPECT(stat(in_folder("pipe"), &status) == 0 && S_ISFIFO(status.st_mode));
	unlink(in_folder("pipe"));
	EXPECT(atomic_file_write(folder, "x", 1) < 0);
	EXPECT(atomic_file_write(in_folder("nowhere/file"), "x", 1) < 0);
}

static void state__returns_what_was_saved(void)
{
	uint64_t values[COUNTERS] = { UINT64_MAX, 0, 1ull << 63 };
	struct reading saved = make_reading(values, 12), found;
	struct json_object *state;

	saved.time = 1795671213007;
	EXPECT(state_save(in_folder("state"), &labels, &saved) == 0);
	EXPECT(state_load(in_folder("state"), &state) == 0);
	EXPECT(state_reading(state, &labels, &found) == 0);
	EXPECT(!memcmp(&found.origin, &saved.origin, sizeof(saved.origin)));
	EXPECT(found.monotonic == saved.monotonic && found.time == saved.time);
	EXPECT(found.boards.count == 1 && found.boards.board[0].mac == eth0.mac);
	EXPECT(!strcmp(found.boards.board[0].name, "node1:0"));
	EXPECT(!memcmp(found.value, values, sizeof(values)));
	json_object_put(state);
	reading_free(&found);
	unlink(in_folder("state"));
}

static void expect_refused(const char *text)
{
	struct json_object *state;

	EXPECT(atomic_file_write(in_folder("state"), text, strlen(text)) == 0);
	EXPECT(state_load(in_folder("state"), &state) < 0 && !state);
	unlink(in_folder("state"));
}

#define HEAD "{\"format\":\"omx_counters state 1\",\"time_ms\":1,\"monotonic_ns\":1,"
#define BODY "\"boot\":\"b\",\"module\":1,\"boards\":"
#define BOARD "\"name\":\"n\",\"ifname\":\"e\",\"mac\":\"02:00:00:00:00:01\""

static void state__refuses_what_was_not_saved(void)
{
	expect_refused("");
	expect_refused("null");
	expect_refused("[]");
	expect_refused("no JSON");
	expect_refused("{\"format\":\"omx_counters state 2\"}");
	expect_refused("{\"format\":7}");
	expect_refused(HEAD "\"boot\":\"b\",\"module\":1}");
	expect_refused(HEAD BODY "{}}");
	expect_refused(HEAD BODY "[7]}");
	expect_refused(HEAD BODY "[{\"board\":0," BOARD "}]}");
	expect_refused(HEAD BODY "[{\"board\":32," BOARD ",\"counters\":{}}]}");
	expect_refused(HEAD BODY "[{\"board\":-1," BOARD ",\"counters\":{}}]}");
	expect_refused(HEAD BODY "[{\"board\":0," BOARD ",\"counters\":{\"sent eager\":-1}}]}");
	expect_refused(HEAD BODY "[{\"board\":0," BOARD ",\"counters\":{\"sent eager\":1.5}}]}");
	expect_refused(HEAD BODY "[{\"board\":0," BOARD ",\"counters\":{\"sent eager\":1}}]");
	expect_refused(HEAD "\"boot\":\"a boot id of more characters than there is room\","
		       "\"module\":1,\"boards\":[]}");
}

int main(void)
{
	EXPECT(mkdtemp(folder));
	label_is_gauge__what_the_driver_does_not_add_up();
	change__of_64_bits();
	change__a_smaller_counter_means_that_all_were_cleared();
	change__a_smaller_gauge_means_nothing();
	change__of_another_module_boot_or_board();
	change__of_unknown_origin();
	change__within_no_time_has_no_rate();
	format_time__is_utc();
	interval_table__repeats_its_heading_after_a_page();
	openmetrics_name__of_words();
	atomic_file__replaces_what_a_link_leads_to();
	atomic_file__refuses_what_it_would_replace();
	state__returns_what_was_saved();
	state__refuses_what_was_not_saved();
	EXPECT(rmdir(folder) == 0);
	return 0;
}
