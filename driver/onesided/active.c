// SPDX-License-Identifier: GPL-2.0
/*
 * Active access [Besta15]: the flags of pages say whether an access is performed,
 * whether it is logged, and in which log.
 *
 * perform.c calls omx_active_begin() and omx_active_end() around what an access does,
 * mostly in softirq, and only for windows with active pages.  The program sets flags
 * in process context (active_pages.c).
 *
 * An entry is reserved before the access changes anything, so that an access which finds
 * its log full can be refused as if it had never come: its initiator posts it again, and
 * neither the channel nor other logs wait.  An access of several pages is performed if
 * all of them permit it, and logged if one of them wants that.
 */
#include "channel/channel.h"
#include "endpoint/endpoint.h"
#include "net/board.h"
#include "net/frame.h"
#include "observe/trace.h"
#include "onesided/active.h"
#include "onesided/log.h"
#include "onesided/perform.h"

#define PUT_HEADER	(sizeof(struct omx_wire_head) + sizeof(struct omx_wire_put))
#define RESPONSE_HEADER	(sizeof(struct omx_wire_head) + sizeof(struct omx_wire_access_response))

DEFINE_STATIC_KEY_FALSE(omx_active_windows);

static_assert(sizeof(struct omx_record_atomic) == 32);

/* ---- what an access is ---- */

struct demand {
	u64 offset;
	u64 length;			/* of the whole access */
	u32 id;
	u8 type;			/* OMX_WIRE_* */
	u8 kind;			/* OMX_LOG_* */
	u8 needs;			/* OMX_PAGE_W, OMX_PAGE_R or both */
	u8 log;				/* flags that ask for an entry ... */
	u8 log_data;			/* ... with data */
	bool is_pulled;
	bool is_first;			/* packet */
};

static void demand_of_put(struct demand *demand, const struct omx_wire_put *body)
{
	demand->offset = be64_to_cpu(body->offset);
	demand->length = be32_to_cpu(body->length);
	demand->id = be32_to_cpu(body->access);
	demand->is_first = body->flags & OMX_PUT_FIRST;
	demand->kind = OMX_RECORD_PUT;
	demand->needs = OMX_PAGE_W;
	demand->log = OMX_PAGE_WL | OMX_PAGE_WLD;
	demand->log_data = OMX_PAGE_WLD;
}

static void demand_of_put_rndv(struct demand *demand, const struct omx_wire_put_rndv *body)
{
	demand->offset = be64_to_cpu(body->offset);
	demand->length = be64_to_cpu(body->length);
	demand->is_pulled = true;
	demand->needs = OMX_PAGE_W;
	demand->log = OMX_PAGE_WL | OMX_PAGE_WLD;
}

static void demand_of_get(struct demand *demand, const struct omx_wire_get *body)
{
	demand->offset = be64_to_cpu(body->offset);
	demand->length = be64_to_cpu(body->length);
	demand->id = be32_to_cpu(body->access);
	demand->is_pulled = body->flags & OMX_GET_ANNOUNCE;
	demand->is_first = true;
	demand->kind = OMX_RECORD_GET;
	demand->needs = OMX_PAGE_R;
	demand->log = OMX_PAGE_RL | OMX_PAGE_RLD;
	demand->log_data = OMX_PAGE_RLD;
}

static void demand_of_atomic(struct demand *demand, const struct omx_wire_atomic *body)
{
	demand->offset = be64_to_cpu(body->offset);
	demand->length = body->size;
	demand->id = be32_to_cpu(body->access);
	demand->is_first = true;
	demand->kind = OMX_RECORD_ATOMIC;
	demand->needs = OMX_PAGE_W | OMX_PAGE_R;
	demand->log = OMX_PAGE_WL | OMX_PAGE_WLD | OMX_PAGE_RL | OMX_PAGE_RLD;
	demand->log_data = OMX_PAGE_WLD | OMX_PAGE_RLD;
}

static void demand_read(struct demand *demand, const struct sk_buff *skb)
{
	const void *body = omx_packet_body(skb);

	*demand = (struct demand){ .type = omx_packet_head(skb)->type };
	switch (demand->type) {
	case OMX_WIRE_PUT:
		return demand_of_put(demand, body);
	case OMX_WIRE_PUT_RNDV:
		return demand_of_put_rndv(demand, body);
	case OMX_WIRE_GET:
		return demand_of_get(demand, body);
	default:
		return demand_of_atomic(demand, body);
	}
}

