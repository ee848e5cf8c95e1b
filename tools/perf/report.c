/* SPDX-License-Identifier: BSD-2-Clause */
#include <inttypes.h>

#include "../complain.h"
#include "../jsonout.h"
#include "link.h"
#include "report.h"

static void start_json(struct report *report, const struct link *link)
{
	const struct settings *settings = report->settings;

	report->json = json_new_object();
	json_add_string(report->json, "mode", perf_mode_name(settings->access, settings->mode));
	json_add_bool(report->json, "verify", settings->verify);
	json_add_bool(report->json, "synchronous", settings->synchronous);
	json_add_bool(report->json, "poll", settings->poll);
	json_add_string(report->json, "local", link->name);
	json_add_string(report->json, "remote", settings->host);
	report->results = json_new_array();
	json_add(report->json, "results", report->results);
}

void report_start(struct report *report, const struct settings *settings,
		  const struct link *link)
{
	*report = (struct report){
		.settings = settings,
		.table = settings->json_file == stdout ? stderr : stdout,
	};
	if (settings->json_file)
		start_json(report, link);
}

/* Of a message, half a round trip; of an access, all of it. */
static double time_us(const struct settings *settings, double ns)
{
	return settings->access ? ns / 1e3 : ns / 2e3;
}

static double one_way_us(const struct settings *settings, const struct result *result)
{
	if (settings->mode == PERF_PINGPONG)
		return time_us(settings, result->times.median);
	return result->duration / 1e3 / result->iterations;
}

/* Bytes per microsecond, which is MB/s. */
static double report_throughput(const struct settings *settings, const struct result *result)
{
	double bytes = result->length;

	if (settings->mode == PERF_BIDIRECTIONAL)
		bytes *= 2;
	return bytes / one_way_us(settings, result);
}

static void report_add_row(const struct report *report, const struct result *result)
{
	double rate = report_throughput(report->settings, result);

	fprintf(report->table, "length %10" PRIu64 ": %12.3f us %10.2f MB/s %10.2f MiB/s",
		result->length, one_way_us(report->settings, result), rate,
		rate * 1e6 / (1 << 20));
	if (report->settings->mode == PERF_PINGPONG)
		fprintf(report->table, "   min %10.3f  p99 %10.3f",
			time_us(report->settings, result->times.min),
			time_us(report->settings, result->times.p99));
	fprintf(report->table, "  %6" PRIu64 " times\n", result->iterations);
	fflush(report->table);
}

static void add_json(const struct report *report, const struct result *result)
{
	const struct settings *settings = report->settings;
	struct json_object *object = json_new_object();

	json_add_u64(object, "length", result->length);
	json_add_u64(object, "iterations", result->iterations);
	json_add_u64(object, "warmup", result->warmup);
	json_add_number(object, "us", one_way_us(settings, result));
	json_add_number(object, "mb_per_s", report_throughput(settings, result));
	json_add_number(object, "seconds", result->duration / 1e9);
	if (settings->mode == PERF_PINGPONG) {
		json_add_number(object, "min_us", time_us(settings, result->times.min));
		json_add_number(object, "mean_us", time_us(settings, result->times.mean));
		json_add_number(object, "p99_us", time_us(settings, result->times.p99));
		json_add_number(object, "max_us", time_us(settings, result->times.max));
	} else {
		json_add_u64(object, "window", result->window);
	}
	json_append(report->results, object);
}

void report_add(struct report *report, const struct result *result)
{
	report_add_row(report, result);
	if (report->json)
		add_json(report, result);
}

int report_finish(struct report *report, bool failed)
{
	if (!report->json)
		return 0;
	if (failed)
		complain_within(report->json);
	return json_finish(report->json, report->settings->json_file);
}
