/* SPDX-License-Identifier: BSD-2-Clause */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <time.h>

#include "../complain.h"
#include "link.h"
#include "perf.h"
#include "protocol.h"
#include "report.h"
#include "session.h"

/* Messages that an earlier client left behind must not match our receives. */
static uint32_t new_tag(void)
{
	uint32_t tag;

	if (getrandom(&tag, sizeof(tag), 0) != sizeof(tag) || !tag)
		tag = now_ns() | 1;
	return tag;
}

static int say_hello(struct session *session)
{
	struct control control = {
		.type = CONTROL_HELLO,
		.tag = session->tag,
		.mode = session->mode,
		.access = session->access,
		.synchronous = session->synchronous,
		.verify = session->verify,
	};

	if (control_send(session->link, match_make(0, KIND_HELLO, 0), &control) < 0 ||
	    control_receive(session->link, match_make(session->tag, KIND_CONTROL, 0),
			    &control, NULL) < 0) {
		complain(NULL, "no welcome: does the server have another client?");
		return -1;
	}
	if (control.type == CONTROL_WELCOME)
		return 0;
	complain(NULL, "the server speaks version %" PRIu64 " of omx_perf's protocol, we %u",
		 control.version, PROTOCOL_VERSION);
	return -1;
}

/*
 * The endpoint is closed afterwards, and then the driver does not repeat for long what
 * is lost: so this waits until the server has it.
 */
static int say_bye(struct session *session)
{
	uint64_t match_info = match_make(session->tag, KIND_CONTROL, 0);
	struct control control = { .type = CONTROL_BYE };

	if (control_send(session->link, match_info, &control) < 0)
		return -1;
	return control_receive(session->link, match_info, &control, NULL);
}

static int check_faults(const struct session *session, const struct settings *settings)
{
	check_print(&session->check, "here");
	check_print(&session->remote_check, settings->host);
	return session->check.faults || session->remote_check.faults ? -1 : 0;
}

static int client_play_round(struct session *session, const struct settings *settings,
			     struct round *round)
{
	if (!round->count)
		return 0;
	if (round_run(session, round) < 0)
		return -1;
	return check_faults(session, settings);
}

static void pause_ms(uint32_t milliseconds)
{
	const struct timespec pause = {
		.tv_sec = milliseconds / 1000,
		.tv_nsec = milliseconds % 1000 * 1000000,
	};

	nanosleep(&pause, NULL);
}

/* `times` has room for all iterations. */
static int client_measure(struct session *session, const struct settings *settings,
			  uint64_t *times, struct result *result)
{
	struct round warmup = {
		.length = result->length,
		.count = result->warmup,
		.window = result->window,
	};
	struct round round = {
		.length = result->length,
		.count = result->iterations,
		.window = result->window,
		.round_trips = times,
	};

	if (settings->pause_ms)
		pause_ms(settings->pause_ms);
	if (client_play_round(session, settings, &warmup) < 0 ||
	    client_play_round(session, settings, &round) < 0)
		return -1;
	result->duration = round.duration;
	if (settings->mode == PERF_PINGPONG)
		statistics_compute(times, round.count, &result->times);
	return 0;
}

static int measure_length(struct session *session, const struct settings *settings,
			  uint64_t length, struct report *report)
{
	struct result result = {
		.length = length,
		.iterations = plan_iterations(settings, length),
		.warmup = plan_warmup(settings, length),
		.window = plan_window(settings, length),
	};
	uint64_t *times;
	int ret;

	times = calloc(result.iterations, sizeof(*times));
	if (!times) {
		complain(NULL, "no memory for the times of %" PRIu64 " iterations",
			 result.iterations);
		return -1;
	}
	ret = client_measure(session, settings, times, &result);
	free(times);
	if (!ret)
		report_add(report, &result);
	return ret;
}

static int measure_all(struct session *session, const struct settings *settings,
		       struct report *report)
{
	uint64_t length;
	size_t step;

	for (step = 0; plan_length(settings, step, &length); step++)
		if (measure_length(session, settings, length, report) < 0)
			return -1;
	if (settings->verify)
		fprintf(report->table, "verified: %" PRIu64 " messages here, %" PRIu64
			" on %s, every byte as it was sent\n", session->check.messages,
			session->remote_check.messages, settings->host);
	return 0;
}

static void client_print_start(const struct link *link, const struct settings *settings,
			       FILE *out)
{
	fprintf(out, "Successfully opened endpoint %" PRIu32 " of '%s' (%s)\n",
		link->endpoint, link->name, link->ifname);
	fprintf(out, "Starting sender to '%s' endpoint %" PRIu32 ", %s%s%s%s...\n",
		settings->host, settings->remote_endpoint,
		perf_mode_name(settings->access, settings->mode),
		settings->synchronous ? ", synchronous" : "",
		settings->verify ? ", verified" : "",
		settings->poll ? ", polling" : "");
	fflush(out);
}

int client_run(struct link *link, const struct settings *settings)
{
	struct session session = {
		.link = link,
		.client = true,
		.tag = new_tag(),
		.mode = settings->mode,
		.access = settings->access,
		.synchronous = settings->synchronous,
		.verify = settings->verify,
		.aligned = settings->aligned,
	};
	struct report report;
	int ret;

	report_start(&report, settings, link);
	client_print_start(link, settings, report.table);
	ret = link_connect(link, settings->host, settings->remote_endpoint);
	link_expect(link, 0);
	if (!ret)
		ret = say_hello(&session);
	if (!ret) {
		ret = measure_all(&session, settings, &report);
		if (!link->broken && say_bye(&session) < 0)
			ret = -1;
	}
	session_free(&session);
	return report_finish(&report, ret < 0) < 0 ? -1 : ret;
}
