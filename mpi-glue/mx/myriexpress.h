/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Message passing over plain Ethernet: the interface of Myricom MX, for
 * programs that were written for it (link with -lmyriexpress).  What differs
 * from Myricom's is in docs/MX.md.
 *
 * Rules for all calls, unless one says otherwise:
 *
 *  - They return MX_SUCCESS or the reason of the failure, after the error
 *    handler has seen it; what the handler returns is what the call returns.
 *    THE DEFAULT HANDLER EXITS, as Myricom's does.  How a *message* fared is
 *    in the status of its request and never goes to the handler.
 *  - Outputs are written only on success.
 *  - They do not block, except those that take a timeout, mx_open_endpoint
 *    and mx_close_endpoint.  Timeouts are milliseconds, and MX_INFINITE,
 *    which is 0, is for ever.  A timeout that expires is no error:
 *    MX_SUCCESS with *result 0; but mx_connect returns MX_TIMEOUT.
 *    Signals do not interrupt a blocked call.
 *  - Any thread may call anything at any time.  Closing an endpoint makes
 *    the calls blocked in it return MX_BAD_ENDPOINT.
 *  - Lengths are bytes and 32-bit.  What is longer is refused when it is
 *    posted; of what comes from elsewhere see mx_status_t.
 *  - A child made by fork() has no endpoints: its calls return
 *    MX_BAD_ENDPOINT or MX_NOT_INITIALIZED until it calls mx_init itself.
 */
#ifndef MYRIEXPRESS_H
#define MYRIEXPRESS_H

#include <inttypes.h>	/* programs take its formats from here */
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif

#define MX_API			0x301	/* major << 8 | minor */

#define MX_MAX_STR_LEN		128
#define MX_MAX_HOSTNAME_LEN	80	/* terminating 0 included */
#define MX_MAX_SEGMENTS		256
#define MX_SIZEOF_ADDR		16
#define MX_ANY_NIC		0xffffffffu
#define MX_ANY_ENDPOINT		0xffffffffu
#define MX_INFINITE		0u
#define MX_MATCH_MASK_NONE	(~(uint64_t)0)	/* masks nothing out: all bits count */
#define MX_CONTEXT_ID_BITS_MAX	16

/* The halves of 64 bits, for printing and composing. */
#define MX_U32(x)		((uint32_t)((uint64_t)(x) >> 32))
#define MX_L32(x)		((uint32_t)(uint64_t)(x))

/* An endpoint of this process; a request pending or done in it. */
typedef struct omx__endpoint *mx_endpoint_t;
typedef struct omx__request *mx_request_t;

/*
 * Where messages go to and come from: opaque, copied by value, good for the
 * endpoint that it was obtained from, until mx_disconnect.
 */
typedef struct mx_endpoint_addr {
	uint64_t stuff[2];
} mx_endpoint_addr_t;

typedef enum mx_return_code {
	MX_SUCCESS			= 0,
	MX_BAD_BAD_BAD			= 1,	/* not returned */
	MX_FAILURE			= 2,	/* none of the others; not supported */
	MX_ALREADY_INITIALIZED		= 3,
	MX_NOT_INITIALIZED		= 4,
	MX_NO_DEV			= 5,	/* /dev/omx does not exist */
	MX_NO_DRIVER			= 6,	/* it exists, but no driver is behind it */
	MX_NO_PERM			= 7,
	MX_BOARD_UNKNOWN		= 8,	/* no such interface, or it was removed */
	MX_BAD_ENDPOINT			= 9,	/* not an open endpoint, or too large a number */
	MX_BAD_SEG_LIST			= 10,	/* no list, or 4 GiB and more */
	MX_BAD_SEG_MEM			= 11,	/* a segment of length, but without address */
	MX_BAD_SEG_CNT			= 12,	/* more than MX_MAX_SEGMENTS */
	MX_BAD_REQUEST			= 13,	/* not a request for which this can be asked */
	MX_BAD_MATCH_MASK		= 14,	/* match_info has bits outside of match_mask */
	MX_NO_RESOURCES			= 15,	/* memory, files, threads */
	MX_BAD_ADDR_LIST		= 16,	/* not returned */
	MX_BAD_ADDR_COUNT		= 17,	/* not returned */
	MX_BAD_ROOT			= 18,	/* not returned */
	MX_NOT_COMPLETED		= 19,	/* not returned */
	MX_BUSY				= 20,	/* the endpoint is open */
	MX_BAD_INFO_KEY			= 21,
	MX_BAD_INFO_VAL			= 22,
	MX_BAD_NIC			= 23,	/* not returned */
	MX_BAD_PARAM_LIST		= 24,
	MX_BAD_PARAM_NAME		= 25,
	MX_BAD_PARAM_VAL		= 26,
	MX_BAD_HOSTNAME_ARGS		= 27,	/* NULL */
	MX_HOST_NOT_FOUND		= 28,	/* no peer has this name or address */
	MX_REQUEST_PENDING		= 29,	/* not returned */
	MX_TIMEOUT			= 30,
	MX_NO_MATCH			= 31,	/* not returned */
	MX_BAD_ENDPOINT_ID		= 32,	/* no such endpoint there, or not an address */
	MX_CONNECTION_FAILED		= 33,	/* it is gone, or unreachable */
	MX_BAD_CONNECTION_KEY		= 34,
	MX_BAD_INFO_LENGTH		= 35,
	MX_NIC_NOT_FOUND		= 36,	/* no board of this host has this address */
	MX_BAD_KERNEL_VERSION		= 37,	/* the driver is of another release */
	MX_BAD_LIB_VERSION		= 38,	/* the program was built for another library */
	MX_NIC_DEAD			= 39,	/* not returned */
	MX_CANCEL_NOT_SUPPORTED		= 40,	/* sends are not cancelled */
	MX_CLOSE_IN_HANDLER		= 41,	/* closing and blocking in the unexpected handler */
	MX_BAD_MATCHING_FOR_CONTEXT_ID_MASK = 42, /* a receive must name its context id */
	MX_NOT_SUPPORTED_WITH_CONTEXT_ID = 43	/* not returned */
} mx_return_t;

