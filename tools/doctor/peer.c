/* SPDX-License-Identifier: BSD-2-Clause */
/* Whether the other host is a peer, is heard, and speaks our version of the protocol. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "address.h"
#include "doctor/doctor.h"
#include "text.h"

/* ---- peer ---- */

/* A board's name to add it with, if the user has not named it by its address. */
static const char *name_to_add(const struct target *target, char name[OMX_NAME_LEN])
{
	struct omx_ioc_udp_peer number = { 0 };

	if (address_parse_number(target->name, &number) == 0)
		return "";
	snprintf(name, OMX_NAME_LEN, " %.*s%s", OMX_NAME_LEN - 4, target->name,
		 strchr(target->name, ':') ? "" : ":0");
	return name;
}

/* It answers, so only its broadcasts are lost. */
static bool neighbour_answers(const struct doctor *doctor, uint64_t mac)
{
	uint32_t peer_abi;
	unsigned int i;

	for (i = 0; i < doctor->boards.count; i++)
		if (doctor->boards.board[i].flags & OMX_BOARD_UP &&
		    probe_answers(&doctor->boards.board[i], mac, &peer_abi))
			return true;
	return false;
}

static void neighbour_is_unknown(const struct doctor *doctor, uint64_t mac,
				 struct finding *finding)
{
	char text[MAC_TEXT_LEN], name[OMX_NAME_LEN];
	const struct target *target = &doctor->target;

	format_mac(mac, text);
	if (neighbour_answers(doctor, mac)) {
		finding_say(finding, VERDICT_FAULT,
			    "%s is not known: its driver answers, but its hellos do not arrive",
			    target->name);
		finding_mend(finding, NULL, "omx_peers add %s%s", text,
			     name_to_add(target, name));
		return;
	}
	finding_say(finding, VERDICT_FAULT, "%s is not known, and no driver answers at %s",
		    target->name, text);
	finding_mend(finding, target->name, "omx_info --doctor %s", own_label(doctor));
}

static void address_is_unknown(const struct doctor *doctor, struct finding *finding)
{
	char text[ADDRESS_TEXT_LEN];

	address_format(&doctor->target.address, text);
	finding_say(finding, VERDICT_FAULT,
		    "%s is not known, nor a neighbour: both hosts have to be told the other's address",
		    doctor->target.name);
	finding_mend(finding, NULL, "omx_peers add %s", text);
	finding_mend(finding, text, "omx_peers add %s", own_label(doctor));
}

static void target_is_unknown(const struct doctor *doctor, struct finding *finding)
{
	const struct target *target = &doctor->target;
	uint64_t mac = target->neighbour ? target->neighbour : target->address.peer.mac;

	if (doctor->blocked) {
		finding_say(finding, VERDICT_SKIPPED, "%s is not known: first the firewall",
			    target->name);
	} else if (mac) {
		neighbour_is_unknown(doctor, mac, finding);
	} else if (address_is_ip(&target->address)) {
		address_is_unknown(doctor, finding);
	} else {
		finding_say(finding, VERDICT_FAULT,
			    "%s is neither the name of a peer nor an address", target->name);
		finding_mend(finding, NULL, "omx_peers add ADDRESS-OF-%s", target->name);
	}
}

void check_peer(struct doctor *doctor, struct finding *finding)
{
	const struct target *target = &doctor->target;
	const struct omx_ioc_peer *peer = &target->peer.peer;
	char mac[MAC_TEXT_LEN] = "unknown", address[ADDRESS_TEXT_LEN];

	if (!target->known) {
		target_is_unknown(doctor, finding);
		return;
	}
	doctor->stage = STAGE_PEER;
	if (peer->mac)
		format_mac(peer->mac, mac);
	if (peer->flags & OMX_PEER_UDP)
		finding_say(finding, VERDICT_OK, "%s is reached by UDP at %s, MAC %s",
			    target_label(target), address_format(&target->peer, address), mac);
	else
		finding_say(finding, VERDICT_OK, "%s is a peer of %s, MAC %s%s",
			    target_label(target), target->board->ifname, mac,
			    peer->flags & OMX_PEER_LOCAL ? ", and this host" : "");
}

/* ---- hello ---- */

static void mend_silence(const struct doctor *doctor, struct finding *finding)
{
	const struct target *target = &doctor->target;
	char address[ADDRESS_TEXT_LEN];

	address_format(&target->peer, address);
	switch (target->peer.error) {
	case ECONNREFUSED:	/* it does not listen, or a firewall pretends that */
		finding_mend(finding, address, "omx_peers add %s", own_label(doctor));
		finding_mend(finding, address, "omx_info --doctor %s", own_label(doctor));
		break;
	case ENOTUNIQ:		/* it has another address, too */
		finding_mend(finding, NULL, "omx_peers remove %s", address);
		break;
	case ENETUNREACH:
		finding_mend(finding, NULL, "ip route add %s via ADDRESS-OF-ROUTER", address);
		break;
	default:
		finding_mend(finding, target_label(target), "omx_info --doctor %s",
			     own_label(doctor));
	}
}

