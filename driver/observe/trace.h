/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tracepoints: every step of a large message or of a one-sided access, and what
 * happens to the memory meanwhile.  omx_trace(1) reads them.
 *
 * A message is told from all others by who sends it and its number: on both
 * sides endpoint, MAC and session, ours first.  They come from the channel's
 * packet template, because a transfer that pages in may outlive its endpoint.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM omx

#if !defined(OMX_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define OMX_TRACE_H

#include <linux/mmu_notifier.h>
#include <linux/tracepoint.h>

#include "channel/channel.h"
#include "engine/engine.h"
#include "memory/region.h"
#include "net/board.h"

#define OMX_TRACE_SIDES \
	__field(u64, mac) \
	__field(u64, peer_mac) \
	__field(u32, session) \
	__field(u32, peer_session) \
	__field(u16, endpoint) \
	__field(u16, peer_endpoint)

#define OMX_TRACE_ASSIGN_SIDES(ch) do { \
	__entry->mac = omx_mac_read((ch)->template.eth.h_source); \
	__entry->peer_mac = (ch)->mac; \
	__entry->session = be32_to_cpu((ch)->template.head.src_session); \
	__entry->peer_session = (ch)->peer_session; \
	__entry->endpoint = be16_to_cpu((ch)->template.head.src_endpoint); \
	__entry->peer_endpoint = (ch)->peer_endpoint; \
} while (0)

#define OMX_TRACE_SIDES_FORMAT \
	"mac=%012llx endpoint=%u session=%08x peer_mac=%012llx peer_endpoint=%u peer_session=%08x "

#define OMX_TRACE_SIDES_VALUES \
	__entry->mac, __entry->endpoint, __entry->session, \
	__entry->peer_mac, __entry->peer_endpoint, __entry->peer_session

/* ---- the sender's ioctl, and what comes back ---- */

TRACE_EVENT(omx_send_begin,
	TP_PROTO(const struct omx_channel *ch, u64 cookie, u64 length),
	TP_ARGS(ch, cookie, length),
	TP_STRUCT__entry(
		OMX_TRACE_SIDES
		__field(u64, cookie)
		__field(u64, length)
	),
	TP_fast_assign(
		OMX_TRACE_ASSIGN_SIDES(ch);
		__entry->cookie = cookie;
		__entry->length = length;
	),
	TP_printk(OMX_TRACE_SIDES_FORMAT "cookie=%llx length=%llu",
		  OMX_TRACE_SIDES_VALUES, __entry->cookie, __entry->length)
);

TRACE_EVENT(omx_rndv_send,
	TP_PROTO(const struct omx_channel *ch, u32 message, u64 cookie, u64 length,
		 const struct omx_region *region),
	TP_ARGS(ch, message, cookie, length, region),
	TP_STRUCT__entry(
		OMX_TRACE_SIDES
		__field(u64, cookie)
		__field(u64, length)
		__field(u64, address)
		__field(const void *, space)
		__field(u32, message)
		__field(u8, mode)
	),
	TP_fast_assign(
		OMX_TRACE_ASSIGN_SIDES(ch);
		__entry->cookie = cookie;
		__entry->length = length;
		__entry->address = region ? region->segment[0].address : 0;
		__entry->space = region ? region->space : NULL;
		__entry->message = message;
		__entry->mode = region ? region->mode : 0;
	),
	TP_printk(OMX_TRACE_SIDES_FORMAT
		  "message=%u cookie=%llx length=%llu mode=%u space=%p address=%llx",
		  OMX_TRACE_SIDES_VALUES, __entry->message, __entry->cookie,
		  __entry->length, __entry->mode, __entry->space, __entry->address)
);

DECLARE_EVENT_CLASS(omx_message_length,
	TP_PROTO(const struct omx_channel *ch, u32 message, u64 length),
	TP_ARGS(ch, message, length),
	TP_STRUCT__entry(
		OMX_TRACE_SIDES
		__field(u64, length)
		__field(u32, message)
	),
	TP_fast_assign(
		OMX_TRACE_ASSIGN_SIDES(ch);
		__entry->length = length;
		__entry->message = message;
	),
	TP_printk(OMX_TRACE_SIDES_FORMAT "message=%u length=%llu",
		  OMX_TRACE_SIDES_VALUES, __entry->message, __entry->length)
);

