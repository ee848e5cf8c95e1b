/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * This header declares the interface of Open-MX, message passing over plain
 * Ethernet; omx.h declares what omx adds to it.
 *
 * Rules for all functions, unless a comment says otherwise:
 *
 *  - They return OMX_SUCCESS or the reason of the failure.  Before that the
 *    error handler of the endpoint is called, and the function returns what the
 *    handler returns (the default handler returns the error).  How a *message*
 *    ended is in the status of its request; the handler is not called for it.
 *  - Outputs are written only on success.
 *  - They do not block, except those with a timeout, omx_open_endpoint and
 *    omx_close_endpoint.  Timeouts are in milliseconds, OMX_TIMEOUT_INFINITE
 *    means none.  If one expires, that is no error: the function returns
 *    OMX_SUCCESS with *result 0.  Signals do not interrupt a blocked call.
 *  - Any thread may call any function at any time.  Closing an endpoint makes
 *    the calls blocked in it return OMX_BAD_ENDPOINT.
 *  - Lengths are bytes and 64-bit: there is no limit to a message's length.
 *  - A child made by fork() has no endpoints: its calls return
 *    OMX_BAD_ENDPOINT or OMX_NOT_INITIALIZED until it calls omx_init itself.
 *
 * Progress does not depend on calls by the program: the driver does the
 * transport, and a thread of the library matches large messages while the
 * program computes (unless the environment has OMX_PROGRESS_THREAD=0).
 */
#ifndef OPEN_MX_H
#define OPEN_MX_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif

#define OMX_API				0x301	/* major << 8 | minor */

#define OMX_SIZEOF_ADDR			16
#define OMX_ANY_NIC			0xffffffffu
#define OMX_ANY_ENDPOINT		0xffffffffu
#define OMX_TIMEOUT_INFINITE		((uint32_t) -1)
#define OMX_MAX_SEGMENTS		256
#define OMX_HOSTNAMELEN_MAX		80	/* terminating 0 included */
#define OMX_BOARD_ADDR_STRLEN		18	/* "aa:bb:cc:dd:ee:ff" and 0 */
#define OMX_ENDPOINT_CONTEXT_ID_BITS_MAX 16

/* An endpoint of this process; a request of an endpoint, pending or done. */
typedef struct omx__endpoint *omx_endpoint_t;
typedef struct omx__request *omx_request_t;

/*
 * Address of the endpoint of a peer: opaque, copied by value, valid only in the
 * endpoint that returned it, until omx_disconnect.  Two addresses of the same
 * endpoint of a peer are equal byte for byte until the connection is lost.
 */
typedef struct omx_endpoint_addr {
	uint64_t opaque[2];
} omx_endpoint_addr_t;

typedef enum omx_return {
	OMX_SUCCESS			= 0,
	OMX_BAD_ERROR			= 1,	/* unexpected error of the driver */
	OMX_ALREADY_INITIALIZED		= 3,
	OMX_NOT_INITIALIZED		= 4,
	OMX_NO_DEVICE_FILE		= 5,	/* /dev/omx does not exist */
	OMX_NO_DRIVER			= 6,	/* /dev/omx exists, the driver does not */
	OMX_ACCESS_DENIED		= 7,
	OMX_BOARD_NOT_FOUND		= 8,	/* no such board, or it was removed */
	OMX_BAD_ENDPOINT		= 9,	/* not an open endpoint */
	OMX_SEGMENTS_BAD_COUNT		= 12,
	OMX_BAD_REQUEST			= 13,	/* not a request, or not of the right kind */
	OMX_BAD_MATCH_MASK		= 14,	/* match_info has bits outside of match_mask */
	OMX_NO_RESOURCES		= 15,
	OMX_BUSY			= 20,	/* endpoint already open, or region or log in use */
	OMX_BAD_INFO_KEY		= 21,
	OMX_BAD_INFO_ADDRESS		= 22,
	OMX_ENDPOINT_PARAMS_BAD_LIST	= 24,
	OMX_ENDPOINT_PARAM_BAD_KEY	= 25,
	OMX_ENDPOINT_PARAM_BAD_VALUE	= 26,
	OMX_PEER_NOT_FOUND		= 28,	/* no peer has this name or address */
	OMX_TIMEOUT			= 30,	/* a timeout set by the program expired */
	OMX_REMOTE_ENDPOINT_BAD_ID	= 32,	/* no such endpoint, or not an address */
	OMX_REMOTE_ENDPOINT_CLOSED	= 33,
	OMX_REMOTE_ENDPOINT_BAD_CONNECTION_KEY = 34,
	OMX_BAD_INFO_LENGTH		= 35,
	OMX_NIC_ID_NOT_FOUND		= 36,	/* no board of this host has this address */
	OMX_BAD_KERNEL_ABI		= 37,	/* no ABI version in common with driver */
	OMX_BAD_LIB_ABI			= 38,	/* program was built for another library */
	OMX_BAD_MATCHING_FOR_CONTEXT_ID_MASK = 42, /* a receive must name its context id */
	OMX_CANCELLED			= 90,
	OMX_REMOTE_RDMA_WINDOW_BAD_ID	= 91,	/* no window has this key (any more) */
	OMX_REMOTE_ENDPOINT_UNREACHABLE	= 92,	/* silent until the driver's timeout */
	OMX_REMOTE_ENDPOINT_BAD_SESSION	= 93,	/* address of an endpoint that is gone */
	OMX_MESSAGE_ABORTED		= 94,	/* disconnected, or memory not accessible */
	OMX_MESSAGE_TRUNCATED		= 95,	/* longer than the receiver's buffer */
	OMX_NOT_SUPPORTED_IN_HANDLER	= 96,
	OMX_NO_SYSTEM_RESOURCES		= 97,	/* memory, files, threads */
	OMX_NOT_IMPLEMENTED		= 99,
	OMX_RETURN_CODE_MAX		= 100
} omx_return_t;

