/* SPDX-License-Identifier: (GPL-2.0 WITH Linux-syscall-note) OR BSD-2-Clause */
/*
 * The part of omx_abi.h that is for one-sided communication: windows, accesses to
 * those of peers, conditional accesses, and the logs of active access.  The numbers
 * of the ioctls are in omx_abi.h, which includes this header.
 */
#ifndef OMX_ABI_ONESIDED_H
#define OMX_ABI_ONESIDED_H

#ifndef OMX_ABI_H
#error "include omx_abi.h instead"
#endif

/* ---- windows and accesses ---- */

/* Names a window to its peers.  The secret is random; no peer can guess it. */
struct omx_key {
	__u32	window;			/* never 0 */
	__u32	secret[3];
};

#define OMX_WINDOW_GET		0x1
#define OMX_WINDOW_PUT		0x2
#define OMX_WINDOW_ATOMIC	0x4
/*
 * Pages of the window may be made active.  Its key says so, by OMX_KEY_ACTIVE in
 * secret[2]: the buffer of a put may be needed until the put has been performed.
 */
#define OMX_WINDOW_ACTIVE	0x8
#define OMX_KEY_ACTIVE		0x1

/*
 * WINDOW_CREATE exports bytes of a region, so that peers who know the key access
 * them without the program's help.  WINDOW_REVOKE returns when no access uses the
 * window any more, and none will; it is killable.  A region that has windows
 * cannot be destroyed (EBUSY).  Errors: ENOENT: there is no such region, channel
 * or window; EINVAL: not within the region, or rights that the region's access
 * does not include; EDQUOT, EBUSY, ENOMEM as REGION_CREATE.
 */
struct omx_ioc_window {
	__u64	address;		/* only of the implicit region, else 0 */
	__u64	offset;			/* in the region; implicit: 0 */
	__u64	length;
	__u32	region;			/* or OMX_REGION_IMPLICIT */
	__u32	rights;			/* OMX_WINDOW_* */
	__u32	channel;		/* whose peer may access it, or OMX_ANY */
	__u32	reserved;
	struct omx_key key;		/* out (create); in (revoke): only `window` */
};

/*
 * PUT writes at most OMX_MEDIUM_MAX bytes, which it copies: the buffer may be
 * reused on return.  GET reads at most OMX_WIRE_GET_MAX bytes and no more than fit
 * one frame (EMSGSIZE); ATOMIC changes a word of 4 or 8 bytes.  PUT_RNDV and
 * GET_RNDV are for any length: the data is pulled out of, or by the library into,
 * the memory named here.
 *
 * Each of them, once accepted, ends with one OMX_EVENT_ACCESS_DONE, PUT_RNDV with
 * OMX_EVENT_SEND_DONE.  EAGAIN: the channel is full, try again after its
 * OMX_EVENT_SEND_SPACE.  EBUSY, ENOTCONN: as SEND_RNDV.
 */
struct omx_ioc_put {
	struct omx_buffer buffer;
	struct omx_key key;
	__u64	offset;			/* in the window */
	__u64	immediate;		/* only with OMX_ACCESS_EVENT, else 0 */
	__u64	cookie;
	__u32	channel;
	__u32	flags;
};

#define OMX_ACCESS_EVENT	0x1	/* the target gets OMX_EVENT_PUT */

struct omx_ioc_put_rndv {
	struct omx_key key;
	__u64	offset;
	__u64	immediate;
	__u64	length;
	__u64	cookie;
	__u64	address;		/* only of the implicit region, else 0 */
	__u32	channel;
	__u32	region;
	__u32	flags;			/* OMX_ACCESS_EVENT */
	__u32	reserved;
};

/* With OMX_ACCESS_ANNOUNCE the event brings the number of a message to PULL. */
struct omx_ioc_get {
	struct omx_key key;
	__u64	offset;
	__u64	length;
	__u64	cookie;
	__u32	channel;
	__u32	flags;
};

#define OMX_ACCESS_ANNOUNCE	0x2

enum omx_operation {			/* the same numbers as on the wire */
	OMX_OPERATION_ADD,
	OMX_OPERATION_AND,
	OMX_OPERATION_OR,
	OMX_OPERATION_XOR,
	OMX_OPERATION_SWAP,
	OMX_OPERATION_MIN,
	OMX_OPERATION_MAX,
	OMX_OPERATION_UMIN,
	OMX_OPERATION_UMAX,
	OMX_OPERATION_COMPARE_SWAP,
	OMX_OPERATIONS
};

