/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The MTU: whether both boards have the same, and whether frames of that length pass between
 * them.  The driver proves it with probes of full length (docs/PROTOCOL.md, section Path
 * MTU); what it has proved is the path MTU of the peer.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "address.h"
#include "doctor/doctor.h"
#include "text.h"

#define NO_PROOF	1500	/* on Ethernet, frames of up to this length need none */
#define PRECISION	64	/* of the driver's search */
#define HEADERS_V4	44	/* of UDP */
#define HEADERS_V6	64
#define LOOK_MS		100
/* A length counts as too long after four probes; the search ends when nothing changes. */
#define SETTLED_MS	3000
#define SEARCH_MS	15000

static uint32_t smaller(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

static bool is_by_udp(const struct target *target)
{
	return target->peer.peer.flags & OMX_PEER_UDP;
}

/* The longest frames that both boards take, and by UDP their packets. */
static uint32_t wanted_mtu(const struct target *target)
{
	uint32_t headers = 0;

	if (is_by_udp(target))
		headers = target->peer.address[0] ? HEADERS_V6 : HEADERS_V4;
	return smaller(target->board->mtu - headers, target->peer.peer.mtu);
}

/* Waits for the driver's search.  The length that it has proved in the end. */
static uint32_t prove_mtu(struct doctor *doctor)
{
	const struct target *target = &doctor->target;
	const uint64_t end = clock_ms() + SEARCH_MS;
	uint32_t proved = target->peer.path_mtu;
	uint64_t since = clock_ms();

	while (proved < wanted_mtu(target) && clock_ms() < end &&
	       clock_ms() < since + SETTLED_MS) {
		sleep_ms(LOOK_MS);
		if (!target_find(doctor))
			break;
		if (target->peer.path_mtu != proved)
			since = clock_ms();
		proved = target->peer.path_mtu;
	}
	return proved;
}

/* The interface over there is known by its MAC only. */
static void mend_mtu_there(const struct target *target, uint32_t mtu, struct finding *finding)
{
	char mac[MAC_TEXT_LEN];

	finding_mend(finding, target_label(target),
		     "ip link set dev $(grep -lx %s /sys/class/net/*/address | head -n 1 | cut -d / -f 5) mtu %u",
		     format_mac(target->peer.peer.mac, mac), mtu);
}

static void mend_mtu_here(const struct target *target, uint32_t mtu, struct finding *finding)
{
	finding_mend(finding, NULL, "ip link set dev %s mtu %u",
		     shell_word(target->board->ifname, "INTERFACE"), mtu);
}

/*
 * The way takes less than both boards: either it is widened, or both take less.  If it is less
 * by no more than the search is exact, frames may have been lost in it for other reasons.
 */
static void way_is_narrow(const struct target *target, uint32_t proved, struct finding *finding)
{
	char mac[MAC_TEXT_LEN];

	if (wanted_mtu(target) - proved <= PRECISION) {
		finding_say(finding, VERDICT_WARNING,
			    "frames of %u bytes pass, but those of %u have been lost", proved,
			    wanted_mtu(target));
		/* It comes back, and the search begins anew. */
		finding_mend(finding, NULL, "omx_peers remove %s",
			     format_mac(target->peer.peer.mac, mac));
		return;
	}
	finding_say(finding, VERDICT_FAULT,
		    "frames of %u bytes pass, but not of %u: set the switch to %u, or both boards to %u",
		    proved, wanted_mtu(target), wanted_mtu(target), proved);
	mend_mtu_there(target, proved, finding);
	mend_mtu_here(target, proved, finding);
}

static void mtus_differ(const struct target *target, struct finding *finding)
{
	const uint32_t here = target->board->mtu, there = target->peer.peer.mtu;

	finding_say(finding, VERDICT_FAULT, "%s has MTU %u, %s %u: the smaller one is used",
		    target_label(target), there, target->board->ifname, here);
	if (here < there)
		mend_mtu_here(target, there, finding);
	else
		mend_mtu_there(target, here, finding);
}

/* Routers may have reasons for their MTU, so that nothing has to be wrong. */
static void report_udp(const struct target *target, uint32_t proved, struct finding *finding)
{
	char address[ADDRESS_TEXT_LEN];

	if (proved >= wanted_mtu(target)) {
		finding_say(finding, VERDICT_OK, "frames of %u bytes pass by UDP", proved);
		return;
	}
	finding_say(finding, VERDICT_WARNING,
		    "frames of %u bytes pass by UDP, while the boards would take %u", proved,
		    wanted_mtu(target));
	finding_mend(finding, NULL, "tracepath -n %s", address_format(&target->peer, address));
}

void check_mtu(struct doctor *doctor, struct finding *finding)
{
	const struct target *target = &doctor->target;
	uint32_t proved;

	if (target->peer.peer.flags & OMX_PEER_LOCAL) {
		finding_say(finding, VERDICT_OK, "%u; nothing leaves this host",
			    target->board->mtu);
		return;
	}
	proved = prove_mtu(doctor);
	if (is_by_udp(target))
		report_udp(target, proved, finding);
	else if (proved < wanted_mtu(target))
		way_is_narrow(target, proved, finding);
	else if (target->board->mtu != target->peer.peer.mtu)
		mtus_differ(target, finding);
	else if (proved <= NO_PROOF)
		finding_say(finding, VERDICT_OK, "both boards have %u, which needs no proof",
			    proved);
	else
		finding_say(finding, VERDICT_OK, "both boards have %u, and it was proved to pass",
			    proved);
}