/* How a request ended. */
typedef struct omx_status_s {
	omx_return_t code;
	omx_endpoint_addr_t addr;	/* of the peer */
	uint64_t match_info;		/* of the message, or as given to omx_iconnect */
	uint64_t msg_length;		/* of the message that was sent */
	uint64_t xfer_length;		/* what was transferred: less if truncated */
	void *context;			/* as given when the request was posted */
} omx_status_t;

typedef void *omx_seg_ptr_t;

typedef struct omx_seg {
	omx_seg_ptr_t ptr;
	size_t len;
} omx_seg_t;

/* ---- the library ---------------------------------------------------------- */

/*
 * Opens the driver.  To be called once per process, before any other function;
 * the second call returns ALREADY_INITIALIZED.  Errors: NO_DEVICE_FILE, NO_DRIVER,
 * ACCESS_DENIED, BAD_KERNEL_ABI, BAD_LIB_ABI.
 */
omx_return_t omx__init_api(int api);

static inline omx_return_t omx_init(void)
{
	return omx__init_api(OMX_API);
}

/* Closes the endpoints that are still open, and the driver. */
omx_return_t omx_finalize(void);

/* A sentence for a return or status code; never NULL, never to be freed. */
const char *omx_strerror(omx_return_t ret);

/*
 * Called with each error before a function returns it; the function returns
 * what the handler returns.  The handler may call the library.
 */
typedef omx_return_t (*omx_error_handler_t)(char *str, omx_return_t ret);

omx_return_t omx__errors_are_fatal(char *str, omx_return_t ret);
omx_return_t omx__errors_return(char *str, omx_return_t ret);

#define OMX_ERRORS_ARE_FATAL	omx__errors_are_fatal	/* prints str and exits */
#define OMX_ERRORS_RETURN	omx__errors_return	/* the default */

/*
 * Sets the handler of an endpoint or, with ep NULL, the handler for functions
 * without an endpoint and for endpoints that have no handler.  Returns the one
 * that was called before.
 */
omx_error_handler_t omx_set_error_handler(omx_endpoint_t ep, omx_error_handler_t handler);

/* ---- boards and peers ------------------------------------------------------ */

/*
 * A board is an Ethernet interface of this host.  Boards are numbered from 0,
 * with gaps.  The "nic id" of a board is its MAC address: aa:bb:cc:dd:ee:ff is
 * 0xaabbccddeeff.  Errors: BOARD_NOT_FOUND; NIC_ID_NOT_FOUND.
 */
omx_return_t omx_board_number_to_nic_id(uint32_t board, uint64_t *nic_id);
omx_return_t omx_nic_id_to_board_number(uint64_t nic_id, uint32_t *board);

/*
 * Peers have names like "node1:0", which the driver discovers.  There must be
 * OMX_HOSTNAMELEN_MAX bytes at hostname.  Errors: PEER_NOT_FOUND; for a name that is known,
 * REMOTE_ENDPOINT_UNREACHABLE if the peer is reached by UDP and does not respond.
 */
omx_return_t omx_hostname_to_nic_id(char *hostname, uint64_t *nic_id);
omx_return_t omx_nic_id_to_hostname(uint64_t nic_id, char *hostname);