/* ---- what its pages say ---- */

struct verdict {
	u8 permits;			/* OMX_PAGE_W, OMX_PAGE_R */
	u8 logged;			/* the flags that asked for an entry */
	u8 log;
	bool traced;			/* a page without E asked for one */
};

/* The first range that does not end before this page; there may be none. */
static u32 pages_search(const struct omx_active_pages *pages, u64 page)
{
	u32 low = 0, high = pages->count;

	while (low < high) {
		u32 middle = (low + high) / 2;

		if (pages->range[middle].end <= page)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void verdict_add(struct verdict *verdict, const struct omx_active_range *range,
			const struct demand *demand)
{
	u8 logged = range->flags & demand->log;

	verdict->permits &= range->flags;
	if (!logged)
		return;
	if (!(range->flags & OMX_PAGE_E)) {
		verdict->traced = true;
		return;
	}
	if (!verdict->logged)
		verdict->log = range->log;
	verdict->logged |= logged;
}

/* An access of no byte touches the page of its offset. */
static struct verdict pages_judge(const struct omx_active_pages *pages,
				  const struct demand *demand)
{
	u64 first = demand->offset / OMX_ACTIVE_PAGE;
	u64 last = (demand->offset + (demand->length ? demand->length - 1 : 0)) / OMX_ACTIVE_PAGE;
	struct verdict verdict = { .permits = OMX_PAGE_W | OMX_PAGE_R };
	u32 i;

	for (i = pages_search(pages, first);
	     i < pages->count && pages->range[i].first <= last; i++)
		verdict_add(&verdict, &pages->range[i], demand);
	return verdict;
}

/* The data of a put that is not written must be in the log, or the put is refused. */
static bool verdict_refuses(const struct verdict *verdict, const struct demand *demand)
{
	if ((verdict->permits & demand->needs) == demand->needs)
		return false;
	return demand->type != OMX_WIRE_PUT || !(verdict->logged & demand->log_data);
}

/* ---- the entry ---- */

static u32 entry_data_length(const struct demand *demand, const struct verdict *verdict)
{
	if (!(verdict->logged & demand->log_data))
		return 0;
	if (demand->kind == OMX_RECORD_ATOMIC)
		return sizeof(struct omx_record_atomic);
	return demand->length;
}

/* Sets the stamp up to which a FLUSH of this channel waits, and where. */
static void entry_note(struct omx_channel *ch, u32 log, u64 stamp)
{
	ch->access_queue.log_stamp = stamp;
	ch->access_queue.logs_used |= BIT_ULL(log);
}

static void entry_describe(struct omx_log_record *entry, const struct omx_channel *ch,
			   const struct omx_active_access *active, const struct demand *demand)
{
	entry->kind = demand->kind;
	entry->status = active->blocked ? OMX_STATUS_NO_RIGHT : OMX_STATUS_OK;
	entry->source = ch->mac << 16 | ch->peer_endpoint;
	entry->session = ch->peer_session;
	entry->channel = ch->id;
	entry->offset = demand->offset;
	entry->length = demand->length;
	entry->immediate = 0;		/* the last packet of a put may bring one */
	entry->window = active->window;
	entry->data_length = active->data_length;
}

/* There is no log if the flags have just been changed: those that are new apply then. */
static u8 entry_reserve(struct omx_channel *ch, const struct demand *demand,
			const struct verdict *verdict)
{
	struct omx_active_access *active = &ch->access_queue.active;
	struct omx_log *log = omx_log_get(ch->ep, verdict->log);
	struct omx_log_record *entry = NULL;
	bool may_hold;

	active->data_length = active->blocked ? 0 : entry_data_length(demand, verdict);
	may_hold = !log || omx_log_may_hold(log, active->data_length);
	if (log && may_hold)
		entry = omx_log_reserve(log, &ch->ep->logs, active->data_length);
	if (!entry) {
		if (log)
			omx_log_put(log);
		if (!may_hold)
			return OMX_STATUS_NO_MEMORY;
		omx_count(ch->ep->board, ACCESS_LOG_FULL);
		return OMX_STATUS_LOG_FULL;
	}
	entry_describe(entry, ch, active, demand);
	entry_note(ch, verdict->log, entry->stamp);
	active->log = log;
	active->entry = entry;
	return OMX_STATUS_OK;
}

static void active_clear(struct omx_active_access *active, enum omx_record_state state)
{
	if (active->entry) {
		omx_log_commit(active->log, active->entry, state, active->data_length);
		omx_log_put(active->log);
	}
	active->log = NULL;
	active->entry = NULL;
	active->busy = false;
}

void omx_active_abandon(struct omx_channel *ch)
{
	active_clear(&ch->access_queue.active, OMX_RECORD_VOID);
}

/* ---- an access begins ---- */

/* The bytes of a pulled transfer come in any order, and nobody keeps them for a log. */
static u8 pulled_status(struct omx_channel *ch, const struct demand *demand,
			const struct verdict *verdict)
{
	if (!verdict_refuses(verdict, demand) && !verdict->logged && !verdict->traced)
		return OMX_STATUS_OK;
	omx_count(ch->ep->board, ACCESS_NO_RIGHT);
	return OMX_STATUS_NO_RIGHT;
}

/* What pages without E get instead of an entry. */
static void access_trace(struct omx_channel *ch, const struct demand *demand)
{
	omx_count(ch->ep->board, ACCESS_TRACED);
	trace_omx_access_recorded(ch, demand->type, demand->id, demand->offset, demand->length);
}

static u8 active_judge(struct omx_channel *ch, const struct demand *demand,
		       const struct verdict *verdict)
{
	struct omx_active_access *active = &ch->access_queue.active;
	bool refused = verdict_refuses(verdict, demand);
	u8 status = OMX_STATUS_OK;

	active->performs = verdict->permits & OMX_PAGE_W;
	active->blocked = refused && verdict->logged;
	if (verdict->logged)
		status = entry_reserve(ch, demand, verdict);
	if (verdict->traced && !status)
		access_trace(ch, demand);
	if (!refused || status)
		return status;
	omx_count(ch->ep->board, ACCESS_NO_RIGHT);
	return OMX_STATUS_NO_RIGHT;
}

/* Its first packet, or one of a put that began before the window had active pages. */
static u8 active_start(struct omx_channel *ch, const struct omx_window *window,
		       const struct demand *demand)
{
	const struct omx_active_pages *pages = rcu_dereference(window->active);
	struct omx_active_access *active = &ch->access_queue.active;
	struct verdict verdict;

	omx_active_abandon(ch);		/* a peer that breaks the rules did not end its put */
	if (!pages)
		return OMX_STATUS_OK;
	verdict = pages_judge(pages, demand);
	if (demand->is_pulled)
		return pulled_status(ch, demand, &verdict);
	*active = (struct omx_active_access){
		.busy = true,
		.id = demand->id,
		.type = demand->type,
		.window = window->id,
		.offset = demand->offset,
		.length = demand->length,
	};
	if (!demand->is_first) {
		omx_count(ch->ep->board, ACCESS_LOG_FULL);
		return OMX_STATUS_LOG_FULL;
	}
	if (demand->length > window->length ||
	    demand->offset > window->length - demand->length) {
		omx_count(ch->ep->board, ACCESS_BAD_RANGE);
		return OMX_STATUS_BAD_RANGE;
	}
	return active_judge(ch, demand, &verdict);
}

/* The packets of a put come one after the other, without gaps. */
static bool put_continues(const struct omx_active_access *active,
			  const struct omx_window *window, const struct omx_wire_put *body,
			  u32 length)
{
	bool is_last = body->flags & OMX_PUT_LAST;

	return active->window == window->id && be32_to_cpu(body->length) == active->length &&
	       be64_to_cpu(body->offset) == active->offset + active->arrived &&
	       length <= active->length - active->arrived &&
	       is_last == (active->arrived + length == active->length);
}

static u8 put_enter(struct omx_channel *ch, const struct omx_window *window,
		    struct sk_buff *skb)
{
	struct omx_active_access *active = &ch->access_queue.active;
	struct omx_access_cb *cb = (struct omx_access_cb *)skb->cb;
	const struct omx_wire_put *body = omx_packet_body(skb);
	u32 length = skb->len - PUT_HEADER;

	/* Also if it waited for pages.  Other packets do not give the peer more time. */
	ch->access_queue.owed_since = jiffies;
	if (cb->entered)
		return OMX_STATUS_OK;
	if (!put_continues(active, window, body, length)) {
		omx_count(ch->ep->board, ACCESS_BAD_RANGE);
		return OMX_STATUS_BAD_RANGE;
	}
	if (active->entry && active->data_length)
		skb_copy_bits(skb, PUT_HEADER, omx_log_data(active->entry) + active->arrived,
			      length);
	/* Only the last packet brings it. */
	if (active->entry && body->flags & OMX_PUT_EVENT)
		active->entry->immediate = be64_to_cpu(body->immediate);
	active->arrived += length;
	cb->entered = true;
	if (!active->performs)
		cb->placed = true;
	return OMX_STATUS_OK;
}

static bool active_continues(const struct omx_active_access *active, const struct demand *demand,
			     const struct omx_access_cb *cb)
{
	if (!active->busy || active->id != demand->id || active->type != demand->type)
		return false;
	return cb->begun || !demand->is_first;
}

bool omx_active_goes_on(const struct omx_channel *ch, const struct sk_buff *skb)
{
	const struct omx_active_access *active = &ch->access_queue.active;
	struct demand demand;

	if (!active->entry || active->type != omx_packet_head(skb)->type)
		return false;
	demand_read(&demand, skb);
	return active_continues(active, &demand, (const struct omx_access_cb *)skb->cb);
}

u8 omx_active_begin(struct omx_channel *ch, const struct omx_window *window,
		    struct sk_buff *skb)
{
	struct omx_active_access *active = &ch->access_queue.active;
	struct omx_access_cb *cb = (struct omx_access_cb *)skb->cb;
	struct demand demand;
	u8 status;

	demand_read(&demand, skb);
	status = active_continues(active, &demand, cb) ? active->status :
							 active_start(ch, window, &demand);
	cb->begun = true;
	if (!status && active->busy && active->type == OMX_WIRE_PUT)
		status = put_enter(ch, window, skb);
	active->status = active->busy ? status : OMX_STATUS_OK;
	return status;
}

/* ---- an access ends ---- */

static void atomic_enter(struct omx_log_record *entry, const struct omx_wire_atomic *body,
			 u64 before)
{
	struct omx_record_atomic *data = omx_log_data(entry);

	*data = (struct omx_record_atomic){
		.operand = be64_to_cpu(body->operand),
		.compare = be64_to_cpu(body->compare),
		.before = before,
		.operation = body->operation,
		.size = body->size,
	};
}

static bool active_fill(const struct omx_active_access *active, const struct sk_buff *request,
			const struct sk_buff *response, u64 before)
{
	struct omx_log_record *entry = active->entry;

	switch (active->type) {
	case OMX_WIRE_PUT:
		return active->arrived == active->length;
	case OMX_WIRE_GET:
		if (active->data_length)
			skb_copy_bits(response, ETH_HLEN + RESPONSE_HEADER, omx_log_data(entry),
				      active->data_length);
		return true;
	default:
		if (active->data_length)
			atomic_enter(entry, omx_packet_body(request), before);
		return true;
	}
}

void omx_active_end(struct omx_channel *ch, u32 id, u8 status, const struct sk_buff *request,
		    const struct sk_buff *response, u64 before)
{
	struct omx_active_access *active = &ch->access_queue.active;
	enum omx_record_state state = OMX_RECORD_VOID;

	if (!active->busy || active->id != id || active->type != omx_packet_head(request)->type)
		return;
	if (active->entry) {
		if (active->blocked ? status == OMX_STATUS_NO_RIGHT :
		    status == OMX_STATUS_OK && active_fill(active, request, response, before))
			state = OMX_RECORD_COMMITTED;
		if (state == OMX_RECORD_COMMITTED)
			omx_count(ch->ep->board, ACCESS_LOGGED);
		else
			omx_count(ch->ep->board, ACCESS_LOG_VOID);
	}
	active_clear(active, state);
}

/* ---- FLUSH ---- */

u64 omx_active_pending(struct omx_channel *ch, u64 stamp)
{
	u64 *used = &ch->access_queue.logs_used;
	bool is_consumed = true;
	u32 i;

	stamp = stamp ?: ch->access_queue.log_stamp;
	for (i = 0; i < OMX_LOGS_MAX && is_consumed; i++) {
		struct omx_log *log = NULL;

		if (*used & BIT_ULL(i))
			log = rcu_dereference(ch->ep->logs.log[i]);
		if (log)
			is_consumed = omx_log_is_consumed(log, stamp);
		if (is_consumed && stamp == ch->access_queue.log_stamp)
			*used &= ~BIT_ULL(i);
	}
	return is_consumed ? 0 : stamp;
}
