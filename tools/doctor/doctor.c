/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "complain.h"
#include "config.h"
#include "doctor/doctor.h"
#include "jsonout.h"

struct check {
	const char *name;
	enum stage needs;
	bool of_host;
	void (*look)(struct doctor *doctor, struct finding *finding);
};

static const struct check checks[] = {
	{ "module", STAGE_NONE, false, check_module },
	{ "device", STAGE_MODULE, false, check_device },
	{ "abi", STAGE_DEVICE, false, check_abi },
	{ "library", STAGE_NONE, false, check_library },
	{ "openmpi", STAGE_NONE, false, check_component },
	{ "board", STAGE_DRIVER, false, check_board },
	{ "link", STAGE_BOARD, false, check_link },
	{ "firewall", STAGE_LINK, false, check_firewall },
	{ "peer", STAGE_LINK, true, check_peer },
	{ "hello", STAGE_PEER, true, check_hello },
	{ "protocol", STAGE_LINK, true, check_protocol },
	{ "mtu", STAGE_ANSWER, true, check_mtu },
};

#define CHECKS (sizeof(checks) / sizeof(checks[0]))

/* What is missing after this stage. */
static const char *const lacking[] = {
	[STAGE_NONE] = "the module is not loaded",
	[STAGE_MODULE] = "the device cannot be opened",
	[STAGE_DEVICE] = "the driver cannot be asked",
	[STAGE_DRIVER] = "there is no board",
	[STAGE_BOARD] = "no board is up",
	[STAGE_LINK] = "the host is no peer",
	[STAGE_PEER] = "the host does not answer",
};

static const char *const verdicts[] = {
	[VERDICT_OK] = "ok",
	[VERDICT_WARNING] = "warning",
	[VERDICT_FAULT] = "fault",
	[VERDICT_SKIPPED] = "skipped",
};

/* ---- for people ---- */

static void print_finding(const struct check *check, const struct finding *finding)
{
	unsigned int i;

	printf("%-7s  %-8s  %s\n", verdicts[finding->verdict], check->name, finding->text);
	for (i = 0; i < finding->remedies; i++) {
		const struct remedy *remedy = &finding->remedy[i];

		if (*remedy->host)
			printf("         to mend it, on %s: %s\n", remedy->host, remedy->command);
		else
			printf("         to mend it: %s\n", remedy->command);
	}
	fflush(stdout);		/* the next check may wait for seconds */
}

/* ---- for programs ---- */

static struct json_object *describe_remedies(const struct finding *finding)
{
	struct json_object *array = json_new_array();
	unsigned int i;

	for (i = 0; i < finding->remedies; i++) {
		struct json_object *entry = json_new_object();

		if (*finding->remedy[i].host)
			json_add_string(entry, "host", finding->remedy[i].host);
		else
			json_add(entry, "host", NULL);
		json_add_string(entry, "command", finding->remedy[i].command);
		json_append(array, entry);
	}
	return array;
}

static struct json_object *describe_finding(const struct check *check,
					    const struct finding *finding)
{
	struct json_object *object = json_new_object();

	json_add_string(object, "check", check->name);
	json_add_string(object, "status", verdicts[finding->verdict]);
	json_add_string(object, "text", finding->text);
	json_add(object, "commands", describe_remedies(finding));
	return object;
}

/* ---- both ---- */

static void run_check(const struct check *check, struct doctor *doctor, struct finding *finding)
{
	memset(finding, 0, sizeof(*finding));
	if (doctor->stage < check->needs)
		finding_say(finding, VERDICT_SKIPPED, "%s", lacking[doctor->stage]);
	else
		check->look(doctor, finding);
}

/* Prints each finding, or appends it to `array` if that is not NULL; counts verdicts. */
static void run_checks(struct doctor *doctor, struct json_object *array, unsigned int *count)
{
	struct finding finding;
	size_t i;

	for (i = 0; i < CHECKS; i++) {
		if (checks[i].of_host && !doctor->target.name)
			continue;
		run_check(&checks[i], doctor, &finding);
		count[finding.verdict]++;
		if (array)
			json_append(array, describe_finding(&checks[i], &finding));
		else
			print_finding(&checks[i], &finding);
	}
}

static int run_for_programs(struct doctor *doctor, unsigned int *count)
{
	struct json_object *object = json_new_object(), *array = json_new_array();

	json_add_string(object, "version", PACKAGE_VERSION);
	if (doctor->target.name)
		json_add_string(object, "host", doctor->target.name);
	else
		json_add(object, "host", NULL);
	run_checks(doctor, array, count);
	json_add(object, "checks", array);
	json_add_u64(object, "faults", count[VERDICT_FAULT]);
	json_add_u64(object, "warnings", count[VERDICT_WARNING]);
	return json_finish(object, stdout);
}

int doctor_run(const char *host, uint32_t board, bool json)
{
	static struct netlink netlink;
	struct doctor doctor = { .only = board, .target.name = host, .netlink = &netlink };
	unsigned int count[VERDICT_SKIPPED + 1] = { 0 };
	int error = 0;

	if (json)
		error = run_for_programs(&doctor, count);
	else
		run_checks(&doctor, NULL, count);
	if (doctor.stage >= STAGE_DRIVER)
		netlink_close(&netlink);
	if (error || complain_unless_written())
		return EXIT_FAILURE;
	return count[VERDICT_FAULT] ? EXIT_FAULT : EXIT_SUCCESS;
}
