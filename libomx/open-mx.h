/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Message passing over plain Ethernet: the interface of Open-MX.
 *
 * Rules for all calls, unless one says otherwise:
 *
 *  - They return OMX_SUCCESS or the reason of the failure, after the error
 *    handler of the endpoint has seen it (the handler's value is returned;
 *    the default handler returns what it is given).  How a *message* fared
 *    is in the status of its request and never goes to the handler.
 *  - Outputs are written only on success.
 *  - They do not block, except those that take a timeout (milliseconds;
 *    OMX_TIMEOUT_INFINITE: for ever; a timeout that expires is no error:
 *    OMX_SUCCESS with *result 0), omx_open_endpoint and omx_close_endpoint.
 *    Signals do not interrupt a blocked call.
 *  - Any thread may call anything at any time.  Closing an endpoint makes
 *    the calls blocked in it return OMX_BAD_ENDPOINT.
 *  - Lengths are bytes and 64-bit: there is no limit to a message's length.
 *  - A child made by fork() has no endpoints: its calls return
 *    OMX_BAD_ENDPOINT or OMX_NOT_INITIALIZED until it calls omx_init itself.
 *
 * Progress does not depend on the program calling in: the driver does the
 * transport, and a thread of the library matches large messages while the
 * program computes (environment OMX_PROGRESS_THREAD=0: it does not).
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

/* An endpoint of this process; a request pending or done in it. */
typedef struct omx__endpoint *omx_endpoint_t;
typedef struct omx__request *omx_request_t;

/*
 * Where messages go to and come from: opaque, copied by value, good for the
 * endpoint that it was obtained from.  It stays good until omx_disconnect.
 * Two addresses of one peer's endpoint are equal, byte for byte, until the
 * peer is lost.
 */
typedef struct omx_endpoint_addr {
	uint64_t opaque[2];
} omx_endpoint_addr_t;

typedef enum omx_return {
	OMX_SUCCESS			= 0,
	OMX_BAD_ERROR			= 1,	/* none of the others */
	OMX_ALREADY_INITIALIZED		= 3,
	OMX_NOT_INITIALIZED		= 4,
	OMX_NO_DEVICE_FILE		= 5,	/* /dev/omx does not exist */
	OMX_NO_DRIVER			= 6,	/* it exists, but no driver is behind it */
	OMX_ACCESS_DENIED		= 7,
	OMX_BOARD_NOT_FOUND		= 8,	/* no such interface, or it was removed */
	OMX_BAD_ENDPOINT		= 9,	/* not an open endpoint */
	OMX_SEGMENTS_BAD_COUNT		= 12,
	OMX_BAD_REQUEST			= 13,	/* not a request for which this can be asked */
	OMX_BAD_MATCH_MASK		= 14,	/* match_info has bits outside of match_mask */
	OMX_NO_RESOURCES		= 15,
	OMX_BUSY			= 20,	/* the endpoint is open, the region in use */
	OMX_BAD_INFO_KEY		= 21,
	OMX_BAD_INFO_ADDRESS		= 22,
	OMX_ENDPOINT_PARAMS_BAD_LIST	= 24,
	OMX_ENDPOINT_PARAM_BAD_KEY	= 25,
	OMX_ENDPOINT_PARAM_BAD_VALUE	= 26,
	OMX_PEER_NOT_FOUND		= 28,	/* no peer has this name or address */
	OMX_TIMEOUT			= 30,	/* the time that the program had set is over */
	OMX_REMOTE_ENDPOINT_BAD_ID	= 32,	/* no such endpoint there, or not an address */
	OMX_REMOTE_ENDPOINT_CLOSED	= 33,
	OMX_REMOTE_ENDPOINT_BAD_CONNECTION_KEY = 34,
	OMX_BAD_INFO_LENGTH		= 35,
	OMX_NIC_ID_NOT_FOUND		= 36,	/* no board of this host has this address */
	OMX_BAD_KERNEL_ABI		= 37,	/* no ABI version in common with the driver */
	OMX_BAD_LIB_ABI			= 38,	/* the program was built for another library */
	OMX_BAD_MATCHING_FOR_CONTEXT_ID_MASK = 42, /* a receive must name its context id */
	OMX_CANCELLED			= 90,
	OMX_REMOTE_RDMA_WINDOW_BAD_ID	= 91,
	OMX_REMOTE_ENDPOINT_UNREACHABLE	= 92,	/* silent for longer than the driver waits */
	OMX_REMOTE_ENDPOINT_BAD_SESSION	= 93,	/* the address is of an endpoint that is gone */
	OMX_MESSAGE_ABORTED		= 94,	/* disconnected, or memory could not be accessed */
	OMX_MESSAGE_TRUNCATED		= 95,	/* longer than the receiver's buffer */
	OMX_NOT_SUPPORTED_IN_HANDLER	= 96,
	OMX_NO_SYSTEM_RESOURCES		= 97,	/* memory, files, threads */
	OMX_NOT_IMPLEMENTED		= 99,
	OMX_RETURN_CODE_MAX		= 100
} omx_return_t;

