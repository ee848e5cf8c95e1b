/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Counters by name, per board and CPU: every packet type, every dropped packet
 * and every slow path has one.  Any part of the driver increments them in any
 * context.  omx_counters(1) prints the labels, so a label tells a user what
 * happened.  docs/COUNTERS.md explains each of them.
 */
#ifndef OMX_COUNTERS_H
#define OMX_COUNTERS_H

#include <linux/percpu.h>
#include <linux/types.h>

#define OMX_COUNTER_LIST(X) \
	X(TX_HELLO,		"sent hello") \
	X(TX_BYE,		"sent bye") \
	X(TX_CONNECT,		"sent connect") \
	X(TX_CONNECT_RESPONSE,	"sent connect response") \
	X(TX_EAGER,		"sent eager") \
	X(TX_RNDV,		"sent rendezvous") \
	X(TX_NOTIFY,		"sent notify") \
	X(TX_ACK,		"sent ack") \
	X(TX_PULL_REQUEST,	"sent pull request") \
	X(TX_PULL_RESPONSE,	"sent pull response") \
	X(TX_NACK,		"sent nack") \
	X(TX_HOLD,		"sent hold") \
	X(TX_PUT,		"sent put") \
	X(TX_PUT_RNDV,		"sent put rendezvous") \
	X(TX_GET,		"sent get") \
	X(TX_ATOMIC,		"sent atomic") \
	X(TX_ACCESS_RESPONSE,	"sent access response") \
	X(TX_POST_KEY,		"sent key") \
	X(TX_FLUSH,		"sent flush") \
	X(TX_BUNDLE,		"sent bundle") \
	X(RX_HELLO,		"received hello") \
	X(RX_BYE,		"received bye") \
	X(RX_CONNECT,		"received connect") \
	X(RX_CONNECT_RESPONSE,	"received connect response") \
	X(RX_EAGER,		"received eager") \
	X(RX_RNDV,		"received rendezvous") \
	X(RX_NOTIFY,		"received notify") \
	X(RX_ACK,		"received ack") \
	X(RX_PULL_REQUEST,	"received pull request") \
	X(RX_PULL_RESPONSE,	"received pull response") \
	X(RX_NACK,		"received nack") \
	X(RX_HOLD,		"received hold") \
	X(RX_PUT,		"received put") \
	X(RX_PUT_RNDV,		"received put rendezvous") \
	X(RX_GET,		"received get") \
	X(RX_ATOMIC,		"received atomic") \
	X(RX_ACCESS_RESPONSE,	"received access response") \
	X(RX_POST_KEY,		"received key") \
	X(RX_FLUSH,		"received flush") \
	X(RX_BUNDLE,		"received bundle") \
	X(TX_MERGED,		"frame sent in one piece with others") \
	X(RX_MERGED,		"frame received in one piece with others") \
	X(TX_TSO,		"frame sent as a TCP segment") \
	X(RX_TSO,		"TCP packet received, of one frame or several") \
	X(TX_FAILED,		"frame refused by the network stack") \
	X(TX_UNROUTABLE,	"frame not sent, no route to the peer's address") \
	X(TX_FRAGMENTED,	"frame sent in IP fragments, longer than its path takes") \
	X(RX_MARKED,		"frame marked by a congested router") \
	X(PEER_ERROR,		"ICMP error for a frame to a peer") \
	X(TX_WAITED,		"waited for the queue of the device") \
	X(SEND_BUNDLED,		"short message sent together with others") \
	X(RETRANSMIT_TIMEOUT,	"packet sent again after a timeout") \
	X(RETRANSMIT_SACK,	"packet sent again after a selective ack") \
	X(LOSS_PROBE,		"probe for lost packets") \
	X(PATH_SLOWED,		"congestion window of a peer reduced") \
	X(PATH_WAITED,		"packet waited for the congestion window") \
	X(PULL_TIMEOUT,		"pull timer requested again") \
	X(PULL_NOT_REPEATED,	"pull timer left it to others to request again") \
	X(PULL_GAP,		"pull requested a gap again") \
	X(PULL_FRAMES_AGAIN,	"pull frame requested again") \
	X(PULL_FRAMES_WAITED,	"pull frame requested again before it was sent") \
	X(PULL_RESTARTED,	"pull started over with shorter frames") \
	X(PULL_PUSHED,		"pull frame sent with its announcement") \
	X(PULL_WAITED,		"pull waited for its turn on the board") \
	X(WINDOW_CLOSED,	"window closed to a sender") \
	X(TURN_WAITED,		"sender waited for its turn on the board") \
	X(TURN_EXPIRED,		"turn of a sender taken back") \
	X(SEND_FULL,		"eager send refused, channel full") \
	X(SEND_ANNOUNCED,	"short message announced, not sent") \
	X(USER_MEMORY,		"waited, user at the memory limit") \
	X(RING_BACKLOG,		"event waited for room in the ring") \
	X(WAIT_POLLED,		"wait ended before its thread slept") \
	X(HELPER_WAKEUP,	"helper thread woken for a rendezvous") \
	X(LOCAL_COPY,		"large message copied on this host") \
	X(DMA_COPIED,		"piece of a frame copied by a DMA engine") \
	X(DMA_REFUSED,		"piece of a frame not taken by the DMA engine") \
	X(DMA_FAILED,		"piece of a frame copied again, the DMA engine failed") \
	X(ENGINE_COPIED,	"piece of a frame copied by the device") \
	X(ENGINE_READ,		"piece of a frame read by the device") \
	X(ENGINE_REFUSED,	"piece of a frame not taken by the device") \
	X(ENGINE_TAKEN_OVER,	"piece of a frame copied again, not by the device") \
	X(ENGINE_MISS,		"page not in the device's domain before a copy") \
	X(ENGINE_FAULT,		"fault reported by the device") \
	X(ENGINE_RESUMED,	"copy resumed by the device after a fault") \
	X(ENGINE_MAPPED,	"page mapped in the device's domain") \
	X(ENGINE_DRAINED,	"invalidation drained the device") \
	X(ENGINE_ATTACHED,	"domain attached to the device") \
	X(ENGINE_PAGE_REQUEST,	"page requested by the device") \
	X(ENGINE_STALLED,	"endpoint barred from the device because its page did not come") \
	X(ACCESS_PUT,		"put performed for a peer") \
	X(ACCESS_GET,		"get performed for a peer") \
	X(ACCESS_ATOMIC,	"atomic performed for a peer") \
	X(ACCESS_ACKED,		"put ended by an ack of the peer") \
	X(ACCESS_LOCAL,		"put or get performed by its initiator on this host") \
	X(ACCESS_DEFERRED,	"access of a peer waited for its pages") \
	X(ACCESS_BAD_WINDOW,	"access refused, no such window, key or peer") \
	X(ACCESS_NO_RIGHT,	"access refused, no right") \
	X(ACCESS_BAD_RANGE,	"access refused, outside the window or not aligned") \
	X(WHEN_FIRED,		"conditional access fired by a key of the peer") \
	X(WHEN_TIMEOUT,		"conditional access ended, no key in time") \
	X(KEY_KEPT,		"key of a peer kept for an access to come") \
	X(KEY_REFUSED,		"key of a peer refused, too many are kept") \
	X(ACCESS_LOGGED,	"access of a peer logged") \
	X(ACCESS_TRACED,	"access of a peer recorded without a log") \
	X(ACCESS_LOG_FULL,	"access refused, its log is full") \
	X(ACCESS_LOG_VOID,	"log entry without its access") \
	X(REGION_FAULT,		"region not accessible, request failed") \
	X(PAGES_PINNED_NOW,	"pages pinned now") \
	X(PAGES_PINNED_PEAK,	"pages pinned at most") \
	X(PAGES_PINNED,		"page pinned") \
	X(UNPIN_INVALIDATED,	"page unpinned: invalidated") \
	X(UNPIN_RELEASED,	"page unpinned: no longer needed") \
	X(UNPIN_LIMIT,		"page unpinned: limit reached by others") \
	X(UNPIN_SHRINK,		"page unpinned: system short of memory") \
	X(EXTENTS_NOW,		"extents of 64 translations now") \
	X(EXTENT_MADE,		"extent of 64 translations made") \
	X(FAULT_MINOR_SOURCE,	"fault, minor, source") \
	X(FAULT_MAJOR_SOURCE,	"fault, major, source") \
	X(FAULT_MINOR_DESTINATION, "fault, minor, destination") \
	X(FAULT_MAJOR_DESTINATION, "fault, major, destination") \
	X(PAGES_AHEAD,		"page read ahead") \
	X(PAGES_AHEAD_USED,	"page read ahead and used") \
	X(FAULT_TIMEOUT,	"fault-caused timeout") \
	X(PULL_DEFERRED,	"pull request waited for its pages") \
	X(RESPONSE_PARKED,		"pull frame waited for its page (overlap miss)") \
	X(RESPONSE_OVERLAPPED,	"pull frame found its page in time (overlap hit)") \
	X(INVALIDATE_UNMAP,	"invalidation: unmapped or moved") \
	X(INVALIDATE_PROTECT,	"invalidation: protection changed, or forked") \
	X(INVALIDATE_CLEAR,	"invalidation: discarded, copied, migrated, swapped out, merged") \
	X(INVALIDATE_EXIT,	"invalidation: program ended") \
	X(PAGES_INVALIDATED,	"page invalidated") \
	X(CHANNEL_TIMEOUT,	"channel given up, peer silent") \
	X(CHANNEL_REFUSED,	"channel ended, peer closed or refused") \
	X(DROP_NONLINEAR,	"dropped: header not readable") \
	X(DROP_VERSION,		"dropped: other protocol version") \
	X(DROP_TYPE,		"dropped: unknown type") \
	X(DROP_LENGTH,		"dropped: bad length") \
	X(DROP_FIELD,		"dropped: bad field") \
	X(DROP_CAST,		"dropped: unicast type sent to many, or from many") \
	X(DROP_NO_ENDPOINT,	"dropped: no such endpoint") \
	X(DROP_SESSION,		"dropped: other session") \
	X(DROP_NO_CHANNEL,	"dropped: for no channel") \
	X(DROP_CHANNEL_LIMIT,	"dropped: too many channels") \
	X(DROP_CHANNEL_DEAD,	"dropped: channel was given up") \
	X(DROP_DUPLICATE,	"dropped: received before") \
	X(DROP_WINDOW,		"dropped: beyond the window") \
	X(DROP_FLOW,		"dropped: stale flow") \
	X(DROP_ACK,		"dropped: ack of what was not sent") \
	X(DROP_FRAGMENT,	"dropped: fragment does not continue its message") \
	X(DROP_NO_ROOM,	"dropped: receiver has no room") \
	X(DROP_NO_MEMORY,	"dropped: out of memory") \
	X(DROP_PULL_HANDLE,	"dropped: for no pull") \
	X(DROP_PULL_FRAME,	"dropped: frame does not fit its pull") \
	X(DROP_PULL_DUPLICATE,	"dropped: pull frame received before") \
	X(DROP_PULL_FAULT,	"dropped: pull frame for absent memory, requested again") \
	X(DROP_HOLD,		"dropped: hold of no pull") \
	X(DROP_PULL_REGION,	"dropped: pull of no region") \
	X(DROP_PULL_RANGE,	"dropped: pull outside its region") \
	X(DROP_PULL_MTU,	"dropped: pull of frames beyond the MTU") \
	X(DROP_NOTIFY,		"dropped: notify of no message") \
	X(DROP_ACCESS_RESPONSE,	"dropped: response to no access") \
	X(DROP_CONNECT_RESPONSE,	"dropped: response to no connect") \
	X(DROP_NACK,		"dropped: nack of nothing") \
	X(DROP_PEER_LIMIT,	"dropped: too many peers") \
	X(DROP_PEER_NAME,	"dropped: bad name in hello") \
	X(DROP_PEER_ADDRESS,	"dropped: not from the address of the peer") \
	X(DROP_TSO_HEADER,	"dropped: bad header in a TCP segment") \
	X(DROP_UDP_HEADER,	"dropped: bad header in a UDP packet") \
	X(DROP_BOARD_DOWN,	"dropped: board is being detached")

enum omx_counter {
#define OMX_COUNTER_ENUM(name, label) OMX_COUNTER_##name,
	OMX_COUNTER_LIST(OMX_COUNTER_ENUM)
#undef OMX_COUNTER_ENUM
	OMX_COUNTERS
};

struct omx_counters {
	u64 value[OMX_COUNTERS];
};

/* Any context. */
#define omx_count(board, name) \
	this_cpu_inc((board)->counters->value[OMX_COUNTER_##name])
#define omx_count_add(board, name, n) \
	this_cpu_add((board)->counters->value[OMX_COUNTER_##name], (n))

/* Per packet type: OMX_COUNTER_TX_HELLO + type - OMX_WIRE_HELLO. */
#define OMX_COUNTER_TYPE(direction, type) \
	(OMX_COUNTER_##direction##_HELLO + (type) - OMX_WIRE_HELLO)
#define omx_count_type(board, direction, type, n) \
	this_cpu_add((board)->counters->value[OMX_COUNTER_TYPE(direction, type)], (n))

const char *omx_counter_label(unsigned int index);
u64 omx_counter_sum(struct omx_counters __percpu *counters, unsigned int index);
void omx_counters_clear(struct omx_counters __percpu *counters);

#endif