/* What omx_get_info returns, and its type. */
typedef enum omx_info_key {
	OMX_INFO_BOARD_MAX,		/* uint32_t: how many there can be */
	OMX_INFO_ENDPOINT_MAX,		/* uint32_t: how many there can be on a board */
	OMX_INFO_BOARD_COUNT,		/* uint32_t: how many there are */
	OMX_INFO_BOARD_IDS,		/* uint64_t[BOARD_COUNT], and a 0 if there is room for it */
	OMX_INFO_BOARD_HOSTNAME,	/* char[]: of the board, "node1:0" */
	OMX_INFO_BOARD_IFACENAME,	/* char[]: of its interface, "eth2" */
	OMX_INFO_BOARD_NUMA_NODE,	/* int32_t: -1 if there is none */
	OMX_INFO_COUNTER_MAX,		/* uint32_t: how many counters a board has */
	OMX_INFO_COUNTER_VALUES,	/* uint32_t[]: low halves, as many as there is room for */
	OMX_INFO_COUNTER_LABEL		/* char[]: in_val is the counter's uint32_t number */
} omx_info_key_t;

/*
 * Keys of a board mean the board of the endpoint or, with ep NULL, the board
 * whose uint8_t or uint32_t number is at in_val.  Names are cut to out_len.
 * Errors: BAD_INFO_KEY; BAD_INFO_ADDRESS: in_val or out_val is missing;
 * BAD_INFO_LENGTH: in_len or out_len is too short; BOARD_NOT_FOUND.
 */
omx_return_t omx_get_info(omx_endpoint_t ep, omx_info_key_t key, const void *in_val,
			  uint32_t in_len, void *out_val, uint32_t out_len);

/* ---- endpoints --------------------------------------------------------------- */

typedef enum omx_endpoint_param_key {
	OMX_ENDPOINT_PARAM_ERROR_HANDLER	= 0,
	OMX_ENDPOINT_PARAM_UNEXP_QUEUE_MAX	= 1,	/* bytes; default 1 GiB */
	OMX_ENDPOINT_PARAM_CONTEXT_ID		= 2,
	OMX_ENDPOINT_PARAM_MEMORY		= 3
} omx_endpoint_param_key_t;

typedef struct omx_endpoint_param {
	omx_endpoint_param_key_t key;
	union {
		omx_error_handler_t error_handler;
		/*
		 * Limit for the memory of unexpected messages, which no receive
		 * has matched yet.  Above it, senders announce their messages
		 * without sending data, and a send completes when its message
		 * has been received.  Messages that match posted receives still
		 * arrive.
		 */
		uint64_t unexp_queue_max;
		/*
		 * `bits` bits of the match info, from bit `shift` on, are the
		 * context id, which each receive must name.  0 bits: there are no
		 * context ids.
		 */
		struct {
			uint8_t bits;	/* at most OMX_ENDPOINT_CONTEXT_ID_BITS_MAX */
			uint8_t shift;
		} context_id;
		uint32_t memory_mode;	/* omx_memory_mode_t of omx.h */
	} val;
} omx_endpoint_param_t;

/*
 * Opens an endpoint of a board; both numbers may be ANY.  Peers must give the
 * same key to connect.  If it fails, *ep is NULL, for which every function that
 * needs an endpoint returns BAD_ENDPOINT.  Errors: BOARD_NOT_FOUND, BUSY,
 * BAD_ENDPOINT (number too large), ENDPOINT_PARAM..., NO_SYSTEM_RESOURCES.
 */
omx_return_t omx_open_endpoint(uint32_t board, uint32_t endpoint, uint32_t key,
			       omx_endpoint_param_t *params, uint32_t count,
			       omx_endpoint_t *ep);

/*
 * Frees the endpoint with all its requests.  When it returns, buffers of pending
 * requests are not accessed any more.  Waits until other threads have returned
 * from their calls.  Error: NOT_SUPPORTED_IN_HANDLER.
 */
omx_return_t omx_close_endpoint(omx_endpoint_t ep);

/*
 * Returns the endpoint's own address, for omx_decompose_endpoint_addr and for
 * messages to itself.
 */
omx_return_t omx_get_endpoint_addr(omx_endpoint_t ep, omx_endpoint_addr_t *addr);

/* Makes every call blocked in the endpoint return, with *result 0. */
omx_return_t omx_wakeup(omx_endpoint_t ep);

/* Handles the events that have arrived. */
omx_return_t omx_progress(omx_endpoint_t ep);

/*
 * Between these two calls no event is handled, and the unexpected handler does
 * not run: when the first returns, the handler is not running any more.  They
 * do not nest.  Error: NOT_SUPPORTED_IN_HANDLER.
 */
