/* SPDX-License-Identifier: (GPL-2.0 WITH Linux-syscall-note) OR BSD-2-Clause */
/*
 * The ABI between the driver and the library consists of the ioctls of /dev/omx
 * and of the rings that an endpoint maps.
 *
 * The driver includes this header, and so do libomx and the tools; programs of
 * users need open-mx.h only.  The queries of the first group work on any open
 * file of /dev/omx.  OMX_IOC_OPEN makes a file an endpoint, OMX_IOC_PAGER makes
 * it one that pages in for an endpoint.  Everything acts in the network
 * namespace in which the file was opened.  Ioctls may be called by several
 * threads at once.
 *
 * Structures have the same layout for 32- and 64-bit programs; fields called
 * reserved must be 0.  Calls return 0 or -1 with errno.
 */
#ifndef OMX_ABI_H
#define OMX_ABI_H

#include <linux/ioctl.h>
#include <linux/types.h>

/*
 * Driver and library need not be of the same release: a container brings its
 * own library.  Each supports the versions from OLDEST to VERSION, and they work
 * together if they have a version in common.  An addition that the other side
 * may ignore or lack raises VERSION; a change that it must know of raises both.
 */
#define OMX_ABI_VERSION		12
#define OMX_ABI_OLDEST		4

#define OMX_BOARD_MAX		32
#define OMX_ENDPOINT_MAX	4096	/* per board */
#define OMX_NAME_LEN		80	/* board and peer names, 0 included */
#define OMX_ANY			0xffffffffu
#define OMX_SEGMENTS_MAX	256
#define OMX_COUNTER_LABEL_LEN	64
#define OMX_TIMEOUT_DEFAULT_MS	60000

/* Limits of the message classes (bytes). */
#define OMX_TINY_MAX		32	/* payload inside the event */
#define OMX_SMALL_MAX		4096	/* payload in the ring, behind the event */
#define OMX_MEDIUM_MAX		65536	/* payload kept by the driver until fetched */

/* Why a request ended. */
enum omx_status {
	OMX_STATUS_OK,
	OMX_STATUS_BAD_ENDPOINT,	/* no such endpoint there */
	OMX_STATUS_CLOSED,		/* it was closed */
	OMX_STATUS_BAD_SESSION,		/* another process has it now */
	OMX_STATUS_BAD_KEY,
	OMX_STATUS_BAD_REGION,		/* the peer knows no such region */
	OMX_STATUS_UNREACHABLE,		/* no response within the timeout */
	OMX_STATUS_FAULT,		/* memory could not be accessed, here or there */
	OMX_STATUS_ABORTED,
	OMX_STATUS_TRUNCATED,		/* receiver's buffer was shorter */
	OMX_STATUS_NO_MEMORY,
	OMX_STATUS_BOARD_REMOVED,
	OMX_STATUS_BAD_WINDOW,		/* the key is wrong, revoked or another peer's */
	OMX_STATUS_BAD_RANGE,		/* not within the window, or not aligned */
	OMX_STATUS_NO_RIGHT,		/* the window does not permit this access */
	OMX_STATUS_TIMEOUT,		/* no key came in time for a conditional access */
	OMX_STATUS_LOG_FULL,		/* an access that was not performed: post it again later */
	OMX_STATUSES
};

/* ---- queries, on any open file ------------------------------------------ */

struct omx_ioc_info {
	__u32	abi_version;
	__u32	board_max;
	__u32	endpoint_max;
	__u32	counter_max;
	__u32	ethertype;
	__u32	abi_oldest;		/* 0: no older one than abi_version */
	char	version[32];
};

/* The newest version that the driver and the caller both support; 0: there is none. */
static inline __u32 omx_abi_common(const struct omx_ioc_info *driver)
{
	__u32 oldest = driver->abi_oldest ? driver->abi_oldest : driver->abi_version;
	__u32 newest = driver->abi_version;

	if (oldest < OMX_ABI_OLDEST)
		oldest = OMX_ABI_OLDEST;
	if (newest > OMX_ABI_VERSION)
		newest = OMX_ABI_VERSION;
	return oldest <= newest ? newest : 0;
}

