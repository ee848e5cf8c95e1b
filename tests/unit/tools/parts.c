/* SPDX-License-Identifier: BSD-2-Clause */
/* The parts of the tools that ask nobody: each function names the case. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "address.h"
#include "advice.h"
#include "complain.h"
#include "expect.h"
#include "jsonout.h"
#include "peers_file.h"
#include "perf/pattern.h"
#include "perf/settings.h"
#include "perf/statistics.h"
#include "table.h"
#include "text.h"

/* ---- text ---- */

static void parse_u32__whole_numbers_only(void)
{
	uint32_t value = 7;

	EXPECT(parse_u32("0", &value) == 0 && value == 0);
	EXPECT(parse_u32("4294967295", &value) == 0 && value == UINT32_MAX);
	EXPECT(parse_u32("0x10", &value) == 0 && value == 16);
	EXPECT(parse_u32("4294967296", &value) < 0);
	EXPECT(parse_u32("", &value) < 0);
	EXPECT(parse_u32("-1", &value) < 0);
	EXPECT(parse_u32(" 1", &value) < 0);
	EXPECT(parse_u32("1x", &value) < 0);
	EXPECT(value == 16);
}

static void parse_size__suffixes_are_powers_of_1024(void)
{
	uint64_t value = 0;

	EXPECT(parse_size("4k", &value) == 0 && value == 4096);
	EXPECT(parse_size("6G", &value) == 0 && value == 6ull << 30);
	EXPECT(parse_size("1T", &value) == 0 && value == 1ull << 40);
	EXPECT(parse_size("18446744073709551615", &value) == 0);
	EXPECT(parse_size("18446744073709551616", &value) < 0);
	EXPECT(parse_size("99999999T", &value) < 0);
	EXPECT(parse_size("1kB", &value) < 0);
	EXPECT(parse_size("k", &value) < 0);
}

static void parse_mac__six_groups(void)
{
	char text[MAC_TEXT_LEN];
	uint64_t mac = 0;

	EXPECT(parse_mac("02:0a:0B:ff:00:10", &mac) == 0 && mac == 0x020a0bff0010);
	EXPECT(parse_mac("02-0a-0b-ff-00-10", &mac) == 0);
	EXPECT(strcmp(format_mac(mac, text), "02:0a:0b:ff:00:10") == 0);
	EXPECT(parse_mac("02:0a:0b:ff:00", &mac) < 0);
	EXPECT(parse_mac("02:0a:0b:ff:00:1", &mac) < 0);
	EXPECT(parse_mac("02:0a:0b:ff:00:10:", &mac) < 0);
	EXPECT(parse_mac("02:0a:0b:ff:00:1g", &mac) < 0);
	EXPECT(parse_mac("020a0bff0010", &mac) < 0);
	EXPECT(parse_mac("", &mac) < 0);
	EXPECT(parse_mac("node1:0", &mac) < 0);
}

/* ---- table ---- */

static void table_print__columns_line_up(void)
{
	static const char *const heading[] = { "n", "name", "x", NULL };
	struct table table;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	table_init(&table, 1 << 0, heading);
	table_add(&table, (const char *[]){ "1", "a", "yes" });
	table_add(&table, (const char *[]){ "100", "longer", "no" });
	table_print(&table, " ", out);
	fclose(out);
	EXPECT(strcmp(text, "   n  name    x\n"
			    "   1  a       yes\n"
			    " 100  longer  no\n") == 0);
	free(text);
	table_free(&table);
}

/* ---- peers file ---- */

