/* SPDX-License-Identifier: BSD-2-Clause */
/* Wrappers of json-c that end the program when there is no memory. */
#ifndef OMX_TOOLS_JSONOUT_H
#define OMX_TOOLS_JSONOUT_H

#include <json.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct omx_ioc_board;
struct omx_ioc_udp_peer;

struct json_object *json_new_object(void);
struct json_object *json_new_array(void);

/* The object or array takes over the value; NULL stands for JSON's null. */
void json_add(struct json_object *object, const char *key, struct json_object *value);
void json_append(struct json_object *array, struct json_object *value);

void json_add_string(struct json_object *object, const char *key, const char *text);
void json_add_u64(struct json_object *object, const char *key, uint64_t value);
void json_add_i64(struct json_object *object, const char *key, int64_t value);
void json_add_bool(struct json_object *object, const char *key, bool value);
void json_add_mac(struct json_object *object, const char *key, uint64_t mac);
/* Prints three decimals. */
void json_add_number(struct json_object *object, const char *key, double value);

/*
 * A board or peer with the members that all tools print; the caller adds its
 * own.
 */
struct json_object *json_new_board(const struct omx_ioc_board *board);
/* The rest that is known of a board. */
void json_add_board_state(struct json_object *object, const struct omx_ioc_board *board);
struct json_object *json_new_peer(const struct omx_ioc_udp_peer *udp);
void json_add_peer(struct json_object *object, const struct omx_ioc_udp_peer *udp);

/* Prints and frees the object. Returns -1 after printing a write error. */
int json_finish(struct json_object *object, FILE *out);

/* The same in one line. */
int json_line(struct json_object *object, FILE *out);

#endif
