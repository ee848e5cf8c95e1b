/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Functions of omx that the interface of Open-MX lacks.
 *
 * The rules of open-mx.h apply: any thread may call any function at any time,
 * none blocks unless its comment says so, lengths are in bytes.
 */
#ifndef OMX_H
#define OMX_H

#include <open-mx.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif

/* The release of the library, "0.1.0". */
const char *omx_version(void);

/*
 * Returns a descriptor that poll() reports readable when omx_progress has events
 * to handle.  Use it for poll() and the like only, while the endpoint is open.
 */
omx_return_t omx_get_endpoint_fd(omx_endpoint_t ep, int *fd);

/*
 * omx_ibuffered that blocks: *result 1 when the buffer of this send may be
 * reused, 0 when the timeout has expired or omx_wakeup was called.  BAD_REQUEST:
 * the request is neither a send nor a put.
 */
omx_return_t omx_buffered(omx_endpoint_t ep, omx_request_t *request, uint32_t *result,
			  uint32_t timeout);

/*
 * Has this request completed?  Neither makes progress nor takes a lock, so it costs next
 * to nothing after a call that may have completed its request, such as omx_irecv if the
 * message has arrived before.  The request still has to be tested.  BAD_REQUEST.
 */
omx_return_t omx_completed(omx_request_t *request, uint32_t *result);

/* ---- matched probe --------------------------------------------------------
 *
 * Between omx_iprobe and a receive, another thread may receive the message.
 * omx_improbe removes the message from matching, so that only the caller can
 * receive it (as with MPI_Mprobe and MPI_Mrecv).
 */

/* A message that was removed from matching.  It occupies memory until it is received. */
typedef struct omx__message *omx_message_t;

/*
 * Removes the first unexpected message for which
 * (its match info & match_mask) == match_info: *result 1, *message is its handle,
 * and *status (status may be NULL) has its length, match info and sender.
 * *result 0: there is none.  Errors: BAD_ENDPOINT, BAD_MATCH_MASK.
 */
omx_return_t omx_improbe(omx_endpoint_t ep, uint64_t match_info, uint64_t match_mask,
			 omx_message_t *message, omx_status_t *status, uint32_t *result);

/*
 * Receives the message and sets *message to NULL; on failure both remain.  If
 * the sender is gone, the status of the request says so.  Errors: BAD_ENDPOINT;
 * BAD_REQUEST: the handle is not or no longer valid; SEGMENTS_BAD_COUNT,
 * NO_SYSTEM_RESOURCES.
 */
omx_return_t omx_imrecv(omx_endpoint_t ep, void *buffer, size_t length,
			omx_message_t *message, void *context, omx_request_t *request);
omx_return_t omx_imrecvv(omx_endpoint_t ep, omx_seg_t *segs, uint32_t nseg,
			 omx_message_t *message, void *context, omx_request_t *request);

/* ---- memory ---------------------------------------------------------------
 *
 * How the driver accesses the buffers of large messages.  Whatever the mode, the
 * program may unmap, move or change its memory between two communications
 * without telling the library.
 */
typedef enum omx_memory_mode {
	OMX_MEMORY_AUTO,	/* the default: the same as UNPINNED */
	OMX_MEMORY_UNPINNED,	/* paged in when needed, without RLIMIT_MEMLOCK [Psistakis22] */
	OMX_MEMORY_OVERLAP,	/* pinned while the first frames travel [Goglin09] */
	OMX_MEMORY_PIN,		/* pinned before the first frame leaves [Goglin09] */
	OMX_MEMORY_PERMANENT,	/* pinned when declared */
	OMX_MEMORY_DEVICE	/* UNPINNED; a copy engine reads and stores the bytes */
} omx_memory_mode_t;

/*
 * The mode of requests that are posted from now on.  Initially it is the endpoint
 * parameter OMX_ENDPOINT_PARAM_MEMORY or else OMX_MEMORY of the environment (auto,
 * unpinned, overlap, pin, permanent, device).  Errors: BAD_ENDPOINT,
 * ENDPOINT_PARAM_BAD_VALUE.
 */
omx_return_t omx_set_memory_mode(omx_endpoint_t ep, omx_memory_mode_t mode);
omx_return_t omx_get_memory_mode(omx_endpoint_t ep, omx_memory_mode_t *mode);