typedef enum mx_status_code {
	MX_STATUS_SUCCESS		= 0,
	MX_STATUS_PENDING		= 1,	/* not reported */
	MX_STATUS_BUFFERED		= 2,	/* not reported */
	MX_STATUS_REJECTED		= 3,	/* none of the others */
	MX_STATUS_TIMEOUT		= 4,	/* of mx_set_request_timeout */
	MX_STATUS_TRUNCATED		= 5,	/* longer than the receiver's buffer */
	MX_STATUS_CANCELLED		= 6,
	MX_STATUS_ENDPOINT_UNKNOWN	= 7,	/* no peer has this address */
	MX_STATUS_ENDPOINT_CLOSED	= 8,
	MX_STATUS_ENDPOINT_UNREACHABLE	= 9,	/* silent for longer than the driver waits */
	MX_STATUS_BAD_SESSION		= 10,	/* the address is of an endpoint that is gone */
	MX_STATUS_BAD_KEY		= 11,	/* of a connect */
	MX_STATUS_BAD_ENDPOINT		= 12,	/* no such endpoint there */
	MX_STATUS_BAD_RDMAWIN		= 13,
	MX_STATUS_ABORTED		= 14,	/* disconnected, or memory could not be accessed */
	MX_STATUS_EVENTQ_FULL		= 15,	/* not reported */
	MX_STATUS_NO_RESOURCES		= 16
} mx_status_code_t;

/*
 * How a request ended.  A message of 4 GiB or more, which only programs that
 * use open-mx.h can send, does not fit any buffer here: its status is
 * TRUNCATED, xfer_length counts what was received, and msg_length is
 * UINT32_MAX, as that of all that cannot be counted.
 */
typedef struct mx_status {
	mx_status_code_t code;
	mx_endpoint_addr_t source;	/* the sender (receive), receiver (send), peer (connect) */
	uint64_t match_info;		/* of the message; of a connect as it was given */
	uint32_t msg_length;		/* as sent */
	uint32_t xfer_length;		/* as transferred: shorter when truncated */
	void *context;			/* of the request */
} mx_status_t;

typedef struct mx_segment {
	void *segment_ptr;
	uint32_t segment_length;
} mx_segment_t;

/* ---- the library ---------------------------------------------------------- */

/*
 * Opens the driver.  Once per process before anything but
 * mx_set_error_handler.  ALREADY_INITIALIZED, NO_DEV, NO_DRIVER, NO_PERM,
 * BAD_KERNEL_VERSION, BAD_LIB_VERSION.
 */
mx_return_t mx__init_api(int api);
#define mx_init()	mx__init_api(MX_API)

/* Closes the endpoints that are still open, and the driver. */
mx_return_t mx_finalize(void);

/*
 * Called with each error that a call is about to return; what it returns is
 * what the call returns.  It is called without locks and may call the library.
 */