#define OMX_BOARD_UP		0x1	/* administratively up and carrier on */
#define OMX_BOARD_AUTO		0x2	/* attached because ifnames=all */

struct omx_ioc_board {
	__u32	board;			/* in */
	__u32	flags;
	__u64	mac;			/* 48 bits: aa:bb:cc:dd:ee:ff is 0xaabbccddeeff */
	__u32	mtu;
	__s32	numa_node;
	__u32	endpoints_open;
	__u32	peers;
	char	ifname[16];
	char	drivername[32];
	char	name[OMX_NAME_LEN];
};

struct omx_ioc_board_name {		/* CAP_NET_ADMIN */
	__u32	board;
	__u32	reserved;
	char	name[OMX_NAME_LEN];
};

struct omx_ioc_endpoint_info {
	__u32	board;			/* in */
	__u32	endpoint;		/* in */
	__u32	pid;			/* 0: closed */
	__u32	reserved;
	char	command[16];
};

struct omx_ioc_counters {
	__u32	board;
	__u32	count;			/* in: room at values; out: how many there are */
	__u64	values;			/* pointer to __u64[count] */
};

struct omx_ioc_counter_label {
	__u32	index;
	__u32	reserved;
	char	label[OMX_COUNTER_LABEL_LEN];
};

#define OMX_PEER_STATIC		0x1	/* added by hand: does not expire */
#define OMX_PEER_NAMED		0x2	/* name is known */
#define OMX_PEER_LOCAL		0x4	/* a board of this host */
#define OMX_PEER_UDP		0x8	/* reached by UDP; see struct omx_ioc_udp_peer */
#define OMX_PEER_GROUP		0x10	/* no peer, but a multicast group in which they meet */

struct omx_ioc_peer {
	__u32	board;			/* in/out: through which board */
	__u32	index;			/* OMX_IOC_PEER: in, 0 ... until ENOENT; gaps are
					 * skipped; out: the one found
					 */
	__u64	mac;
	__u32	mtu;			/* announced by the peer; 0: none yet */
	__u32	flags;
	__u32	age_ms;			/* since it was last heard of */
	__u32	reserved;
	char	name[OMX_NAME_LEN];
};

/*
 * A peer and its address, if it is reached by UDP.  OMX_IOC_UDP_PEER finds peers as
 * OMX_IOC_PEER does, and also those whose MAC is not known yet: peer.mac is 0 until the
 * peer has responded.  OMX_IOC_UDP_PEER_ADD adds one by address (peer.board, peer.name,
 * address, scope), or joins a multicast group, where peers find each other.
 * OMX_IOC_UDP_PEER_REMOVE removes it (peer.board, address, scope).  ABI 9.
 */
struct omx_ioc_udp_peer {
	struct omx_ioc_peer peer;
	__u8	address[16];		/* IPv6; IPv4 is ::ffff:a.b.c.d; all 0: none */
	__u32	scope;			/* interface of a link-local address, else 0 */
	__u32	error;			/* errno: why it cannot be reached; 0: none is known;
					 * ENOTUNIQ: its MAC is that of another peer
					 */
	__u32	path_mtu;		/* the longest frame that is sent to it */
	__u32	port;			/* UDP port of all hosts */
	__u32	reserved[2];
};

/*
 * The copy engine for memory mode OMX_DEVICE.  If there is a reason why it cannot be
 * used, the processor copies.  ABI 8.
 */
struct omx_ioc_engine {
	char	device[32];		/* empty: there is none */
	char	reason[96];		/* empty: it is used */
};

/* ---- endpoints ----------------------------------------------------------- */

struct omx_ioc_open {
	__u32	board;			/* in/out, or OMX_ANY */
	__u32	endpoint;		/* in/out, or OMX_ANY */
	__u32	key;			/* peers must give the same one to connect */
	__u32	timeout_ms;		/* for silent peers; 0: OMX_TIMEOUT_DEFAULT_MS */
	__u32	session;		/* out */
	__u32	ring_slots;		/* out: of 64 bytes each, a power of two */
	__u64	mac;			/* out: of the board */
};