static int read_text(const char *text, struct peer_list *list)
{
	char path[] = "/tmp/omx-peers-XXXXXX";
	int fd = mkstemp(path), ret;

	EXPECT(fd >= 0);
	EXPECT(write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	close(fd);
	memset(list, 0, sizeof(*list));
	ret = peers_file_read(path, list);
	unlink(path);
	return ret;
}

static void peers_file_read__comments_and_names(void)
{
	struct peer_list list;

	EXPECT(read_text("# all\n\n02:00:00:00:00:01 node1:0\n"
			 "  02:00:00:00:00:02\tnode2:0  # spare\n"
			 "02:00:00:00:00:03 last", &list) == 0);
	EXPECT(list.count == 3);
	EXPECT(list.peer[1].peer.mac == 0x020000000002);
	EXPECT(strcmp(list.peer[1].peer.name, "node2:0") == 0);
	EXPECT(strcmp(list.peer[2].peer.name, "last") == 0);
	peer_list_free(&list);
}

static void peers_file_read__addresses_need_no_name(void)
{
	struct peer_list list;

	EXPECT(read_text("10.0.2.1\nfd00::2 node2:0\n", &list) == 0);
	EXPECT(list.count == 2);
	EXPECT(address_is_ip(&list.peer[0]) && !*list.peer[0].peer.name);
	EXPECT(address_is_ip(&list.peer[1]) && !strcmp(list.peer[1].peer.name, "node2:0"));
	peer_list_free(&list);
}

static void peers_file_read__refuses_what_it_does_not_know(void)
{
	static const char *const bad[] = {
		"02:00:00:00:00:01\n",
		"node1 02:00:00:00:00:01\n",
		"02:00:00:00:00:01 two names\n",
		"02:00:00:00:00:01 1234567890123456789012345678901234567890"
			"1234567890123456789012345678901234567890\n",
	};
	struct peer_list list;
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		EXPECT(read_text(bad[i], &list) < 0);
		peer_list_free(&list);
	}
	EXPECT(peers_file_read("/nowhere/peers", &list) < 0);
}

/* ---- advice ---- */

static const struct omx_ioc_board good_board = {
	.flags = OMX_BOARD_UP, .mtu = 9000, .ifname = "eth7" };
static const struct link_state good_link = {
	.known = true, .admin_up = true, .coalesce_known = true, .rx_usecs = 12 };

static void expect_advice(const struct omx_ioc_board *board,
			  const struct link_state *state,
			  const struct peer_list *peers, const char *command)
{
	struct advice_list list = { 0 };

	advise_board(board, state, &list);
	advise_peers(board, peers, &list);
	EXPECT(list.count == (command ? 1 : 0));
	if (command)
		EXPECT(strcmp(list.advice[0].command, command) == 0);
	advice_list_free(&list);
}

static void advise__each_fault_has_its_command(void)
{
	struct omx_ioc_board board = good_board;
	struct link_state state = good_link;
	struct peer_list none = { 0 };

	expect_advice(&board, &state, &none, NULL);
	board.flags = 0;
	expect_advice(&board, &state, &none, "ethtool eth7");
	state.admin_up = false;
	expect_advice(&board, &state, &none, "ip link set dev eth7 up");
	board = good_board;
	board.mtu = 1500;
	state = good_link;
	expect_advice(&board, &state, &none, "ip link set dev eth7 mtu 9000");
	strcpy(board.drivername, "dummy");
	expect_advice(&board, &state, &none, NULL);
	state.rx_usecs = 13;
	expect_advice(&good_board, &state, &none, "ethtool -C eth7 rx-usecs 0");
	state.adaptive_rx = true;
	expect_advice(&good_board, &state, &none,
		      "ethtool -C eth7 adaptive-rx off rx-usecs 0");
	state.coalesce_known = false;
	expect_advice(&good_board, &state, &none, NULL);
}

static void advise__peer_with_another_mtu(void)
{
	struct omx_ioc_udp_peer peer = { .peer = {
		.mtu = 1500, .flags = OMX_PEER_NAMED, .name = "node2:0" } };
	struct peer_list one = { .peer = &peer, .count = 1 };

	expect_advice(&good_board, &good_link, &one,
		      "on node2:0: ip link set dev INTERFACE mtu 9000");
	peer.peer.mtu = 16000;
	expect_advice(&good_board, &good_link, &one, "ip link set dev eth7 mtu 16000");
	peer.peer.mtu = 9000;
	expect_advice(&good_board, &good_link, &one, NULL);
	peer.peer.mtu = 0;	/* not heard of yet */
	expect_advice(&good_board, &good_link, &one, NULL);
}