typedef mx_return_t (*mx_error_handler_t)(char *str, mx_return_t ret);

mx_return_t mx__errors_are_fatal(char *str, mx_return_t ret);
mx_return_t mx__errors_return(char *str, mx_return_t ret);

#define MX_ERRORS_ARE_FATAL	mx__errors_are_fatal	/* prints str and exits; the default */
#define MX_ERRORS_RETURN	mx__errors_return

/*
 * For the whole process, but for endpoints that were opened with a handler of
 * their own (which is not shown BAD_ENDPOINT); NULL is the default one.  Returns
 * the previous one.  May be called before mx_init.
 */
mx_error_handler_t mx_set_error_handler(mx_error_handler_t handler);

/* A sentence for a code; never NULL, never to be freed. */
const char *mx_strerror(mx_return_t ret);
const char *mx_strstatus(mx_status_code_t code);

/* ---- boards and peers ------------------------------------------------------ */

/*
 * A board is an Ethernet interface of this host, numbered from 0 with gaps;
 * its "nic id" is its MAC address: aa:bb:cc:dd:ee:ff is 0xaabbccddeeff.
 * BOARD_UNKNOWN; NIC_NOT_FOUND.
 */
mx_return_t mx_board_number_to_nic_id(uint32_t board, uint64_t *nic_id);
mx_return_t mx_nic_id_to_board_number(uint64_t nic_id, uint32_t *board);

/*
 * Peers are known by names like "node1:0" (MX_MAX_HOSTNAME_LEN bytes at
 * hostname), as discovered by the driver.  HOST_NOT_FOUND, BAD_HOSTNAME_ARGS.
 */
mx_return_t mx_hostname_to_nic_id(char *hostname, uint64_t *nic_id);
mx_return_t mx_nic_id_to_hostname(uint64_t nic_id, char *hostname);

typedef enum mx_net_type {
	MX_NET_MYRI,
	MX_NET_ETHER
} mx_net_type_t;

typedef enum mx_line_speed {
	MX_SPEED_2G,
	MX_SPEED_10G,
	MX_SPEED_OPEN_MX
} mx_line_speed_t;

#define MX_HAS_NET_TYPE		1

/* What mx_get_info tells, in which type. */
typedef enum mx_get_info_key {
	MX_NIC_COUNT = 1,	/* uint32_t: how many boards there are */
	MX_NIC_IDS,		/* uint64_t[NIC_COUNT], and a 0 if there is room for it */
	MX_MAX_NATIVE_ENDPOINTS,	/* uint32_t: how many there can be on a board */
	MX_NATIVE_REQUESTS,	/* uint32_t: UINT32_MAX, memory is the limit */
	MX_COUNTERS_COUNT,	/* uint32_t: how many counters a board has */
	MX_COUNTERS_LABELS,	/* char[COUNTERS_COUNT][MX_MAX_STR_LEN] */
	MX_COUNTERS_VALUES,	/* uint32_t[]: of a board, low halves, as many as fit */
	MX_PRODUCT_CODE,	/* char[]: "omx 0.1.0" */
	MX_PART_NUMBER,		/* char[]: name of a board's interface, "eth2" */
	MX_SERIAL_NUMBER,	/* char[]: a board's MAC address, "aa:bb:cc:dd:ee:ff" */
	MX_PORT_COUNT,		/* uint32_t: of a board, 1 */
	MX_PIO_SEND_MAX,	/* uint32_t: longest message that comes in one piece, 4096 */
	MX_COPY_SEND_MAX,	/* uint32_t: longest message that may be copied: 65536 */
	MX_NUMA_NODE,		/* uint32_t: of a board, UINT32_MAX if there is none */
	MX_NET_TYPE,		/* uint32_t: mx_net_type_t of a board, MX_NET_ETHER */
	MX_LINE_SPEED		/* uint32_t: mx_line_speed_t of a board, MX_SPEED_OPEN_MX */
} mx_get_info_key_t;

/*
 * Keys about a board mean the endpoint's, or with ep NULL the one whose
 * uint32_t number is at in_val.  Names are cut to out_len.
 * BAD_INFO_KEY; BAD_INFO_VAL: in_val or out_val is missing;
 * BAD_INFO_LENGTH: in_len or out_len is too short; BOARD_UNKNOWN.
 */
mx_return_t mx_get_info(mx_endpoint_t ep, mx_get_info_key_t key, void *in_val,
			uint32_t in_len, void *out_val, uint32_t out_len);

/* ---- endpoints --------------------------------------------------------------- */

