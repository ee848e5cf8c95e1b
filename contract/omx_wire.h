/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The bytes on the cable.  docs/PROTOCOL.md tells the story; this is the law.
 *
 * Every frame is an Ethernet header, a struct omx_wire_head and the body that
 * its type selects.  All fields are big endian, reserved bytes are sent as 0
 * and ignored on receipt, lengths are 64-bit where a message can be long.
 * omx_wire_validate() checks a frame once; code behind it may rely on what
 * it promises.
 */
#ifndef OMX_WIRE_H
#define OMX_WIRE_H

#include <linux/build_bug.h>
#include <linux/types.h>

#define OMX_WIRE_VERSION	2
#define OMX_ETHERTYPE_DEFAULT	0x86DF	/* the one that MXoE used */
#define OMX_WIRE_NAME_LEN	80	/* terminating 0 included */

#define OMX_BLOCK_FRAMES	32	/* frames that one PULL_REQUEST can name */
#define OMX_SACK_BITS		64	/* packets described beyond the cumulative ack */
#define OMX_WIRE_EAGER_MAX	(64 * 1024)

enum omx_wire_type {
	OMX_WIRE_HELLO = 1,	/* I am here (broadcast, or the response to one) */
	OMX_WIRE_BYE,		/* I am leaving (broadcast) */
	OMX_WIRE_CONNECT,	/* which session runs on that endpoint? */
	OMX_WIRE_CONNECT_RESPONSE,
	OMX_WIRE_EAGER,		/* sequenced: (a fragment of) a message */
	OMX_WIRE_RNDV,		/* sequenced: a large message waits in my region */
	OMX_WIRE_NOTIFY,	/* sequenced: that large message is done */
	OMX_WIRE_ACK,		/* what arrived of the sequenced ones */
	OMX_WIRE_PULL_REQUEST,	/* send me these frames of your region */
	OMX_WIRE_PULL_RESPONSE,	/* one of them, or several consecutive ones */
	OMX_WIRE_NACK,		/* no such endpoint, session or region */
	OMX_WIRE_HOLD,		/* what you pull is being paged in */
	OMX_WIRE_PUT,		/* sequenced: write this to your window */
	OMX_WIRE_PUT_RNDV,	/* sequenced: pull this into your window */
	OMX_WIRE_GET,		/* sequenced: send me these bytes of your window */
	OMX_WIRE_ATOMIC,	/* sequenced: change a word of your window */
	OMX_WIRE_ACCESS_RESPONSE,	/* sequenced: how a PUT, GET, ATOMIC, POST_KEY, ... ended */
	OMX_WIRE_POST_KEY,	/* sequenced: this window is there for your access */
	OMX_WIRE_FLUSH,		/* sequenced: has your program seen what I accessed? */
	OMX_WIRE_BUNDLE,	/* sequenced: several short messages */
	OMX_WIRE_TYPES		/* one more than the last */
};

/*
 * In front of the head in a UDP packet: an Ethernet header without a cable, behind two
 * bytes that keep the head aligned.  Whoever receives it checks that the packet came from
 * the address of the board `source`.
 */
struct omx_wire_udp {
	__u8	version;	/* OMX_WIRE_UDP_VERSION */
	__u8	reserved;
	__u8	dest[6];	/* the MAC of a board; all ones in a HELLO: not known yet */
	__u8	source[6];
	__be16	ethertype;
} __packed;

#define OMX_WIRE_UDP_VERSION	1
#define OMX_UDP_PORT_DEFAULT	8687

/*
 * A TCP packet may have our Ethertype.  Where a frame has its version, it has this: the version
 * of IP, and the length of its header.
 */
#define OMX_WIRE_TSO_FIRST	0x45

/*
 * What is left of head and body in the header of a TCP packet: an option, which a NIC copies
 * into each segment that it makes.  Behind it are a struct omx_wire_tso_eager, or the body as
 * it is.
 */
struct omx_wire_tso {
	__u8	kind;		/* OMX_WIRE_TSO_KIND */
	__u8	option_length;	/* of this and of what is behind it */
	__be16	experiment;	/* the Ethertype */
	__u8	version;	/* these are as in the head */
	__u8	type;
	__be16	dst_endpoint;
	__be32	src_session;
} __packed;

struct omx_wire_tso_eager {
	__be64	match_info;
	__be32	seq;		/* of the first segment, and so are offset and flags */
	__be32	ack;
	__be16	flow;
	__be16	ack_flow;
	__be16	window;
	__be16	msg_last;	/* msg_length - 1 */
	__be16	offset;
	__u8	performed;
	__u8	flags;
} __packed;

/*
 * The window of a packet: how many segments it becomes, and how many bytes of payload each of
 * them but the last one has, a multiple of 16.
 */
