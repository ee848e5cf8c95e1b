/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Rules of this host that are in the way, on either carrier.  They are read only if frames
 * do not arrive, here or there: if they do, the rules are right.  What another host drops is
 * for the doctor there.
 */
#include <json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "doctor/doctor.h"
#include "doctor/ruleset.h"

#define UDP_PORT_PATH "/sys/module/omx/parameters/udp_port"
#define UDP_PORT_DEFAULT 8687 /* that of the driver */

/* Where users have no path to. */
#define WITH_PATH "PATH=$PATH:/usr/sbin:/sbin "

/* Everything that the command prints, or NULL. */
static char *output_of(const char *command)
{
	FILE *pipe = popen(command, "re");
	size_t size = 0;
	char *text = NULL;

	if (!pipe)
		return NULL;
	if (getdelim(&text, &size, '\0', pipe) < 0) {
		free(text);
		text = NULL;
	}
	pclose(pipe);
	return text;
}

static bool nftables_drops(const struct packet *packet, struct finding *finding)
{
	char *text = output_of(WITH_PATH "nft -j list ruleset 2>/dev/null");
	struct json_object *ruleset = text ? json_tokener_parse(text) : NULL;
	bool drops = ruleset_drops(ruleset, packet, finding);

	json_object_put(ruleset);
	free(text);
	return drops;
}

static bool tc_drops(const struct packet *packet, struct finding *finding)
{
	static const char *const directions[] = { "ingress", "egress" };
	char command[160], *text;
	bool drops = false;
	size_t i;

	if (!shell_word(packet->interface, NULL))
		return false;
	for (i = 0; !drops && i < 2; i++) {
		snprintf(command, sizeof(command), WITH_PATH "tc filter show dev %s %s 2>/dev/null",
			 packet->interface, directions[i]);
		text = output_of(command);
		drops = filters_drop(text, packet, directions[i], finding);
		free(text);
	}
	return drops;
}

/* By netlink only peers that are reached by UDP have it; some containers have no /sys. */
static unsigned int find_udp_port(const struct target *target)
{
	FILE *file = fopen(UDP_PORT_PATH, "re");
	unsigned int port;

	if (!file)
		return target->peer.port ? target->peer.port : UDP_PORT_DEFAULT;
	if (fscanf(file, "%u", &port) != 1)
		port = UDP_PORT_DEFAULT;
	fclose(file);
	return port;
}

static bool interface_is_bridge(const char *interface)
{
	char path[64];

	snprintf(path, sizeof(path), "/sys/class/net/%s/bridge", interface);
	return access(path, F_OK) == 0;
}

static bool board_is_blocked(const struct doctor *doctor, const struct omx_ioc_board *board,
			     bool udp, struct finding *finding)
{
	const uint8_t *address = doctor->target.peer.address;
	const struct packet packet = {
		.udp = udp,
		.v6 = doctor->target.known && address[0],	/* IPv4 begins with zeros */
		.port = find_udp_port(&doctor->target),
		.ethertype = doctor->driver.ethertype,
		.interface = board->ifname,
		.bridge = interface_is_bridge(board->ifname),
	};

	return nftables_drops(&packet, finding) || tc_drops(&packet, finding);
}

/* The board through which the host is reached, or whichever it may be. */
static bool boards_are_blocked(const struct doctor *doctor, bool udp, struct finding *finding)
{
	const struct board_list *boards = &doctor->boards;
	unsigned int i;

	for (i = 0; i < boards->count; i++) {
		const struct omx_ioc_board *board = &boards->board[i];

		if (doctor->target.known && board != doctor->target.board)
			continue;
		if (board->flags & OMX_BOARD_UP && board_is_blocked(doctor, board, udp, finding))
			return true;
	}
	return false;
}

static void check_rules(struct doctor *doctor, struct finding *finding)
{
	const bool udp = target_is_by_udp(&doctor->target);

	doctor->blocked = boards_are_blocked(doctor, udp, finding);
	if (doctor->blocked)
		return;
	if (geteuid()) {
		finding_say(finding, VERDICT_WARNING,
			    "frames do not arrive; only root can see whether a firewall drops them");
		finding_mend(finding, NULL, "sudo omx_info --doctor%s%s",
			     doctor->target.name ? " " : "",
			     doctor->target.name ? doctor->target.name : "");
		return;
	}
	finding_say(finding, VERDICT_OK, "no rule of this host drops our %s",
		    udp ? "UDP packets" : "frames");
}

void check_firewall(struct doctor *doctor, struct finding *finding)
{
	if (doctor->target.name)
		target_listen(doctor);
	if (doctor->target.heard && doctor->target.answers)
		finding_say(finding, VERDICT_OK, "frames of %s pass, and ours",
			    doctor->target.name);
	else if (!doctor->target.name && any_peer_heard(doctor))
		finding_say(finding, VERDICT_OK, "frames of peers pass");
	else
		check_rules(doctor, finding);
}
