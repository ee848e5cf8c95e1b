/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The part of Myricom MX that came with its release 1.2; the rules are those
 * of myriexpress.h.
 */
#ifndef MX_EXTENSIONS_H
#define MX_EXTENSIONS_H

#include <myriexpress.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif

/* mx_iconnect takes a match_info. */
#define MX_HAS_ICONNECT_V2	1

/* mx_connect as a request: the address is in its status. */
mx_return_t mx_iconnect(mx_endpoint_t ep, uint64_t nic_id, uint32_t endpoint, uint32_t key,
			uint64_t match_info, void *context, mx_request_t *request);

/*
 * Pending sends to the peer and receives that were being filled by it end
 * with MX_STATUS_ABORTED; the address and copies of it become invalid.
 */
mx_return_t mx_disconnect(mx_endpoint_t ep, mx_endpoint_addr_t addr);

/* A pointer of the program's kept with the peer; NULL at first. */
mx_return_t mx_set_endpoint_addr_context(mx_endpoint_addr_t addr, void *context);
mx_return_t mx_get_endpoint_addr_context(mx_endpoint_addr_t addr, void **context);

/*
 * A request that is not done `milliseconds` from now is done with
 * MX_STATUS_TIMEOUT: sends, connects, and receives that have not matched (one
 * that has is left to the driver).  MX_INFINITE takes that back.  With request
 * NULL: the time for which the driver lets a peer of later requests be silent
 * before they end with MX_STATUS_ENDPOINT_UNREACHABLE (at first 60 s).
 */
mx_return_t mx_set_request_timeout(mx_endpoint_t ep, mx_request_t request,
				   uint32_t milliseconds);

/* The request's end will not be reported; *request is set to NULL. */
mx_return_t mx_forget(mx_endpoint_t ep, mx_request_t *request);

/* Handles what has arrived. */
mx_return_t mx_progress(mx_endpoint_t ep);

/*
 * Shown each message that no receive matches, it says whether to queue it
 * (CONTINUE) or that it needs it no more (FINISHED); see
 * mx_register_unexp_callback for what it may do.  data_if_available is NULL
 * unless the whole message (up to 4 KiB) is at hand; it is valid until the
 * handler returns.  length is UINT32_MAX for longer ones.
 */
typedef enum mx_unexp_handler_action {
	MX_RECV_CONTINUE	= 0,
	MX_RECV_FINISHED	= 1
} mx_unexp_handler_action_t;

typedef mx_unexp_handler_action_t (*mx_unexp_handler_t)(void *context,
		mx_endpoint_addr_t source, uint64_t match_info, uint32_t length,
		void *data_if_available);

/* NULL: none.  When it returns the former one is not running any more. */
mx_return_t mx_register_unexp_handler(mx_endpoint_t ep, mx_unexp_handler_t handler,
				      void *context);

/* ---- memory for mx_iput and mx_iget, which is not Myricom's ----------------- */

/* 16 bytes that may be sent to peers as they are. */
typedef struct mx_memory_key {
	uint64_t stuff[2];
} mx_memory_key_t;

/*
 * Opens the whole memory of this program to whoever has the key, for reading
 * and writing, until the endpoint is closed or mx_withdraw_memory is called.
 * Calls in between give the same key.  The program sends it to its peers.
 */
mx_return_t mx_export_memory(mx_endpoint_t ep, mx_memory_key_t *key);

/*
 * When it returns nobody accesses the memory any more; later accesses end with
 * MX_STATUS_BAD_RDMAWIN.  BAD_REQUEST: it was not exported.
 */
mx_return_t mx_withdraw_memory(mx_endpoint_t ep);

/*
 * mx_iput and mx_iget to this peer use the key from now on, until the endpoint
 * is closed or disconnected from the peer.  The key is not verified.
 */
mx_return_t mx_import_memory(mx_endpoint_t ep, mx_endpoint_addr_t peer,
			     const mx_memory_key_t *key);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#ifdef __cplusplus
}
#endif

#endif