struct omx_segment {
	__u64	address;
	__u64	length;
};

/*
 * Buffers are described in place when they are contiguous (segment_count 0:
 * address and length name the bytes) or by an array (address points to
 * segment_count struct omx_segment, length is their sum).
 */
struct omx_buffer {
	__u64	address;
	__u64	length;
	__u32	segment_count;
	__u32	reserved;
};

/*
 * Connects to the endpoint of another board, or of this one: requests its
 * session.  Completes with OMX_EVENT_CONNECTED.  timeout_ms OMX_ANY: no timeout.
 */
struct omx_ioc_connect {
	__u64	mac;
	__u32	endpoint;
	__u32	key;
	__u32	timeout_ms;
	__u32	reserved;
	__u64	cookie;			/* returned in the event */
};

struct omx_ioc_channel_info {
	__u32	channel;		/* in */
	__u32	endpoint;
	__u64	mac;
	__u32	session;
	__u32	flags;
};

#define OMX_CHANNEL_LOCAL	0x1	/* the peer is on this host */
#define OMX_CHANNEL_DEAD	0x2	/* failed; DISCONNECT frees its number */

/*
 * Fails the channel's pending large requests with OMX_STATUS_ABORTED; a dead
 * channel is also freed.
 */
struct omx_ioc_disconnect {
	__u32	channel;
	__u32	reserved;
};

/*
 * Sends an eager message of at most OMX_MEDIUM_MAX bytes.  The data is copied:
 * the buffer may be reused on return.  EAGAIN: the channel is full, try again
 * after its OMX_EVENT_SEND_SPACE.  EMSGSIZE, only if OMX_ANNOUNCE_OWN is set:
 * the peer accepts no data that it has not requested at present, so announce
 * the message with SEND_RNDV.  ENOTCONN: the channel is dead, and
 * OMX_EVENT_CHANNEL_DEAD gives the reason.
 */
struct omx_ioc_send {
	struct omx_buffer buffer;
	__u64	match_info;
	__u32	channel;
	__u32	reserved;
};

/*
 * Announces a large or synchronous message, which the peer pulls out of the
 * region.  Once accepted, it always completes with OMX_EVENT_SEND_DONE.
 *
 * region 0: there is no data.  If there is a length all the same, the sender
 * cannot read its data, and a receiver that pulls it gets FAULT.
 * OMX_REGION_IMPLICIT, OMX_REGION_DEVICE: the data is at `address`, in memory that
 * needs no declaration and is never pinned.
 *
 * EAGAIN as above.  EBUSY: there are too many unfinished messages, or the user's
 * memory is used up; try again when some have ended.  PULL returns EBUSY for the
 * same reasons, REGION_CREATE returns EBUSY or EDQUOT.
 */
struct omx_ioc_send_rndv {
	__u64	match_info;
	__u64	length;
	__u64	cookie;
	__u64	address;		/* only of these regions, else 0 */
	__u32	channel;
	__u32	region;
};

/*
 * Pulls `length` bytes of a message announced by OMX_EVENT_RNDV into the region
 * and notifies the sender.  Completes with OMX_EVENT_PULL_DONE.  length 0: only
 * notifies the sender, with `status`; region may be 0.
 */
struct omx_ioc_pull {
	__u64	length;			/* at most that of the message and of the region */
	__u64	msg_length;
	__u64	cookie;
	__u64	address;		/* only of the implicit region, else 0 */
	__u32	channel;
	__u32	region;			/* ours, OMX_REGION_IMPLICIT, or OMX_REGION_DEVICE */
	__u32	remote_message;		/* from the event */
	__u32	timeout_ms;		/* without progress; 0: the endpoint's */
	__u32	status;			/* only with length 0: why nothing is pulled */
	__u32	reserved;
};

#define OMX_REGION_READ		0x1	/* messages are sent from it */
#define OMX_REGION_WRITE	0x2	/* messages are received into it */
#define OMX_REGION_MODE(mode)	((mode) << 8)	/* one of: */