DEFINE_EVENT(omx_message_length, omx_rndv_arrive,
	TP_PROTO(const struct omx_channel *ch, u32 message, u64 length),
	TP_ARGS(ch, message, length)
);

DEFINE_EVENT(omx_message_length, omx_pull_begin,
	TP_PROTO(const struct omx_channel *ch, u32 message, u64 length),
	TP_ARGS(ch, message, length)
);

TRACE_EVENT(omx_pull_start,
	TP_PROTO(const struct omx_channel *ch, u32 message, u32 pull, u64 length,
		 const struct omx_region *region),
	TP_ARGS(ch, message, pull, length, region),
	TP_STRUCT__entry(
		OMX_TRACE_SIDES
		__field(u64, length)
		__field(u64, address)
		__field(const void *, space)
		__field(u32, message)
		__field(u32, pull)
		__field(u8, mode)
		__field(bool, local)
	),
	TP_fast_assign(
		OMX_TRACE_ASSIGN_SIDES(ch);
		__entry->length = length;
		__entry->address = region ? region->segment[0].address : 0;
		__entry->space = region ? region->space : NULL;
		__entry->message = message;
		__entry->pull = pull;
		__entry->mode = region ? region->mode : 0;
		__entry->local = ch->local;
	),
	TP_printk(OMX_TRACE_SIDES_FORMAT
		  "message=%u pull=%u length=%llu mode=%u local=%u space=%p address=%llx",
		  OMX_TRACE_SIDES_VALUES, __entry->message, __entry->pull,
		  __entry->length, __entry->mode, __entry->local, __entry->space,
		  __entry->address)
);

DECLARE_EVENT_CLASS(omx_message_end,
	TP_PROTO(const struct omx_channel *ch, u32 message, u8 status, u64 length),
	TP_ARGS(ch, message, status, length),
	TP_STRUCT__entry(
		OMX_TRACE_SIDES
		__field(u64, length)
		__field(u32, message)
		__field(u8, status)
	),
	TP_fast_assign(
		OMX_TRACE_ASSIGN_SIDES(ch);
		__entry->length = length;
		__entry->message = message;
		__entry->status = status;
	),
	TP_printk(OMX_TRACE_SIDES_FORMAT "message=%u status=%u length=%llu",
		  OMX_TRACE_SIDES_VALUES, __entry->message, __entry->status,
		  __entry->length)
);

DEFINE_EVENT(omx_message_end, omx_pull_done,
	TP_PROTO(const struct omx_channel *ch, u32 message, u8 status, u64 length),
	TP_ARGS(ch, message, status, length)
);

DEFINE_EVENT(omx_message_end, omx_rndv_done,
	TP_PROTO(const struct omx_channel *ch, u32 message, u8 status, u64 length),
	TP_ARGS(ch, message, status, length)
);

/* ---- requests: sent by the puller, received by the sender; wanted: a bit per frame ---- */

DECLARE_EVENT_CLASS(omx_block,
	TP_PROTO(const struct omx_channel *ch, const struct omx_wire_pull_request *body),
	TP_ARGS(ch, body),
	TP_STRUCT__entry(
		OMX_TRACE_SIDES
		__field(u64, offset)
		__field(u32, message)
		__field(u32, pull)
		__field(u32, length)
		__field(u32, wanted)
	),
	TP_fast_assign(
		OMX_TRACE_ASSIGN_SIDES(ch);
		__entry->offset = be64_to_cpu(body->offset);
		__entry->message = be32_to_cpu(body->message);
		__entry->pull = be32_to_cpu(body->pull);
		__entry->length = be32_to_cpu(body->length);
		__entry->wanted = be32_to_cpu(body->wanted);
	),
	TP_printk(OMX_TRACE_SIDES_FORMAT
		  "message=%u pull=%u offset=%llu length=%u wanted=%08x",
		  OMX_TRACE_SIDES_VALUES, __entry->message, __entry->pull,
		  __entry->offset, __entry->length, __entry->wanted)
);

DEFINE_EVENT(omx_block, omx_pull_request_sent,
	TP_PROTO(const struct omx_channel *ch, const struct omx_wire_pull_request *body),
	TP_ARGS(ch, body)
);

