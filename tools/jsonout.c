/* SPDX-License-Identifier: BSD-2-Clause */
#include <err.h>

#include "address.h"
#include "complain.h"
#include "jsonout.h"
#include "omx_abi.h"
#include "text.h"

static struct json_object *json_checked(struct json_object *object)
{
	if (!object)
		errx(1, "out of memory");
	return object;
}

struct json_object *json_new_object(void)
{
	return json_checked(json_object_new_object());
}

struct json_object *json_new_array(void)
{
	return json_checked(json_object_new_array());
}

void json_add(struct json_object *object, const char *key, struct json_object *value)
{
	if (json_object_object_add(object, key, value))
		errx(1, "out of memory");
}

void json_append(struct json_object *array, struct json_object *value)
{
	if (json_object_array_add(array, value))
		errx(1, "out of memory");
}

void json_add_string(struct json_object *object, const char *key, const char *text)
{
	json_add(object, key, json_checked(json_object_new_string(text)));
}

void json_add_u64(struct json_object *object, const char *key, uint64_t value)
{
	json_add(object, key, json_checked(json_object_new_uint64(value)));
}

void json_add_i64(struct json_object *object, const char *key, int64_t value)
{
	json_add(object, key, json_checked(json_object_new_int64(value)));
}

void json_add_bool(struct json_object *object, const char *key, bool value)
{
	json_add(object, key, json_checked(json_object_new_boolean(value)));
}

void json_add_mac(struct json_object *object, const char *key, uint64_t mac)
{
	char text[MAC_TEXT_LEN];

	json_add_string(object, key, format_mac(mac, text));
}

void json_add_number(struct json_object *object, const char *key, double value)
{
	char text[40];

	snprintf(text, sizeof(text), "%.3f", value);
	json_add(object, key, json_checked(json_object_new_double_s(value, text)));
}

struct json_object *json_new_board(const struct omx_ioc_board *board)
{
	struct json_object *object = json_new_object();

	json_add_u64(object, "board", board->board);
	json_add_string(object, "name", board->name);
	json_add_string(object, "ifname", board->ifname);
	json_add_mac(object, "mac", board->mac);
	return object;
}

void json_add_board_state(struct json_object *object, const struct omx_ioc_board *board)
{
	json_add_bool(object, "up", board->flags & OMX_BOARD_UP);
	json_add_bool(object, "automatic", board->flags & OMX_BOARD_AUTO);
	json_add_u64(object, "mtu", board->mtu);
	json_add_string(object, "driver", board->drivername);
	json_add_i64(object, "numa_node", board->numa_node);
	json_add_u64(object, "endpoints_open", board->endpoints_open);
}

static void json_add_address(struct json_object *object, const struct omx_ioc_udp_peer *udp)
{
	char text[ADDRESS_TEXT_LEN];

	if (!address_is_ip(udp))
		return;
	json_add_string(object, "address", address_format(udp, text));
	json_add_u64(object, "port", udp->port);
	if (udp->error)
		json_add_string(object, "error", address_error(udp));
	else
		json_add(object, "error", json_object_new_null());
}

void json_add_peer(struct json_object *object, const struct omx_ioc_udp_peer *udp)
{
	const struct omx_ioc_peer *peer = &udp->peer;

	json_add_u64(object, "board", peer->board);
	if (peer->mac)
		json_add_mac(object, "mac", peer->mac);
	else
		json_add(object, "mac", json_object_new_null());
	if (peer->flags & OMX_PEER_NAMED)
		json_add_string(object, "name", peer->name);
	else
		json_add(object, "name", json_object_new_null());
	json_add_u64(object, "mtu", peer->mtu);
	json_add_u64(object, "path_mtu", udp->path_mtu);
	json_add_u64(object, "age_ms", peer->age_ms);
	json_add_bool(object, "static", peer->flags & OMX_PEER_STATIC);
	json_add_bool(object, "local", peer->flags & OMX_PEER_LOCAL);
	json_add_address(object, udp);
}

struct json_object *json_new_peer(const struct omx_ioc_udp_peer *udp)
{
	struct json_object *object = json_new_object();

	json_add_peer(object, udp);
	return object;
}

static int print_and_free(struct json_object *object, int flags, FILE *out)
{
	const char *text;
	int failed;

	text = json_object_to_json_string_ext(object, flags | JSON_C_TO_STRING_NOSLASHESCAPE);
	failed = fprintf(out, "%s\n", text) < 0 || fflush(out);
	if (failed) {
		complain_errno(NULL, "cannot write the JSON text");
		complain_in_json(NULL);
	}
	json_object_put(object);
	return failed ? -1 : 0;
}

int json_finish(struct json_object *object, FILE *out)
{
	int ret = print_and_free(object, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED, out);

	complain_in_json(NULL);		/* the output is complete: no object after it */
	return ret;
}

int json_line(struct json_object *object, FILE *out)
{
	return print_and_free(object, JSON_C_TO_STRING_PLAIN, out);
}