/* How the driver accesses the pages of a region. */
enum omx_memory {
	OMX_AUTO,		/* the default: the same as OMX_UNPINNED */
	OMX_UNPINNED,		/* translated page by page, paged in when absent */
	OMX_OVERLAP,		/* pinned while the first frames travel */
	OMX_PIN,		/* pinned before the first frame leaves */
	OMX_PERMANENT,		/* pinned by REGION_CREATE */
	OMX_DEVICE,		/* as OMX_UNPINNED, but a copy engine accesses the pages; ABI 8 */
	OMX_MEMORY_MODES
};

/* All of the program's memory: undeclared, unpinned. */
#define OMX_REGION_IMPLICIT	0xffffffffu
/* The same in mode OMX_DEVICE, for SEND_RNDV and PULL only; ABI 8. */
#define OMX_REGION_DEVICE	0xfffffffeu

struct omx_ioc_region {
	struct omx_buffer buffer;
	__u32	flags;
	__u32	region;			/* out (create), in (destroy); never 0 */
};

/*
 * Withdraws the message of the SEND_RNDV with this cookie, because the program
 * uses its memory for something else: a peer that pulls it from now on gets
 * BAD_REGION.  The region that the message names stays declared.  ENOENT: no
 * message with this cookie is under way, or it has no region.
 */
struct omx_ioc_withdraw {
	__u64	cookie;
	__u32	flags;			/* 0 or OMX_WITHDRAW_WHEN */
	__u32	channel;		/* only with OMX_WITHDRAW_WHEN, else 0 */
};

/*
 * Withdraws the conditional access of the PUT_WHEN or GET_WHEN with this cookie:
 * it has no effect, and no event comes.  ENOENT: it has fired or ended already.
 */
#define OMX_WITHDRAW_WHEN	0x1

/*
 * Pages in and translates memory that will be communicated.  A hint: the kernel
 * may reclaim the pages before they are used.  EFAULT: not all of the memory is
 * mapped, or not with the right for this access.
 */
struct omx_ioc_prefetch {
	__u64	address;
	__u64	length;
	__u32	flags;			/* OMX_REGION_READ, _WRITE, and: */
	__u32	reserved;
};

#define OMX_PREFETCH_WAIT	0x4	/* return when all of it is resident */

/*
 * Copies a medium message out of the driver, at most its first buffer.length
 * bytes, and frees it there.  Length 0 discards the message.
 */
struct omx_ioc_fetch {
	struct omx_buffer buffer;
	__u32	message;		/* from the event */
	__u32	reserved;
};

/*
 * Waits until the ring's khead differs from `head`, until a wake-up, a signal
 * (EINTR) or the timeout (ETIMEDOUT).  With OMX_WAIT_HELPER: sleeps until an
 * urgent event (OMX_EVENT_RNDV or OMX_EVENT_SEND_SPACE) has been in the ring for
 * a while and no thread has consumed it.
 */
struct omx_ioc_wait {
	__u32	head;
	__u32	flags;
	__u32	timeout_ms;		/* OMX_ANY: none */
	__u32	wakeups;		/* in: ring->kwakeups as last seen */
};

#define OMX_WAIT_HELPER		0x1

/*
 * Pager threads.  PAGER binds a file that is no endpoint to an endpoint of the
 * same program.  Threads that call PAGE_IN on this file page in the memory that
 * transfers of the endpoint lack, under the program's NUMA policy, cpuset and
 * control group.  They use a file of their own because such a thread may wait
 * forever for a page, which must not keep the endpoint from being closed.  If
 * there are no pager threads, workers of the kernel page in.
 *
 * PAGE_IN returns 0 when all threads have work and none waits for more: start
 * another thread, unless that is impossible (OMX_PAGER_ALONE), and call again.
 * ESHUTDOWN: the endpoint is closed, or the file is not bound any more.  EBUSY:
 * there are OMX_PAGERS_MAX threads already.
 */
struct omx_ioc_pager {
	__u32	fd;			/* PAGER: the endpoint; OMX_ANY: end PAGE_IN calls */
	__u32	flags;			/* PAGE_IN */
};

#define OMX_PAGER_ALONE		0x1
#define OMX_PAGERS_MAX		8