/*
 * omx_isend, omx_issend and omx_irecv with a mode for this one message.
 * Blocking transfers gain from overlapped pinning; transfers that the program
 * overlaps with computation may not.  With pin and overlap, pages are pinned in
 * the call that sends, or in the call that finds the message for a receive.
 */
omx_return_t omx_isend_mode(omx_endpoint_t ep, void *buffer, size_t length,
			    omx_endpoint_addr_t dest, uint64_t match_info,
			    omx_memory_mode_t mode, void *context, omx_request_t *request);
omx_return_t omx_issend_mode(omx_endpoint_t ep, void *buffer, size_t length,
			     omx_endpoint_addr_t dest, uint64_t match_info,
			     omx_memory_mode_t mode, void *context, omx_request_t *request);
omx_return_t omx_irecv_mode(omx_endpoint_t ep, void *buffer, size_t length,
			    uint64_t match_info, uint64_t match_mask,
			    omx_memory_mode_t mode, void *context, omx_request_t *request);

/*
 * Memory that is declared once and communicated many times.  Declaring accesses
 * no page, except that OMX_MEMORY_PERMANENT pins all pages; memory that is not
 * mapped can be declared, and a request that uses it fails.  No program needs
 * regions for correctness nor, with unpinned memory, for speed.
 */
typedef struct omx__region *omx_region_t;

/*
 * access: OMX_REGION_SEND, OMX_REGION_RECV or both.
 * Errors: BAD_ENDPOINT, SEGMENTS_BAD_COUNT, ENDPOINT_PARAM_BAD_VALUE (access or
 * mode), NO_SYSTEM_RESOURCES (also if permanent pinning exceeds RLIMIT_MEMLOCK).
 */
#define OMX_REGION_SEND		0x1
#define OMX_REGION_RECV		0x2
omx_return_t omx_region_declare(omx_endpoint_t ep, omx_seg_t *segs, uint32_t nseg,
				uint32_t access, omx_memory_mode_t mode,
				omx_region_t *region);
/* BUSY: a request that uses the region has not ended, or it has a window. */
omx_return_t omx_region_release(omx_endpoint_t ep, omx_region_t region);
/*
 * Send the first `length` bytes of the region, or receive into them.  Short
 * messages are copied as always.  The region cannot be released before the
 * request ends.  Errors: BAD_REQUEST: not a region of this endpoint, or not
 * declared for this access; SEGMENTS_BAD_COUNT: longer than the region.
 */
omx_return_t omx_region_isend(omx_endpoint_t ep, omx_region_t region, size_t length,
			      omx_endpoint_addr_t dest, uint64_t match_info,
			      void *context, omx_request_t *request);
omx_return_t omx_region_irecv(omx_endpoint_t ep, omx_region_t region, size_t length,
			      uint64_t match_info, uint64_t match_mask,
			      void *context, omx_request_t *request);

/*
 * Pages in memory that will be sent (OMX_PREFETCH_SEND), received into (_RECV),
 * or both; with OMX_PREFETCH_WAIT blocks until all of it is resident.  A hint:
 * pages that the kernel reclaims again are paged in when needed.  Errors:
 * BAD_ENDPOINT, ENDPOINT_PARAM_BAD_VALUE (flags), BAD_ERROR (only with WAIT: the
 * memory is not mapped, or not with that right), NO_SYSTEM_RESOURCES.
 */
#define OMX_PREFETCH_SEND	0x1
#define OMX_PREFETCH_RECV	0x2
#define OMX_PREFETCH_WAIT	0x4
omx_return_t omx_prefetch(omx_endpoint_t ep, void *address, size_t length, uint32_t flags);

