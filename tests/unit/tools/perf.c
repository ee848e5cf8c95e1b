/* SPDX-License-Identifier: BSD-2-Clause */
/* Both sides of omx_perf in one process, over fake_omx.c. */
#include <json.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "expect.h"
#include "fake_omx.h"
#include "perf/link.h"
#include "perf/perf.h"
#include "perf/settings.h"

/*
 * Both sides are patient, as a busy machine may leave either without a processor for
 * seconds; but not where a message is lost, because they only give up in the end.
 */
#define PATIENT "--timeout=120"
#define IMPATIENT "--timeout=2"

struct outcome {
	int client, server;
};

struct serving {
	const char *timeout;
	int ret;
};

static void *serve(void *argument)
{
	static struct settings settings;
	struct serving *serving = argument;
	char *words[] = { "omx_perf", strdup(serving->timeout), NULL };
	struct link link;

	settings_parse(&settings, 2, words);
	EXPECT(link_open(&link, &settings) == 0);
	serving->ret = server_run(&link, &settings);
	link_close(&link);
	settings_free(&settings);
	free(words[1]);
	return NULL;
}

static int play_client(const char *const *words, unsigned int count)
{
	struct settings settings;
	char *copy[16] = { "omx_perf" };
	struct link link;
	unsigned int i;
	int ret;

	for (i = 0; i < count; i++)
		copy[i + 1] = strdup(words[i]);
	settings_parse(&settings, count + 1, copy);
	EXPECT(link_open(&link, &settings) == 0);
	ret = client_run(&link, &settings);
	link_close(&link);
	settings_free(&settings);
	for (i = 0; i < count; i++)
		free(copy[i + 1]);
	return ret;
}

/* The first word is the timeout of both sides. */
static struct outcome play_words(const char *const *words, unsigned int count)
{
	struct serving serving = { .timeout = words[0] };
	struct outcome outcome;
	pthread_t server;

	EXPECT(pthread_create(&server, NULL, serve, &serving) == 0);
	outcome.client = play_client(words, count);
	pthread_join(server, NULL);
	outcome.server = serving.ret;
	return outcome;
}

#define PLAY_WITH(timeout, ...) \
	play_words((const char *[]){ timeout, "-dfake", __VA_ARGS__ }, \
		   2 + sizeof((const char *[]){ __VA_ARGS__ }) / sizeof(char *))
#define PLAY(...) PLAY_WITH(PATIENT, __VA_ARGS__)

static void expect_success(struct outcome outcome)
{
	EXPECT(outcome.client == 0 && outcome.server == 0);
}

static void all_modes__verified(void)
{
	expect_success(PLAY("--verify", "-N20"));
	expect_success(PLAY("--verify", "-N100", "-U", "-E65536"));
	expect_success(PLAY("--verify", "-N100", "-B", "-E65536", "--window=7"));
	expect_success(PLAY("-Y", "-a", "-N30", "--sizes=0,1,4k", "-W0"));
	expect_success(PLAY("--poll", "-y", "-N30", "-B", "--sizes=100"));
}

static void accesses__verified(void)
{
	expect_success(PLAY("--put", "--verify", "-N20"));
	expect_success(PLAY("--get", "--verify", "-N20"));
	expect_success(PLAY("--put", "--verify", "-N100", "-U", "-E65536", "--window=7"));
	expect_success(PLAY("--get", "--verify", "-N100", "-U", "-E65536"));
	expect_success(PLAY("--put", "-N3", "-W0", "--sizes=0,1,4k"));
	expect_success(PLAY("--cas", "--verify", "-N30"));
	expect_success(PLAY("--cas", "-U", "-N100"));
}

/*
 * Faults of puts befall the put, the get that reads it back, or what the server looks
 * at in the end; those of swaps make the next one fail, or the last count wrong.
 */