DEFINE_EVENT(omx_block, omx_pull_request_received,
	TP_PROTO(const struct omx_channel *ch, const struct omx_wire_pull_request *body),
	TP_ARGS(ch, body)
);

/* It waits for pages of the source. */
DEFINE_EVENT(omx_block, omx_pull_request_deferred,
	TP_PROTO(const struct omx_channel *ch, const struct omx_wire_pull_request *body),
	TP_ARGS(ch, body)
);

/* flags: 0, except in a measurement build (pager/measure.h) */
DECLARE_EVENT_CLASS(omx_hold,
	TP_PROTO(const struct omx_channel *ch, u32 message, u64 offset, u8 flags),
	TP_ARGS(ch, message, offset, flags),
	TP_STRUCT__entry(
		OMX_TRACE_SIDES
		__field(u64, offset)
		__field(u32, message)
		__field(u8, flags)
	),
	TP_fast_assign(
		OMX_TRACE_ASSIGN_SIDES(ch);
		__entry->offset = offset;
		__entry->message = message;
		__entry->flags = flags;
	),
	TP_printk(OMX_TRACE_SIDES_FORMAT "message=%u offset=%llu flags=%x",
		  OMX_TRACE_SIDES_VALUES, __entry->message, __entry->offset,
		  __entry->flags)
);

DEFINE_EVENT(omx_hold, omx_hold_sent,
	TP_PROTO(const struct omx_channel *ch, u32 message, u64 offset, u8 flags),
	TP_ARGS(ch, message, offset, flags)
);

DEFINE_EVENT(omx_hold, omx_hold_received,
	TP_PROTO(const struct omx_channel *ch, u32 message, u64 offset, u8 flags),
	TP_ARGS(ch, message, offset, flags)
);

/* ---- frames: several at once where the device takes or gives them so ---- */

DECLARE_EVENT_CLASS(omx_bytes,
	TP_PROTO(const struct omx_channel *ch, u32 message, u64 offset, u32 length),
	TP_ARGS(ch, message, offset, length),
	TP_STRUCT__entry(
		OMX_TRACE_SIDES
		__field(u64, offset)
		__field(u32, message)
		__field(u32, length)
	),
	TP_fast_assign(
		OMX_TRACE_ASSIGN_SIDES(ch);
		__entry->offset = offset;
		__entry->message = message;
		__entry->length = length;
	),
	TP_printk(OMX_TRACE_SIDES_FORMAT "message=%u offset=%llu length=%u",
		  OMX_TRACE_SIDES_VALUES, __entry->message, __entry->offset,
		  __entry->length)
);

DEFINE_EVENT(omx_bytes, omx_pull_response_sent,
	TP_PROTO(const struct omx_channel *ch, u32 message, u64 offset, u32 length),
	TP_ARGS(ch, message, offset, length)
);

DEFINE_EVENT(omx_bytes, omx_pull_response_received,
	TP_PROTO(const struct omx_channel *ch, u32 message, u64 offset, u32 length),
	TP_ARGS(ch, message, offset, length)
);

/* It waits for pages of the destination. */
DEFINE_EVENT(omx_bytes, omx_pull_response_parked,
	TP_PROTO(const struct omx_channel *ch, u32 message, u64 offset, u32 length),
	TP_ARGS(ch, message, offset, length)
);

/* Some of their pages are absent: page-in is queued. */
DEFINE_EVENT(omx_bytes, omx_pull_lacks_pages,
	TP_PROTO(const struct omx_channel *ch, u32 message, u64 offset, u32 length),
	TP_ARGS(ch, message, offset, length)
);

/* ---- copies by engines ---- */

/* tries: so often these bytes have ended with a fault, and are resumed now */
TRACE_EVENT(omx_engine_submit,
	TP_PROTO(const struct omx_copy *copy),
	TP_ARGS(copy),
	TP_STRUCT__entry(
		__field(const void *, space)
		__field(u64, copy)
		__field(u64, address)
		__field(u32, length)
		__field(unsigned int, tries)
		__field(bool, out)
	),
	TP_fast_assign(
		__entry->space = copy->job.space;
		__entry->copy = copy->number;
		__entry->address = copy->job.address;
		__entry->length = copy->job.length;
		__entry->tries = copy->job.tries;
		__entry->out = copy->job.out;
	),
	TP_printk("space=%p copy=%llu address=%llx length=%u tries=%u out=%u",
		  __entry->space, __entry->copy, __entry->address, __entry->length,
		  __entry->tries, __entry->out)
);