#define OMX_IOC_MAGIC		'O'
#define OMX_IOC_INFO		_IOR(OMX_IOC_MAGIC, 0x00, struct omx_ioc_info)
#define OMX_IOC_BOARD		_IOWR(OMX_IOC_MAGIC, 0x01, struct omx_ioc_board)
#define OMX_IOC_BOARD_NAME	_IOW(OMX_IOC_MAGIC, 0x02, struct omx_ioc_board_name)
#define OMX_IOC_ENDPOINT_INFO	_IOWR(OMX_IOC_MAGIC, 0x03, struct omx_ioc_endpoint_info)
#define OMX_IOC_COUNTERS	_IOWR(OMX_IOC_MAGIC, 0x04, struct omx_ioc_counters)
#define OMX_IOC_COUNTER_LABEL	_IOWR(OMX_IOC_MAGIC, 0x05, struct omx_ioc_counter_label)
/* Needs CAP_NET_ADMIN; the argument is the board's number. */
#define OMX_IOC_COUNTERS_CLEAR	_IOW(OMX_IOC_MAGIC, 0x06, __u32)
/*
 * By board and index; by MAC or name, of one board or (OMX_ANY) of any.  EHOSTDOWN: the peer
 * of that name, which is reached by UDP, does not respond.
 */
#define OMX_IOC_PEER		_IOWR(OMX_IOC_MAGIC, 0x07, struct omx_ioc_peer)
#define OMX_IOC_PEER_BY_MAC	_IOWR(OMX_IOC_MAGIC, 0x08, struct omx_ioc_peer)
#define OMX_IOC_PEER_BY_NAME	_IOWR(OMX_IOC_MAGIC, 0x09, struct omx_ioc_peer)
/* Need CAP_NET_ADMIN.  Adds or renames a static peer; removes by MAC, 0: all peers. */
#define OMX_IOC_PEER_ADD	_IOW(OMX_IOC_MAGIC, 0x0a, struct omx_ioc_peer)
#define OMX_IOC_PEER_REMOVE	_IOW(OMX_IOC_MAGIC, 0x0b, struct omx_ioc_peer)
#define OMX_IOC_ENGINE		_IOR(OMX_IOC_MAGIC, 0x0c, struct omx_ioc_engine)
#define OMX_IOC_UDP_PEER	_IOWR(OMX_IOC_MAGIC, 0x0d, struct omx_ioc_udp_peer)
	/* CAP_NET_ADMIN */
#define OMX_IOC_UDP_PEER_ADD	_IOW(OMX_IOC_MAGIC, 0x0e, struct omx_ioc_udp_peer)
#define OMX_IOC_UDP_PEER_REMOVE	_IOW(OMX_IOC_MAGIC, 0x0f, struct omx_ioc_udp_peer)