static void advise__peer_that_cannot_be_reached(void)
{
	struct omx_ioc_udp_peer peer = { .error = ECONNREFUSED };
	struct peer_list one = { .peer = &peer, .count = 1 };

	EXPECT(address_parse("10.0.2.2", &peer) == 0);
	expect_advice(&good_board, &good_link, &one,
		      "on 10.0.2.2: omx_peers add ADDRESS-OF-THIS-HOST");
	peer.error = ENETUNREACH;
	expect_advice(&good_board, &good_link, &one, "ip route get 10.0.2.2");
	peer.error = 0;
	expect_advice(&good_board, &good_link, &one, NULL);
}

/* ---- addresses ---- */

static void address_parse__macs_and_both_kinds_of_ip(void)
{
	static const uint8_t v4[16] = { [10] = 0xff, 0xff, 10, 0, 2, 1 };
	static const uint8_t v6[16] = { 0xfd, [15] = 0x12 };
	struct omx_ioc_udp_peer peer = { 0 };
	char text[ADDRESS_TEXT_LEN];

	EXPECT(address_parse("02:00:00:00:00:01", &peer) == 0);
	EXPECT(peer.peer.mac == 0x020000000001 && !address_is_ip(&peer));
	EXPECT(strcmp(address_format(&peer, text), "-") == 0);
	EXPECT(address_parse("10.0.2.1", &peer) == 0);
	EXPECT(memcmp(peer.address, v4, sizeof(v4)) == 0);
	EXPECT(strcmp(address_format(&peer, text), "10.0.2.1") == 0);
	EXPECT(address_parse("fd00::12", &peer) == 0);
	EXPECT(memcmp(peer.address, v6, sizeof(v6)) == 0 && address_is_ip(&peer));
	EXPECT(strcmp(address_format(&peer, text), "fd00::12") == 0);
	EXPECT(address_parse("fe80::1%lo", &peer) == 0);
	EXPECT(peer.scope && strcmp(address_format(&peer, text), "fe80::1%lo") == 0);
	EXPECT(address_parse_number("01:00:00:00:00:01", &peer) < 0);
	EXPECT(address_parse_number("10.0.2.256", &peer) < 0);
	EXPECT(address_parse_number("node1", &peer) < 0);
}

/* ---- omx_perf ---- */

static void pattern_check__finds_every_changed_byte(void)
{
	unsigned char buffer[67];
	uint64_t seed = pattern_seed(1, sizeof(buffer), 5);
	size_t i;

	pattern_fill(buffer, sizeof(buffer), seed);
	EXPECT(pattern_check(buffer, sizeof(buffer), seed) == sizeof(buffer));
	for (i = 0; i < sizeof(buffer); i++) {
		EXPECT(buffer[i] == pattern_byte(i, seed));
		buffer[i] ^= 0x10;
		EXPECT(pattern_check(buffer, sizeof(buffer), seed) == i);
		buffer[i] ^= 0x10;
	}
}

/* A displaced block, or one of another message, differs within 16 bytes. */
static void pattern_check__finds_displaced_data(void)
{
	static unsigned char buffer[16384 + 64];
	uint64_t seed = pattern_seed(1, 16384, 0);
	size_t shift;

	pattern_fill(buffer, sizeof(buffer), seed);
	for (shift = 1; shift < 16384; shift++)
		EXPECT(pattern_check(buffer + shift, 64, seed) < 16);
	EXPECT(pattern_check(buffer, 64, pattern_seed(1, 16384, 1)) < 16);
	EXPECT(pattern_check(buffer, 64, pattern_seed(2, 16384, 0)) < 16);
}

static void plan__defaults_as_in_the_original(void)
{
	struct settings settings = { .end = (4u << 20) + 1, .multiplier = 2,
		.iterations = AUTOMATIC, .warmup = AUTOMATIC, .window = AUTOMATIC };
	uint64_t length, last = 0;
	size_t step;

	for (step = 0; plan_length(&settings, step, &length); step++)
		last = length;
	EXPECT(step == 24 && last == 4u << 20);
	EXPECT(plan_iterations(&settings, 0) == 1000);
	EXPECT(plan_iterations(&settings, 65536) == 512);
	EXPECT(plan_iterations(&settings, 4u << 20) == 10);
	EXPECT(plan_iterations(&settings, 6ull << 30) == 2);
	EXPECT(plan_warmup(&settings, 1) == 10);
	EXPECT(plan_window(&settings, 1) == 64);
	EXPECT(plan_window(&settings, 4u << 20) == 4);
	EXPECT(plan_window(&settings, UINT64_MAX) == 2);
}