omx_return_t omx_disable_progression(omx_endpoint_t ep);
omx_return_t omx_reenable_progression(omx_endpoint_t ep);

/* ---- connections --------------------------------------------------------------- */

/*
 * Finds the endpoint of a peer, or of this host, and returns its address.
 * Blocks until the peer responds.  Errors: TIMEOUT, also if no host has this nic
 * id; PEER_NOT_FOUND: no nic can have this id; REMOTE_ENDPOINT_BAD_ID,
 * REMOTE_ENDPOINT_BAD_CONNECTION_KEY.  There is no need to connect to the sender
 * of a message: its address is in omx_status_t.
 */
omx_return_t omx_connect(omx_endpoint_t ep, uint64_t nic_id, uint32_t endpoint,
			 uint32_t key, uint32_t timeout, omx_endpoint_addr_t *addr);

/* The same without blocking: the address is in the status of the request. */
omx_return_t omx_iconnect(omx_endpoint_t ep, uint64_t nic_id, uint32_t endpoint,
			  uint32_t key, uint64_t match_info, void *context,
			  omx_request_t *request);

/*
 * Ends pending sends to the peer, and receives that have matched messages of it,
 * with MESSAGE_ABORTED.  The address and its copies become invalid.
 */
omx_return_t omx_disconnect(omx_endpoint_t ep, omx_endpoint_addr_t addr);

/* REMOTE_ENDPOINT_BAD_ID: not an address; REMOTE_ENDPOINT_BAD_SESSION: not valid any more. */
omx_return_t omx_decompose_endpoint_addr(omx_endpoint_addr_t addr, uint64_t *nic_id,
					 uint32_t *endpoint);
omx_return_t omx_decompose_endpoint_addr_with_session(omx_endpoint_addr_t addr,
						      uint64_t *nic_id,
						      uint32_t *endpoint,
						      uint32_t *session);

/* A pointer that the program keeps with the peer; initially NULL. */
omx_return_t omx_set_endpoint_addr_context(omx_endpoint_addr_t addr, void *context);
omx_return_t omx_get_endpoint_addr_context(omx_endpoint_addr_t addr, void **context);

/* ---- messages ------------------------------------------------------------------ */

/*
 * Each of these posts a request.  With request NULL, the completion of the
 * request is never reported, as after omx_forget.  The buffer must not be
 * changed (send) or accessed (receive) until the request is done or
 * omx_ibuffered says so; the array of segments may be reused at once.
 *
 * Messages between two endpoints match in the order in which they were sent.
 * A send is done when its buffer may be reused, that of omx_issend when the
 * receiver has matched and received the message.  Errors:
 * REMOTE_ENDPOINT_BAD_ID: not an address; REMOTE_ENDPOINT_BAD_SESSION: not valid
 * any more; SEGMENTS_BAD_COUNT; NO_SYSTEM_RESOURCES; MESSAGE_ABORTED: the buffer
 * cannot be read, and the receive that matches the message ends with
 * MESSAGE_ABORTED, too.
 */
omx_return_t omx_isend(omx_endpoint_t ep, void *buffer, size_t length,
		       omx_endpoint_addr_t dest, uint64_t match_info,
		       void *context, omx_request_t *request);
omx_return_t omx_issend(omx_endpoint_t ep, void *buffer, size_t length,
			omx_endpoint_addr_t dest, uint64_t match_info,
			void *context, omx_request_t *request);
omx_return_t omx_isendv(omx_endpoint_t ep, omx_seg_t *segs, uint32_t nseg,
			omx_endpoint_addr_t dest, uint64_t match_info,
			void *context, omx_request_t *request);
omx_return_t omx_issendv(omx_endpoint_t ep, omx_seg_t *segs, uint32_t nseg,
			 omx_endpoint_addr_t dest, uint64_t match_info,
			 void *context, omx_request_t *request);

/*
 * Receives the first message, arrived or to arrive, for which
 * (its match info & match_mask) == match_info.  Errors: BAD_MATCH_MASK;
 * BAD_MATCHING_FOR_CONTEXT_ID_MASK: match_mask leaves out context id bits.
 */
omx_return_t omx_irecv(omx_endpoint_t ep, void *buffer, size_t length,
		       uint64_t match_info, uint64_t match_mask,
		       void *context, omx_request_t *request);
omx_return_t omx_irecvv(omx_endpoint_t ep, omx_seg_t *segs, uint32_t nseg,
			uint64_t match_info, uint64_t match_mask,
			void *context, omx_request_t *request);