/* ---- one-sided communication ----------------------------------------------
 *
 * A window is memory that peers access without the help of the program that owns
 * it, not even of a thread of its library: the driver performs the access.  The
 * key of a window names it to them and is all that they need; the owner sends it
 * to them, in a message for instance.  It cannot be guessed.  docs/ONE-SIDED.md
 * describes order, atomicity, completion and failure.
 *
 * A request of an access ends when the access has been performed at the target,
 * or with one of the status codes OMX_REMOTE_RDMA_WINDOW_BAD_ID (wrong or revoked
 * key, or a key for other peers), OMX_MESSAGE_ABORTED (out of range, not
 * aligned, not permitted, memory that cannot be accessed, or disconnected),
 * OMX_REMOTE_ENDPOINT_UNREACHABLE and _CLOSED.  A get or atomic whose status is not
 * SUCCESS leaves the result undefined, a put the target's memory.  Lengths in the
 * status are those of the access; its match info is 0.  Accesses cannot be
 * cancelled, unless they are conditional.  Errors of all these functions:
 * NOT_IMPLEMENTED: the driver is older than the library.
 */

/* 16 bytes that may be sent to peers as they are. */
typedef struct omx_window_key {
	uint64_t opaque[2];
} omx_key_t;

typedef struct omx__window *omx_window_t;

#define OMX_WINDOW_RIGHT_GET	0x1
#define OMX_WINDOW_RIGHT_PUT	0x2
#define OMX_WINDOW_RIGHT_ATOMIC	0x4
/*
 * Besides at least one of the above: pages of the window may become active, see below.
 * The buffers of puts to such a window may be reused when the puts have been performed,
 * not before.
 */
#define OMX_WINDOW_RIGHT_ACTIVE	0x8

/*
 * Exports `length` bytes from the address on, mapped or not; NULL and
 * OMX_WINDOW_ALL: the whole address space, offsets being addresses.  `peer` NULL:
 * every peer that has the key may use it.  Errors: BAD_ENDPOINT,
 * ENDPOINT_PARAM_BAD_VALUE (rights), SEGMENTS_BAD_COUNT (range, or no byte),
 * NO_SYSTEM_RESOURCES, and for the peer REMOTE_ENDPOINT_BAD_ID, _BAD_SESSION or why
 * it is gone.  If `peer` is the endpoint's own address and it has not communicated
 * with itself yet, the call blocks until it has connected.
 */
#define OMX_WINDOW_ALL		((size_t) -1)
omx_return_t omx_window_create(omx_endpoint_t ep, void *address, size_t length,
			       uint32_t rights, const omx_endpoint_addr_t *peer,
			       omx_window_t *window);
/*
 * The same with `length` bytes at `offset` of a declared region, which cannot be
 * released before the window is destroyed.  BAD_REQUEST: not a region of this
 * endpoint, or not declared for what the rights permit (GET: OMX_REGION_SEND, PUT:
 * OMX_REGION_RECV, ATOMIC: both).
 */
omx_return_t omx_window_of_region(omx_endpoint_t ep, omx_region_t region, size_t offset,
				  size_t length, uint32_t rights,
				  const omx_endpoint_addr_t *peer, omx_window_t *window);
/* BAD_REQUEST: not a window of this endpoint. */
omx_return_t omx_window_key(omx_endpoint_t ep, omx_window_t window, omx_key_t *key);
/*
 * Revokes the key.  Blocks until no access uses the memory any more; later ones
 * fail at their initiator.  BAD_REQUEST as above.  Windows of an endpoint end with
 * the endpoint.
 */
omx_return_t omx_window_destroy(omx_endpoint_t ep, omx_window_t window);

/*
 * Write to the window, or read from it, at `offset` bytes from its start.  The
 * buffer of a put may be reused when omx_ibuffered says so.  Any length.  Errors:
 * BAD_ENDPOINT, REMOTE_ENDPOINT_BAD_ID, REMOTE_ENDPOINT_BAD_SESSION,
 * SEGMENTS_BAD_COUNT, NO_SYSTEM_RESOURCES, MESSAGE_ABORTED (the buffer cannot be
 * read).
 */
omx_return_t omx_iput(omx_endpoint_t ep, const void *buffer, size_t length,
		      omx_endpoint_addr_t dest, omx_key_t key, uint64_t offset,
		      void *context, omx_request_t *request);
omx_return_t omx_iputv(omx_endpoint_t ep, omx_seg_t *segs, uint32_t nseg,
		       omx_endpoint_addr_t dest, omx_key_t key, uint64_t offset,
		       void *context, omx_request_t *request);