#define OMX_WIRE_TSO_WINDOW(segments, payload)	((segments) << 10 | (payload) >> 4)
#define OMX_WIRE_TSO_SEGMENTS(window)	((window) >> 10)
#define OMX_WIRE_TSO_PAYLOAD(window)	(((window) & 0x3ff) << 4)
#define OMX_WIRE_TSO_SEGMENTS_MAX	63

#define OMX_WIRE_TSO_KIND	253	/* of an experiment, see RFC 4727 and RFC 6994 */
#define OMX_WIRE_TSO_SOURCE	0xc000	/* the source port is the sum of this and src_endpoint */
#define OMX_WIRE_TSO_DEST	8687	/* the destination port */
#define OMX_WIRE_TSO_NET	0xa9fe0000	/* both addresses: 169.254.0.0/16, see RFC 3927 */

struct omx_wire_head {
	__u8	version;
	__u8	type;
	__be16	length;		/* of head, body and payload: cuts Ethernet's padding */
	__be16	dst_endpoint;
	__be16	src_endpoint;
	__be32	dst_session;	/* of the endpoint it goes to; 0 in CONNECT */
	__be32	src_session;
} __packed;

/* HELLO, BYE: endpoints and sessions are 0. */
struct omx_wire_hello {
	__be32	boot;		/* drawn when the board was attached */
	__be16	mtu;		/* largest frame that I accept, Ethernet header excluded */
	__u8	flags;
	__u8	name_length;	/* 1 ... OMX_WIRE_NAME_LEN - 1, no terminating 0 */
	/* the board's name follows */
} __packed;

#define OMX_HELLO_WANT_RESPONSE	0x01
/*
 * The frame is as long as the path MTU that it tests: a random number of 4 bytes and zeros
 * follow the name.  The response to it is as long, and has this flag and the number as well.
 */
#define OMX_HELLO_PROBE		0x02
#define OMX_HELLO_TSO		0x04	/* I make and receive TCP segments */
#define OMX_HELLO_TSO_OWN	0x08	/* the same, rather with our Ethertype than that of IPv4 */
#define OMX_HELLO_IN_PAGES	0x10	/* I receive long frames into pages of 4 KiB */

struct omx_wire_connect {
	__be32	key;
	__be32	cookie;		/* comes back in the response */
} __packed;

struct omx_wire_connect_response {
	__be32	cookie;
	__u8	status;		/* OMX_STATUS_OK, _BAD_ENDPOINT, _BAD_KEY */
	__u8	window;		/* packets that may be sent before an ack has come */
	__u8	abi_oldest;	/* that the responding driver speaks; 0: it does not tell */
	__u8	abi_newest;
} __packed;

/*
 * The part that sequenced packets share.  A flow numbers its packets from 1;
 * a sender whose flow was given up starts a newer one.  ack is the last
 * packet received in order of the flow ack_flow, window how many more the
 * sender of this packet accepts beyond it.
 */
struct omx_wire_sequence {
	__be16	flow;
	__be16	ack_flow;
	__be32	seq;
	__be32	ack;
	__be16	window;
	__u8	performed;	/* of the accesses up to ack; see below */
	__u8	flags;
} __packed;

/*
 * `performed` is 0: nothing is said; or n: up to packet ack - (n - 1) all accesses have
 * been performed, or their failure has been acknowledged.
 */
#define OMX_SEQUENCE_ANNOUNCE	0x01	/* I accept RNDV, but no EAGER at present */
#define OMX_SEQUENCE_MORE	0x02	/* more packets of mine wait behind this one */
#define OMX_SEQUENCE_ACK	0x04	/* acknowledge at once: my window is used up */
#define OMX_SEQUENCE_WAIT	0x08	/* as OMX_ACK_WAIT */
#define OMX_SEQUENCE_BUNDLE	0x10	/* of an EAGER: its bytes are those of a BUNDLE */

struct omx_wire_eager {
	struct omx_wire_sequence sequence;
	__be64	match_info;
	__be32	msg_length;
	__be32	offset;		/* fragments of a message follow each other in seq */
	/* payload */
} __packed;

/*
 * Whole messages one after the other, each behind a header of its own.  The headers are at
 * multiples of OMX_WIRE_BUNDLE_ALIGN bytes of the frame's head, and the first one is where an
 * EAGER has the same fields.
 */
struct omx_wire_bundle {
	struct omx_wire_sequence sequence;
	/* messages */
} __packed;

struct omx_wire_bundled {
	__be64	match_info;
	__be32	msg_length;	/* at most OMX_WIRE_BUNDLED_MAX or OMX_WIRE_LONG_BUNDLED_MAX */
	__be32	reserved;
	/* payload */
} __packed;

#define OMX_WIRE_BUNDLE_ALIGN	8
#define OMX_WIRE_BUNDLED_MAX	4096	/* in a BUNDLE */
#define OMX_WIRE_LONG_BUNDLED_MAX 16384	/* in a long bundle */

