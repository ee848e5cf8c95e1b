/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What omx offers beyond the interface of Open-MX.
 *
 * Lengths are in bytes.  All functions may be called from several threads at
 * once; none blocks unless it says so.
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
 * A descriptor that poll() reports readable when the endpoint has something
 * for omx_progress to do.  For poll and its like only, and only as long as
 * the endpoint is open.
 */
omx_return_t omx_get_endpoint_fd(omx_endpoint_t ep, int *fd);

/*
 * The blocking omx_ibuffered: *result 1 when the buffer of this send may be
 * reused, 0 when the time is over or omx_wakeup was called.  BAD_REQUEST for
 * others.
 */
omx_return_t omx_buffered(omx_endpoint_t ep, omx_request_t *request, uint32_t *result,
			  uint32_t timeout);

/* ---- matched probe --------------------------------------------------------
 *
 * omx_iprobe tells what could be received; in a program of several threads
 * another one may be faster.  These take the message out of matching, so that
 * it is received by whoever holds it (as MPI_Mprobe and MPI_Mrecv).
 */

/* A message that no receive finds any more; it occupies memory until it is received. */
typedef struct omx__message *omx_message_t;

/*
 * The first message with (its match info & match_mask) == match_info that no
 * receive has asked for: *result 1, it is *message's, and status (may be
 * NULL) tells its length, match info and sender.  *result 0: there is none.
 * BAD_ENDPOINT, BAD_MATCH_MASK.
 */
omx_return_t omx_improbe(omx_endpoint_t ep, uint64_t match_info, uint64_t match_mask,
			 omx_message_t *message, omx_status_t *status, uint32_t *result);

/*
 * Receives it; *message is set to NULL.  On failure it remains.
 * BAD_ENDPOINT, BAD_REQUEST: not held (any more); SEGMENTS_BAD_COUNT,
 * NO_SYSTEM_RESOURCES.  If its sender is gone the request's status says so.
 */
omx_return_t omx_imrecv(omx_endpoint_t ep, void *buffer, size_t length,
			omx_message_t *message, void *context, omx_request_t *request);
omx_return_t omx_imrecvv(omx_endpoint_t ep, omx_seg_t *segs, uint32_t nseg,
			 omx_message_t *message, void *context, omx_request_t *request);

/* ---- memory ---------------------------------------------------------------
 *
 * How the network gets at the buffers of large messages.  Whatever the mode,
 * the program may do with its memory what it likes between two
 * communications: nothing has to be told to the library.
 */
typedef enum omx_memory_mode {
	OMX_MEMORY_AUTO,	/* the driver decides */
	OMX_MEMORY_UNPINNED,	/* pages are faulted in when needed; no memlock limit applies (PART) */
	OMX_MEMORY_OVERLAP,	/* pinned while the first messages travel (Open-MX, overlapped pinning) */
	OMX_MEMORY_PIN,		/* pinned before the first message leaves (Open-MX, on-demand pinning) */
	OMX_MEMORY_PERMANENT	/* pinned when declared */
} omx_memory_mode_t;

/*
 * The mode of what is posted from now on, and declared without one of its
 * own.  It begins as OMX_MEMORY of the environment (auto, unpinned, overlap,
 * pin, permanent) says, or the endpoint parameter OMX_ENDPOINT_PARAM_MEMORY.
 * BAD_ENDPOINT, ENDPOINT_PARAM_BAD_VALUE.
 */
omx_return_t omx_set_memory_mode(omx_endpoint_t ep, omx_memory_mode_t mode);
omx_return_t omx_get_memory_mode(omx_endpoint_t ep, omx_memory_mode_t *mode);

/*
 * omx_isend, omx_issend and omx_irecv with a mode for this one message:
 * what a program waits for at once gains from overlap, what it computes
 * beside may not.  With pin and overlap the call lasts as long as the pages take,
 * or the one that finds the message to receive.
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
 * Memory declared once and communicated many times.  Declaring touches no
 * page (OMX_MEMORY_PERMANENT pins them all); memory that cannot be accessed
 * declares fine and fails the request that uses it.  Nobody needs this for
 * correctness or, unpinned, for speed.
 */
typedef struct omx__region *omx_region_t;

/*
 * access: OMX_REGION_SEND, OMX_REGION_RECV or both.
 * BAD_ENDPOINT, SEGMENTS_BAD_COUNT, ENDPOINT_PARAM_BAD_VALUE (access or mode),
 * NO_SYSTEM_RESOURCES (also: pinning it permanently exceeds RLIMIT_MEMLOCK).
 */
#define OMX_REGION_SEND		0x1
#define OMX_REGION_RECV		0x2
omx_return_t omx_region_declare(omx_endpoint_t ep, omx_seg_t *segs, uint32_t nseg,
				uint32_t access, omx_memory_mode_t mode,
				omx_region_t *region);
/* BUSY: requests that use it have not ended. */
omx_return_t omx_region_release(omx_endpoint_t ep, omx_region_t region);
/*
 * Send its first `length` bytes, or receive into them.  Short messages go
 * the short way; the region stays declared until it is released, at least
 * until the request ends.  BAD_REQUEST: not a region of this endpoint;
 * SEGMENTS_BAD_COUNT: longer than the region.
 */
omx_return_t omx_region_isend(omx_endpoint_t ep, omx_region_t region, size_t length,
			      omx_endpoint_addr_t dest, uint64_t match_info,
			      void *context, omx_request_t *request);
omx_return_t omx_region_irecv(omx_endpoint_t ep, omx_region_t region, size_t length,
			      uint64_t match_info, uint64_t match_mask,
			      void *context, omx_request_t *request);

/*
 * Pages in what will be communicated: OMX_PREFETCH_SEND, _RECV, or both; with
 * OMX_PREFETCH_WAIT blocks until all of it is there.  A hint: what the system
 * takes away again is paged in when needed.
 * BAD_ENDPOINT, ENDPOINT_PARAM_BAD_VALUE (flags), BAD_ERROR (with WAIT: not
 * mapped, or without that right), NO_SYSTEM_RESOURCES.
 */
#define OMX_PREFETCH_SEND	0x1
#define OMX_PREFETCH_RECV	0x2
#define OMX_PREFETCH_WAIT	0x4
omx_return_t omx_prefetch(omx_endpoint_t ep, void *address, size_t length, uint32_t flags);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#ifdef __cplusplus
}
#endif

#endif