omx_return_t omx_iget(omx_endpoint_t ep, void *buffer, size_t length,
		      omx_endpoint_addr_t dest, omx_key_t key, uint64_t offset,
		      void *context, omx_request_t *request);
omx_return_t omx_igetv(omx_endpoint_t ep, omx_seg_t *segs, uint32_t nseg,
		       omx_endpoint_addr_t dest, omx_key_t key, uint64_t offset,
		       void *context, omx_request_t *request);

/* omx_iput, and the target's program is told when the bytes are in place. */
omx_return_t omx_iput_event(omx_endpoint_t ep, const void *buffer, size_t length,
			    omx_endpoint_addr_t dest, omx_key_t key, uint64_t offset,
			    uint64_t immediate, void *context, omx_request_t *request);

typedef struct omx_put_event {
	omx_endpoint_addr_t addr;	/* of the initiator */
	uint64_t immediate;
	uint64_t length;
	omx_window_t window;		/* NULL: destroyed meanwhile */
} omx_put_event_t;

/*
 * Takes the oldest event: *result 1, or 0 if there is none.  Events that are not
 * taken occupy memory.
 */
omx_return_t omx_ipoll_put(omx_endpoint_t ep, omx_put_event_t *event, uint32_t *result);

/*
 * Conditional accesses [Ou06].  They are posted before it is known where they go: the
 * driver keeps them until the peer posts a key with the same tag, and performs them
 * then as omx_iput, omx_iputv, omx_iput_event, omx_iget and omx_igetv, at the place that
 * the key names.  The initiator's program takes no part in that.  Access and key may come
 * in either order; of several accesses with one tag each key fires the one that was posted
 * first.
 *
 * omx_cancel cancels an access that has not fired.  After `timeout` milliseconds
 * without a key it ends with status TIMEOUT; OMX_TIMEOUT_INFINITE: it waits until the
 * peer is gone.  An access that is longer than the key permits ends with
 * MESSAGE_ABORTED, and the key is used up.  omx_flush does not wait for conditional
 * accesses.  Errors: as omx_iput; NO_SYSTEM_RESOURCES, also as the status: 256
 * conditional accesses to this peer have not ended.
 */
omx_return_t omx_iput_when(omx_endpoint_t ep, const void *buffer, size_t length,
			   omx_endpoint_addr_t dest, uint64_t tag, uint32_t timeout,
			   void *context, omx_request_t *request);
omx_return_t omx_iputv_when(omx_endpoint_t ep, omx_seg_t *segs, uint32_t nseg,
			    omx_endpoint_addr_t dest, uint64_t tag, uint32_t timeout,
			    void *context, omx_request_t *request);
omx_return_t omx_iput_event_when(omx_endpoint_t ep, const void *buffer, size_t length,
				 omx_endpoint_addr_t dest, uint64_t tag, uint64_t immediate,
				 uint32_t timeout, void *context, omx_request_t *request);
omx_return_t omx_iget_when(omx_endpoint_t ep, void *buffer, size_t length,
			   omx_endpoint_addr_t dest, uint64_t tag, uint32_t timeout,
			   void *context, omx_request_t *request);
omx_return_t omx_igetv_when(omx_endpoint_t ep, omx_seg_t *segs, uint32_t nseg,
			    omx_endpoint_addr_t dest, uint64_t tag, uint32_t timeout,
			    void *context, omx_request_t *request);

/*
 * Fires a conditional access of the peer `dest`, which may access `length` bytes at
 * `offset` of the window.  If there is none with this tag yet, the peer's driver keeps
 * the key.  The request ends when that driver has the key, not when the access has been
 * performed; status NO_SYSTEM_RESOURCES: it keeps 256 keys of this endpoint already.
 * Errors: as omx_iput; BAD_REQUEST: not a window of this endpoint.
 */
omx_return_t omx_post_key(omx_endpoint_t ep, omx_endpoint_addr_t dest, uint64_t tag,
			  omx_window_t window, uint64_t offset, uint64_t length,
			  void *context, omx_request_t *request);

