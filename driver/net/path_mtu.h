/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How long a frame the path to a peer takes, by proof: packetization layer path MTU
 * discovery, RFC 8899.
 *
 * What both boards accept need not pass between them: a switch may be without jumbo
 * frames, a router with a smaller MTU may not say so.  Long frames would be lost each time
 * they are sent.  So a length above the base, which is assumed to pass, is used only after
 * a hello of that length was answered by one of that length.  The longest length is
 * tried first, then the middle between what has passed and what has not.
 *
 * hello.c calls this with the lock of the table of peers held.  Nothing here needs the
 * kernel, so unit tests compile it in user space.
 */
#ifndef OMX_PATH_MTU_H
#define OMX_PATH_MTU_H

#include <linux/types.h>

#define OMX_MTU_PROBES		4	/* unanswered ones, until a length counts as too long */
#define OMX_MTU_PRECISION	64	/* the search ends when it is as near as this */

/* All zeros: nothing is known. */
struct omx_path_mtu {
	u32 proved;		/* longest frame that was answered; 0: none */
	u32 failed;		/* shortest one that was not; 0: none */
	u32 probe;		/* length that is being tried; 0: none */
	u32 target;		/* what the search was for: another one begins anew */
	unsigned int probes;	/* of that length, sent */
};

/* The longest frame that may be sent. */
static inline u32 omx_path_mtu_limit(const struct omx_path_mtu *path, u32 base)
{
	u32 proved = READ_ONCE(path->proved);

	return proved > base ? proved : base;
}

/*
 * The length of the probe to send now; 0: the search has ended.  `heard`: something has
 * come from the peer since the last probe, so it is there, and not answering means that
 * the probe was too long.  A path that has become narrower has lost its proof afterwards.
 */
u32 omx_path_mtu_next(struct omx_path_mtu *path, u32 base, u32 target, bool heard);
/* A probe of this length was answered.  True: longer frames may be sent now. */
bool omx_path_mtu_answered(struct omx_path_mtu *path, u32 length);
/* Long frames seem to be lost: what was proved is to be proved again. */
void omx_path_mtu_doubt(struct omx_path_mtu *path, u32 base);

/* Drivers of NICs receive a long frame into several of them. */
#define OMX_RX_PAGE	4096

/*
 * How long frames are to be for a board that receives them into pages, if there are many: the
 * longest that are permitted, unless shorter ones cost it less.  An end that takes a bit of
 * another page costs as much as if it filled the page.
 */
u32 omx_path_mtu_in_pages(u32 mtu);

#endif