static void target_is_silent(const struct doctor *doctor, struct finding *finding)
{
	const struct target *target = &doctor->target;

	if (target->heard)
		finding_say(finding, VERDICT_FAULT,
			    "hellos of %s arrive, but it does not answer: ours do not arrive there",
			    target_label(target));
	else if (target->peer.error)
		finding_say(finding, VERDICT_FAULT, "no hello of %s was received: %s",
			    target_label(target), address_error(&target->peer));
	else
		finding_say(finding, VERDICT_FAULT, "no hello of %s was received in the last %u s",
			    target_label(target), HELLO_MS / 1000);
	mend_silence(doctor, finding);
}

void check_hello(struct doctor *doctor, struct finding *finding)
{
	const struct target *target = &doctor->target;

	if (target->heard && target->answers) {
		doctor->stage = STAGE_ANSWER;
		finding_say(finding, VERDICT_OK, "%s answers, and was heard %.1f s ago",
			    target_label(target), target->peer.peer.age_ms / 1e3);
	} else if (doctor->blocked) {
		finding_say(finding, VERDICT_SKIPPED, "%s does not answer: first the firewall",
			    target->name);
	} else {
		target_is_silent(doctor, finding);
	}
}

/* ---- protocol ---- */

static int add_other_versions(uint8_t command, const struct nlattr *const attribute[],
			      void *context)
{
	char label[OMX_COUNTER_LABEL_LEN];
	uint64_t *sum = context;

	(void)command;
	attribute_string(attribute[OMX_A_LABEL], label, sizeof(label));
	if (!strcmp(label, "dropped: other protocol version"))
		*sum += attribute_u64(attribute[OMX_A_VALUE]);
	return 0;
}

/* Of all boards, since they were attached: frames that their driver did not understand. */
static uint64_t count_other_versions(const struct doctor *doctor)
{
	uint64_t sum = 0;

	netlink_list(doctor->netlink, OMX_CMD_COUNTER_GET, doctor->only, add_other_versions, &sum);
	return sum;
}

static void other_version_is_spoken(uint64_t frames, const char *there, struct finding *finding)
{
	finding_say(finding, VERDICT_FAULT,
		    "%" PRIu64 " frames of another version of the protocol have arrived", frames);
	finding_mend(finding, there, "%smodprobe -r omx && modprobe omx", from_packages() ?
		     "apt-get install --only-upgrade omx-dkms omx-utils && " :
		     "make module module_install && ");
}

/* Releases that differ work together; who looks for a fault wants to know it all the same. */
static void compare_abis(const struct doctor *doctor, struct finding *finding)
{
	const char *there = target_label(&doctor->target);
	const uint32_t newest = doctor->driver.abi_version, peer_abi = doctor->target.peer_abi;
	const bool is_older = (peer_abi & 0xff) < newest;

	if ((peer_abi & 0xff) == newest) {
		finding_say(finding, VERDICT_OK,
			    "%s speaks the same protocol, and its driver ABI %u to %u, as here",
			    there, peer_abi >> 8, newest);
		return;
	}
	finding_say(finding, VERDICT_WARNING,
		    "%s speaks the same protocol, but has %s release of the driver", there,
		    is_older ? "an older" : "a newer");
	finding_mend(finding, is_older ? there : NULL, "%s && modprobe -r omx && modprobe omx",
		     from_packages() ?
		     "apt-get install --only-upgrade omx-dkms omx-utils libomx1 omx-openmpi" :
		     "make install module module_install");
}

/*
 * Hellos tell neither a release nor the ABI; answers to connects tell which ABI versions the
 * driver there speaks, from ABI 11 on.
 */
void check_protocol(struct doctor *doctor, struct finding *finding)
{
	const struct target *target = &doctor->target;
	uint64_t others;

	if (target->answers && !(target->peer.peer.flags & OMX_PEER_LOCAL)) {
		compare_abis(doctor, finding);
		return;
	}
	if (target->heard) {
		finding_say(finding, VERDICT_OK, "%s speaks the same protocol",
			    target_label(target));
		return;
	}
	others = count_other_versions(doctor);
	if (others)
		other_version_is_spoken(others, target_label(target), finding);
	else
		finding_say(finding, VERDICT_SKIPPED,
			    "%s is silent, but no frames of another version have arrived",
			    target_label(target));
}