struct omx_ioc_atomic {
	struct omx_key key;
	__u64	offset;
	__u64	operand;
	__u64	compare;
	__u64	cookie;
	__u32	channel;
	__u8	operation;
	__u8	size;			/* 4 or 8 */
	__u8	reserved[2];
};

/*
 * PUT_LOCAL and GET_LOCAL perform a small access to an endpoint of this host during the
 * call, which copies each byte once.  On success there is no event: the access has ended
 * with `status`.  EAGAIN: the target is elsewhere, or the access would have to wait.  Then
 * it has no event, either, though bytes may have been copied: post it as PUT or GET.
 */
struct omx_ioc_local_access {
	struct omx_buffer buffer;	/* up to OMX_MEDIUM_MAX bytes */
	struct omx_key key;
	__u64	offset;			/* in the window */
	__u64	immediate;		/* only with OMX_ACCESS_EVENT, else 0 */
	__u32	channel;
	__u32	flags;			/* of a put: OMX_ACCESS_EVENT */
	__u32	status;			/* out: OMX_STATUS_* */
	__u32	reserved;
};

/* ---- conditional accesses ---- */

/*
 * Conditional accesses.  The driver keeps them until the peer posts a key with the
 * same tag (POST_KEY), which says where in which of the peer's windows the access is
 * to take place; then it performs them as PUT, PUT_RNDV and GET without the
 * program's help.  Access and key may come in either order.  Of several accesses
 * with the same tag each key fires one, in the order in which they were posted.
 *
 * PUT_WHEN ends with the same events as those.  TIMEOUT: no key came in time; BAD_RANGE:
 * the access is longer than the key permits.  EBUSY: OMX_WHENS_MAX conditional
 * accesses of the channel have not ended, or the user's memory is used up.
 */
struct omx_ioc_put_when {
	struct omx_buffer buffer;
	__u64	tag;
	__u64	immediate;		/* only with OMX_ACCESS_EVENT, else 0 */
	__u64	cookie;
	__u32	channel;
	/*
	 * 0: the data, at most OMX_MEDIUM_MAX bytes, is copied out of the buffer.
	 * Otherwise it is pulled out of the first buffer.length bytes of this region;
	 * buffer.address only of the implicit region, else 0, and no segments.
	 */
	__u32	region;
	__u32	flags;			/* OMX_ACCESS_EVENT */
	__u32	timeout_ms;		/* OMX_ANY: none */
};

/*
 * region 0: OMX_EVENT_ACCESS_DONE brings the bytes, no more than GET reads (EMSGSIZE).
 * Otherwise the driver pulls them into this region: OMX_EVENT_PULL_DONE, or
 * OMX_EVENT_ACCESS_DONE with a status if there is nothing to pull.
 */
struct omx_ioc_get_when {
	__u64	tag;
	__u64	length;
	__u64	cookie;
	__u64	address;		/* only of the implicit region, else 0 */
	__u32	channel;
	__u32	region;
	__u32	timeout_ms;
	__u32	reserved;
};

/*
 * Posts the key of a window of ours, for `length` bytes at `offset` of it, to the
 * peer of the channel.  Ends with OMX_EVENT_ACCESS_DONE when the peer's driver has
 * taken the key; NO_MEMORY: it keeps OMX_KEYS_MAX of ours already, or its user's
 * memory is used up.
 */
struct omx_ioc_post_key {
	struct omx_key key;
	__u64	offset;
	__u64	length;
	__u64	tag;
	__u64	cookie;
	__u32	channel;
	__u32	reserved;
};

#define OMX_WHENS_MAX		256	/* of one channel */
#define OMX_KEYS_MAX		256	/* of one peer, for which there is no access yet */

/* ---- active access ---- */

#define OMX_LOGS_MAX		64	/* of an endpoint */
#define OMX_LOG_SLOTS_MIN	64u	/* of OMX_SLOT_SIZE bytes */
#define OMX_LOG_SLOTS_MAX	(1u << 18)

/*
 * LOG_CREATE makes a ring in which the driver logs accesses of peers; `ring` and
 * `user` are where it is mapped.  LOG_DESTROY: ENOENT: there is no such log; EBUSY:
 * pages of a window name it.  Errors of LOG_CREATE: EINVAL; EBUSY: OMX_LOGS_MAX;
 * EDQUOT, ENOMEM.
 */
struct omx_ioc_log {
	__u32	log;			/* out (create), in (destroy) */
	__u32	slots;			/* a power of two */
	__u64	ring;			/* out: mmap offset of struct omx_log_kernel */
	__u64	user;			/* out: ... of struct omx_log_user */
};