struct omx_wire_rndv {
	struct omx_wire_sequence sequence;
	__be64	match_info;
	__be64	msg_length;
	__be32	message;	/* to name in PULL_REQUEST and NOTIFY */
	__be16	pushed;		/* frames that follow without a request */
	__be16	frame_length;	/* payload of these */
} __packed;

struct omx_wire_notify {
	struct omx_wire_sequence sequence;
	__be64	xfer_length;
	__be32	message;
	__u8	status;
	__u8	reserved[3];
} __packed;

struct omx_wire_ack {
	__be16	flow;		/* the flow that is acknowledged */
	__be16	window;
	__be32	ack;
	__be64	sack;		/* bit i: ack + 2 + i has arrived */
	__u8	flags;
	__u8	performed;	/* as in struct omx_wire_sequence */
	__be16	marked;		/* frames of this channel that arrived with a congestion mark */
} __packed;

#define OMX_ACK_PROBE		0x01	/* respond with an ack: are you there? */
#define OMX_ACK_ANNOUNCE	0x02	/* as OMX_SEQUENCE_ANNOUNCE */
#define OMX_ACK_WAIT		0x04	/* the window is 0 until your turn; an ack opens it */
#define OMX_ACK_DUPLICATE	0x08	/* a packet that had arrived before causes this ack */
/*
 * A sender numbers the probes with which it looks for lost packets, 1 ... 15, and the
 * response repeats the number: everything that was sent before the probe and that
 * the response does not acknowledge is lost, or still under way because the network reorders.
 */
#define OMX_ACK_NUMBER		0xf0
#define OMX_ACK_NUMBER_SHIFT	4

/* Frame i of the block starts at offset + i * frame_length of the message. */
struct omx_wire_pull_request {
	__be64	offset;
	__be32	length;		/* of the block */
	__be32	message;
	__be32	pull;		/* comes back in responses */
	__be32	wanted;		/* bit i: send frame i */
	__be16	frame_length;
	__u8	flags;
	__u8	reserved;
} __packed;

#define OMX_REQUEST_SELDOM	0x01	/* the requester's device seems to interrupt seldom */

/* Of a pull response. */
#define OMX_RESPONSE_PUSHED	0x01	/* nobody has requested it: `pull` is from RNDV */

struct omx_wire_pull_response {
	__be64	offset;
	__be32	pull;
	__be32	flags;
	/* payload */
} __packed;

struct omx_wire_nack {
	__u8	status;
	__u8	type;		/* of the packet that is refused */
	__be16	flow;		/* that it names, if only this one is refused, else 0 */
	__be32	pull;		/* the refused one, else 0 */
} __packed;

struct omx_wire_hold {
	__be64	offset;		/* of the PULL_REQUEST */
	__be32	pull;
	__u8	flags;		/* 0, except in a measurement build */
	__u8	reserved[3];
} __packed;

/* ---- one-sided accesses ---- */

/* Names a window of the target: its number, and a secret that the target drew. */
struct omx_wire_key {
	__be32	window;
	__be32	secret[3];
} __packed;

/* Accesses of one channel are performed in the order of their packets. */
struct omx_wire_put {
	struct omx_wire_sequence sequence;
	struct omx_wire_key key;
	__be64	offset;		/* in the window, of this packet's payload */
	__be64	immediate;	/* only with OMX_PUT_EVENT */
	__be32	access;		/* comes back in the response */
	__be32	length;		/* of the whole put */
	__u8	flags;
	__u8	reserved[7];
	/* payload */
} __packed;

#define OMX_PUT_LAST		0x01	/* respond once all packets of the put are in place */
#define OMX_PUT_EVENT		0x02	/* tell the target's program then */
#define OMX_PUT_FIRST		0x04	/* the first packet of the put */
#define OMX_PUT_ACK		0x08	/* the last one: if it succeeds, an ack may say so */
#define OMX_PUT_LATER		0x10	/* that ack may wait for others */

/* The target pulls the message and ends it with NOTIFY, as a receiver does. */
struct omx_wire_put_rndv {
	struct omx_wire_sequence sequence;
	struct omx_wire_key key;
	__be64	offset;		/* in the window */
	__be64	immediate;
	__be64	length;
	__be32	message;
	__u8	flags;		/* OMX_PUT_EVENT */
	__u8	reserved[3];
} __packed;

struct omx_wire_get {
	struct omx_wire_sequence sequence;
	struct omx_wire_key key;
	__be64	offset;
	__be64	length;
	__be32	access;
	__u8	flags;
	__u8	reserved[3];
} __packed;

/* Do not send the bytes: respond with the number of a message to pull. */
#define OMX_GET_ANNOUNCE	0x01