/* The driver has seen that the engine writes no more; again: a page was gone */
TRACE_EVENT(omx_engine_land,
	TP_PROTO(const struct omx_copy *copy),
	TP_ARGS(copy),
	TP_STRUCT__entry(
		__field(u64, copy)
		__field(bool, failed)
		__field(bool, again)
	),
	TP_fast_assign(
		__entry->copy = copy->number;
		__entry->failed = copy->failed;
		__entry->again = copy->again;
	),
	TP_printk("copy=%llu failed=%u again=%u",
		  __entry->copy, __entry->failed, __entry->again)
);

/* ---- one-sided accesses; type: OMX_WIRE_PUT, _PUT_RNDV, ... ---- */

DECLARE_EVENT_CLASS(omx_access,
	TP_PROTO(const struct omx_channel *ch, u8 type, u32 access, u64 offset, u64 length),
	TP_ARGS(ch, type, access, offset, length),
	TP_STRUCT__entry(
		OMX_TRACE_SIDES
		__field(u64, offset)
		__field(u64, length)
		__field(u32, access)
		__field(u8, type)
	),
	TP_fast_assign(
		OMX_TRACE_ASSIGN_SIDES(ch);
		__entry->offset = offset;
		__entry->length = length;
		__entry->access = access;
		__entry->type = type;
	),
	TP_printk(OMX_TRACE_SIDES_FORMAT "access=%u kind=%s offset=%llu length=%llu",
		  OMX_TRACE_SIDES_VALUES, __entry->access,
		  __print_symbolic(__entry->type,
				   { OMX_WIRE_PUT, "put" },
				   { OMX_WIRE_PUT_RNDV, "put_rndv" },
				   { OMX_WIRE_GET, "get" },
				   { OMX_WIRE_ATOMIC, "atomic" },
				   { OMX_WIRE_POST_KEY, "key" },
				   { OMX_WIRE_FLUSH, "flush" }),
		  __entry->offset, __entry->length)
);

/* The initiator's ioctl, or the key of the peer that fires a conditional access. */
DEFINE_EVENT(omx_access, omx_access_send,
	TP_PROTO(const struct omx_channel *ch, u8 type, u32 access, u64 offset, u64 length),
	TP_ARGS(ch, type, access, offset, length)
);

/* The target; of a put each packet. */
DEFINE_EVENT(omx_access, omx_access_perform,
	TP_PROTO(const struct omx_channel *ch, u8 type, u32 access, u64 offset, u64 length),
	TP_ARGS(ch, type, access, offset, length)
);

/* The target, whose pages say that the access is recorded, but not in which log. */
DEFINE_EVENT(omx_access, omx_access_recorded,
	TP_PROTO(const struct omx_channel *ch, u8 type, u32 access, u64 offset, u64 length),
	TP_ARGS(ch, type, access, offset, length)
);

DECLARE_EVENT_CLASS(omx_access_end,
	TP_PROTO(const struct omx_channel *ch, u32 access, u8 status, u64 length),
	TP_ARGS(ch, access, status, length),
	TP_STRUCT__entry(
		OMX_TRACE_SIDES
		__field(u64, length)
		__field(u32, access)
		__field(u8, status)
	),
	TP_fast_assign(
		OMX_TRACE_ASSIGN_SIDES(ch);
		__entry->length = length;
		__entry->access = access;
		__entry->status = status;
	),
	TP_printk(OMX_TRACE_SIDES_FORMAT "access=%u status=%u length=%llu",
		  OMX_TRACE_SIDES_VALUES, __entry->access, __entry->status,
		  __entry->length)
);

/* The target. */
DEFINE_EVENT(omx_access_end, omx_access_respond,
	TP_PROTO(const struct omx_channel *ch, u32 access, u8 status, u64 length),
	TP_ARGS(ch, access, status, length)
);

/* The initiator. */
DEFINE_EVENT(omx_access_end, omx_access_done,
	TP_PROTO(const struct omx_channel *ch, u32 access, u8 status, u64 length),
	TP_ARGS(ch, access, status, length)
);

