/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A reading in a file, for --save and --since: a JSON text, so that other programs can
 * read it too.  It may have been written by anybody, and everything in it is checked.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "atomic_file.h"
#include "counters/counters.h"
#include "complain.h"
#include "jsonout.h"
#include "text.h"

#define STATE_FORMAT "omx_counters state 1"

int state_save(const char *path, const struct labels *labels, const struct reading *reading)
{
	struct json_object *state = json_new_object(), *boards = json_new_array();
	char time[TIME_TEXT_LEN];
	const char *text;
	unsigned int i;
	int ret;

	json_add_string(state, "format", STATE_FORMAT);
	json_add_string(state, "saved", format_time(reading->time, time));
	json_add_i64(state, "time_ms", reading->time);
	json_add_u64(state, "monotonic_ns", reading->monotonic);
	json_add_string(state, "boot", reading->origin.boot);
	json_add_u64(state, "module", reading->origin.module);
	for (i = 0; i < reading->boards.count; i++)
		json_append(boards, describe_values(&reading->boards.board[i], labels,
						    reading_values(reading, labels, i), true));
	json_add(state, "boards", boards);
	text = json_object_to_json_string_ext(state, JSON_C_TO_STRING_PRETTY |
					      JSON_C_TO_STRING_SPACED |
					      JSON_C_TO_STRING_NOSLASHESCAPE);
	ret = atomic_file_write(path, text, strlen(text));
	json_object_put(state);
	return ret;
}

/* NULL unless the object has such a member of this type. */
static struct json_object *member(struct json_object *object, const char *key,
				  enum json_type type)
{
	struct json_object *value;

	if (!json_object_object_get_ex(object, key, &value) ||
	    !json_object_is_type(value, type))
		return NULL;
	return value;
}

static bool get_text(struct json_object *object, const char *key, char *text, size_t size)
{
	struct json_object *value = member(object, key, json_type_string);

	if (!value || strlen(json_object_get_string(value)) >= size)
		return false;
	strcpy(text, json_object_get_string(value));
	return true;
}

static bool is_count(struct json_object *value)
{
	return json_object_is_type(value, json_type_int) && json_object_get_int64(value) >= 0;
}

static bool get_u64(struct json_object *object, const char *key, uint64_t *number)
{
	struct json_object *value = member(object, key, json_type_int);

	if (!value || !is_count(value))
		return false;
	*number = json_object_get_uint64(value);
	return true;
}

static bool counters_are_good(struct json_object *counters)
{
	json_object_object_foreach(counters, label, value)
		if (!*label || !is_count(value))
			return false;
	return true;
}

static bool read_board(struct json_object *object, struct omx_ioc_board *board)
{
	struct json_object *counters = member(object, "counters", json_type_object);
	char text[MAC_TEXT_LEN];
	uint64_t number, mac;

	if (!counters || !counters_are_good(counters) ||
	    !get_u64(object, "board", &number) || number >= OMX_BOARD_MAX ||
	    !get_text(object, "mac", text, sizeof(text)) || parse_mac(text, &mac) < 0)
		return false;
	board->mac = mac;
	board->board = number;
	return get_text(object, "name", board->name, sizeof(board->name)) &&
		get_text(object, "ifname", board->ifname, sizeof(board->ifname));
}

static bool read_boards(struct json_object *state, struct board_list *list)
{
	struct json_object *boards = member(state, "boards", json_type_array);
	size_t i, count;

	if (!boards)
		return false;
	count = json_object_array_length(boards);
	if (count > OMX_BOARD_MAX)
		return false;
	for (i = 0; i < count; i++)
		if (!read_board(json_object_array_get_idx(boards, i), &list->board[i]))
			return false;
	list->count = count;
	return true;
}

static bool read_head(struct json_object *state, struct reading *reading)
{
	struct json_object *time = member(state, "time_ms", json_type_int);

	if (!time)
		return false;
	reading->time = json_object_get_int64(time);
	return get_u64(state, "monotonic_ns", &reading->monotonic) &&
		get_text(state, "boot", reading->origin.boot, sizeof(reading->origin.boot)) &&
		get_u64(state, "module", &reading->origin.module);
}

static bool is_ours(struct json_object *state)
{
	char format[sizeof(STATE_FORMAT)];

	return get_text(state, "format", format, sizeof(format)) &&
		!strcmp(format, STATE_FORMAT);
}

/* *state is NULL if it is no JSON text. */
static int read_file(const char *path, struct json_object **state)
{
	FILE *file = fopen(path, "re");
	char *text = NULL;
	size_t size = 0;
	int ret = 0;

	*state = NULL;
	if (!file)
		return -1;
	if (getdelim(&text, &size, '\0', file) >= 0)
		*state = json_tokener_parse(text);
	else if (!feof(file))
		ret = -1;
	free(text);
	fclose(file);
	return ret;
}

int state_load(const char *path, struct json_object **state)
{
	struct reading unused = { 0 };
	int ret = -1;

	if (read_file(path, state) < 0)
		return complain_errno(NULL, "cannot read %s", path);
	if (!is_ours(*state))
		complain(NULL, "%s was not saved by this version of omx_counters --save", path);
	else if (!read_head(*state, &unused) || !read_boards(*state, &unused.boards))
		complain(NULL, "%s was changed after omx_counters --save, or is not complete",
			 path);
	else
		ret = 0;
	if (ret < 0) {
		json_object_put(*state);
		*state = NULL;
	}
	return ret;
}

int state_reading(struct json_object *state, const struct labels *labels,
		  struct reading *reading)
{
	struct json_object *boards = member(state, "boards", json_type_array);
	unsigned int i;
	uint32_t j;

	if (reading_init(labels, reading) < 0)
		return -1;
	read_head(state, reading);
	read_boards(state, &reading->boards);
	for (i = 0; i < reading->boards.count; i++) {
		struct json_object *board = json_object_array_get_idx(boards, i);
		struct json_object *counters = member(board, "counters", json_type_object);

		for (j = 0; j < labels->count; j++)
			get_u64(counters, labels->label[j],
				reading_values(reading, labels, i) + j);
	}
	return 0;
}