/*
 * Changes the word of `size` (4 or 8) bytes at `offset`, and stores what it was
 * before at `before`, of the same size, unless that is NULL.  Atomic with respect
 * to all other atomic accesses and to the atomic instructions of the owner's
 * program.  `compare` is for COMPARE_SWAP.  The address of the word and `offset`
 * must be multiples of its size.  Errors: as omx_iput; ENDPOINT_PARAM_BAD_VALUE (operation
 * or size).
 */
typedef enum omx_atomic {
	OMX_ATOMIC_ADD, OMX_ATOMIC_AND, OMX_ATOMIC_OR, OMX_ATOMIC_XOR, OMX_ATOMIC_SWAP,
	OMX_ATOMIC_MIN, OMX_ATOMIC_MAX,		/* signed */
	OMX_ATOMIC_UMIN, OMX_ATOMIC_UMAX,	/* unsigned */
	OMX_ATOMIC_COMPARE_SWAP
} omx_atomic_t;
omx_return_t omx_iatomic(omx_endpoint_t ep, omx_atomic_t operation, uint32_t size,
			 omx_endpoint_addr_t dest, omx_key_t key, uint64_t offset,
			 uint64_t operand, uint64_t compare, void *before,
			 void *context, omx_request_t *request);

/*
 * Block until all accesses that this endpoint has posted, to one peer or to all,
 * have been performed or have failed: *result 1, or 0 if the timeout has expired or
 * omx_wakeup was called.  Failures are in the status of the requests.  Errors:
 * BAD_ENDPOINT, REMOTE_ENDPOINT_BAD_ID, REMOTE_ENDPOINT_BAD_SESSION,
 * NOT_SUPPORTED_IN_HANDLER.
 */
omx_return_t omx_flush(omx_endpoint_t ep, omx_endpoint_addr_t dest, uint32_t *result,
		       uint32_t timeout);
omx_return_t omx_flush_all(omx_endpoint_t ep, uint32_t *result, uint32_t timeout);

/* ---- active access --------------------------------------------------------
 *
 * Accesses of peers to active pages of a window are entered in a log of the program
 * that owns the window, which consumes the entries: it polls, waits, or has a thread
 * of the library call a function for each of them [Besta15].
 *
 * An access that finds no room in its log is not performed.  The initiator's library
 * posts it again, after 1 ms at first and 100 ms later, until it is performed, its
 * timeout expires or the peer is gone.  Other accesses pass it meanwhile.
 */
typedef struct omx__log *omx_log_t;

/* Flags of pages.  Pages that are not active are OMX_ACTIVE_W | OMX_ACTIVE_R. */
#define OMX_ACTIVE_W	0x01	/* puts and atomics write the page */
#define OMX_ACTIVE_WL	0x02	/* puts are logged ... */
#define OMX_ACTIVE_WLD	0x04	/* ... with their data */
#define OMX_ACTIVE_R	0x08	/* gets and atomics read the page */
#define OMX_ACTIVE_RL	0x10	/* gets are logged ... */
#define OMX_ACTIVE_RLD	0x20	/* ... with their data */
#define OMX_ACTIVE_E	0x40	/* in the program's log; without it they are only counted */

#define OMX_ACTIVE_PAGE_SIZE	4096

/*
 * A log of at least `size` bytes, at most 16 MiB; 0: 1 MiB.  An access is refused with
 * OMX_NO_SYSTEM_RESOURCES if its entry takes more than half of the log.  Errors:
 * BAD_ENDPOINT, ENDPOINT_PARAM_BAD_VALUE (size), NO_SYSTEM_RESOURCES (also with more
 * than 64 logs).
 */
omx_return_t omx_log_create(omx_endpoint_t ep, size_t size, omx_log_t *log);
/*
 * Entries that have not been consumed are lost.  Blocks while a handler runs.  Errors:
 * BAD_REQUEST: not a log of this endpoint; BUSY: pages of a window name it;
 * NOT_SUPPORTED_IN_HANDLER.
 */
omx_return_t omx_log_destroy(omx_endpoint_t ep, omx_log_t log);