static void faults_of_accesses__are_found(void)
{
	static const enum fake_fault faults[] = { FAKE_FLIP_BIT, FAKE_OVERRUN };
	unsigned int i, n;

	for (n = 0; n < 10; n++) {
		for (i = 0; i < 2; i++) {
			fake_order(faults[i], 777, n);
			EXPECT(PLAY("--put", "--verify", "-N10", "-W0", "--sizes=777").client < 0);
			fake_order(faults[i], 777, n);
			EXPECT(PLAY("--get", "--verify", "-N10", "-U", "-W0",
				    "--sizes=777").client < 0);
		}
		fake_order(FAKE_FLIP_BIT, 8, n);
		EXPECT(PLAY("--cas", "-N10", "-W0").client < 0);
	}
	fake_order(FAKE_LOSE, 777, 3);
	EXPECT(PLAY_WITH(IMPATIENT, "--put", "-N10", "--sizes=777").client < 0);
}

/* Each is found by the side that received it, and both end with an error. */
static void faults__are_found(void)
{
	static const enum fake_fault faults[] = { FAKE_FLIP_BIT, FAKE_OVERRUN, FAKE_SHORT };
	struct outcome outcome;
	unsigned int i, n;

	for (i = 0; i < 3; i++)
		for (n = 0; n < 4; n++) {
			fake_order(faults[i], 777, n);
			outcome = PLAY("--verify", "-N10", "-W1", "--sizes=777");
			EXPECT(outcome.client < 0);
			fake_order(faults[i], 777, n);
			outcome = PLAY("--verify", "-N10", "-B", "-W0", "--sizes=777");
			EXPECT(outcome.client < 0);
		}
}

static void silence__ends_both_sides(void)
{
	struct outcome outcome;

	fake_order(FAKE_LOSE, 777, 3);
	outcome = PLAY_WITH(IMPATIENT, "-N10", "--sizes=777");
	EXPECT(outcome.client < 0);
	fake_order(FAKE_LOSE, 777, 3);
	outcome = PLAY_WITH(IMPATIENT, "-N10", "-U", "--sizes=777");
	EXPECT(outcome.client < 0 && outcome.server < 0);
}

static void no_server__is_said(void)
{
	const char *const nobody[] = { "-dnobody", "--timeout=1" };
	const char *const closed[] = { "-dfake:0", "--timeout=1", "-r5" };

	EXPECT(play_client(nobody, 2) < 0);
	EXPECT(play_client(closed, 3) < 0);
}

static void json__has_a_row_per_length(void)
{
	char path[] = "/tmp/omx-perf-XXXXXX", option[64];
	struct json_object *root, *results, *row;
	int fd = mkstemp(path);

	EXPECT(fd >= 0);
	close(fd);
	snprintf(option, sizeof(option), "--json=%s", path);
	expect_success(PLAY("-N5", "--sizes=0,64k,1M", option));
	root = json_object_from_file(path);
	EXPECT(json_object_object_get_ex(root, "results", &results));
	EXPECT(json_object_array_length(results) == 3);
	row = json_object_array_get_idx(results, 1);
	EXPECT(json_object_get_uint64(json_object_object_get(row, "length")) == 65536);
	EXPECT(json_object_get_double(json_object_object_get(row, "us")) > 0);
	EXPECT(!json_object_object_get_ex(root, "error", NULL));
	json_object_put(root);
	unlink(path);
}

/* Beside what was measured before. */
static void json__has_the_error(void)
{
	char path[] = "/tmp/omx-perf-XXXXXX", option[64];
	struct json_object *root, *results, *error;

	close(mkstemp(path));
	snprintf(option, sizeof(option), "--json=%s", path);
	fake_order(FAKE_FLIP_BIT, 777, 0);
	EXPECT(PLAY("--verify", "-N3", "-W0", "--sizes=1,777,9", option).client < 0);
	root = json_object_from_file(path);
	EXPECT(json_object_object_get_ex(root, "results", &results));
	EXPECT(json_object_array_length(results) == 1);
	EXPECT(json_object_object_get_ex(root, "error", &error));
	EXPECT(strstr(json_object_get_string(error), "of 777 bytes"));
	EXPECT(json_object_object_get_ex(root, "advice", NULL));
	json_object_put(root);
	unlink(path);
}

int main(void)
{
	all_modes__verified();
	accesses__verified();
	faults__are_found();
	faults_of_accesses__are_found();
	json__has_a_row_per_length();
	json__has_the_error();
	silence__ends_both_sides();
	no_server__is_said();
	return 0;
}