typedef enum mx_param_key {
	MX_PARAM_ERROR_HANDLER		= 0,
	MX_PARAM_UNEXP_QUEUE_MAX	= 1,	/* bytes; default 1 GiB */
	MX_PARAM_CONTEXT_ID		= 2
} mx_param_key_t;

typedef struct mx_param {
	mx_param_key_t key;
	union {
		mx_error_handler_t error_handler;
		/*
		 * Memory for messages that no receive has asked for yet.  When
		 * it is used up they stay with the driver, which holds the
		 * senders back; what matches posted receives still arrives.
		 */
		uint32_t unexp_queue_max;
		/*
		 * `bits` bits of the match info from bit `shift` on are the
		 * context id: messages with different ones never meet in a
		 * queue.  0 bits: no context ids.
		 */
		struct {
			uint8_t bits;	/* at most MX_CONTEXT_ID_BITS_MAX */
			uint8_t shift;
		} context_id;
	} val;
} mx_param_t;

/*
 * Opens an endpoint of a board, either may be ANY.  Peers must name the same
 * key to connect.  BOARD_UNKNOWN, BUSY, BAD_ENDPOINT (number too large),
 * BAD_PARAM_..., NO_RESOURCES.
 */
mx_return_t mx_open_endpoint(uint32_t board, uint32_t endpoint, uint32_t key,
			     mx_param_t *params, uint32_t count, mx_endpoint_t *ep);

/*
 * Frees the endpoint with all its requests; buffers of pending ones are not
 * touched any more when it returns.  Waits until other threads have left
 * their calls.  CLOSE_IN_HANDLER.
 */
mx_return_t mx_close_endpoint(mx_endpoint_t ep);

/* Makes every call blocked in the endpoint return, with *result 0. */
mx_return_t mx_wakeup(mx_endpoint_t ep);

/*
 * Between the two nothing is taken from the network and the unexpected
 * handler does not run: on return of the first it is not running any more.
 * They do not nest.  CLOSE_IN_HANDLER.
 */
mx_return_t mx_disable_progression(mx_endpoint_t ep);
mx_return_t mx_reenable_progression(mx_endpoint_t ep);

/*
 * The endpoint's own address: for mx_decompose_endpoint_addr, and for
 * messages to itself.
 */
mx_return_t mx_get_endpoint_addr(mx_endpoint_t ep, mx_endpoint_addr_t *addr);

/* BAD_ENDPOINT_ID: not an address; CONNECTION_FAILED: not valid any more. */
mx_return_t mx_decompose_endpoint_addr(mx_endpoint_addr_t addr, uint64_t *nic_id,
				       uint32_t *endpoint);
mx_return_t mx_decompose_endpoint_addr2(mx_endpoint_addr_t addr, uint64_t *nic_id,
					uint32_t *endpoint, uint32_t *session);

/*
 * Finds the endpoint of a peer (or of this host) and returns its address.
 * Blocks; TIMEOUT if nobody answers in time, which is also what an address
 * says that nobody has.  HOST_NOT_FOUND: no nic can have it;
 * BAD_ENDPOINT_ID: it is not open there; BAD_CONNECTION_KEY.
 * Not needed to answer the sender of a message: see mx_status_t.
 */
mx_return_t mx_connect(mx_endpoint_t ep, uint64_t nic_id, uint32_t endpoint, uint32_t key,
		       uint32_t timeout, mx_endpoint_addr_t *addr);

/* ---- messages ------------------------------------------------------------------ */

/*
 * All of these post a request.  With request NULL its end is never reported
 * (as after mx_forget).  The memory must not be changed (send) or used
 * (receive) until the request is done or mx_ibuffered says so; the list of
 * segments may be reused at once.  Zero segments are an empty message.
 *
 * Messages between two endpoints match in the order in which they were sent.
 * A send is done when its memory may be reused; mx_issend's when the
 * receiver has matched and taken the message.  BAD_ENDPOINT_ID: not an
 * address; CONNECTION_FAILED: not valid any more; BAD_SEG_...; NO_RESOURCES.
 */
mx_return_t mx_isend(mx_endpoint_t ep, mx_segment_t *segs, uint32_t count,
		     mx_endpoint_addr_t dest, uint64_t match_info, void *context,
		     mx_request_t *request);
mx_return_t mx_issend(mx_endpoint_t ep, mx_segment_t *segs, uint32_t count,
		      mx_endpoint_addr_t dest, uint64_t match_info, void *context,
		      mx_request_t *request);