/* How a request ended. */
typedef struct omx_status_s {
	omx_return_t code;
	omx_endpoint_addr_t addr;	/* of the sender (receive), receiver (send), peer (connect) */
	uint64_t match_info;		/* of the message; of a connect as it was given */
	uint64_t msg_length;		/* as sent */
	uint64_t xfer_length;		/* as transferred: shorter when truncated */
	void *context;			/* of the request */
} omx_status_t;

typedef void *omx_seg_ptr_t;

typedef struct omx_seg {
	omx_seg_ptr_t ptr;
	size_t len;
} omx_seg_t;

/* ---- the library ---------------------------------------------------------- */

/*
 * Opens the driver.  Once per process before anything else:
 * ALREADY_INITIALIZED the second time.  NO_DEVICE_FILE, NO_DRIVER,
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
 * Called with each error that a call is about to return; what it returns is
 * what the call returns.  It is called without locks and may call the library.
 */
typedef omx_return_t (*omx_error_handler_t)(char *str, omx_return_t ret);

omx_return_t omx__errors_are_fatal(char *str, omx_return_t ret);
omx_return_t omx__errors_return(char *str, omx_return_t ret);

#define OMX_ERRORS_ARE_FATAL	omx__errors_are_fatal	/* prints str and exits */
#define OMX_ERRORS_RETURN	omx__errors_return	/* the default */

/*
 * For one endpoint, or (NULL) for endpoints without one of their own and
 * calls that have no endpoint.  Returns the handler that was in force before.
 */
omx_error_handler_t omx_set_error_handler(omx_endpoint_t ep, omx_error_handler_t handler);

/* ---- boards and peers ------------------------------------------------------ */

/*
 * A board is an Ethernet interface of this host, numbered from 0 with gaps;
 * its "nic id" is its MAC address: aa:bb:cc:dd:ee:ff is 0xaabbccddeeff.
 * BOARD_NOT_FOUND; NIC_ID_NOT_FOUND.
 */
omx_return_t omx_board_number_to_nic_id(uint32_t board, uint64_t *nic_id);
omx_return_t omx_nic_id_to_board_number(uint64_t nic_id, uint32_t *board);

/*
 * Peers are known by names like "node1:0" (OMX_HOSTNAMELEN_MAX bytes at
 * hostname), as discovered by the driver.  PEER_NOT_FOUND.
 */
omx_return_t omx_hostname_to_nic_id(char *hostname, uint64_t *nic_id);
omx_return_t omx_nic_id_to_hostname(uint64_t nic_id, char *hostname);

/* What omx_get_info tells, in which type. */
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
 * Keys about a board mean the endpoint's, or with ep NULL the one whose
 * uint8_t (or uint32_t) number is at in_val.  Names are cut to out_len.
 * BAD_INFO_KEY; BAD_INFO_ADDRESS: in_val or out_val is missing;
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
		 * Memory for messages that no receive has asked for yet.  When
		 * it is used up senders only announce theirs, and a send is
		 * done when its message has been received; what matches posted
		 * receives still arrives.
		 */
		uint64_t unexp_queue_max;
		/*
		 * `bits` bits of the match info from bit `shift` on are the
		 * context id: messages with different ones never meet in a
		 * queue.  0 bits: no context ids.
		 */
		struct {
			uint8_t bits;	/* at most OMX_ENDPOINT_CONTEXT_ID_BITS_MAX */
			uint8_t shift;
		} context_id;
		uint32_t memory_mode;	/* omx_memory_mode_t of omx.h */
	} val;
} omx_endpoint_param_t;

/*
 * Opens an endpoint of a board, either may be ANY.  Peers must name the same
 * key to connect.  *ep is NULL if it fails, which every call that needs an
 * endpoint refuses with BAD_ENDPOINT.  BOARD_NOT_FOUND, BUSY, BAD_ENDPOINT (number too large),
 * ENDPOINT_PARAM..., NO_SYSTEM_RESOURCES.
 */