#define OMX_IOC_OPEN		_IOWR(OMX_IOC_MAGIC, 0x20, struct omx_ioc_open)
#define OMX_IOC_CONNECT		_IOW(OMX_IOC_MAGIC, 0x21, struct omx_ioc_connect)
#define OMX_IOC_CHANNEL_INFO	_IOWR(OMX_IOC_MAGIC, 0x22, struct omx_ioc_channel_info)
#define OMX_IOC_DISCONNECT	_IOW(OMX_IOC_MAGIC, 0x23, struct omx_ioc_disconnect)
#define OMX_IOC_SEND		_IOW(OMX_IOC_MAGIC, 0x24, struct omx_ioc_send)
#define OMX_IOC_SEND_RNDV	_IOW(OMX_IOC_MAGIC, 0x25, struct omx_ioc_send_rndv)
#define OMX_IOC_PULL		_IOW(OMX_IOC_MAGIC, 0x26, struct omx_ioc_pull)
#define OMX_IOC_REGION_CREATE	_IOWR(OMX_IOC_MAGIC, 0x27, struct omx_ioc_region)
#define OMX_IOC_REGION_DESTROY	_IOW(OMX_IOC_MAGIC, 0x28, struct omx_ioc_region)
#define OMX_IOC_FETCH		_IOW(OMX_IOC_MAGIC, 0x29, struct omx_ioc_fetch)
#define OMX_IOC_WAIT		_IOW(OMX_IOC_MAGIC, 0x2a, struct omx_ioc_wait)
/* Increments ring->kwakeups and wakes every waiter. */
#define OMX_IOC_WAKEUP		_IO(OMX_IOC_MAGIC, 0x2b)
/* There is room in the ring again: deliver what has been waiting for it. */
#define OMX_IOC_KICK		_IO(OMX_IOC_MAGIC, 0x2c)
#define OMX_IOC_PREFETCH	_IOW(OMX_IOC_MAGIC, 0x2d, struct omx_ioc_prefetch)
#define OMX_IOC_PAGER		_IOW(OMX_IOC_MAGIC, 0x2e, struct omx_ioc_pager)
#define OMX_IOC_PAGE_IN		_IOW(OMX_IOC_MAGIC, 0x2f, struct omx_ioc_pager)
#define OMX_IOC_WITHDRAW	_IOW(OMX_IOC_MAGIC, 0x30, struct omx_ioc_withdraw)
#define OMX_IOC_WINDOW_CREATE	_IOWR(OMX_IOC_MAGIC, 0x31, struct omx_ioc_window)
#define OMX_IOC_WINDOW_REVOKE	_IOW(OMX_IOC_MAGIC, 0x32, struct omx_ioc_window)
#define OMX_IOC_PUT		_IOW(OMX_IOC_MAGIC, 0x33, struct omx_ioc_put)
#define OMX_IOC_PUT_RNDV	_IOW(OMX_IOC_MAGIC, 0x34, struct omx_ioc_put_rndv)
#define OMX_IOC_GET		_IOW(OMX_IOC_MAGIC, 0x35, struct omx_ioc_get)
#define OMX_IOC_ATOMIC		_IOW(OMX_IOC_MAGIC, 0x36, struct omx_ioc_atomic)
#define OMX_IOC_PUT_WHEN	_IOW(OMX_IOC_MAGIC, 0x37, struct omx_ioc_put_when)
#define OMX_IOC_GET_WHEN	_IOW(OMX_IOC_MAGIC, 0x38, struct omx_ioc_get_when)
#define OMX_IOC_POST_KEY	_IOW(OMX_IOC_MAGIC, 0x39, struct omx_ioc_post_key)
#define OMX_IOC_LOG_CREATE	_IOWR(OMX_IOC_MAGIC, 0x3a, struct omx_ioc_log)
#define OMX_IOC_LOG_DESTROY	_IOW(OMX_IOC_MAGIC, 0x3b, struct omx_ioc_log)
#define OMX_IOC_LOG_WAIT	_IOW(OMX_IOC_MAGIC, 0x3c, struct omx_ioc_log_wait)
#define OMX_IOC_ACTIVATE	_IOW(OMX_IOC_MAGIC, 0x3d, struct omx_ioc_activate)
#define OMX_IOC_FLUSH_ACTIVE	_IOW(OMX_IOC_MAGIC, 0x3e, struct omx_ioc_flush_active)
#define OMX_IOC_PUT_LOCAL	_IOWR(OMX_IOC_MAGIC, 0x3f, struct omx_ioc_local_access)
#define OMX_IOC_GET_LOCAL	_IOWR(OMX_IOC_MAGIC, 0x40, struct omx_ioc_local_access)
/*
 * The program has nothing more to send at present.  A message that follows others to the same
 * peer may wait for more of them for up to a millisecond, see ring->kcorked; it leaves now.
 * WAIT and poll() do the same.  ABI 12.
 */
#define OMX_IOC_UNCORK		_IO(OMX_IOC_MAGIC, 0x41)

/* ---- mapped memory -------------------------------------------------------- */

/*
 * mmap offsets.  USER is one page, struct omx_ring_user, readable and writable.
 * RING is one page, struct omx_ring_kernel, followed by the slots; it is
 * read-only and mprotect() cannot make it writable.
 */
#define OMX_MAP_USER		0x0
#define OMX_MAP_RING		0x100000

/*
 * Words named k... are written by the driver.  The program consumes slots
 * between utail and khead: load khead with acquire (pairs with the driver's
 * release after the slots are written), store utail with release (pairs with
 * the driver's acquire before it writes them again).  Both run freely and
 * wrap at 2^32; slot i is ring[i & (ring_slots - 1)].
 */
