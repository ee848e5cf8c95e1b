// SPDX-License-Identifier: BSD-2-Clause
/*
 * Bugs that are planted (--plant NAME), to show that they are found.  The linker has
 * calls of these functions of the driver come here (--wrap, see Makefile).
 */
#include "channel/channel.h"
#include "eager/bundle.h"
#include "eager/eager_receive.h"
#include "plant.h"
#include "pull/private.h"
#include "pull/pull_window.h"
#include "pull/push.h"
#include "pull/rndv.h"
#include "sim.h"

static const char *const names[] = {
	[SIM_PLANT_DUPLICATE] = "duplicate",
	[SIM_PLANT_ACK] = "ack",
	[SIM_PLANT_TIMER] = "timer",
	[SIM_PLANT_PULL] = "pull",
	[SIM_PLANT_LEAK] = "leak",
	[SIM_PLANT_BUNDLE] = "bundle",
};

static enum sim_plant planted;

bool sim_plant(const char *name)
{
	u32 i;

	for (i = 1; i < ARRAY_SIZE(names); i++)
		if (!strcmp(names[i], name))
			planted = i;
	return planted;
}

const char *sim_planted(void)
{
	return names[planted];
}

#define WRAP(type, name, ...) \
	type __real_##name(__VA_ARGS__); \
	type __wrap_##name(__VA_ARGS__); \
	type __wrap_##name(__VA_ARGS__)

/* What has been delivered is received again. */
WRAP(enum omx_rx_verdict, omx_rx_judge, const struct omx_rx_state *rx, u16 flow, u32 seq)
{
	enum omx_rx_verdict verdict = __real_omx_rx_judge(rx, flow, seq);

	if (planted == SIM_PLANT_DUPLICATE && verdict == OMX_RX_DUPLICATE && seq == rx->next - 1)
		return OMX_RX_NEXT;
	return verdict;
}

/* An ack with a hole behind it is taken for one more packet than it says. */
WRAP(int, omx_tx_acked, struct omx_tx_state *tx, u16 flow, u32 ack, u16 window, bool *opened)
{
	if (planted == SIM_PLANT_ACK && tx->sacked && omx_tx_has_sent(tx, flow, ack + 1))
		ack++;
	return __real_omx_tx_acked(tx, flow, ack, window, opened);
}

/* A channel to which nothing comes any more does not probe. */
WRAP(u32, omx_probing_due, const struct omx_probing *probing, const struct omx_rtt *rtt,
     u32 now)
{
	if (planted == SIM_PLANT_TIMER)
		return OMX_PROBE_MAX_US;
	return __real_omx_probing_due(probing, rtt, now);
}

/* A pull does not request again what is late. */
WRAP(bool, omx_pull_window_late, struct omx_pull_window *window, u32 now, u32 patience,
     struct omx_pull_request *request)
{
	return planted != SIM_PLANT_PULL &&
	       __real_omx_pull_window_late(window, now, patience, request);
}

/* The frames of a message that is not complete are forgotten. */
WRAP(void, omx_partial_drop, struct omx_partial *partial)
{
	if (planted != SIM_PLANT_LEAK)
		__real_omx_partial_drop(partial);
	else
		memset(partial, 0, sizeof(*partial));
}

WRAP(u32, omx_pushed_take, struct omx_pull *pull)
{
	u32 frames = __real_omx_pushed_take(pull);

	sim.pushed += frames;
	return frames;
}

/* Frames that a pull has taken do not wait for anything. */
WRAP(void, omx_pushed_deliver, struct omx_pull *pull)
{
	const struct omx_pushed *pushed = &pull->ch->pushed;

	__real_omx_pushed_deliver(pull);
	SIM_REQUIRE(!pushed->is_taken || pushed->pull != pull->id ||
		    skb_queue_empty(&pushed->held));
}

WRAP(void, omx_pushed_expect, struct omx_channel *ch, const struct omx_wire_rndv *body)
{
	__real_omx_pushed_expect(ch, body);
	sim.missed += body->pushed && ch->pushed.missed == be32_to_cpu(body->message);
}

/* An announcement that still waits says that nothing follows. */
WRAP(void, omx_push, struct omx_rndv *rndv, const struct omx_push *push)
{
	const struct sk_buff *skb;

	__real_omx_push(rndv, push);
	skb_queue_walk(&rndv->ch->pending, skb) {
		const struct omx_wire_rndv *body = omx_packet_body(skb);

		SIM_REQUIRE(omx_packet_head(skb)->type != OMX_WIRE_RNDV ||
			    be32_to_cpu(body->message) != rndv->id || !body->pushed);
	}
}

WRAP(bool, omx_bundle_join, struct omx_channel *ch, struct sk_buff *bundle, u32 length)
{
	bool joined = __real_omx_bundle_join(ch, bundle, length);

	sim.joined += joined;
	return joined;
}

WRAP(bool, omx_eager_keep, struct omx_channel *ch, u64 match_info, const struct sk_buff *frame,
     u32 offset, u32 length)
{
	bool kept = __real_omx_eager_keep(ch, match_info, frame, offset, length);

	sim.kept += kept;
	return kept;
}

/* Has the program still to fetch a message that is in these frames? */
static bool frames_are_kept(const struct sk_buff *frames)
{
	while (frames && !skb_shared(frames))
		frames = frames->next;
	return frames;
}

/* A bundle that did not fit into the ring begins anew. */
static void bundle_refused(u32 before, u32 *delivered)
{
	sim.split += *delivered > before;
	if (planted == SIM_PLANT_BUNDLE)
		*delivered = 0;
}

WRAP(bool, omx_receive_bundle, struct omx_channel *ch, struct sk_buff *skb, u32 *delivered)
{
	u32 before = *delivered;
	bool all = __real_omx_receive_bundle(ch, skb, delivered);

	if (!all)
		bundle_refused(before, delivered);
	return all;
}

WRAP(bool, omx_receive_long_bundle, struct omx_channel *ch, const struct sk_buff *frames,
     u32 length, u32 *delivered)
{
	bool was_kept = *delivered && frames_are_kept(frames);
	u32 before = *delivered;
	bool all = __real_omx_receive_long_bundle(ch, frames, length, delivered);

	sim.resumed += was_kept && (all || *delivered > before);
	if (!all)
		bundle_refused(before, delivered);
	return all;
}