omx_return_t omx_open_endpoint(uint32_t board, uint32_t endpoint, uint32_t key,
			       omx_endpoint_param_t *params, uint32_t count,
			       omx_endpoint_t *ep);

/*
 * Frees the endpoint with all its requests; buffers of pending ones are not
 * touched any more when it returns.  Waits until other threads have left
 * their calls.  NOT_SUPPORTED_IN_HANDLER.
 */
omx_return_t omx_close_endpoint(omx_endpoint_t ep);

/*
 * The endpoint's own address: for omx_decompose_endpoint_addr, and for
 * messages to itself.
 */
omx_return_t omx_get_endpoint_addr(omx_endpoint_t ep, omx_endpoint_addr_t *addr);

/* Makes every call blocked in the endpoint return, with *result 0. */
omx_return_t omx_wakeup(omx_endpoint_t ep);

/* Handles what has arrived. */
omx_return_t omx_progress(omx_endpoint_t ep);

/*
 * Between the two nothing is taken from the network and the unexpected
 * handler does not run: on return of the first it is not running any more.
 * They do not nest.  NOT_SUPPORTED_IN_HANDLER.
 */
omx_return_t omx_disable_progression(omx_endpoint_t ep);
omx_return_t omx_reenable_progression(omx_endpoint_t ep);

/* ---- connections --------------------------------------------------------------- */

/*
 * Finds the endpoint of a peer (or of this host) and returns its address.
 * Blocks; TIMEOUT if nobody answers in time, which is also what an address
 * says that nobody has.  PEER_NOT_FOUND: no nic can have it;
 * REMOTE_ENDPOINT_BAD_ID, REMOTE_ENDPOINT_BAD_CONNECTION_KEY.
 * Not needed to answer the sender of a message: see omx_status_t.
 */
omx_return_t omx_connect(omx_endpoint_t ep, uint64_t nic_id, uint32_t endpoint,
			 uint32_t key, uint32_t timeout, omx_endpoint_addr_t *addr);

/* The same as a request: the address is in its status. */
omx_return_t omx_iconnect(omx_endpoint_t ep, uint64_t nic_id, uint32_t endpoint,
			  uint32_t key, uint64_t match_info, void *context,
			  omx_request_t *request);

/*
 * Pending sends to the peer and receives that were being filled by it end
 * with MESSAGE_ABORTED; the address and copies of it become invalid.
 */
omx_return_t omx_disconnect(omx_endpoint_t ep, omx_endpoint_addr_t addr);

/* REMOTE_ENDPOINT_BAD_ID: not an address; REMOTE_ENDPOINT_BAD_SESSION: not valid any more. */
omx_return_t omx_decompose_endpoint_addr(omx_endpoint_addr_t addr, uint64_t *nic_id,
					 uint32_t *endpoint);
omx_return_t omx_decompose_endpoint_addr_with_session(omx_endpoint_addr_t addr,
						      uint64_t *nic_id,
						      uint32_t *endpoint,
						      uint32_t *session);

/* A pointer of the program's kept with the peer; NULL at first. */
omx_return_t omx_set_endpoint_addr_context(omx_endpoint_addr_t addr, void *context);
omx_return_t omx_get_endpoint_addr_context(omx_endpoint_addr_t addr, void **context);

/* ---- messages ------------------------------------------------------------------ */

/*
 * All of these post a request.  With request NULL its end is never reported
 * (as after omx_forget).  The buffer must not be changed (send) or used
 * (receive) until the request is done or omx_ibuffered says so; the array of
 * segments may be reused at once.
 *
 * Messages between two endpoints match in the order in which they were sent.
 * A send is done when its buffer may be reused; omx_issend's when the
 * receiver has matched and taken the message.  REMOTE_ENDPOINT_BAD_ID: not
 * an address; REMOTE_ENDPOINT_BAD_SESSION: not valid any more;
 * SEGMENTS_BAD_COUNT; NO_SYSTEM_RESOURCES; MESSAGE_ABORTED: the buffer cannot
 * be read, and the receive that matches the message ends with the same.
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
 * Takes the first message, come or to come, with
 * (its match info & match_mask) == match_info.  BAD_MATCH_MASK;
 * BAD_MATCHING_FOR_CONTEXT_ID_MASK: match_mask leaves out context id bits.
 */
omx_return_t omx_irecv(omx_endpoint_t ep, void *buffer, size_t length,
		       uint64_t match_info, uint64_t match_mask,
		       void *context, omx_request_t *request);