struct omx_ring_kernel {
	__u32	khead;
	__u32	kbacklog;	/* not 0: events wait for room, KICK when there is some */
	__u32	kwakeups;	/* OMX_IOC_WAKEUP calls so far */
	__u32	kboard_flags;	/* OMX_BOARD_*, current */
	__u32	kboard_mtu;
	__u32	kcorked;	/* not 0: messages wait for more, see OMX_IOC_UNCORK; ABI 12 */
};

struct omx_ring_user {
	__u32	utail;
	/*
	 * Not 0: a thread of the library has consumed events that the program
	 * does not know of yet; poll() reports them like events in the ring.
	 * Stored before the utail that consumes them.
	 */
	__u32	uunseen;
	__u32	uannounce;	/* any of OMX_ANNOUNCE_* */
	/*
	 * For how many microseconds WAIT may poll before it sleeps; 0: not at all.  A limit,
	 * and a hint.
	 */
	__u32	upoll_us;
};

/* More counts as this: who wants to poll for longer looks at khead. */
#define OMX_POLL_US_MAX		1000

#define OMX_ANNOUNCE_OWN	0x1	/* SEND may be refused with EMSGSIZE */
/*
 * The program keeps too much data that no receive has matched: peers are to
 * announce messages of any length instead of sending their data.
 */
#define OMX_ANNOUNCE_PEERS	0x2

enum omx_event_type {
	OMX_EVENT_SKIP,		/* padding up to the end of the ring */
	OMX_EVENT_RECV,		/* eager message */
	OMX_EVENT_RNDV,		/* a large message waits at the sender: PULL it */
	OMX_EVENT_CONNECTED,	/* status, channel (if OK), cookie, session */
	OMX_EVENT_SEND_DONE,	/* rendezvous: status, cookie, length transferred */
	OMX_EVENT_PULL_DONE,	/* status, cookie, length transferred */
	OMX_EVENT_SEND_SPACE,	/* the channel accepts eager messages again */
	OMX_EVENT_CHANNEL_DEAD,	/* status; nothing more arrives on it or leaves by it */
	OMX_EVENT_BOARD,	/* up, down, other MTU: see kboard_flags; removed: status */
	/*
	 * PUT, GET, ATOMIC, POST_KEY: status, cookie, length.  GET: the bytes are in or behind
	 * the event as those of RECV, or remote_message is there to be pulled; ATOMIC:
	 * the first 8 bytes of data are the word before, in the host's byte order.
	 */
	OMX_EVENT_ACCESS_DONE,
	/* A put of a peer with immediate data is in place: immediate, length, window. */
	OMX_EVENT_PUT,
};

#define OMX_SLOT_SIZE		64

/*
 * One slot; a small message's payload lies in the slots right behind it
 * (contiguous: an entry never wraps around the end of the ring).
 */
struct omx_event {
	__u8	type;
	__u8	status;
	__u16	slots;		/* of this entry, payload included */
	__u32	channel;
	union {
		__u64	match_info;	/* RECV, RNDV */
		__u64	cookie;		/* CONNECTED, SEND_DONE, PULL_DONE, ACCESS_DONE */
		__u64	immediate;	/* PUT */
	};
	__u64	length;		/* of the message, or transferred */
	union {
		/*
		 * RECV of a medium message: to FETCH it; else 0.  status NO_MEMORY: there is
		 * little memory, and it should be fetched soon, not only when it is wanted.
		 */
		__u32	message;
		__u32	remote_message;	/* RNDV, GET with ANNOUNCE: to PULL it */
		__u32	session;	/* CONNECTED */
		__u32	window;		/* PUT */
	};
	/*
	 * CONNECTED: the ABI versions that the peer's driver speaks, (oldest << 8) | newest;
	 * 0 if it does not tell, and in all other events.  ABI 11.
	 */
	__u32	peer_abi;
	__u8	data[OMX_TINY_MAX];	/* RECV of a tiny message */
};

#include "omx_abi_onesided.h"

#endif