/*
 * Sleeps until kcommits of the log or kwakeups of the ring differ from what the
 * caller has seen, until a signal (EINTR) or the timeout (ETIMEDOUT).  ENOENT: the
 * log has been destroyed.
 */
struct omx_ioc_log_wait {
	__u32	log;
	__u32	commits;
	__u32	wakeups;
	__u32	timeout_ms;		/* OMX_ANY: none */
};

/*
 * What accesses do to a page of a window.  Pages are OMX_ACTIVE_PAGE bytes and
 * counted from the start of the window.  All pages are W and R at first.
 */
#define OMX_PAGE_W		0x01	/* puts are performed */
#define OMX_PAGE_WL		0x02	/* puts are logged ... */
#define OMX_PAGE_WLD		0x04	/* ... with their data */
#define OMX_PAGE_R		0x08	/* gets are performed */
#define OMX_PAGE_RL		0x10	/* gets are logged ... */
#define OMX_PAGE_RLD		0x20	/* ... with their data */
#define OMX_PAGE_E		0x40	/* in the log; else only traced and counted */
#define OMX_PAGE_FLAGS		0x7f

#define OMX_ACTIVE_PAGE		4096u
#define OMX_ACTIVE_RANGES_MAX	4096	/* of pages with the same flags and log, per window */

/*
 * Sets the flags of pages.  When it returns, no access uses the old ones.  ENOENT:
 * there is no such window or log; EACCES: the window is not OMX_WINDOW_ACTIVE; EINVAL:
 * not whole pages of the window; ENOSPC: OMX_ACTIVE_RANGES_MAX; EDQUOT, ENOMEM.
 */
struct omx_ioc_activate {
	__u64	offset;			/* in the window */
	__u64	length;			/* whole pages, or up to the end of the window */
	__u32	window;
	__u32	log;			/* only with OMX_PAGE_E, else 0 */
	__u32	flags;			/* OMX_PAGE_* */
	__u32	reserved;
};

/*
 * Asks the target whether its program has consumed the log entries of accesses of
 * this channel.  Ends with OMX_EVENT_ACCESS_DONE, whose data is 0 if so, or else the
 * stamp to ask with the next time.  stamp 0: all entries of accesses that have ended.
 * Errors as PUT.
 */
struct omx_ioc_flush_active {
	__u64	stamp;
	__u64	cookie;
	__u32	channel;
	__u32	reserved;
};

/* ---- the logs of active access, mapped ---- */

/*
 * LOG_CREATE returns the offsets of two mappings: one page, struct omx_log_kernel,
 * followed by the slots, is read-only, and one page, struct omx_log_user, can be
 * written.  khead and utail are used as those of the event ring.  An entry before
 * khead may not be complete yet: the program stops at it until `state` says that it
 * is (load it with acquire).
 */
struct omx_log_kernel {
	__u32	khead;
	__u32	kcommits;	/* incremented whenever an entry has been completed */
	/* Statistics. */
	__u64	kentries;	/* logged */
	__u64	kbytes;		/* of data in them */
	__u64	krefused;	/* accesses, because there was no room */
	__u64	kvoid;		/* entries of accesses that failed */
};

struct omx_log_user {
	__u32	utail;
	__u32	reserved;
};

enum omx_record_state {
	OMX_RECORD_RESERVED,	/* the access is under way */
	OMX_RECORD_COMMITTED,
	OMX_RECORD_VOID,		/* it has failed: skip the entry */
};

enum omx_record_kind {
	OMX_RECORD_PUT,
	OMX_RECORD_GET,
	OMX_RECORD_ATOMIC,
	OMX_RECORD_PADDING,	/* up to the end of the ring */
};

/* One slot; the data lies in the slots right behind it. */
struct omx_log_record {
	__u32	state;
	__u16	slots;		/* of this entry, data included */
	__u8	kind;
	__u8	status;		/* OMX_STATUS_NO_RIGHT: the flags have kept it out */
	__u64	stamp;		/* increases with each entry of the endpoint */
	__u64	source;		/* MAC << 16 | endpoint of the initiator */
	__u32	session;	/* of the initiator */
	__u32	channel;
	__u64	offset;		/* in the window */
	__u64	length;		/* of the access */
	__u64	immediate;
	__u32	window;
	__u32	data_length;	/* of what is logged; ATOMIC: struct omx_record_atomic */
};

struct omx_record_atomic {
	__u64	operand;
	__u64	compare;
	__u64	before;
	__u8	operation;
	__u8	size;
	__u8	reserved[6];
};

#endif