/*
 * This handler is called with each message that arrives when no receive matches
 * it.  It returns CONTINUE to have the message queued, or FINISHED to have it
 * discarded.  It may post requests, also a receive for this message; functions
 * that block, omx_close_endpoint and the like return NOT_SUPPORTED_IN_HANDLER.
 * It runs in whichever thread makes progress, which may be a thread of the
 * library; while it runs, nothing else is handled in the endpoint.
 *
 * data_if_available is NULL unless the library has the whole message, which can
 * only be so for messages of up to 4 KiB that are not synchronous; it is valid
 * until the handler returns.  msg_length is UINT32_MAX for messages that are longer.
 */
typedef enum omx_unexp_handler_action {
	OMX_UNEXP_HANDLER_RECV_CONTINUE	= 0,
	OMX_UNEXP_HANDLER_RECV_FINISHED	= 1
} omx_unexp_handler_action_t;

typedef omx_unexp_handler_action_t (*omx_unexp_handler_t)(void *context,
		omx_endpoint_addr_t source, uint64_t match_info,
		uint32_t msg_length, void *data_if_available);

/* handler NULL: none.  When it returns, the former handler is not running any more. */
omx_return_t omx_register_unexp_handler(omx_endpoint_t ep, omx_unexp_handler_t handler,
					void *context);

/* ---- completion ---------------------------------------------------------------- */

/*
 * *result 1: the request is done, *status is its status (status may be NULL),
 * and *request is freed and set to NULL.  *result 0: the request is not done.
 */
omx_return_t omx_test(omx_endpoint_t ep, omx_request_t *request,
		      omx_status_t *status, uint32_t *result);
omx_return_t omx_wait(omx_endpoint_t ep, omx_request_t *request,
		      omx_status_t *status, uint32_t *result, uint32_t timeout);

/*
 * The same for the request that completed first of those for which
 * (its match info & match_mask) == match_info, with any context id.
 */
omx_return_t omx_test_any(omx_endpoint_t ep, uint64_t match_info, uint64_t match_mask,
			  omx_status_t *status, uint32_t *result);
omx_return_t omx_wait_any(omx_endpoint_t ep, uint64_t match_info, uint64_t match_mask,
			  omx_status_t *status, uint32_t *result, uint32_t timeout);

/* Returns the request that completed first, which still has to be tested. */
omx_return_t omx_ipeek(omx_endpoint_t ep, omx_request_t *request, uint32_t *result);
omx_return_t omx_peek(omx_endpoint_t ep, omx_request_t *request, uint32_t *result,
		      uint32_t timeout);

/*
 * Finds the first unexpected message for which
 * (its match info & match_mask) == match_info.  It still has to be received.
 */
omx_return_t omx_iprobe(omx_endpoint_t ep, uint64_t match_info, uint64_t match_mask,
			omx_status_t *status, uint32_t *result);
omx_return_t omx_probe(omx_endpoint_t ep, uint64_t match_info, uint64_t match_mask,
		       omx_status_t *status, uint32_t *result, uint32_t timeout);

/*
 * May the buffer of this send, or put of omx.h, be reused?  BAD_REQUEST: the request
 * is neither.
 */
omx_return_t omx_ibuffered(omx_endpoint_t ep, omx_request_t *request, uint32_t *result);

/*
 * Cancels a receive that has not matched a message, or a connect to which no
 * peer has responded: *result 1, and *request is freed and set to NULL.
 * *result 0: it is too late.  BAD_REQUEST: the request is neither of them.
 */
omx_return_t omx_cancel(omx_endpoint_t ep, omx_request_t *request, uint32_t *result);

/* The same, but the request ends with status CANCELLED and still has to be tested. */
omx_return_t omx_cancel_notest(omx_endpoint_t ep, omx_request_t *request, uint32_t *result);

/* The completion of the request will not be reported; *request is set to NULL. */
omx_return_t omx_forget(omx_endpoint_t ep, omx_request_t *request);

/* The context given when the request was posted. */
omx_return_t omx_context(omx_request_t *request, void **context);

/*
 * Ends the request with status TIMEOUT if it is not done in `milliseconds` from
 * now.  A receive that has matched a message, and a get of omx.h whose bytes are on
 * their way, do not time out, since the driver has a timeout of its own for them.
 * INFINITE removes the timeout.
 *
 * With request NULL, sets the driver's timeout for later requests, which end with
 * REMOTE_ENDPOINT_UNREACHABLE when their peer is silent for that long; initially
 * 60 s or OMX_TIMEOUT_MS of the environment.
 */
omx_return_t omx_set_request_timeout(omx_endpoint_t ep, omx_request_t request,
				     uint32_t milliseconds);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#ifdef __cplusplus
}
#endif

#endif