static void plan__ends_whatever_is_asked(void)
{
	struct settings settings = { .start = 5, .end = 100, .multiplier = 1 };
	uint64_t length;

	EXPECT(plan_length(&settings, 0, &length) && length == 5);
	EXPECT(!plan_length(&settings, 1, &length));
	settings.multiplier = UINT64_MAX;
	settings.end = UINT64_MAX;
	EXPECT(!plan_length(&settings, 1, &length));
	settings.increment = 3;
	settings.multiplier = 0;
	settings.start = 10;
	EXPECT(plan_length(&settings, 0, &length) && length == 10);
	EXPECT(!plan_length(&settings, 1, &length));
}

static void statistics__of_few_and_many(void)
{
	struct statistics statistics;
	uint64_t one = 7, many[200];
	size_t i;

	statistics_compute(&one, 1, &statistics);
	EXPECT(statistics.min == 7 && statistics.median == 7 && statistics.p99 == 7);
	for (i = 0; i < 200; i++)
		many[i] = 200 - i;
	statistics_compute(many, 200, &statistics);
	EXPECT(statistics.min == 1 && statistics.max == 200);
	EXPECT(statistics.median == 100 && statistics.p99 == 198);
	EXPECT(statistics.mean == 100.5);
}

/* ---- complain ---- */

static void expect_member(struct json_object *object, const char *key, const char *text)
{
	struct json_object *member;

	EXPECT(json_object_object_get_ex(object, key, &member));
	if (text)
		EXPECT(strcmp(json_object_get_string(member), text) == 0);
	else
		EXPECT(!member);
}

/* The first error is the cause, and has the advice. */
static void complain_within__the_result_has_all_errors(void)
{
	struct json_object *result = json_new_object();

	complain_forget();
	complain_within(result);
	EXPECT(json_object_object_length(result) == 0);
	errno = ENOENT;
	complain_errno(NULL, "cannot read %s", "it");
	complain_within(result);
	expect_member(result, "error", "cannot read it: No such file or directory");
	expect_member(result, "advice", NULL);
	complain("try again", "line %d", 7);
	complain("give up", "no more");
	complain_within(result);
	expect_member(result, "error",
		      "cannot read it: No such file or directory; line 7; no more");
	expect_member(result, "advice", "try again");
	json_object_put(result);
	complain_forget();
}

static void complain_within__too_much_is_cut(void)
{
	struct json_object *result = json_new_object(), *error;
	char text[600];

	memset(text, 'x', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	complain(text, "%s", text);
	complain(NULL, "%s", text);
	complain_within(result);
	EXPECT(json_object_object_get_ex(result, "error", &error));
	EXPECT(strlen(json_object_get_string(error)) == 1023);
	json_object_put(result);
	complain_forget();
}

static void complain_unless_written__a_full_disk(void)
{
	int saved = dup(STDOUT_FILENO), full = open("/dev/full", O_WRONLY);

	EXPECT(saved >= 0 && full >= 0);
	printf("on disk\n");
	EXPECT(complain_unless_written() == 0);
	dup2(full, STDOUT_FILENO);
	printf("nowhere\n");
	EXPECT(complain_unless_written() < 0);
	dup2(saved, STDOUT_FILENO);
	close(saved);
	close(full);
	clearerr(stdout);
	complain_forget();
}

int main(void)
{
	complain_within__the_result_has_all_errors();
	complain_within__too_much_is_cut();
	complain_unless_written__a_full_disk();
	parse_u32__whole_numbers_only();
	parse_size__suffixes_are_powers_of_1024();
	parse_mac__six_groups();
	table_print__columns_line_up();
	peers_file_read__comments_and_names();
	peers_file_read__addresses_need_no_name();
	peers_file_read__refuses_what_it_does_not_know();
	advise__each_fault_has_its_command();
	advise__peer_with_another_mtu();
	advise__peer_that_cannot_be_reached();
	address_parse__macs_and_both_kinds_of_ip();
	pattern_check__finds_every_changed_byte();
	pattern_check__finds_displaced_data();
	plan__defaults_as_in_the_original();
	plan__ends_whatever_is_asked();
	statistics__of_few_and_many();
	return 0;
}