/* ---- pages; write: at the destination ---- */

TRACE_EVENT(omx_page_in_begin,
	TP_PROTO(const struct omx_channel *ch, u32 message, bool write, u64 offset,
		 u64 length),
	TP_ARGS(ch, message, write, offset, length),
	TP_STRUCT__entry(
		OMX_TRACE_SIDES
		__field(u64, offset)
		__field(u64, length)
		__field(u32, message)
		__field(bool, write)
	),
	TP_fast_assign(
		OMX_TRACE_ASSIGN_SIDES(ch);
		__entry->offset = offset;
		__entry->length = length;
		__entry->message = message;
		__entry->write = write;
	),
	TP_printk(OMX_TRACE_SIDES_FORMAT "message=%u write=%u offset=%llu length=%llu",
		  OMX_TRACE_SIDES_VALUES, __entry->message, __entry->write,
		  __entry->offset, __entry->length)
);

TRACE_EVENT(omx_page_in_end,
	TP_PROTO(const struct omx_channel *ch, u32 message, bool write, int error),
	TP_ARGS(ch, message, write, error),
	TP_STRUCT__entry(
		OMX_TRACE_SIDES
		__field(u32, message)
		__field(int, error)
		__field(bool, write)
	),
	TP_fast_assign(
		OMX_TRACE_ASSIGN_SIDES(ch);
		__entry->message = message;
		__entry->error = error;
		__entry->write = write;
	),
	TP_printk(OMX_TRACE_SIDES_FORMAT "message=%u write=%u error=%d",
		  OMX_TRACE_SIDES_VALUES, __entry->message, __entry->write,
		  __entry->error)
);

DECLARE_EVENT_CLASS(omx_pages,
	TP_PROTO(const struct omx_space *space, u64 address, unsigned int pages),
	TP_ARGS(space, address, pages),
	TP_STRUCT__entry(
		__field(const void *, space)
		__field(u64, address)
		__field(unsigned int, pages)
	),
	TP_fast_assign(
		__entry->space = space;
		__entry->address = address;
		__entry->pages = pages;
	),
	TP_printk("space=%p address=%llx pages=%u",
		  __entry->space, __entry->address, __entry->pages)
);

/* Those that the kernel brought because they were not resident. */
DEFINE_EVENT(omx_pages, omx_fault,
	TP_PROTO(const struct omx_space *space, u64 address, unsigned int pages),
	TP_ARGS(space, address, pages)
);

DEFINE_EVENT(omx_pages, omx_pin,
	TP_PROTO(const struct omx_space *space, u64 address, unsigned int pages),
	TP_ARGS(space, address, pages)
);

/* Somewhere in the extent with this address. */
DEFINE_EVENT(omx_pages, omx_unpin,
	TP_PROTO(const struct omx_space *space, u64 address, unsigned int pages),
	TP_ARGS(space, address, pages)
);

/* pages: how many of the range were present; cause: enum mmu_notifier_event */
TRACE_EVENT(omx_invalidate,
	TP_PROTO(const struct omx_space *space, const struct mmu_notifier_range *range,
		 unsigned int pages),
	TP_ARGS(space, range, pages),
	TP_STRUCT__entry(
		__field(const void *, space)
		__field(u64, start)
		__field(u64, end)
		__field(unsigned int, cause)
		__field(unsigned int, pages)
	),
	TP_fast_assign(
		__entry->space = space;
		__entry->start = range->start;
		__entry->end = range->end;
		__entry->cause = range->event;
		__entry->pages = pages;
	),
	TP_printk("space=%p start=%llx end=%llx cause=%s pages=%u",
		  __entry->space, __entry->start, __entry->end,
		  __print_symbolic(__entry->cause,
				   { MMU_NOTIFY_UNMAP, "unmap" },
				   { MMU_NOTIFY_CLEAR, "clear" },
				   { MMU_NOTIFY_PROTECTION_VMA, "protect" },
				   { MMU_NOTIFY_PROTECTION_PAGE, "protect" },
				   { MMU_NOTIFY_RELEASE, "exit" },
				   { MMU_NOTIFY_MIGRATE, "migrate" }),
		  __entry->pages)
);

#endif

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