enum omx_wire_operation {
	OMX_WIRE_ADD,
	OMX_WIRE_AND,
	OMX_WIRE_OR,
	OMX_WIRE_XOR,
	OMX_WIRE_SWAP,
	OMX_WIRE_MIN,		/* of signed words */
	OMX_WIRE_MAX,
	OMX_WIRE_UMIN,		/* of unsigned ones */
	OMX_WIRE_UMAX,
	OMX_WIRE_COMPARE_SWAP,	/* store the operand if the word equals `compare` */
	OMX_WIRE_OPERATIONS
};

/* The word is in the target's byte order, the values are big endian. */
struct omx_wire_atomic {
	struct omx_wire_sequence sequence;
	struct omx_wire_key key;
	__be64	offset;		/* a multiple of size */
	__be64	operand;
	__be64	compare;
	__be32	access;
	__u8	operation;
	__u8	size;		/* 4 or 8 */
	__u8	reserved[2];
} __packed;

/* Have the entries up to this one been consumed that accesses of this channel logged? */
struct omx_wire_flush {
	struct omx_wire_sequence sequence;
	__be64	stamp;		/* of a log entry; 0: the newest of this channel */
	__be32	access;
	__u8	reserved[4];
} __packed;

struct omx_wire_access_response {
	struct omx_wire_sequence sequence;
	/*
	 * ATOMIC: the word before; GET, announced: the message; FLUSH: 0, or the stamp of
	 * an entry that has not been consumed.
	 */
	__be64	value;
	__be32	access;
	__u8	status;
	__u8	reserved[3];
	/* the bytes of a GET */
} __packed;

/*
 * Whoever owns the window sends this.  It fires the first conditional access of the
 * receiver with this tag, or is kept until there is one.
 */
struct omx_wire_post_key {
	struct omx_wire_sequence sequence;
	struct omx_wire_key key;
	__be64	offset;		/* of the bytes in the window that are for the access */
	__be64	length;
	__be64	tag;
	__be32	access;		/* comes back in the response */
	__u8	reserved[4];
} __packed;

#define OMX_WIRE_GET_MAX	4096	/* bytes in a response */

static_assert(sizeof(struct omx_wire_udp) == 16);
static_assert(sizeof(struct omx_wire_tso) == 12);
static_assert(sizeof(struct omx_wire_tso_eager) == 28);
static_assert(sizeof(struct omx_wire_head) == 16);
static_assert(sizeof(struct omx_wire_hello) == 8);
static_assert(sizeof(struct omx_wire_connect) == 8);
static_assert(sizeof(struct omx_wire_connect_response) == 8);
static_assert(sizeof(struct omx_wire_sequence) == 16);
static_assert(sizeof(struct omx_wire_eager) == 32);
static_assert(sizeof(struct omx_wire_rndv) == 40);
static_assert(sizeof(struct omx_wire_notify) == 32);
static_assert(sizeof(struct omx_wire_ack) == 20);
static_assert(sizeof(struct omx_wire_pull_request) == 28);
static_assert(sizeof(struct omx_wire_pull_response) == 16);

#define OMX_EAGER_HEADER \
	(sizeof(struct omx_wire_head) + sizeof(struct omx_wire_eager))
#define OMX_BUNDLE_HEADER \
	(sizeof(struct omx_wire_head) + sizeof(struct omx_wire_bundle))
#define OMX_PULL_RESPONSE_HEADER \
	(sizeof(struct omx_wire_head) + sizeof(struct omx_wire_pull_response))
static_assert(sizeof(struct omx_wire_nack) == 8);
static_assert(sizeof(struct omx_wire_hold) == 16);
static_assert(sizeof(struct omx_wire_put) == 64);
static_assert(sizeof(struct omx_wire_put_rndv) == 64);
static_assert(sizeof(struct omx_wire_get) == 56);
static_assert(sizeof(struct omx_wire_atomic) == 64);
static_assert(sizeof(struct omx_wire_access_response) == 32);
static_assert(sizeof(struct omx_wire_post_key) == 64);
static_assert(sizeof(struct omx_wire_flush) == 32);

/*
 * Judges a frame: data points to struct omx_wire_head, linear bytes of it
 * are readable and total were received.  Returns 0, or the OMX_COUNTER_DROP_*
 * that says what is wrong.  After 0: version and type are known, the whole
 * body was readable, head.length <= total and covers head and body, types
 * without payload have none, lengths and offsets inside the body agree with
 * each other and with the payload.
 */
int omx_wire_validate(const void *data, unsigned int linear, unsigned int total);

extern const __u8 omx_wire_header_lengths[OMX_WIRE_TYPES];

/* Bytes of head and body of a known type; 0 for others. */
static inline unsigned int omx_wire_header_length(unsigned int type)
{
	return type < OMX_WIRE_TYPES ? omx_wire_header_lengths[type] : 0;
}

#endif