/*
 * Takes the first message, come or to come, with
 * (its match info & match_mask) == match_info.  BAD_MATCH_MASK;
 * BAD_MATCHING_FOR_CONTEXT_ID_MASK: match_mask leaves out context id bits.
 */
mx_return_t mx_irecv(mx_endpoint_t ep, mx_segment_t *segs, uint32_t count,
		     uint64_t match_info, uint64_t match_mask, void *context,
		     mx_request_t *request);

/*
 * Write to, or read from, the memory of the peer's program at this address of
 * it.  The peer need not do anything, but must have opened its memory before,
 * and this endpoint needs its key: mx_export_memory and mx_import_memory in
 * mx_extensions.h.  FAILURE: it has none, and nothing is posted.  The request
 * is done when the bytes are there; the match info of its status is 0.  The
 * status is BAD_RDMAWIN if the key is wrong or has been withdrawn, ABORTED if
 * there is no such memory.
 */
mx_return_t mx_iput(mx_endpoint_t ep, void *local_addr, uint32_t length,
		    mx_endpoint_addr_t dest, uint64_t remote_addr, void *context,
		    mx_request_t *request);
mx_return_t mx_iget(mx_endpoint_t ep, void *local_addr, uint32_t length,
		    mx_endpoint_addr_t dest, uint64_t remote_addr, void *context,
		    mx_request_t *request);

/*
 * Called for each message that no receive matches, before it is queued.  It
 * may post requests, a receive for this very message included; calls that
 * block, mx_close_endpoint and the like give MX_CLOSE_IN_HANDLER.  Nothing
 * else is handled in the endpoint while it runs, in whichever thread makes
 * progress, the library's own included.  length is INT_MAX for longer ones.
 * There is one callback, or handler of mx_extensions.h; NULL: none.  When
 * this returns the former one is not running any more.
 */
typedef void (*mx_matching_callback_t)(void *context, uint64_t match_info, int length);

mx_return_t mx_register_unexp_callback(mx_endpoint_t ep, mx_matching_callback_t callback,
				       void *context);

/* ---- completion ---------------------------------------------------------------- */

/*
 * *result 1: the request is done, its status is filled (status may be NULL)
 * and *request is freed and set to NULL.  *result 0: it is not.
 */
mx_return_t mx_test(mx_endpoint_t ep, mx_request_t *request, mx_status_t *status,
		    uint32_t *result);
mx_return_t mx_wait(mx_endpoint_t ep, mx_request_t *request, uint32_t timeout,
		    mx_status_t *status, uint32_t *result);

/*
 * The same for the first request done with
 * (its match info & match_mask) == match_info, of whatever context id.
 */
mx_return_t mx_test_any(mx_endpoint_t ep, uint64_t match_info, uint64_t match_mask,
			mx_status_t *status, uint32_t *result);
mx_return_t mx_wait_any(mx_endpoint_t ep, uint32_t timeout, uint64_t match_info,
			uint64_t match_mask, mx_status_t *status, uint32_t *result);

/* The request that was done first; it remains to be tested. */
mx_return_t mx_ipeek(mx_endpoint_t ep, mx_request_t *request, uint32_t *result);
mx_return_t mx_peek(mx_endpoint_t ep, uint32_t timeout, mx_request_t *request,
		    uint32_t *result);

/*
 * The first message with (its match info & match_mask) == match_info that no
 * receive has asked for; it remains to be received.
 */
mx_return_t mx_iprobe(mx_endpoint_t ep, uint64_t match_info, uint64_t match_mask,
		      mx_status_t *status, uint32_t *result);
mx_return_t mx_probe(mx_endpoint_t ep, uint32_t timeout, uint64_t match_info,
		     uint64_t match_mask, mx_status_t *status, uint32_t *result);

/* May the memory of this send be reused?  BAD_REQUEST for others. */
mx_return_t mx_ibuffered(mx_endpoint_t ep, mx_request_t *request, uint32_t *result);
mx_return_t mx_buffered(mx_endpoint_t ep, mx_request_t *request, uint32_t timeout,
			uint32_t *result);

/*
 * Takes back a receive that has not matched or a connect that has not been
 * answered: *result 1, and *request is freed and set to NULL.  *result 0: too
 * late.  CANCEL_NOT_SUPPORTED for sends.
 */
mx_return_t mx_cancel(mx_endpoint_t ep, mx_request_t *request, uint32_t *result);

/* The context given when the request was posted. */
mx_return_t mx_context(mx_request_t *request, void **context);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#ifdef __cplusplus
}
#endif

#endif