omx_return_t omx_irecvv(omx_endpoint_t ep, omx_seg_t *segs, uint32_t nseg,
			uint64_t match_info, uint64_t match_mask,
			void *context, omx_request_t *request);

/*
 * A message that no receive matches is first shown to this handler, which
 * says whether to queue it (CONTINUE) or that it needs it no more (FINISHED).
 * It may post requests, a receive for this very message included; calls that
 * block, omx_close_endpoint and the like give NOT_SUPPORTED_IN_HANDLER.
 * Nothing else is handled in the endpoint while it runs, in whichever thread
 * makes progress, the library's own included.  data_if_available is NULL
 * unless the whole message (up to 4 KiB) is at hand, which a synchronous one
 * never is; it is valid until the handler returns.  msg_length is UINT32_MAX for longer ones.
 */
typedef enum omx_unexp_handler_action {
	OMX_UNEXP_HANDLER_RECV_CONTINUE	= 0,
	OMX_UNEXP_HANDLER_RECV_FINISHED	= 1
} omx_unexp_handler_action_t;

typedef omx_unexp_handler_action_t (*omx_unexp_handler_t)(void *context,
		omx_endpoint_addr_t source, uint64_t match_info,
		uint32_t msg_length, void *data_if_available);

/* NULL: none.  When it returns the former handler is not running any more. */
omx_return_t omx_register_unexp_handler(omx_endpoint_t ep, omx_unexp_handler_t handler,
					void *context);

/* ---- completion ---------------------------------------------------------------- */

/*
 * *result 1: the request is done, its status is filled (status may be NULL)
 * and *request is freed and set to NULL.  *result 0: it is not.
 */
omx_return_t omx_test(omx_endpoint_t ep, omx_request_t *request,
		      omx_status_t *status, uint32_t *result);
omx_return_t omx_wait(omx_endpoint_t ep, omx_request_t *request,
		      omx_status_t *status, uint32_t *result, uint32_t timeout);

/*
 * The same for the first request done with
 * (its match info & match_mask) == match_info, of whatever context id.
 */
omx_return_t omx_test_any(omx_endpoint_t ep, uint64_t match_info, uint64_t match_mask,
			  omx_status_t *status, uint32_t *result);
omx_return_t omx_wait_any(omx_endpoint_t ep, uint64_t match_info, uint64_t match_mask,
			  omx_status_t *status, uint32_t *result, uint32_t timeout);

/* The request that was done first; it remains to be tested. */
omx_return_t omx_ipeek(omx_endpoint_t ep, omx_request_t *request, uint32_t *result);
omx_return_t omx_peek(omx_endpoint_t ep, omx_request_t *request, uint32_t *result,
		      uint32_t timeout);

/*
 * The first message with (its match info & match_mask) == match_info that no
 * receive has asked for; it remains to be received.
 */
omx_return_t omx_iprobe(omx_endpoint_t ep, uint64_t match_info, uint64_t match_mask,
			omx_status_t *status, uint32_t *result);
omx_return_t omx_probe(omx_endpoint_t ep, uint64_t match_info, uint64_t match_mask,
		       omx_status_t *status, uint32_t *result, uint32_t timeout);

/* May the buffer of this send be reused?  BAD_REQUEST for others. */
omx_return_t omx_ibuffered(omx_endpoint_t ep, omx_request_t *request, uint32_t *result);

/*
 * Takes back a receive that has not matched or a connect that has not been
 * answered: *result 1, and *request is freed and set to NULL.  *result 0: too
 * late.  BAD_REQUEST for sends.
 */
omx_return_t omx_cancel(omx_endpoint_t ep, omx_request_t *request, uint32_t *result);

/* The same, but the request is done with status CANCELLED and remains to be tested. */
omx_return_t omx_cancel_notest(omx_endpoint_t ep, omx_request_t *request, uint32_t *result);

/* The request's end will not be reported; *request is set to NULL. */
omx_return_t omx_forget(omx_endpoint_t ep, omx_request_t *request);

/* The context given when the request was posted. */
omx_return_t omx_context(omx_request_t *request, void **context);

/*
 * A request that is not done `milliseconds` from now is done with status
 * TIMEOUT: sends, connects, and receives that have not matched (one that has
 * is left to the driver).  INFINITE takes that back.  With request NULL: the
 * time for which the driver lets a peer of later requests be silent before
 * they end with REMOTE_ENDPOINT_UNREACHABLE (at first 60 s or the
 * environment's OMX_TIMEOUT_MS).
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