/*
 * Sets the flags of pages of a window that was created with OMX_WINDOW_RIGHT_ACTIVE.
 * `offset` is a multiple of OMX_ACTIVE_PAGE_SIZE, and `length` too, unless the window
 * ends there.  `log` is used only with OMX_ACTIVE_E.  When the call returns, no access
 * uses the old flags.  Errors: BAD_ENDPOINT; BAD_REQUEST: not a window or log of this
 * endpoint, or a window without that right; SEGMENTS_BAD_COUNT (range);
 * ENDPOINT_PARAM_BAD_VALUE (flags); NO_SYSTEM_RESOURCES (also if pages of a window
 * differ from their neighbours at more than 4096 places).
 */
omx_return_t omx_window_activate(omx_endpoint_t ep, omx_window_t window, uint64_t offset,
				 uint64_t length, uint32_t flags, omx_log_t log);

typedef enum omx_log_kind { OMX_LOG_PUT, OMX_LOG_GET, OMX_LOG_ATOMIC } omx_log_kind_t;

typedef struct omx_log_entry {
	omx_endpoint_addr_t addr;	/* of the initiator; all 0: it has gone */
	omx_log_kind_t kind;
	uint32_t blocked;		/* 1: the flags did not permit the access */
	omx_window_t window;		/* NULL: destroyed meanwhile */
	uint64_t offset;		/* in the window */
	uint64_t length;		/* of the access */
	uint64_t immediate;		/* of omx_iput_event, else 0 */
	const void *data;		/* in the log; NULL: it was not logged */
	size_t data_length;
} omx_log_entry_t;

/* The data of an atomic access. */
typedef struct omx_log_atomic {
	uint64_t operand, compare, before;
	uint8_t operation;		/* omx_atomic_t */
	uint8_t size;
	uint8_t reserved[6];
} omx_log_atomic_t;

/*
 * Describes the oldest entry: *result 1, or 0 if there is none.  It remains the oldest
 * one until omx_log_release, up to which `data` may be read.  Errors: BAD_ENDPOINT;
 * BAD_REQUEST: not a log of this endpoint; BUSY: it has a handler.
 */
omx_return_t omx_log_poll(omx_endpoint_t ep, omx_log_t log, omx_log_entry_t *entry,
			  uint32_t *result);
/* Blocks until there is one.  *result 0: the timeout has expired or omx_wakeup was called. */
omx_return_t omx_log_wait(omx_endpoint_t ep, omx_log_t log, omx_log_entry_t *entry,
			  uint32_t *result, uint32_t timeout);
/* The entry is consumed.  BAD_REQUEST also: no entry was described since the last call. */
omx_return_t omx_log_release(omx_endpoint_t ep, omx_log_t log);

/*
 * Has a thread of the library call the function for each entry, which is consumed when
 * the function returns.  It may call all functions that do not block, such as omx_iput.
 * NULL: no longer; blocks until the function does not run any more.  Errors:
 * BAD_ENDPOINT, BAD_REQUEST, BUSY: there is a handler; NO_SYSTEM_RESOURCES,
 * NOT_SUPPORTED_IN_HANDLER.
 */
typedef void (*omx_log_handler_t)(omx_endpoint_t ep, const omx_log_entry_t *entry,
				  void *context);
omx_return_t omx_log_handler(omx_endpoint_t ep, omx_log_t log, omx_log_handler_t handler,
			     void *context);

typedef struct omx_log_stats {
	uint64_t entries;	/* so far */
	uint64_t bytes;		/* of data in them */
	uint64_t refused;	/* accesses that found no room; each time counts */
	uint64_t failed;	/* accesses that had an entry, which the program does not see */
	uint64_t size;		/* of the log */
	uint64_t used;		/* by entries that have not been consumed */
} omx_log_stats_t;
omx_return_t omx_log_stats(omx_endpoint_t ep, omx_log_t log, omx_log_stats_t *stats);

/*
 * Blocks until all accesses that this endpoint has posted to the peer have ended, as
 * omx_flush, and the peer's program has consumed all entries that they have caused:
 * *result 1, or 0 if the timeout has expired or omx_wakeup was called.  Errors: as
 * omx_flush, or why the peer is gone; NOT_SUPPORTED_IN_HANDLER (also in handlers of
 * logs).
 */
omx_return_t omx_flush_active(omx_endpoint_t ep, omx_endpoint_addr_t dest, uint32_t *result,
			      uint32_t timeout);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#ifdef __cplusplus
}
#endif

#endif
